"""Train on annotations of an ontology: join them with a table of features."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ramify._messages import shorten
from ramify.apps.reading.any_file import check_has_ids
from ramify.io import Annotations, ReadLimits, read_annotations
from ramify.io.tables import Table
from ramify.labels.ontology import Ontology

__all__ = [
    "AnnotationChoice",
    "annotate",
    "read_chosen_annotations",
    "row_identifiers",
]


@dataclass(frozen=True)
class AnnotationChoice:
    """The options of the command line that choose annotations."""

    annotations: Path | None  # A GAF or GPAD file, or a table of targets and terms
    ontology: Path | None  # an OBO file
    namespace: str | None = None  # the namespace to use
    # Evidence codes and groups to use; those that start with "-" are left out.
    evidence: tuple[str, ...] = ()
    row_ids: str = "object"  # what identifies a row of the annotations
    id_column: str | None = None  # the column of the features with the same identifiers
    min_count: int = 1  # the least number of rows of a label
    limits: ReadLimits = field(default_factory=ReadLimits)  # limits on the size of the annotations

    def check(self) -> None:
        """Raise an error if an option requires another one."""
        if self.annotations is None and (self.namespace or self.evidence):
            given = "--namespace" if self.namespace else "--evidence"
            raise ValueError(f"{given} requires --annotations. Pass a GAF, GPAD or TSV file.")
        if self.annotations is not None and self.ontology is None:
            raise ValueError("--annotations requires --ontology. Pass an OBO file.")


def read_chosen_annotations(
    choice: AnnotationChoice, ontology: Ontology, *, obsolete: str = "replace"
) -> Annotations:
    """Read the annotations that the options of the command line choose."""
    if choice.annotations is None:
        raise ValueError("--annotations is required. Pass a GAF, GPAD or TSV file.")
    kept = [code for code in choice.evidence if not code.startswith("-")]
    excluded = [code[1:] for code in choice.evidence if code.startswith("-")]
    return read_annotations(
        choice.annotations,
        ontology,
        namespace=choice.namespace,
        evidence=kept or None,
        exclude_evidence=excluded,
        row_ids=choice.row_ids,
        obsolete=obsolete,
        limits=choice.limits,
    )


def annotate(table: Table, choice: AnnotationChoice) -> tuple[Table, list[str]]:
    """Give the rows of a table the labels of their annotations."""
    choice.check()
    ontology = Ontology.from_obo(Path(choice.ontology or ""))
    annotations = read_chosen_annotations(choice, ontology)
    column, ids = row_identifiers(table, choice.id_column)
    y = annotations.rows(ids)
    rows = np.flatnonzero(np.diff(y.indptr))
    if not len(rows):
        raise ValueError(
            f"no row of {table.name} has annotations: the column {column!r} has "
            f"{shorten(ids, 3)}, the annotations have {shorten(annotations.ids, 3)}. Pass the "
            "column of identifiers with --id, or what they are with --row-ids."
        )
    hierarchy = annotations.hierarchy.prune(y[rows], choice.min_count)
    kept = [name for name in table.feature_names if name != column]
    annotated = replace(
        table,
        X=table.X.iloc[rows].reset_index(drop=True)[kept],
        y=y[rows][:, annotations.hierarchy.indices(hierarchy.labels)],
        hierarchy=hierarchy,
        feature_names=tuple(kept),
        categories={name: v for name, v in table.categories.items() if name != column},
        sample_weight=None if table.sample_weight is None else table.sample_weight[rows],
        ids=None if table.ids is None else table.ids.iloc[rows].reset_index(drop=True),
    )
    lines = [
        *str(annotations.report).splitlines(),
        f"{len(rows):,} of {len(ids):,} rows have annotations, with {hierarchy.n_labels:,} labels",
    ]
    return annotated, lines


def row_identifiers(table: Table, column: str | None) -> tuple[str, list[str]]:
    """Return the column of identifiers of a table and its values."""
    check_has_ids(table, column)
    values = _distinct_texts(table) if table.ids is None else table.ids
    column = str(values.name)
    if not values.is_unique or bool(values.isna().any()):
        raise ValueError(
            f"--id must be a column of distinct identifiers, got {column!r}, which repeats some "
            "or lacks some. Pass another column."
        )
    return column, [str(value) for value in values]


def _distinct_texts(table: Table) -> Any:
    """Return the first text column with distinct values."""
    if not hasattr(table.X, "columns"):
        raise ValueError(
            f"{table.name} must be a table with named columns, got a sparse file. Use CSV or "
            "parquet."
        )
    found = next((name for name in table.X.columns if _identifies(table.X[name])), None)
    if found is None:
        raise ValueError(
            f"{table.name} has no text column with distinct values. Pass the column of "
            f"identifiers with --id; the columns are {shorten(table.X.columns)}."
        )
    return table.X[found]


def _identifies(values: Any) -> bool:
    is_text = hasattr(values, "cat") or values.dtype.kind not in "biuf"
    return is_text and values.is_unique and not bool(values.isna().any())
