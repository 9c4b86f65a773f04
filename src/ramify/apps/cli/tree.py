"""The command ``ramify tree``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.apps.cli.options import AsJson, ModelFile, Threshold
from ramify.apps.cli.output import print_json
from ramify.apps.cli.running import command
from ramify.io.errors import check_exists

if TYPE_CHECKING:
    from ramify.inspection import ModelSummary


@command
def tree(
    model: ModelFile,
    *,
    number: Annotated[
        int, typer.Option("--number", "-n", min=1, help="Which tree of a model with several.")
    ] = 1,
    max_depth: Annotated[
        int | None, typer.Option(min=0, help="Deepest tests to print (default: all).")
    ] = None,
    threshold: Threshold = 0.5,
    as_json: AsJson = False,
) -> None:
    """Print a tree, its size and its error on the training rows beside that of a default.

    ``ramify tree species.ramify --max-depth 3``
    """
    check_exists(model)
    from ramify.apps.cli.predicting import load_classifier
    from ramify.inspection import summarise
    from ramify.inspection.outline import read_choice
    from ramify.inspection.text import write_tree
    from ramify.metrics.reports import aligned

    fitted = load_classifier(model)
    summary = summarise(fitted)
    if number > len(summary.trees):
        raise ValueError(
            f"--number must be at most {len(summary.trees)}, the number of trees of the model, "
            f"got {number}."
        )
    chosen = summary.trees[number - 1]
    choice = read_choice(summary.hierarchy, threshold, 0.35, None, None)
    facts = _facts(fitted, summary, number)
    if as_json:
        print_json(facts)
        return
    typer.echo(write_tree(chosen, choice, max_depth))
    typer.echo(_size_line(facts))
    if facts["errors"]:
        rows = [["", "tree", "default"]]
        rows += [
            [name, *(f"{x:.4f}" for x in pair.values())] for name, pair in facts["errors"].items()
        ]
        typer.echo("\nOn the training rows (default: the label frequencies of all of them)")
        typer.echo("\n".join(aligned(rows)))


def _facts(fitted: Any, summary: ModelSummary, number: int) -> dict[str, Any]:
    from ramify.inspection.tree_paths import training_errors

    chosen = summary.trees[number - 1]
    # Other prototypes and boosted trees do not store label frequencies.
    prototypes = [v for k, v in fitted.get_params().items() if k.endswith("prototype")]
    stores_frequencies = chosen.unit == "probability" and set(prototypes) <= {"mean"}
    pairs = training_errors(chosen) if stores_frequencies else {}
    return {
        "model": summary.kind,
        "trees": len(summary.trees),
        "number": number,
        "nodes": len(chosen.nodes),
        "leaves": sum(1 for _ in chosen.leaves),
        "depth": max(node.depth for node in chosen.nodes),
        "rows": chosen.nodes[0].n_samples,
        "errors": {name: {"tree": a, "default": b} for name, (a, b) in pairs.items()},
    }


def _size_line(facts: dict[str, Any]) -> str:
    which = f", tree {facts['number']} of {facts['trees']}" if facts["trees"] > 1 else ""
    return (
        f"{facts['model']}{which}: {facts['nodes']:,} nodes, {facts['leaves']:,} leaves, depth "
        f"{facts['depth']}, {facts['rows']:,} training rows"
    )
