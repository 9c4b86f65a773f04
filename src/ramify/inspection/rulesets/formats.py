"""Format rules as text, as a pandas data frame and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import counted, import_extra
from ramify.inspection.outline import LabelChoice, make_outline
from ramify.inspection.rulesets.extraction import Rule
from ramify.labels.hierarchy import Hierarchy

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
