"""The rules of a model, one per leaf, with support, precision and lift, and their formats."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import counted, import_extra
from ramify._validation import Label, check_same_length
from ramify.inspection.outline import LabelChoice, make_outline
from ramify.inspection.rulesets.extraction import (
    Columns,
    LabelRule,
    Rule,
    match_rows,
    measure_rules,
    merge_equal,
    read_rules,
    root_prior,
)
from ramify.inspection.summary import ModelSummary, read_tree_rows, summarise_labels
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy

__all__ = [
    "LabelRule",
    "Rule",
    "RuleSet",
    "frame_of_rules",
    "json_of_rules",
    "rules",
    "text_of_rules",
]


class RuleSet(Sequence[Rule]):
    """The rules of a model, sorted by decreasing coverage.

    Parameters
    ----------
    found : iterable of Rule
        The rules.
    model : estimator
        The model.
    summary : ModelSummary
        The trees of the model.
    prior : ndarray of shape (n_labels,)
        Fraction of all rows that have each label.

    Attributes
    ----------
    hierarchy : Hierarchy
        The label hierarchy.
    prior : ndarray of shape (n_labels,)
        Fraction of all rows that have each label.
    """

    def __init__(
        self,
        found: Iterable[Rule],
        model: Any,
        summary: ModelSummary,
        prior: NDArray[np.float64],
    ) -> None:
        self._rules = tuple(sorted(found, key=lambda rule: -rule.coverage))
        self._model = model
        self._summary = summary
        self.prior = prior

    @property
    def hierarchy(self) -> Hierarchy:
        """The label hierarchy."""
        return self._summary.hierarchy

    def __getitem__(self, number: Any) -> Any:
        return self._rules[number]

    def __len__(self) -> int:
        return len(self._rules)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'rule')} of a {self._summary.kind}>"

    def for_label(self, label: Label, n_best: int | None = None) -> list[LabelRule]:
        """Return the rules in favour of a label, best first.

        Parameters
        ----------
        label : str or int
            A label.
        n_best : int, optional
            Maximum number of rules.

        Returns
        -------
        list of LabelRule
            The rules with a lift above 1, sorted by coverage × lift and then by precision.
        """
        label = self.hierarchy.find(label)
        position = self.hierarchy.index(label)
        prior = float(self.prior[position])
        found = []
        for rule in self._rules:
            k = int(np.searchsorted(rule.labels, position))
            if k == len(rule.labels) or rule.labels[k] != position:
                continue
            precision = float(rule.precision[k])
            if precision > prior > 0:
                lift = precision / prior
                found.append(LabelRule(rule, label, precision, lift, rule.coverage * lift))
        found.sort(key=lambda entry: (-entry.score, -entry.precision))
        return found[:n_best]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict with the rules.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n, n_labels)
            The same as the model's `predict_proba`, except for rows with missing values in a
            forest with deduplicated rules: such rows are divided according to the mean shares of
            the trees that contain the rule.
        """
        if self._summary.combination != "mean":
            raise ValueError(
                f"the prediction of a {self._summary.kind} is not a mean over its trees, so rules "
                "cannot reproduce it. Use predict_proba of the model."
            )
        X = read_tree_rows(self._model, self._summary, X)
        n_trees = len(self._summary.trees)
        scores = np.zeros((X.shape[0], self.hierarchy.n_labels))
        columns = Columns(X)
        for rule in self._rules:
            parts = match_rows(rule.conditions, columns)
            rows = np.flatnonzero(parts)
            values = rule.probability * (rule.n_trees / n_trees)
            scores[np.ix_(rows, rule.labels)] += np.multiply.outer(parts[rows], values)
        return np.minimum(scores, 1.0)

    def to_text(
        self, *, threshold: float = 0.5, max_labels: int | None = None, n_best: int | None = None
    ) -> str:
        """Format the rules as text.

        Parameters
        ----------
        threshold : float
            Show labels with at least this probability, and rules that have such labels.
        max_labels : int, optional
            Maximum number of labels per rule; those whose precision differs most from their
            frequency in all rows are shown.
        n_best : int, optional
            Maximum number of rules.

        Returns
        -------
        str
            The text.
        """
        choice = LabelChoice(threshold, None, max_labels)
        choice.check()
        concluding = [rule for rule in self if (rule.precision >= threshold).any()]
        shown = concluding[:n_best]
        text = text_of_rules(shown, self.hierarchy, self.prior, choice) if shown else ""
        notes = (
            (len(concluding) - len(shown), "more rules"),
            (len(self) - len(concluding), f"rules without a label of at least {threshold:g}"),
        )
        return text + "".join(f"… {count} {what}\n" for count, what in notes if count)

    def to_frame(self, *, min_precision: float = 0.5) -> Any:
        """Return a pandas data frame with one row per rule and label.

        Parameters
        ----------
        min_precision : float
            Leave out labels with a lower precision.

        Returns
        -------
        pandas.DataFrame
            Columns rule, label, precision, lift, score, support, coverage, n_trees, conditions,
            sorted by label with the best rule first.
        """
        return frame_of_rules(self, self.hierarchy, self.prior, min_precision)

    def to_json(
        self,
        *,
        min_precision: float = 0.0,
        label: Label | None = None,
        n_best: int | None = None,
    ) -> str:
        """Return the rules as JSON, with exact bounds and probabilities.

        Parameters
        ----------
        min_precision : float
            Leave out labels with a lower precision.
        label : str or int, optional
            Only the rules in favour of this label, best first, as in `for_label`.
        n_best : int, optional
            Maximum number of rules.

        Returns
        -------
        str
            A list of objects with conditions, support, coverage and labels. Rules without labels
            are left out.
        """
        if label is None:
            concluding = [rule for rule in self if (rule.precision >= min_precision).any()]
            return json_of_rules(concluding[:n_best], self.hierarchy, self.prior, min_precision)
        position = int(self.hierarchy.index(self.hierarchy.find(label)))
        found = [e.rule for e in self.for_label(label) if e.precision >= min_precision]
        return json_of_rules(found[:n_best], self.hierarchy, self.prior, min_precision, position)


def rules(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    labels: Iterable[Label] | None = None,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
    deduplicate: bool = True,
) -> RuleSet:
    """Return the rules of a tree or of a set of trees.

    Rules are simplified without changing their predictions: the tests of a feature are merged
    into one condition, and tests whose leaves all predict the same are left out.

    Parameters
    ----------
    model : PCTClassifier, ensemble, local architecture, or other set of trees
        A fitted model; see `summarise`.
    X, y : array-like, optional
        Rows on which to compute support, precision and lift. By default, the values of the
        training rows are used, which are stored in the trees. Required for gradient boosting:
        probabilities are then fractions of these rows. Must be None for `LabelPowerset` and
        `RAkEL`, whose trees predict label sets.
    labels : iterable of labels, optional
        Restrict the rules to these labels; tests that do not affect them are left out.
    feature_names : sequence of str, optional
        One name per feature. By default, the columns of the data frame passed to `fit`, or x0,
        x1, ….
    categories : mapping of feature name to sequence, optional
        Names of the categories of nominal features. By default, those of the data frame passed
        to `fit`.
    deduplicate : bool
        Whether to merge equal rules of several trees into one rule with mean values.

    Returns
    -------
    RuleSet
        The rules, sorted by decreasing coverage.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> tree = PCTClassifier().fit(X, ["pet/cat", "pet/cat", "pet/dog", "wolf"])
    >>> found = rules(tree, feature_names=["size"])
    >>> print(found.to_text())
    IF size ≤ 2.5  [2 rows, 50 %]
       pet/cat  1.00  ×2.0
    IF size > 3.5  [1 row, 25 %]
       wolf  1.00  ×4.0
    IF 2.5 < size ≤ 3.5  [1 row, 25 %]
       pet/dog  1.00  ×4.0
    <BLANKLINE>
    >>> found.for_label("pet")[0].rule.to_text()
    'size ≤ 2.5'
    """
    if (X is None) != (y is None):
        given, missing = ("X", "y") if y is None else ("y", "X")
        raise ValueError(f"{given} was passed without {missing}. Pass both or neither.")
    summary = summarise_labels(model, feature_names, categories)
    if summary.combination == "sum":
        if X is None:
            raise ValueError(
                f"X and y must be given for a {summary.kind}, whose trees have margins instead of "
                "shares of rows. Pass rows to measure its rules on, e.g. the training rows."
            )
        return _boosted_rules(model, summary, X, y, labels)
    wanted = None if labels is None else np.sort(_positions(summary.hierarchy, labels))
    found = [rule for tree in summary.trees for rule in read_rules(tree, wanted)]
    if deduplicate and len(summary.trees) > 1:
        found = merge_equal(found, by_tree=summary.combination != "mean")
    if X is None:
        return RuleSet(found, model, summary, root_prior(summary))
    return _measured(found, model, summary, X, y)


def _positions(hierarchy: Hierarchy, labels: Iterable[Label]) -> NDArray[np.int32]:
    return hierarchy.indices(map(hierarchy.find, labels))


def _measured(found: Iterable[Rule], model: Any, summary: ModelSummary, X: Any, y: Any) -> RuleSet:
    """Return rules with their support and precision on given rows."""
    if summary.hierarchy != model.hierarchy_:
        raise ValueError(
            f"X and y must be None for a {summary.kind}, got rows: its trees predict label sets "
            "instead of labels. Omit X and y to use the values of the training rows."
        )
    rows = read_tree_rows(model, summary, X)
    Y = read_labels(y, summary.hierarchy).Y
    check_same_length(rows.shape[0], Y.shape[0])
    prior: NDArray[np.float64] = np.asarray(Y.mean(axis=0), dtype=np.float64).ravel()
    return RuleSet(measure_rules(found, rows, Y), model, summary, prior)


def _boosted_rules(
    model: Any, summary: ModelSummary, X: Any, y: Any, labels: Iterable[Label] | None
) -> RuleSet:
    """Return the leaves of boosted trees as rules about the labels, measured on given rows."""
    hierarchy = model.hierarchy_
    wanted = range(hierarchy.n_labels) if labels is None else sorted(_positions(hierarchy, labels))
    positions = np.array(wanted, dtype=np.int64)
    found = [
        replace(rule, labels=positions)
        for tree in summary.trees
        for rule in read_rules(tree, None)
    ]
    summary = replace(summary, hierarchy=hierarchy)
    measured = _measured(found, model, summary, X, y)
    shares = [replace(rule, probability=rule.precision) for rule in measured]
    return RuleSet(shares, model, summary, measured.prior)


# ---- the list in every format ---------------------------------------------------------------


_COLUMNS = [
    "rule",
    "label",
    "precision",
    "lift",
    "score",
    "support",
    "coverage",
    "n_trees",
    "conditions",
]


def text_of_rules(
    found: Sequence[Rule],
    hierarchy: Hierarchy,
    prior: NDArray[np.float64],
    choice: LabelChoice,
) -> str:
    """Format rules as IF lines, each followed by its labels with precision and lift."""
    lines = []
    for rule in found:
        lines.append(f"IF {rule.to_text()}  [{_count(rule)}]")
        lines.extend(f"   {line}" for line in _label_lines(rule, hierarchy, prior, choice))
    return "\n".join(lines) + "\n"


def _count(rule: Rule) -> str:
    rows = f"{round(rule.support, 1):g} row{'' if round(rule.support, 1) == 1 else 's'}"
    trees = f", {counted(rule.n_trees, 'tree')}" if rule.n_trees > 1 else ""
    return f"{rows}, {rule.coverage:.0%}{trees}".replace("%", " %")


def _label_lines(
    rule: Rule, hierarchy: Hierarchy, prior: NDArray[np.float64], choice: LabelChoice
) -> Iterator[str]:
    precision = np.zeros(hierarchy.n_labels)
    precision[rule.labels] = rule.precision
    outline = make_outline(hierarchy, precision, prior, choice)
    names = [f"{'  ' * line.level}{line.name}" for line in outline.lines]
    width = max(map(len, names), default=0)
    for line, name in zip(outline.lines, names, strict=True):
        share = prior[line.label]
        lift = f"  ×{line.probability / share:.1f}" if share else ""
        yield f"{name:<{width}}  {line.probability:.2f}{lift}"
    if outline.n_hidden:
        yield f"… {counted(outline.n_hidden, 'more label')}"
    if not outline.lines:
        yield f"no label with precision ≥ {choice.threshold:g}"


def frame_of_rules(
    found: Sequence[Rule],
    hierarchy: Hierarchy,
    prior: NDArray[np.float64],
    min_precision: float,
) -> Any:
    """Return one row per rule and label, ordered by label and score."""
    pandas = import_extra("pandas", "tables")
    records = []
    for number, rule in enumerate(found):
        for label, precision in zip(rule.labels.tolist(), rule.precision.tolist(), strict=True):
            if precision < min_precision:
                continue
            lift = precision / prior[label] if prior[label] else float("nan")
            records.append(
                (
                    number,
                    label,
                    precision,
                    lift,
                    rule.coverage * lift,
                    rule.support,
                    rule.coverage,
                    rule.n_trees,
                    rule.to_text(),
                )
            )
    frame = pandas.DataFrame.from_records(records, columns=_COLUMNS)
    frame = frame.sort_values(
        ["label", "score", "precision"], ascending=[True, False, False], kind="stable"
    )
    frame["label"] = [hierarchy.labels[label] for label in frame["label"]]
    return frame.reset_index(drop=True)


def json_of_rules(
    found: Sequence[Rule],
    hierarchy: Hierarchy,
    prior: NDArray[np.float64],
    min_precision: float,
    only: int | None = None,
) -> str:
    """Return a JSON list of rules, with exact bounds and probabilities.

    Labels below `min_precision` or other than `only` are left out, and rules without any other.
    """
    content = []
    for rule in found:
        said = zip(
            rule.labels.tolist(), rule.probability.tolist(), rule.precision.tolist(), strict=True
        )
        then = [
            {
                "label": hierarchy.labels[label],
                "probability": probability,
                "precision": precision,
                "lift": precision / float(prior[label]) if prior[label] else None,
            }
            for label, probability, precision in said
            if precision >= min_precision and only in (None, label)
        ]
        if then:
            content.append(
                {
                    "if": [condition.to_dict() for condition in rule.conditions],
                    "support": rule.support,
                    "coverage": rule.coverage,
                    "n_trees": rule.n_trees,
                    "then": then,
                }
            )
    return json.dumps(content, ensure_ascii=False, indent=1)
