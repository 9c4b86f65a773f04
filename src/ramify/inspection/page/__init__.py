"""The explorer: one HTML page for one model."""
