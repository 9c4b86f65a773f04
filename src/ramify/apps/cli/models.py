"""The commands for a saved model: tree, rules, explain, explore, export and serve."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify._messages import counted, did_you_mean, import_extra
from ramify.apps.cli.options import (
    AsJson,
    DataFile,
    FileOptions,
    IdColumns,
    IgnoreUnknown,
    LabelOptions,
    MaxError,
    ModelFile,
    Threshold,
    only_id,
)
from ramify.apps.cli.running import check_output, command, print_json, say, say_where
from ramify.io.errors import check_exists

if TYPE_CHECKING:
    from ramify.inspection import ModelSummary, RuleSet
    from ramify.io.tables.table import Table


LabelNames = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        "-l",
        help="Only show this label, by its path or the end of it, e.g. owl; repeatable.",
    ),
]

MemberName = Annotated[
    str | None,
    typer.Option(
        "--member", help="Which member of a vote (default: the one with the largest weight)."
    ),
]

# ---- ramify tree ----------------------------------------------------------------------------


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
    label: LabelNames = None,
    member: MemberName = None,
    threshold: Threshold = 0.5,
    as_json: AsJson = False,
) -> None:
    """Print a tree, its size and its error on the training rows beside that of a default.

    ``ramify tree species.ramify --max-depth 3``
    """
    check_exists(model)
    from ramify.apps.predicting import load_classifier
    from ramify.inspection import summarise
    from ramify.inspection.outline import read_choice
    from ramify.inspection.text import write_tree
    from ramify.metrics.reports import aligned

    shown = choose_member(load_classifier(model), model, member)
    fitted = shown.model
    summary = summarise(fitted)
    say_member(shown)
    if number > len(summary.trees):
        raise ValueError(
            f"--number must be at most {len(summary.trees)}, the number of trees of the model, "
            f"got {number}."
        )
    chosen = summary.trees[number - 1]
    choice = read_choice(summary.hierarchy, threshold, 0.35, None, label or None)
    facts = _tree_facts(fitted, summary, number)
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


def _tree_facts(fitted: Any, summary: ModelSummary, number: int) -> dict[str, Any]:
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
        f"{facts['model']}{which}: {counted(facts['nodes'], 'node')}, "
        f"{counted(facts['leaves'], 'leaf', 'leaves')}, depth {facts['depth']}, "
        f"{counted(facts['rows'], 'training row')}"
    )


# ---- ramify rules ---------------------------------------------------------------------------


@command
def rules(
    model: ModelFile,
    *,
    label: LabelNames = None,
    best: Annotated[
        int, typer.Option("--best", "-n", min=1, help="Number of rules to print.")
    ] = 20,
    member: MemberName = None,
    threshold: Threshold = 0.5,
    as_json: AsJson = False,
) -> None:
    """Print a model as rules, the most useful first.

    ``ramify rules species.ramify --label taxonomy/bird``
    """
    check_exists(model)
    from ramify.inspection import rules as rules_of
    from ramify.saving import load

    shown = choose_member(load(model), model, member)
    found = rules_of(shown.model, labels=label or None)
    say_member(shown)
    if as_json:
        print_json(_rule_facts(found, label or [], best, threshold))
    elif not label:
        typer.echo(found.to_text(threshold=threshold, n_best=best), nl=False)
    for name in [] if as_json else label or []:
        typer.echo(f"{found.hierarchy.find(name)}: precision, lift, coverage × lift")
        for entry in found.for_label(name, best):
            figures = f"{entry.precision:6.2f}  {entry.lift:6.1f}  {entry.score:6.2f}"
            typer.echo(f"{figures}  IF {entry.rule.to_text()}")


def _rule_facts(found: RuleSet, labels: list[str], best: int, threshold: float) -> list[Any]:
    """Return what the text shows: the best rules of every label, or the widest rules."""
    if not labels:
        return list(json.loads(found.to_json(min_precision=threshold, n_best=best)))
    return [rule for name in labels for rule in json.loads(found.to_json(label=name, n_best=best))]


# ---- ramify explain -------------------------------------------------------------------------


_LIKELY = 10  # labels of a row that are printed with their probabilities


@command
def explain(
    model: ModelFile,
    data: DataFile,
    *,
    row: Annotated[
        str,
        typer.Option("--row", "-r", help="The row: its identifier, or its number, from 0."),
    ] = "0",
    label: LabelNames = None,
    member: MemberName = None,
    files: FileOptions,
    ids: IdColumns = None,
) -> None:
    """Explain the prediction for one row of a table.

    ``ramify explain species.ramify new.csv --row 17``
    """
    id_column = only_id(ids)
    check_exists(model, data)
    from ramify.apps.cli.prediction_files import row_names
    from ramify.apps.predicting import (
        features_for,
        label_cells,
        label_sets,
        load_classifier,
        read_for,
        remembered_settings,
    )
    from ramify.apps.reading.any_file import check_has_ids
    from ramify.inspection import explain as explain_row

    fitted = load_classifier(model)
    shown = choose_member(fitted, model, member)
    wanted = [fitted.hierarchy_.find(name) for name in label or ()]
    settings = replace(files.settings(), id_column=id_column).over(remembered_settings(model))
    options = settings.unlabelled(files.limits())
    table = read_for(fitted, data, options, labelled=False)
    check_has_ids(table, id_column)
    ids_of_rows = row_names(fitted, data, options, table)
    place = _find_row(row, ids_of_rows, table, data)
    X = features_for(fitted, table)
    x = X.iloc[[place]] if hasattr(X, "iloc") else X[[place]]
    # A data frame defines its categories; an array does not.
    categories = None if hasattr(X, "columns") else table.categories
    found = explain_row(shown.model, x, categories=categories)
    (labels,) = label_cells(fitted, label_sets(fitted, x, None), "; ")
    typer.echo(f"row {_row_title(row, place, ids_of_rows)}: {labels or 'no label'}")
    names, scores = fitted.predict_top(x, min(_LIKELY, fitted.hierarchy_.n_labels), labels="all")
    for name, score in zip(names[0], scores[0], strict=True):
        if score >= 0.0005:  # which is not 0.000
            typer.echo(f"  {score:.3f}  {name}")
    say_member(shown)
    typer.echo(f"\n{found.to_text(labels=wanted or None)}", nl=False)


def _row_title(row: str, place: int, ids: Any) -> str:
    """Return the name of a row; both its number and its identifier if it was given by number."""
    if ids is None or str(ids.iloc[place]) == row:
        return row
    return f"{row}, counted from 0 ({ids.name} {ids.iloc[place]})"


def _find_row(row: str, names: Any, table: Table, data: Path) -> int:
    """Return the position of a row, given by its identifier or its number."""
    n_rows = int(table.X.shape[0])
    known = [] if names is None else [str(name) for name in names]
    if known.count(row) == 1:
        return known.index(row)
    if known.count(row) > 1:
        raise ValueError(
            f"--row must name one row of {data}, got {row!r}, which {known.count(row)} rows have. "
            f"Pass another --id column, or the number of the row, such as {known.index(row)}."
        )
    if row.isdecimal() and int(row) < n_rows:
        return int(row)
    raise ValueError(
        f"--row must be the identifier of a row of {data} or a number below {n_rows}, got "
        f"{row!r}.{did_you_mean(row, known)}"
    )


_MOST_ROWS = 1000  # of a table, evenly spaced, on the page


# ---- ramify explore -------------------------------------------------------------------------


@command
def explore(
    model: ModelFile,
    data: Annotated[Path | None, typer.Argument(help="Data with rows to show.")] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML page to write.")] = Path(
        "page.html"
    ),
    labels: LabelOptions,
    files: FileOptions,
    ids: IdColumns = None,
    ignore_unknown: IgnoreUnknown = False,
    title: Annotated[
        str | None, typer.Option(help="Title of the page (default: the name of the model file).")
    ] = None,
    trees: Annotated[
        int, typer.Option(min=1, help="Maximum number of trees of a forest to show.")
    ] = 10,
    label: Annotated[
        str | None,
        typer.Option("--label", "-l", help="Begin with this label, e.g. owl, in the tree."),
    ] = None,
    member: MemberName = None,
) -> None:
    """Write an HTML page to explore a model: its trees, labels, rows and features.

    ``ramify explore species.ramify test.csv --target taxon -o species.html``
    """
    check_output(out, model, data)
    check_exists(model, data)
    from ramify.apps.cli.evaluating import read_known_labels
    from ramify.apps.cli.prediction_files import row_names
    from ramify.apps.cli.training import known_labels
    from ramify.apps.predicting import (
        features_for,
        load_classifier,
        remembered_performance,
        remembered_settings,
    )
    from ramify.apps.reading.any_file import check_has_ids
    from ramify.inspection.page.data import PageRows
    from ramify.inspection.page.explorer import write_page
    from ramify.inspection.summary import summarise_labels

    fitted = load_classifier(model)
    shown = choose_member(fitted, model, member)
    categories = None
    rows = None
    if data is not None:
        given = replace(labels.settings(files), id_column=only_id(ids))
        settings = given.over(remembered_settings(model))
        options = settings.labelled(files.limits())
        table = read_known_labels(
            fitted, data, options, ignore_unknown=ignore_unknown, labelled=False
        )
        check_has_ids(table, given.id_column)
        X = features_for(fitted, table)
        # A data frame defines its categories; an array does not.
        categories = None if hasattr(X, "columns") else table.categories
        names = row_names(fitted, data, settings.unlabelled(files.limits()), table)
        y = None if table.y is None else known_labels(table)
        rows = PageRows(X, y, names, _MOST_ROWS, data.name)
    write_page(
        shown.model,
        summarise_labels(shown.model, None, categories),
        out,
        rows,
        title=title or model.stem,
        max_trees=trees,
        whole=fitted,
        trained=remembered_performance(model, fitted.hierarchy_),
        label=label,
        note=f"The trees are those of {shown.words}." if shown.name else "",
    )
    say_member(shown)
    say_where("Wrote the page to", out)


# ---- ramify export --------------------------------------------------------------------------


@command
def export(
    model: ModelFile,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="ONNX file to write (default: the model, as .onnx)."),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            help="Rows with missing values: divide them among branches as ramify does, or return "
            "nan, which is faster."
        ),
    ] = "divide",
    dtype: Annotated[str, typer.Option(help="Type of the input: float32 or float64.")] = "float32",
    member: Annotated[
        str | None, typer.Option("--member", help="Export only this member of a vote.")
    ] = None,
) -> None:
    """Write a model as an ONNX file, for other programs to predict with.

    ``ramify export species.ramify -o species.onnx``
    """
    path = out or model.with_suffix(".onnx")
    check_output(path, model)
    check_exists(model)
    from ramify.apps.predicting import load_classifier
    from ramify.export import to_onnx
    from ramify.io.files import replacing

    shown = choose_member(load_classifier(model), model, member)
    if shown.name and member is None:
        # Its predictions would not be those of the model.
        raise ValueError(
            f"{model} is made of {', '.join(shown.others)} and cannot be exported as a whole. "
            f"Pass --member {shown.name} to export one of them, with predictions of its own."
        )
    say_member(shown)
    proto = to_onnx(shown.model, missing=missing, dtype=dtype)
    with replacing(path) as partial:
        partial.write_bytes(proto.SerializeToString())
    say_where("Wrote the model to", path)


# ---- ramify serve ---------------------------------------------------------------------------


@command
def serve(
    model: ModelFile,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    max_error: MaxError = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 chooses one.")] = 8000,
    max_bytes: Annotated[int, typer.Option(min=1, help="Largest request in bytes.")] = 10 << 20,
    max_rows: Annotated[
        int, typer.Option(min=1, help="Largest number of rows in a request.")
    ] = 10_000,
    max_values: Annotated[
        int, typer.Option(min=1, help="Most probabilities (rows x labels) in an answer.")
    ] = 5_000_000,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Most connections at a time; others get status 503.")
    ] = 2_000,
    workers: Annotated[
        int, typer.Option(min=1, max=256, help="Processes, each with the model in memory.")
    ] = 1,
) -> None:
    """Answer requests for predictions over HTTP, as JSON.

    ``ramify serve species.ramify --port 8000 --workers 2``
    """
    check_exists(model)
    import_extra("uvicorn", "serve")
    import_extra("httptools", "serve")
    from ramify.apps.web_server import open_socket, run_server, run_workers

    limits = {"max_bytes": max_bytes, "max_rows": max_rows, "max_values": max_values}
    make_app = ServiceOf(model, max_error, limits)
    app = make_app()  # also refuses a bad model before any process is started
    with open_socket(host, port) as listening:
        say(f"Listening on http://{host}:{listening.getsockname()[1]} (Ctrl-C stops it)")
        if workers == 1:
            run_server(app, listening, max_connections)
        else:
            del app
            run_workers(make_app.or_end, listening, max_connections, workers)


@dataclass(frozen=True)
class ServiceOf:
    """Makes the web service of a model file, also in another process."""

    path: Path
    max_error: float | None
    limits: dict[str, int]

    def __call__(self) -> Any:
        """Read the model and return its application."""
        from ramify.apps.predicting import keep_promise, load_classifier, remembered_settings
        from ramify.apps.serving import make_app

        settings = remembered_settings(self.path)
        return make_app(
            keep_promise(load_classifier(self.path), self.max_error),
            dates=settings.dates or (settings.found or settings).dates,
            **self.limits,
        )

    def or_end(self) -> Any:
        """Return the application, or end this process with a line that says why there is none."""
        try:
            return self()
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            say(f"Note: a process of the service ends: {error}", soft_wrap=True)
            raise SystemExit(1) from None


# ---- members of a vote ----------------------------------------------------------------------


@dataclass(frozen=True)
class Member:
    """A model with trees, and how it is called in the model around it."""

    model: Any
    name: str = ""  # empty if it is the whole model
    weight: float | None = None  # in a vote
    others: tuple[str, ...] = ()  # names to choose from

    @property
    def words(self) -> str:
        """The member in words."""
        share = "" if self.weight is None else f", which has {self.weight:.0%} of the vote"
        return f"the member {self.name}{share}"


def choose_member(model: Any, path: Path, name: str | None = None) -> Member:
    """Return the model itself if it has trees, or else the named or the weightiest member."""
    members = _members(model)
    if _has_trees(model) or (not members and name is None):
        if name is not None:
            raise ValueError(
                f"--member is for models made of others, got {path}, a {type(model).__name__}. "
                "Omit it."
            )
        return Member(model)
    names = tuple(members)
    weights = dict(zip(names, getattr(model, "weights_", ()), strict=False))
    if name is not None and name not in members:
        raise ValueError(
            f"--member must be one of {', '.join(names)}, got {name!r}.{did_you_mean(name, names)}"
        )
    # Probabilities are easier to read than the margins of boosted trees.
    order = sorted(names, key=lambda one: (_has_margins(members[one]), -weights.get(one, 0.0)))
    chosen = name or next((one for one in order if _has_trees(members[one])), order[0])
    found = members[chosen]
    if not _has_trees(found) and _members(found):  # a classifier around a tree
        found = choose_member(found, path).model
    return Member(found, chosen, weights.get(chosen), names)


def say_member(member: Member) -> None:
    """Print which member of a model is shown."""
    if member.name:
        which = f"; choose with --member: {', '.join(member.others)}" * (len(member.others) > 1)
        of = counted(len(member.others), "member")
        say(f"Note: the model has {of} and is shown by {member.words}{which}", soft_wrap=True)


def _members(model: Any) -> dict[str, Any]:
    """Return the fitted models inside a model by name."""
    named = getattr(model, "named_estimators_", None)
    if named is not None:
        return {str(name): one for name, one in named.items()}
    listed = getattr(model, "estimators_", None)
    if isinstance(listed, list):
        return {str(k): one for k, one in enumerate(listed, 1)}
    inside = getattr(model, "estimator_", None)
    return {} if inside is None else {type(inside).__name__: inside}


def _has_trees(model: Any) -> bool:
    found = model._as_trees() if hasattr(model, "_as_trees") else None
    return found is not None and bool(found.trees)


def _has_margins(model: Any) -> bool:
    return _has_trees(model) and model._as_trees().unit == "margin"
