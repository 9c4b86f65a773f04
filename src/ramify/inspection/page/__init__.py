"""The explorer: an HTML page to inspect a model."""
