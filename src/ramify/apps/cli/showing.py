"""The demo: compare models on the bundled animals, and train and evaluate a tree."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from sklearn.model_selection import KFold

from ramify.apps.studies.comparing import compare_folds
from ramify.apps.studies.findings import headlines, score_table
from ramify.apps.studies.reading import load_study
from ramify.apps.studies.reports.markdown import table_lines
from ramify.apps.studies.reports.writing import write_reports
from ramify.apps.studies.running import run_study
from ramify.datasets import load_animals
from ramify.io.files import writing_text
from ramify.metrics import hierarchical_f1, mean_auprc, pooled_auprc
from ramify.trees.classifier import PCTClassifier

__all__ = [
    "run",
    "write_demo",
]


_N_SHOWN = 4


@dataclass(frozen=True)
class DemoResult:
    """The results of the demo."""

    data: Any
    model: PCTClassifier
    scores: dict[str, dict[str, float]]
    examples: list[tuple[str, tuple[Any, ...], tuple[Any, ...]]]


def run() -> DemoResult:
    """Cross-validate a tree on the animals, with label frequencies as the baseline."""
    data = load_animals(as_frame=False)
    nominal = [name in data.categories for name in data.feature_names]
    model = PCTClassifier(
        data.hierarchy, min_samples_leaf=2, categorical_features=nominal, random_state=0
    )
    baseline = np.zeros(data.y.shape)
    predicted = np.zeros(data.y.shape)
    for train, test in KFold(10, shuffle=True, random_state=0).split(data.X):
        baseline[test] = np.asarray(data.y[train].mean(axis=0)).ravel()
        predicted[test] = model.fit(data.X[train], data.y[train]).predict_proba(data.X[test])
    scores = {
        "label frequency baseline": _measures(data.y, baseline, data.hierarchy),
        "predictive clustering tree": _measures(data.y, predicted, data.hierarchy),
    }
    shown = np.linspace(0, len(predicted) - 1, _N_SHOWN + 2).astype(int)[1:-1]
    truth = data.hierarchy.decode(data.y[shown])
    guessed = data.hierarchy.decode((predicted[shown] >= 0.5).astype(int))
    names = [data.names[i] for i in shown]
    model.fit(data.X, data.y)
    return DemoResult(data, model, scores, list(zip(names, truth, guessed, strict=True)))


def _measures(Y: Any, scores: Any, hierarchy: Any) -> dict[str, float]:
    return {
        "pooled AU(PRC)": pooled_auprc(Y, scores),
        "mean AUPRC": mean_auprc(Y, scores),
        "hierarchical F1": hierarchical_f1(Y, (scores >= 0.5).astype(int), hierarchy=hierarchy),
    }


def report(result: DemoResult) -> str:
    """Format the results as Markdown."""
    data, hierarchy = result.data, result.data.hierarchy
    labels_per_row = data.y.sum() / data.y.shape[0]
    lines = [
        "# ramify: first steps with the animals",
        "",
        f"{data.X.shape[0]} animals, {data.X.shape[1]} traits "
        f"({len(data.categories)} of them nominal, "
        f"{np.isnan(data.X).mean():.0%} of the values missing).",
        f"{hierarchy.n_labels} labels on {hierarchy.depth} levels, {len(hierarchy.leaves)} of "
        f"them leaves; {labels_per_row:.1f} labels per animal, including ancestors.",
        "",
        "## The labels",
        "",
        "```",
        hierarchy.to_text(max_labels=18).rstrip(),
        "```",
        "",
        "## How well a tree predicts them",
        "",
        "10-fold cross-validation; the predictions of all folds are pooled, and 1 is perfect.",
        "",
    ]
    return "\n".join([*lines, *_score_table(result.scores), "", *_examples(result)])


def _score_table(scores: dict[str, dict[str, float]]) -> list[str]:
    measures = list(next(iter(scores.values())))
    width = max(map(len, scores))
    lines = [
        f"| {'model':<{width}} | {' | '.join(measures)} |",
        f"|{'-' * (width + 2)}|{'|'.join('-' * (len(name) + 1) + ':' for name in measures)}|",
    ]
    for model, row in scores.items():
        cells = [f"{row[name]:>{len(name)}.3f}" for name in measures]
        lines.append(f"| {model:<{width}} | {' | '.join(cells)} |")
    return lines


def _examples(result: DemoResult) -> list[str]:
    tree = result.model.tree_
    lines = [
        "## The tree on all animals",
        "",
        f"{len(tree.feature)} nodes, {result.model.get_n_leaves()} leaves, depth "
        f"{result.model.get_depth()}. The most important features:",
        "",
    ]
    importances = result.model.feature_importances_
    for k in np.argsort(-importances)[:5]:
        bar = "█" * max(1, round(30 * importances[k]))
        lines.append(f"    {result.data.feature_names[k]:<15} {importances[k]:.2f} {bar}")
    lines += ["", "## Some animals that were not in the training data", ""]
    for name, truth, guessed in result.examples:
        lines.append(f"**{name}**")
        lines.append(f"- true: {', '.join(map(str, truth))}")
        lines.append(
            f"- predicted: {', '.join(map(str, guessed)) or '(no probability of 0.5 or more)'}"
        )
        lines.append("")
    return lines


def _study(folder: Path) -> tuple[str, Path]:
    """Run the small study of the animals and summarize its results."""
    results = run_study(load_study("animals"), folder)
    quantity = results.measures[0]
    (comparison,) = compare_folds(results, quantity, "animals")
    lines = [
        "# ramify: which model is best for the animals?",
        "",
        *headlines(results),
        "",
        comparison.words,
        "",
        *table_lines(score_table(results, quantity)),
        "",
        f"{quantity.title}, {results.study['protocol']}, means over the folds. The results are "
        "stored; running the demo again does not compute them again.",
        "",
    ]
    return "\n".join(lines), write_reports(folder)[0]


def write_demo(path: Path) -> None:
    """Run the demo, write its report and print it."""
    study, page = _study(path.parent / "animals")
    text = f"{study}\n{report(run())}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing_text(path) as file:
        file.write(text)
    typer.echo(textwrap.dedent(text))
    typer.echo(f"Report: {path.resolve()}")
    typer.echo(f"Study as an HTML page: {page.resolve()}")
