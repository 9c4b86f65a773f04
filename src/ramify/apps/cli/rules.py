"""The command ``ramify rules``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.apps.cli.options import AsJson, ModelFile, Threshold
from ramify.apps.cli.output import print_json
from ramify.apps.cli.running import command
from ramify.io.errors import check_exists

if TYPE_CHECKING:
    from ramify.inspection import RuleSet


@command
def rules(
    model: ModelFile,
    *,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", "-l", help="Only print rules for this label; repeatable."),
    ] = None,
    best: Annotated[
        int, typer.Option("--best", "-n", min=1, help="Number of rules to print.")
    ] = 20,
    threshold: Threshold = 0.5,
    as_json: AsJson = False,
) -> None:
    """Print a model as rules, the most useful first.

    ``ramify rules species.ramify --label taxonomy/bird``
    """
    check_exists(model)
    from ramify.inspection import rules as rules_of
    from ramify.saving import load

    found = rules_of(load(model), labels=label or None)
    if as_json:
        print_json(_facts(found, label or [], best, threshold))
    elif not label:
        typer.echo(found.to_text(threshold=threshold, n_best=best), nl=False)
    for name in [] if as_json else label or []:
        typer.echo(f"{name}: precision, lift, coverage × lift")
        for entry in found.for_label(name, best):
            figures = f"{entry.precision:6.2f}  {entry.lift:6.1f}  {entry.score:6.2f}"
            typer.echo(f"{figures}  IF {entry.rule.to_text()}")


def _facts(found: RuleSet, labels: list[str], best: int, threshold: float) -> list[Any]:
    """Return what the text shows: the best rules of every label, or the widest rules."""
    if not labels:
        return list(json.loads(found.to_json(min_precision=threshold, n_best=best)))
    return [rule for name in labels for rule in json.loads(found.to_json(label=name, n_best=best))]
