"""The command line ``ramify``: the commands and the functions that implement them."""

from ramify.cli.commands import app, main

__all__ = [
    "app",
    "main",
]
