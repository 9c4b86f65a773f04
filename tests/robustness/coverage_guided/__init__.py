"""Targets for fuzzers that are guided by coverage."""
