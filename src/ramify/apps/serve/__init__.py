"""A model as a web service."""
