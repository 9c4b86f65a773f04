"""The measures equal those of CAFA's evaluator on the same files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Ontology, fetch
from ramify.io import (
    read_annotations,
    read_cafa,
    read_information,
    write_cafa,
    write_information,
)
from ramify.metrics import ProteinCurve, information_content, protein_curve
from tests.support.budget import budget
from tests.support.cafa_evaluator import Evaluator, requires_cafaeval
from tests.support.clus_data import requires_data
from tests.support.ontologies import RandomOntology, random_ontology


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    running = Evaluator()
    yield running
    running.close()


def write_case(folder: Path, ontology: RandomOntology, rng: np.random.Generator) -> None:
    """Write an ontology, true and predicted terms and information to a folder."""
    targets = [f"t{k}" for k in range(int(rng.integers(1, 8)))]
    names = ontology.names
    truth = [f"{rng.choice(targets)}\t{rng.choice(names)}" for _ in range(rng.integers(1, 15))]
    # Scores of three digits, some of them equal to thresholds; scores are repeated.
    values = np.concatenate([rng.random(4).round(3), rng.integers(1, 101, 3) / 100])
    found = [
        f"{rng.choice([*targets, 'other'])}\t{rng.choice(names)}\t{rng.choice(values)}"
        for _ in range(rng.integers(1, 40))
    ]
    bits = [
        f"{term}\t{rng.choice([0.0, rng.exponential(3), float('inf')])}"
        for term in ontology.namespaces
        if rng.random() < 0.9
    ]
    (folder / "predictions").mkdir(exist_ok=True)
    (folder / "o.obo").write_text(ontology.to_obo())
    (folder / "truth.tsv").write_text("\n".join(truth) + "\n")
    (folder / "predictions" / "p.tsv").write_text("\n".join(found) + "\n")
    (folder / "ia.tsv").write_text("\n".join(bits) + "\n")


def curves(folder: Path, *, max_terms: int | None, **options: Any) -> dict[str, ProteinCurve]:
    """Return the curve of every namespace that has true and predicted terms."""
    ontology = Ontology.from_obo(folder / "o.obo")
    truth = read_annotations(folder / "truth.tsv", ontology, obsolete="drop")
    if not truth.ids:
        return {}
    found = read_cafa(
        folder / "predictions" / "p.tsv", ontology, ids=truth.ids, max_terms=max_terms
    )
    information = read_information(folder / "ia.tsv", truth.hierarchy)
    result = {}
    for namespace in ontology.namespaces:
        labels = ontology.hierarchy(namespace).labels
        columns = truth.hierarchy.indices(labels)
        if truth.y[:, columns].nnz and found.scores[:, columns].nnz:
            result[namespace] = protein_curve(
                truth.y,
                found.scores,
                hierarchy=truth.hierarchy,
                labels=labels,
                information=information,
                **options,
            )
    return result


def as_rows(found: dict[str, ProteinCurve]) -> dict[tuple[str, float], dict[str, float]]:
    return {
        (namespace, row.pop("tau")): row
        for namespace, curve in found.items()
        for row in curve.table().rows()
    }


def check_equal(ours: dict[str, ProteinCurve], theirs: list[dict[str, Any]]) -> int:
    """Compare every column of every row; return the number of figures compared."""
    expected = {(row.pop("ns"), row.pop("tau")): row for row in theirs}
    found = as_rows(ours)
    assert set(found) == set(expected)
    n_figures = 0
    for key, row in expected.items():
        del row["filename"]
        assert set(row) == set(found[key])
        for name, value in row.items():
            assert abs(found[key][name] - value) <= 1e-9, (key, name, found[key][name], value)
            n_figures += 1
    return n_figures


def ask(evaluator: Evaluator, folder: Path, **options: Any) -> dict[str, Any]:
    """Ask the evaluator for its tables, with the options of `curves`."""
    most = options["max_terms"]
    return evaluator.ask(
        obo_file=str(folder / "o.obo"),
        pred_dir=str(folder / "predictions"),
        gt_file=str(folder / "truth.tsv"),
        ia=str(folder / "ia.tsv"),
        norm=options["normalization"],
        prop=options["propagation"],
        no_orphans=not options["roots"],
        th_step=options["thresholds"],
        # The evaluator reads one term more than this.
        max_terms=None if most is None else most - 1,
    )


BEST = {
    "f": lambda curve: curve.f_max(),
    "f_w": lambda curve: curve.f_max(weighted=True),
    "f_micro": lambda curve: curve.f_max(average="micro"),
    "f_micro_w": lambda curve: curve.f_max(weighted=True, average="micro"),
}


@pytest.mark.process
@requires_cafaeval
@budget(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    options=st.fixed_dictionaries(
        {
            "normalization": st.sampled_from(["cafa", "gt", "pred"]),
            "propagation": st.sampled_from(["max", "fill"]),
            "roots": st.booleans(),
            "thresholds": st.sampled_from([0.01, 0.001, 0.03, 0.3]),
            "max_terms": st.sampled_from([None, 2, 4]),
        }
    ),
)
def test_every_column_equals_that_of_the_evaluator(
    tmp_path_factory: pytest.TempPathFactory,
    evaluator: Evaluator,
    seed: int,
    options: dict[str, Any],
) -> None:
    folder = tmp_path_factory.mktemp("cafa")
    rng = np.random.default_rng(seed)
    write_case(folder, random_ontology(rng), rng)
    ours = curves(folder, **options)
    theirs = ask(evaluator, folder, **options)
    if "error" in theirs:
        # It fails if no row of a namespace has a prediction or if there is nothing to compare.
        assert not as_rows(ours), theirs["error"]
        return
    check_equal(ours, theirs["table"])
    for name, measure in BEST.items():
        for row in theirs["best"].get(name, ()):
            assert measure(ours[row["ns"]]) == pytest.approx(row[name], abs=1e-9)


@pytest.mark.process
@requires_cafaeval
@requires_data
def test_an_ontology_of_real_size(tmp_path: Path, evaluator: Evaluator) -> None:
    data = fetch("cellcycle_GO", as_frame=False)
    hierarchy, Y = data.hierarchy, data.y[:150]
    rng = np.random.default_rng(0)
    # True labels and as many others, with random scores that are not coherent.
    scores = rng.random(Y.shape) * (Y.toarray() | (rng.random(Y.shape) < 0.01))
    stanzas = [
        f"[Term]\nid: {label}\nname: x\nnamespace: go\n"
        + "".join(f"is_a: {parent}\n" for parent in hierarchy.parents(label))
        for label in hierarchy.labels
    ]
    (tmp_path / "o.obo").write_text("\n".join(stanzas))
    rows = enumerate(hierarchy.decode(Y))
    lines = [f"t{row}\t{label}\n" for row, labels in rows for label in labels]
    (tmp_path / "truth.tsv").write_text("".join(lines))
    (tmp_path / "predictions").mkdir()
    ids = [f"t{row}" for row in range(len(scores))]
    write_cafa(tmp_path / "predictions" / "p.tsv", ids, scores, hierarchy)
    information = information_content(data.y, hierarchy=hierarchy, smoothing=1)
    write_information(tmp_path / "ia.tsv", information, hierarchy)
    options = {"normalization": "cafa", "propagation": "fill", "roots": False, "max_terms": None}
    ours = curves(tmp_path, thresholds=0.01, **options)
    theirs = ask(evaluator, tmp_path, thresholds=0.01, **options)
    assert check_equal(ours, theirs["table"]) == 99 * 28
