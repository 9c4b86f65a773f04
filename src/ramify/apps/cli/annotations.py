"""Annotations of an ontology: join them with a table to train, and evaluate as CAFA does."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from ramify._messages import counted, shorten
from ramify._validation import check_number
from ramify.apps.cli.evaluating import write_figure
from ramify.apps.cli.options import AnnotationOptions, CafaOptions
from ramify.apps.cli.running import say
from ramify.apps.predicting import features_for, load_classifier, read_for
from ramify.apps.reading.any_file import check_has_ids
from ramify.apps.reading.settings import DataOptions
from ramify.data.rows import indicator_of_cells
from ramify.io import (
    Annotations,
    ReadLimits,
    read_annotations,
    read_cafa,
    read_information,
    write_cafa,
)
from ramify.io.cafa import best_scores
from ramify.io.files import numbered_lines, writing_text
from ramify.io.tables.table import Table
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.ontology import Ontology
from ramify.metrics import (
    ProteinCurve,
    information_content,
    plot_protein_curves,
    protein_curve,
)
from ramify.metrics.reports import aligned


def read_chosen_annotations(
    chosen: AnnotationOptions,
    ontology: Ontology,
    limits: ReadLimits | None,
    *,
    obsolete: str = "replace",
) -> Annotations:
    """Read the annotations that the options of the command line choose."""
    if chosen.annotations is None:
        raise ValueError("--annotations is required. Pass a GAF, GPAD or TSV file.")
    kept = [code for code in chosen.evidence or () if not code.startswith("-")]
    excluded = [code[1:] for code in chosen.evidence or () if code.startswith("-")]
    return read_annotations(
        chosen.annotations,
        ontology,
        namespace=chosen.namespace,
        evidence=kept or None,
        exclude_evidence=excluded,
        row_ids=chosen.row_ids,
        obsolete=obsolete,
        limits=limits,
    )


def annotate(
    table: Table, chosen: AnnotationOptions, limits: ReadLimits | None, min_count: int
) -> tuple[Table, list[str]]:
    """Give rows the labels of their annotations, of those that at least `min_count` rows have."""
    ontology = Ontology.from_obo(Path(chosen.ontology or ""))
    annotations = read_chosen_annotations(chosen, ontology, limits)
    column, ids = row_identifiers(table, chosen.id_column)
    y = annotations.rows(ids)
    rows = np.flatnonzero(np.diff(y.indptr))
    if not len(rows):
        raise ValueError(
            f"no row of {table.name} has annotations: the column {column!r} has "
            f"{shorten(ids, 3)}, the annotations have {shorten(annotations.ids, 3)}. Pass the "
            "column of identifiers with --id, or what they are with --row-ids."
        )
    hierarchy = annotations.hierarchy.prune(y[rows], min_count)
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


# ---- CAFA: prediction files and measures ----------------------------------------------------


_ROWS_AT_A_TIME = 256
MAX_TERMS = 500


def write_targets(path: Path, model: Any, table: Table, id_column: str | None) -> int:
    """Write the predictions of a model for the rows of a table in CAFA's format."""
    _, ids = row_identifiers(table, id_column)
    blocks = _score_blocks(model, features_for(model, table))
    return write_cafa(path, ids, blocks, model.hierarchy_, max_terms=MAX_TERMS)


def _score_blocks(model: Any, X: Any) -> Iterator[Any]:
    """Yield the probabilities of some rows at a time."""
    for start in range(0, X.shape[0], _ROWS_AT_A_TIME):
        rows = slice(start, start + _ROWS_AT_A_TIME)
        yield model.predict_proba(_safe_indexing(X, rows))


def evaluate_cafa(
    predictions: Path,
    data: Path,
    chosen: AnnotationOptions,
    options: CafaOptions,
    reading: DataOptions,
) -> tuple[dict[str, ProteinCurve], list[str]]:
    """Evaluate a file of predictions, or a model and a table of features."""
    if options.max_terms is not None:
        check_number("--max-terms", options.max_terms, 1, whole=True)
    if chosen.ontology is None:
        raise ValueError("--ontology is required to evaluate annotations. Pass an OBO file.")
    ontology = Ontology.from_obo(chosen.ontology)
    is_model = is_zipfile(predictions)
    if not is_model:
        chosen = replace(chosen, annotations=data)
    elif chosen.annotations is None:
        raise ValueError(
            f"--cafa requires --annotations for the model {predictions}. Pass the true "
            "annotations of the rows."
        )
    truth = read_chosen_annotations(chosen, ontology, reading.limits, obsolete="drop")
    lines = [f"True annotations: {truth.report}"]
    if not truth.ids:
        raise ValueError(f"{chosen.annotations} has no annotations to evaluate. {lines[0]}")
    if is_model:
        model = load_classifier(predictions)
        _compare_versions(model.hierarchy_, ontology)
        most = MAX_TERMS if options.max_terms is None else options.max_terms
        truth, blocks = _predicted(model, data, truth, chosen.id_column, reading)
        scores = _to_terms(best_scores(blocks, most), model.hierarchy_, truth.hierarchy)
    else:
        found = read_cafa(
            predictions,
            ontology,
            truth.hierarchy,
            ids=truth.ids,
            max_terms=options.max_terms,
            limits=reading.limits,
        )
        scores = found.scores
        lines.append(f"Predictions: {str(found.report).replace('annotations', 'lines')}")
    return _curves(truth, scores, ontology, options, reading.limits), lines


def _compare_versions(known: Hierarchy, ontology: Ontology) -> None:
    """Say if the terms of a model are of another version of the ontology."""
    if not known.version or not ontology.version or known.version == ontology.version:
        return
    now = ontology.hierarchy()
    gone = sum(label not in now for label in known.labels)
    lacks = f"does not have {counted(gone, 'term')}" if gone else "has all terms"
    say(
        f"Note: the model was trained on version {known.version} of the terms. The ontology is "
        f"version {ontology.version}, which {lacks} of the model. "
        "To carry the model over, use ramify taxonomy diff and carry"
    )


def _predicted(
    model: Any, data: Path, truth: Annotations, column: str | None, reading: DataOptions
) -> tuple[Annotations, Iterator[Any]]:
    """Return the true annotations of the rows of a table, and their probabilities in blocks."""
    table = read_for(model, data, reading, labelled=False)
    _, ids = row_identifiers(table, column)
    annotated = set(truth.ids)
    rows = [k for k, name in enumerate(ids) if name in annotated]
    if not rows:
        raise ValueError(
            f"no row of {data} has annotations: it has {shorten(ids, 3)}, the annotations have "
            f"{shorten(truth.ids, 3)}. Pass the column of identifiers with --id."
        )
    chosen = tuple(ids[k] for k in rows)
    X = _safe_indexing(features_for(model, table), rows)
    return replace(truth, ids=chosen, y=truth.rows(chosen)), _score_blocks(model, X)


def _to_terms(
    blocks: Iterator[Any], labels: Hierarchy, terms: Hierarchy
) -> sparse.csr_array[np.float64]:
    """Return scores of a model's labels as scores of the terms of the annotations."""
    known = {str(label): k for k, label in enumerate(terms.labels)}
    places = [(k, known[str(x)]) for k, x in enumerate(labels.labels) if str(x) in known]
    to_columns = _selection(places, (labels.n_labels, terms.n_labels))
    return sparse.csr_array(sparse.csr_array(sparse.vstack(list(blocks))) @ to_columns)


def _selection(pairs: list[tuple[int, int]], shape: tuple[int, int]) -> Any:
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return indicator_of_cells(rows, columns, shape, np.float64)


def _curves(
    truth: Annotations,
    scores: Any,
    ontology: Ontology,
    options: CafaOptions,
    limits: ReadLimits | None,
) -> dict[str, ProteinCurve]:
    hierarchy = truth.hierarchy
    information = (
        information_content(truth.y, hierarchy=hierarchy)
        if options.information is None
        else read_information(options.information, hierarchy, limits=limits)
    )
    known = None
    if options.known is not None:
        known = read_annotations(options.known, ontology, hierarchy).rows(truth.ids)
    scores = hierarchy.propagate(scores, options.propagation)
    wanted = None if options.terms is None else _listed_terms(options.terms, hierarchy)
    curves = {}
    for namespace in ontology.namespaces:
        labels = [x for x in hierarchy.labels if ontology.terms[str(x)].namespace == namespace]
        if wanted is not None:
            labels = [label for label in labels if label in wanted]
        columns = hierarchy.indices(labels)
        if truth.y[:, columns].nnz and scores[:, columns].nnz:
            curves[namespace or "all"] = protein_curve(
                truth.y,
                scores,
                hierarchy=hierarchy,
                labels=labels,
                thresholds=options.step,
                information=information,
                normalization=options.normalization,
                roots=options.roots,
                known=known,
            )
    if not curves:
        raise ValueError(
            "no namespace has both true annotations and predictions. Check that the targets of "
            "both files have the same identifiers."
        )
    return curves


def _listed_terms(path: Path, hierarchy: Hierarchy) -> set[Any]:
    names = [line.split()[0] for _, line in numbered_lines(path) if line.strip()]
    known = [name for name in names if name in hierarchy or name in hierarchy.aliases]
    if not known:
        raise ValueError(f"--terms must list terms of the ontology, got {path} without any.")
    return {hierarchy.labels[k] for k in hierarchy.indices(known)}


def figures(curves: dict[str, ProteinCurve]) -> list[dict[str, Any]]:
    """Return the best figures of every namespace."""
    return [
        {
            "namespace": namespace,
            "f_max": curve.f_max(),
            "threshold": round(curve.best_threshold(), 6),
            "weighted_f_max": curve.f_max(weighted=True),
            "s_min": curve.s_min(),
            "micro_f_max": curve.f_max(average="micro"),
            "weighted_micro_f_max": curve.f_max(weighted=True, average="micro"),
            "coverage": float(curve.coverage.max()),
        }
        for namespace, curve in curves.items()
    ]


def figure_lines(curves: dict[str, ProteinCurve]) -> list[str]:
    """Format the best figures of every namespace as an aligned table."""
    rows = figures(curves)
    return aligned([list(rows[0]), *(list(row.values()) for row in rows)])


def write_cafa_evaluation(folder: Path, curves: dict[str, ProteinCurve]) -> list[Path]:
    """Write the figures at all thresholds, the best ones and, with matplotlib, the curves."""
    folder.mkdir(parents=True, exist_ok=True)
    everything = [
        {"ns": namespace, **row} for namespace, c in curves.items() for row in c.table().rows()
    ]
    files = [folder / "evaluation_all.tsv", folder / "evaluation_best.tsv"]
    for path, rows in zip(files, (everything, figures(curves)), strict=True):
        with writing_text(path) as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return [*files, *_draw(folder, curves)]


def _draw(folder: Path, curves: dict[str, ProteinCurve]) -> list[Path]:
    def draw(figure: Any) -> None:
        plot_protein_curves(curves, axes=list(figure.subplots(1, 2)))

    return write_figure(folder / "curves.png", (10, 4.5), draw)
