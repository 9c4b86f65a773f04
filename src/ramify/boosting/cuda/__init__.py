"""Gradient boosting on a GPU: the same trees as on the CPU."""
