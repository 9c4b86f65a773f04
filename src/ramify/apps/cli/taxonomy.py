"""The commands ``ramify taxonomy diff``, ``carry`` and ``crosswalk``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify._messages import counted, shorten
from ramify.apps.cli.options import AsJson, DataFile, FileOptions, LabelOptions, ModelFile
from ramify.apps.cli.running import check_output, command, print_json, say, say_where
from ramify.io.errors import check_exists
from ramify.io.formats import HIERARCHIES, format_of

if TYPE_CHECKING:
    from ramify.apps.reading.settings import DataOptions
    from ramify.labels import Comparison

app = typer.Typer(
    help="Compare two taxonomies, and carry models over.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
)


@app.callback()
def _callback() -> None:
    """Compare two taxonomies, and carry models over."""


@command
def diff(
    old: Annotated[
        Path, typer.Argument(help="Old taxonomy: .obo, .txt, .csv or .json.", metavar="OLD")
    ],
    new: Annotated[Path, typer.Argument(help="New taxonomy.", metavar="NEW")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Mapping to write, a CSV file to edit.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture to write: .png, .svg or .pdf.")
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(help="Table with labels of the old taxonomy, to count the rows affected."),
    ] = None,
    min_score: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Smallest score of a proposal.")
    ] = 0.5,
    most: Annotated[
        int | None,
        typer.Option("--most", min=1, help="Most changes of each kind to print (default: all)."),
    ] = None,
    labels: LabelOptions,
    files: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Say what changed between two versions of a taxonomy, and propose a mapping.

    ``ramify taxonomy diff go-2023.obo go-2024.obo -o mapping.csv``
    """
    if out is not None:
        check_output(out, old, new, rows)
    if plot is not None:
        _check_plot(plot, out, old, new, rows)
    check_exists(old, new, rows)
    options = labels.settings(files).labelled(files.limits())
    found = _compare(old, new, rows, options, min_score)
    if out is not None:
        from ramify.taxonomies import LabelMapping

        LabelMapping.of(found).write(out)
    if plot is not None:
        _draw(found, plot)
    if as_json:
        print_json(found.to_dict())
        return
    sizes = [counted(side.n_labels, "label") for side in (found.old, found.new)]
    versions = [f" ({side.version})" if side.version else "" for side in (found.old, found.new)]
    typer.echo(f"{old}{versions[0]}: {sizes[0]}\n{new}{versions[1]}: {sizes[1]}\n")
    typer.echo(found.to_text(most))
    proposed = sum(not change.is_certain for change in found.changes)
    if proposed:
        say(f"Note: {counted(proposed, 'change')} are proposed. Check the mapping before use")
    for path in (out, plot):
        if path is not None:
            say_where("Wrote", path)


@command
def carry(
    model: ModelFile,
    new: Annotated[Path, typer.Argument(help="New taxonomy: .obo, .txt, .csv or .json.")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")],
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--mapping", "-m", help="Mapping file, as written by diff (default: equal labels)."
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="Table with labels of the new taxonomy, a sample like the training rows: leaves "
            "and local models are learnt from it."
        ),
    ] = None,
    relearn: Annotated[
        str, typer.Option(help="Labels to learn from --rows: changed or all.")
    ] = "changed",
    labels: LabelOptions,
    files: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Carry a model over to a new version of its taxonomy, without training or with new leaves.

    ``ramify taxonomy carry genes.ramify go-2024.obo -m mapping.csv -o genes-2024.ramify``
    """
    check_output(out, model, new, mapping, rows)
    check_exists(model, new, mapping, rows)
    from ramify._base.relearning import RELEARN
    from ramify._validation import check_choice
    from ramify.apps.cli.training import known_labels
    from ramify.apps.predicting import (
        features_for,
        load_classifier,
        read_for,
        remembered_settings,
        remembered_table,
    )
    from ramify.apps.reading.any_file import read_hierarchy
    from ramify.saving.model import save_with_settings
    from ramify.taxonomies import LabelMapping
    from ramify.taxonomies.probabilities import STATUSES

    check_choice("--relearn", relearn, RELEARN)
    if rows is None and relearn != "changed":
        raise ValueError(f"--relearn {relearn} requires --rows, rows with labels of {new}.")
    fitted, after = load_classifier(model), read_hierarchy(new)
    lines = None if mapping is None else LabelMapping.read(mapping, fitted.hierarchy_, after)
    remembered = remembered_settings(model)
    carried = fitted.with_hierarchy(after, lines)
    if rows is not None:
        options = labels.settings(files).over(remembered).labelled(files.limits())
        table = read_for(carried, rows, options, after)
        carried = fitted.with_hierarchy(
            after,
            lines,
            X=features_for(fitted, table),
            y=known_labels(table),
            sample_weight=table.sample_weight,
            relearn=relearn,
        )
    looked = remembered_table(model)
    kept = {"table": looked.to_dict()} if looked is not None else {}
    save_with_settings(carried, out, remembered.to_dict(), **kept)
    statuses = dict(zip(after.labels, carried.label_status_.tolist(), strict=True))
    if as_json:
        print_json({"model": str(out), "labels": statuses})
        return
    for status in STATUSES:
        found = [label for label, own in statuses.items() if own == status]
        if found:
            typer.echo(f"{status}: {counted(len(found), 'label')} ({shorten(found)})")
    say_where("Wrote", out)


@command
def crosswalk(
    data: DataFile,
    *,
    first: Annotated[
        list[str], typer.Option("--from", help="Label column of the first taxonomy; repeatable.")
    ],
    second: Annotated[
        list[str], typer.Option("--to", help="Label column of the second taxonomy; repeatable.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Mapping to write, a CSV file to edit.")
    ] = None,
    min_share: Annotated[
        float,
        typer.Option(
            min=0.01,
            max=1.0,
            help="Share of the rows of a label that must have its counterpart, with 95 % "
            "confidence.",
        ),
    ] = 0.5,
    separator: Annotated[
        str | None, typer.Option(help="Separator of the names of a path (default: found).")
    ] = None,
    files: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Learn which labels of two taxonomies correspond, from rows that are labelled in both.

    ``ramify taxonomy crosswalk products.csv --from gpc --to category -o mapping.csv``
    """
    if out is not None:
        check_output(out, data)
    check_exists(data)
    from ramify.apps.cli.training import labels_of
    from ramify.apps.reading.any_file import read_data
    from ramify.metrics import Report
    from ramify.taxonomies.crosswalk import Crosswalk

    sides = []
    for columns in (first, second):
        settings = replace(files.settings(), target=tuple(columns), separator=separator)
        sides.append(read_data(data, None, settings.labelled(files.limits())))
    labels = [labels_of(side) for side in sides]
    found = Crosswalk.learn(*labels, *(side.hierarchy for side in sides))
    mapping = found.mapping(min_share)
    if out is not None:
        mapping.write(out)
    if as_json:
        print_json(
            {
                "pairs": list(found.report().rows()),
                "mapping": [line._asdict() for line in mapping.lines],
            }
        )
        return
    n_rows = int((labels[0].sum(axis=1).astype(bool) & labels[1].sum(axis=1).astype(bool)).sum())
    names = [f"{', '.join(columns)}" for columns in (first, second)]
    with_one = sum(line.new is not None for line in mapping.lines)
    typer.echo(
        f"{counted(n_rows, 'row')} with labels of both. Of {counted(len(mapping.lines), 'label')} "
        f"of {names[0]}, {with_one:,} have a counterpart among those of {names[1]}\n"
    )
    shown: dict[str, list[Any]] = {
        "old": [line.old for line in mapping.lines],
        "new": ["-" if line.new is None else line.new for line in mapping.lines],
        "share": ["" if line.new is None else f"{line.score:.3f}" for line in mapping.lines],
        "rows": [line.reason for line in mapping.lines],
    }
    typer.echo(str(Report(shown)))
    if out is not None:
        say_where("Wrote", out)


app.command("diff")(diff)
app.command("carry")(carry)
app.command("crosswalk")(crosswalk)


_PICTURES = (".png", ".svg", ".pdf")


def _check_plot(plot: Path, out: Path | None, *inputs: Path | None) -> None:
    """Check that a picture can be drawn and written, before any work is done."""
    from ramify._messages import import_extra

    check_output(plot, *inputs, option="--plot")
    if plot.suffix.lower() not in _PICTURES:
        raise ValueError(f"--plot must end in {', '.join(_PICTURES)}, got {plot}. Rename it.")
    if out is not None and plot.resolve() == out.resolve():
        raise ValueError(f"--plot must be another file than --out, got {plot}. Rename one.")
    import_extra("matplotlib", "plot")


def _compare(
    old: Path, new: Path, rows: Path | None, options: DataOptions, min_score: float
) -> Comparison:
    from ramify.apps.reading.any_file import read_hierarchy

    if all(format_of(path, HIERARCHIES) == "ontology" for path in (old, new)):
        from ramify.io.files import check_content
        from ramify.io.limits import ReadLimits
        from ramify.labels import Ontology

        for path in (old, new):
            check_content(path, options.limits or ReadLimits())
        before, after = Ontology.from_obo(old), Ontology.from_obo(new)
        y = _labels(rows, before.hierarchy(), options)
        return before.compare(after, y, min_score=min_score)
    first, second = (read_hierarchy(path, options.limits) for path in (old, new))
    return first.compare(second, _labels(rows, first, options), min_score=min_score)


def _labels(rows: Path | None, hierarchy: Any, options: DataOptions) -> Any:
    """Return the labels of the rows of a table."""
    if rows is None:
        return None
    from ramify.apps.cli.training import labels_of
    from ramify.apps.reading.any_file import read_data

    return labels_of(read_data(rows, hierarchy, options))


def _draw(found: Comparison, path: Path) -> None:
    from ramify._messages import import_extra
    from ramify.io.files import replacing

    import_extra("matplotlib", "plot").use("agg")
    figure = found.plot().figure
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format=path.suffix.lower().lstrip("."))
