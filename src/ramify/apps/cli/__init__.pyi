from ramify.apps.cli.commands import app, main

__all__ = [
    "app",
    "main",
]
