"""Write an HTML page to explore a model: trees, labels, rows and features."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ramify._validation import Label, check_number
from ramify.inspection.page.data import PageRows, describe_answers, describe_model, describe_rows
from ramify.inspection.page.performance import Performance, describe_certainty
from ramify.inspection.summary import ModelSummary, summarise_labels
from ramify.io.files import replacing
from ramify.meta.selective import SelectiveClassifier

_NO_ROWS = np.array([], dtype=np.intp)
_SCRIPTS = (
    "model",
    "dom",
    "outline",
    "tree",
    "panels",
    "related",
    "example",
    "certainty",
    "answer",
    "main",
)


def explore(
    model: Any,
    X: Any = None,
    y: Any = None,
    path: Any = "page.html",
    *,
    title: str | None = None,
    names: Sequence[Any] | None = None,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
    max_trees: int = 10,
    max_rows: int = 1000,
) -> Path:
    """Write a self-contained HTML page to explore a model.

    The page begins with how good the model is on the rows, if their labels are given: measures
    beside those of a baseline, level by level and branch by branch. If each row has one path, a
    slider sets how many answers may be wrong, and the page shows how specific answers are then, by
    the promise of a `SelectiveClassifier` or else by thresholds chosen on the rows. Then it shows
    the decision tree, which can be panned, zoomed, expanded and collapsed; the labels of each node
    with the change from its parent; for each label, the leaves that predict it and its
    precision-recall curve; the path of a row through the tree; and the feature importances. It can
    be used with the keyboard and with a screen reader. The page loads no external resources.
    Boosted trees are shown with the labels (label sets for the loss "softmax") whose margins they
    move, and BR-DT with its graph of related labels.

    Parameters
    ----------
    model : PCTClassifier, ensemble, local architecture, or other set of trees
        A fitted model; see `summarise`. A `SelectiveClassifier` around one is shown by its trees.
    X : array-like, sparse matrix or data frame, optional
        Rows to include in the page.
    y : array-like, optional
        Labels of the rows, for precision-recall curves. Not used if the trees predict label sets,
        as in `RAkEL`.
    path : str or path
        File to write.
    title : str, optional
        Title of the page.
    names : sequence of str, optional
        Names of the rows. By default, the index of a data frame, or row numbers.
    feature_names, categories
        As in `export_text`.
    max_trees : int
        Maximum number of trees to include.
    max_rows : int
        Maximum number of rows to include, evenly spaced. Curves are computed from all rows.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ramify import PCTClassifier, load_animals
    >>> animals = load_animals()
    >>> tree = PCTClassifier(animals.hierarchy).fit(animals.X, animals.y)
    >>> with TemporaryDirectory() as folder:
    ...     page = explore(tree, animals.X, animals.y, Path(folder, "animals.html"))
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_number("max_trees", max_trees, 1, whole=True)
    check_number("max_rows", max_rows, 1, whole=True)
    if X is None and y is not None:
        raise ValueError("y was passed without X. Pass both or neither.")
    shown = model.estimator_ if isinstance(model, SelectiveClassifier) else model
    summary = summarise_labels(shown, feature_names, categories)
    rows = None if X is None else PageRows(X, y, names, max_rows)
    return write_page(
        shown, summary, Path(path), rows, title=title, max_trees=max_trees, whole=model
    )


def write_page(
    model: Any,
    summary: ModelSummary,
    target: Path,
    rows: PageRows | None,
    *,
    title: str | None,
    max_trees: int,
    whole: Any = None,
    trained: Performance | None = None,
    note: str = "",
    label: Label | None = None,
) -> Path:
    """Write the page of a model."""
    data = describe_model(model, summary, max_trees) | {"note": note}
    if label is not None:
        data["start"] = summary.hierarchy.index(summary.hierarchy.find(label))
    if rows is not None:
        data |= describe_rows(model, summary, rows, trained, whole)
    else:
        data |= {} if trained is None else {"answers": describe_answers(None, trained)}
        certainty = describe_certainty(model if whole is None else whole, None, None, _NO_ROWS)
        data |= {"certainty": certainty} if certainty else {}
    text = _fill_template(title or f"Exploring a {summary.kind}", data)
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return target


def _fill_template(title: str, data: Mapping[str, Any]) -> str:
    folder = files("ramify.inspection.page").joinpath("template")
    script = "\n".join(
        folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS
    )
    # In JSON within HTML only "<" must be escaped, because it could end the element.
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    parts = {
        "style": folder.joinpath("style.css").read_text(encoding="utf-8"),
        "script": script,
        "title": escape(title),
        "data": content.replace("<", "\\u003c"),
    }
    page = folder.joinpath("page.html").read_text(encoding="utf-8")
    for name in ("style", "script", "title", "data"):  # data last, as it may contain placeholders
        page = page.replace("{{" + name + "}}", parts[name])
    return page
