"""The command ``ramify clus``: run a settings file of CLUS with the switches of CLUS."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ramify._messages import did_you_mean
from ramify.apps.cli.running import command, say

# Switches of CLUS for methods other than trees and ensembles.
_OTHER_SWITCHES = {
    "-bag": "use -forest with EnsembleMethod = Bagging",
    "-beam": "beam search is not supported",
    "-copying": "ramify has the license BSD-3-Clause",
    "-debug": "there is no debugging output",
    "-exhaustive": "exhaustive search is not supported",
    "-info": "use --explain",
    "-knn": "nearest neighbors are not supported",
    "-knnTree": "nearest neighbors are not supported",
    "-relief": "Relief is not supported; use FeatureRanking in the section Ensemble",
    "-rules": "rule learning is not supported; use the command `ramify rules`",
    "-sit": "the selection of targets is not supported",
    "-tseries": "time series are not supported",
    "-tuneftest": "give FTest a list of values in the section Tree",
}
_NUMBER = re.compile(r"-\d+")


class SwitchCommand(TyperCommand):
    """A command whose options may have one dash and several letters, as the switches of CLUS."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse unknown switches by name; click would only name their first letter."""
        known = [name for option in self.get_params(ctx) for name in option.opts]
        for argument in args:
            name = argument.partition("=")[0]
            if not name.startswith("-") or _NUMBER.fullmatch(name) or name in known:
                continue
            reason = _OTHER_SWITCHES.get(name)
            if reason:
                ctx.fail(f"{name} is not supported: {reason}.")
            ctx.fail(f"There is no option {name}.{did_you_mean(name, known)}")
        return super().parse_args(ctx, args)


COMMAND_CLASS = SwitchCommand
"""The class that parses the arguments of the command."""


@command
def clus(
    file: Annotated[Path, typer.Argument(help="Settings file of CLUS.", metavar="FILE.s")],
    forest: Annotated[
        bool, typer.Option("-forest", help="Learn an ensemble (section Ensemble).")
    ] = False,
    xval: Annotated[
        bool, typer.Option("-xval", help="Cross-validate (XVal in the section Data).")
    ] = False,
    fold: Annotated[
        int | None, typer.Option("-fold", min=1, help="No effect: -xval runs all folds.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("-target", help="Columns to predict, e.g. 2-5,8.")
    ] = None,
    disable: Annotated[
        str | None, typer.Option("-disable", help="Columns to leave out as well, e.g. 2-5,8.")
    ] = None,
    ssl: Annotated[
        bool, typer.Option("-ssl", help="Learn from rows without labels (SemiSupervised).")
    ] = False,
    silent: Annotated[bool, typer.Option("-silent", help="Print only errors.")] = False,
    ignore_unsupported: Annotated[
        bool,
        typer.Option("--ignore-unsupported", help="Ignore options that ramify does not support."),
    ] = False,
    show: Annotated[
        bool,
        typer.Option("--explain", help="Print what the options mean and equivalent Python code."),
    ] = False,
) -> None:
    """Run a settings file of CLUS and write the files that CLUS writes.

    ``ramify clus -forest settings.s``
    """
    from ramify.apps.clus.errors import SettingsError
    from ramify.apps.clus.options import Switches
    from ramify.apps.clus.settings import read_settings

    if fold is not None and not xval:
        raise SettingsError(f"-fold {fold} requires -xval.")
    if not file.exists() and file.with_name(f"{file.name}.s").exists():
        file = file.with_name(f"{file.name}.s")
    switches = Switches(forest, xval, fold, target, disable, silent, ssl)
    settings = read_settings(file).supported(switches, ignore_unsupported=ignore_unsupported)
    folds = settings.text("Data", "XVal")
    if fold is not None and folds != "LOO" and fold > int(folds):
        raise SettingsError(f"-fold must be at most XVal, {folds}, got {fold}.")
    if not silent:
        notes = [] if fold is None else [f"-fold {fold} has no effect: -xval runs all folds."]
        for line in (*notes, *settings.ignored):
            say(line, soft_wrap=True)
    if show:
        from ramify.apps.clus.explaining import explain

        typer.echo(explain(settings, switches), nl=False)
        return
    if silent:  # as in CLUS, whose result files show it
        settings = settings.with_value("General", "Verbose", "0")
    from ramify.apps.clus.running import run

    for path in run(settings, switches):
        if not silent:
            typer.echo(f"Wrote {path}")
