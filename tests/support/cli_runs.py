"""Run commands of the command line in the test process."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from ramify.apps.cli import app

QUICK = ("--set", "n_estimators=5", "--folds", "2")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])
