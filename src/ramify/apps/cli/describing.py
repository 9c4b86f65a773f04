"""Format summaries as JSON and as rich text."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from ramify._messages import counted
from ramify.apps.cli.evaluating import EvaluationSummary, json_rows
from ramify.apps.cli.training import TrainingSummary
from ramify.inspection.page.performance import TITLES
from ramify.io.tables.table import Table
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.blend import BlendClassifier
from ramify.meta.selective import SelectiveClassifier
from ramify.metrics import Report
from ramify.metrics.reports import aligned
from ramify.model_selection import ModelChoice

_N_IMPORTANT = 10
_UNDEFINED = "undefined"


def data_facts(data: Table) -> dict[str, Any]:
    """Count rows, features, missing values and labels."""
    facts: dict[str, Any] = {
        "name": data.name,
        "rows": int(data.X.shape[0]),
        "features": len(data.feature_names),
        "nominal": len(data.categories),
        "unknown_share": _missing_share(data.X),
    }
    if data.y is not None and data.hierarchy is not None:
        hierarchy: Hierarchy = data.hierarchy
        facts |= {
            "labels": hierarchy.n_labels,
            "leaves": len(hierarchy.leaves),
            "levels": hierarchy.depth,
            "kind": "tree" if hierarchy.is_tree else "DAG",
            "labels_per_row": round(float(data.y.sum()) / max(1, data.y.shape[0]), 2),
            "unlabelled_rows": int((np.diff(data.y.indptr) == 0).sum()),
        }
    return facts


def _missing_share(X: Any) -> float:
    if hasattr(X, "isna"):
        return float(X.isna().to_numpy().mean()) if X.size else 0.0
    cells = X.data if hasattr(X, "indptr") else X
    missing = int(np.isnan(np.asarray(cells, dtype=float)).sum())
    return missing / max(1, int(np.prod(X.shape)))


def training_facts(
    summary: TrainingSummary, path: Path, dropped: dict[str, str]
) -> dict[str, Any]:
    """Return the content of `print_training` as a dict for JSON."""
    return {
        "data": data_facts(summary.data),
        "left_out": list(dropped),
        "model": type(summary.model).__name__,
        "scores": {
            name: [_defined(value) for value in values] for name, values in summary.scores.items()
        },
        "baseline": {name: _defined(value) for name, value in summary.baseline.items()},
        **({} if summary.choice is None else _choice_facts(summary.choice)),
        **(_blend_facts(summary.model) if isinstance(summary.model, BlendClassifier) else {}),
        "importances": summary.importances[:_N_IMPORTANT],
        "fit_seconds": round(summary.seconds, 3),
        "file": str(path),
    }


def _blend_facts(model: BlendClassifier) -> dict[str, Any]:
    weights = zip(model.named_estimators_, model.weights_.tolist(), strict=True)
    return {"members": dict(weights), "members_left_out": model.left_out_}


def _choice_facts(choice: ModelChoice) -> dict[str, Any]:
    return {
        "chosen": choice.name,
        "reason": choice.reason,
        "compared": [
            {
                "name": trial.name,
                choice.scoring: _defined(trial.mean(choice.scoring)),
                "sd": _defined(trial.sd(choice.scoring)),
                "fold_seconds": [round(seconds, 3) for seconds in trial.fold_seconds],
                "note": trial.note,
            }
            for trial in choice.trials
        ],
        "total_seconds": round(choice.seconds, 3),
    }


def print_training(
    console: Any, summary: TrainingSummary, path: Path, dropped: dict[str, str]
) -> None:
    """Print a summary of the data, the scores and the important features of a model."""
    from rich.markup import escape

    for line in _data_lines(data_facts(summary.data), dropped):
        console.print(line)
    if summary.choice is not None:
        console.print()
        _print_choice(console, summary.choice)
    if summary.scores:
        console.print()
        _print_scores(console, summary)
    if summary.importances:
        console.print("\n[bold]Most important features[/bold]")
        _print_importances(console, summary.importances[:_N_IMPORTANT])
    if isinstance(summary.model, BlendClassifier):
        console.print()
        for line in _blend_lines(summary.model):
            console.print(line, highlight=False)
    rows = "all rows"
    if isinstance(summary.model, SelectiveClassifier):
        _print_promise(console, summary.model)
        rows = "the other rows"
    console.print(
        f"\n[bold]{type(summary.model).__name__}[/bold], fitted on {rows} in "
        f"{summary.seconds:.2f} s, saved to [bold]{escape(str(path))}[/bold]",
        highlight=False,
        soft_wrap=True,
    )


def _blend_lines(model: BlendClassifier) -> Iterator[str]:
    """Yield the members of a blend with their weights, and those that are left out."""
    members = zip(model.named_estimators_, model.weights_.tolist(), strict=True)
    shares = ", ".join(f"{name} {weight:.0%}" for name, weight in members)
    yield f"[bold]The blend[/bold]: {shares}, by held-out rows"
    for name, reason in model.left_out_.items():
        yield f"without {name}: {reason}"


def _data_lines(facts: dict[str, Any], dropped: dict[str, str]) -> Iterator[str]:
    from rich.markup import escape

    kinds = f" ({facts['nominal']} nominal)" if facts["nominal"] else ""
    missing = f", {facts['unknown_share']:.1%} missing values" * (facts["unknown_share"] > 0)
    yield (
        f"[bold]{escape(facts['name'] or 'data')}[/bold]: {counted(facts['rows'], 'row')}, "
        f"{counted(facts['features'], 'feature')}{kinds}{missing}"
    )
    if "labels" in facts:
        labels = f"{counted(facts['labels'], 'flat label')}; {facts['labels_per_row']:g} per row"
        if facts["levels"] > 1:
            labels = (
                f"a {facts['kind']} of {counted(facts['labels'], 'label')} on "
                f"{counted(facts['levels'], 'level')}, "
                f"{counted(facts['leaves'], 'leaf', 'leaves')}; {facts['labels_per_row']:g} "
                "per row including ancestors"
            )
        without = facts["unlabelled_rows"]
        labels += f"; {counted(without, 'row')} without labels" * (without > 0)
        yield f"[bold]labels[/bold]: {labels}"
    if dropped:
        listed = ", ".join(f"{name} ({reason})" for name, reason in dropped.items())
        yield f"[bold]left out[/bold]: {escape(listed)}"


def _print_choice(console: Any, choice: ModelChoice) -> None:
    from rich.markup import escape
    from rich.table import Table as RichTable

    folds = counted(choice.n_folds, "fold")
    table = RichTable(
        title=f"Models compared on {folds} in {choice.seconds:.1f} s", title_justify="left"
    )
    for name in ("model", TITLES[choice.scoring], "± sd", "s per fold", "note"):
        table.add_column(name, justify="left" if name in ("model", "note") else "right")
    for trial in choice.trials:
        mean, sd = trial.mean(choice.scoring), trial.sd(choice.scoring)
        chosen = "chosen" if trial.name == choice.name else ""
        table.add_row(
            escape(trial.name),
            "" if isnan(mean) else f"{mean:.4f}",
            "" if isnan(sd) else f"{sd:.4f}",
            "" if isnan(trial.seconds) else f"{trial.seconds:.2f}",
            escape(", ".join(filter(None, (chosen, trial.note)))),
        )
    if choice.n_folds:
        console.print(table)
    console.print(f"[bold]chosen[/bold]: {escape(choice.reason)}", highlight=False)


def _print_scores(console: Any, summary: TrainingSummary) -> None:
    from rich.table import Table as RichTable

    n_folds = len(next(iter(summary.scores.values())))
    table = RichTable(
        title=f"{n_folds}-fold cross-validation (1 is perfect; baseline: label frequencies)",
        title_justify="left",
    )
    for name in ("measure", "model", "± sd", "baseline"):
        table.add_column(name, justify="left" if name == "measure" else "right")
    for measure, values in summary.scores.items():
        known = [value for value in values if not isnan(value)]
        table.add_row(
            TITLES[measure],
            f"{mean(known):.3f}" if known else _UNDEFINED,
            f"{stdev(known):.3f}" if len(known) > 1 else "",
            _UNDEFINED if isnan(baseline := summary.baseline[measure]) else f"{baseline:.3f}",
        )
    console.print(table)
    n_undefined = max(sum(map(isnan, values)) for values in summary.scores.values())
    if n_undefined:
        console.print(
            f"Some measures are undefined in {n_undefined} of {n_folds} folds, whose test rows "
            "have no labels; the means are over the other folds.",
            highlight=False,
        )
    if summary.is_below_baseline:
        console.print(
            "[bold]The model is no better than the frequencies of the labels.[/bold] It learned "
            "chance patterns of these rows, or the features say little about the labels. "
            + _ADVICE.get(type(summary.model).__name__, "Compare models with --model auto."),
            highlight=False,
        )


_ADVICE = {
    "PCTClassifier": "A smaller tree, --set f_test=0.01, or a forest, --model forest, learns less "
    "of it by heart."
}


def _defined(value: float) -> float | None:
    return None if isnan(value) else value


def _print_promise(console: Any, model: SelectiveClassifier) -> None:
    """Print what is promised, and how specific answers are for this and other promises."""
    n_rows = counted(len(model.confidences_), "row")
    what = {
        "wrong": "answers are wrong",
        "missed": "labels of a row are missed",
        "false": "predicted labels are false",
    }[model.errors_]
    console.print(
        f"\nPromise: at most {model.max_error:.3g} of the {what}, on average, by {n_rows} that "
        "the model was not fitted on",
        highlight=False,
    )
    if model.errors_ != "wrong":
        return
    shares = sorted({0.01, 0.05, 0.1, model.max_error})
    for share, depths in zip(shares, model.answer_depths(max_errors=shares), strict=True):
        reached = ", ".join(f"level {k} {depth:.0%}" for k, depth in enumerate(depths, 1))
        console.print(f"  {share:6.3g}  rows with an answer down to {reached}", highlight=False)


def _print_importances(console: Any, importances: list[tuple[str, float]]) -> None:
    width = max(len(name) for name, _ in importances)
    most = importances[0][1]
    for name, share in importances:
        bar = "█" * max(1, round(24 * share / most))
        console.print(f"  {name:<{width}}  {share:5.1%}  {bar}", highlight=False, markup=False)


def _answer_lines(answers: Report) -> Iterator[str]:
    """Yield how many rows get an answer down to each level, for some shares of errors."""
    levels = [name for name in answers.columns if name.startswith("level ")]
    promised = "promise" in answers.columns
    yield (
        "Rows with an answer down to each level, by the promise of the model"
        if promised
        else "Rows with an answer down to each level, if answers end before improbable labels"
    )
    first = ["promise", "wrong"] if promised else ["errors"]
    rows = [
        [*(f"{row[name]:.2%}" for name in first), *(f"{row[name]:.0%}" for name in levels)]
        for row in answers.rows()
    ]
    yield from aligned([[*first, *levels], *rows])
    if not promised:
        yield "For a promise about other rows, train a model with --max-error"


def evaluation_facts(
    summary: EvaluationSummary, files: list[Path], *, of_training: bool
) -> dict[str, Any]:
    """Return the result of an evaluation as a dict for JSON."""
    return {
        "data": data_facts(summary.data),
        "of_training": of_training,
        "threshold": summary.threshold,
        "measures": json_rows(summary.figures),
        "answers": None if summary.answers is None else json_rows(summary.answers),
        "drift": None if summary.drift is None else json_rows(summary.drift),
        "notes": list(summary.notes),
        "files": [str(file) for file in files],
    }


def _drift_lines(drift: Report) -> Iterator[str]:
    """Yield a table of the labels that differ from the training rows, the clearest first."""
    n_labels = len(set(drift.columns["label"]))
    yield f"Labels that differ from the training rows: {n_labels:,}"
    rows = list(drift.rows())
    cells = [
        [f"{row['label']}", row["measure"], f"{row['before']:.3f}", f"{row['after']:.3f}"]
        for row in rows[:_SHOWN_DRIFT]
    ]
    yield from aligned([["label", "", "training", "here"], *cells])
    if len(rows) > _SHOWN_DRIFT:
        yield f"… and {len(rows) - _SHOWN_DRIFT:,} more; --out FOLDER writes all to drift.csv"


_SHOWN_DRIFT = 10


def print_evaluation(console: Any, summary: EvaluationSummary, files: list[Path]) -> None:
    """Print the result of an evaluation."""
    for line in _data_lines(data_facts(summary.data), {}):
        console.print(line)
    chosen = (
        "chosen by the model, as in ramify predict"
        if summary.threshold is None
        else f"labels with a probability of at least {summary.threshold:g}"
    )
    console.print(f"[bold]label sets[/bold]: {chosen}", highlight=False)
    console.print()
    console.print(str(summary.figures), highlight=False, markup=False)
    if summary.answers is not None:
        console.print()
        for line in _answer_lines(summary.answers):
            console.print(line, highlight=False, markup=False)
    if summary.drift is not None and len(summary.drift):
        console.print()
        for line in _drift_lines(summary.drift):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    for note in summary.notes:
        console.print(f"\nNote: {note}", highlight=False, markup=False)
    if files:
        written = ", ".join(str(file) for file in files)
        console.print(f"\nFiles written: {written}", highlight=False, soft_wrap=True, markup=False)
