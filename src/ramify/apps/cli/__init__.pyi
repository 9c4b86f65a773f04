from ramify.apps.cli.commands import app
from ramify.apps.cli.entry import main

__all__ = [
    "app",
    "main",
]
