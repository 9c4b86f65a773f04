"""The command ``ramify``: commands (parsing only) and the jobs behind them."""

from ramify.cli.commands import app, main

__all__ = [
    "app",
    "main",
]
