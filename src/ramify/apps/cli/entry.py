"""The entry point of ``ramify``: an interrupt ends it quietly even while modules are imported."""

from __future__ import annotations

import sys

INTERRUPTED = 130  # exit status after Ctrl-C, as in shells


def main() -> None:
    """Run the command line."""
    try:
        from ramify.apps.cli.commands import app

        app()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(INTERRUPTED) from None
