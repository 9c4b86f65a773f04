"""Mandatory leaf prediction as Bi and Kwok (2012) compare it: Tables 1 and 2, Figures 1 and 3.

``python -m benchmarks.bi2012`` prints, for every data set of the paper that is there, the
hierarchical F and the weighted symmetric loss of six methods in 5-fold cross-validation beside
the paper's figures, and leaves figures and plots in ``build/benchmarks/bi2012``. Labels with fewer
than 10 rows and rows with a partial path are dropped, in turns, until nothing changes; the paper
does not say in which order, and no reading of it gives its numbers of leaves.
``--quick`` takes two small sets and 2 of the 5 folds; ``--sets`` names the sets.

MAS, MASR and HBR decide by the same fitted model, and HBR, CLUS-HMC and BR by the same count.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold

from benchmarks.clus import BUILD
from benchmarks.trees import print_table
from ramify import (
    FlatClassifier,
    Hierarchy,
    LevelPowerset,
    MandatoryLeafClassifier,
    MetaLabeler,
    PCTClassifier,
    SiblingLassoClassifier,
    fetch,
)
from ramify.decision import nested_approximation
from ramify.metrics import hierarchical_precision_recall_f1, label_imbalance, symmetric_loss

METHODS = ("MAS", "MASR", "HMC-LP", "HBR", "CLUS-HMC", "BR")
ALPHAS = (*(1 / k for k in range(10, 1, -1)), *range(1, 11))
FUNCAT = ("pheno", "cellcycle", "church", "derisi", "eisen", "gasch1", "gasch2", "spo", "expr",
          "seq")  # fmt: skip
SETS = ("enron_hmc", *(f"{name}_FUN" for name in FUNCAT), *(f"{name}_GO" for name in FUNCAT),
        "rcv1v2_subset1")  # fmt: skip
QUICK = ("pheno_FUN", "pheno_GO")

# HF: MAS, HMC-LP, HBR, CLUS-HMC, BR; loss: MASR, MAS, HMC-LP, HBR, CLUS-HMC, BR.
PAPER_HF = {
    "rcv1v2_subset1": (0.85, 0.22, 0.83, 0.63, 0.83),
    "enron_hmc": (0.75, 0.72, 0.74, 0.68, 0.74),
    "seq_FUN": (0.26, 0.15, 0.25, 0.26, 0.23),
    "pheno_FUN": (0.25, 0.12, 0.25, 0.20, 0.23),
    "cellcycle_FUN": (0.20, 0.12, 0.21, 0.19, 0.19),
    "church_FUN": (0.17, 0.05, 0.18, 0.20, 0.17),
    "derisi_FUN": (0.18, 0.08, 0.18, 0.21, 0.18),
    "eisen_FUN": (0.28, 0.10, 0.29, 0.28, 0.27),
    "gasch1_FUN": (0.25, 0.11, 0.23, 0.29, 0.22),
    "gasch2_FUN": (0.24, 0.05, 0.22, 0.25, 0.25),
    "spo_FUN": (0.18, 0.10, 0.18, 0.23, 0.18),
    "expr_FUN": (0.28, 0.12, 0.25, 0.25, 0.27),
    "seq_GO": (0.52, None, 0.58, 0.59, 0.61),
    "pheno_GO": (0.57, None, 0.53, 0.49, 0.55),
    "cellcycle_GO": (0.49, None, 0.49, 0.51, 0.51),
    "church_GO": (0.57, None, 0.50, 0.53, 0.54),
    "derisi_GO": (0.56, None, 0.49, 0.53, 0.54),
    "eisen_GO": (0.48, None, 0.54, 0.57, 0.57),
    "gasch1_GO": (0.64, None, 0.56, 0.57, 0.58),
    "gasch2_GO": (0.55, None, 0.50, 0.51, 0.53),
    "spo_GO": (0.50, None, 0.47, 0.49, 0.51),
    "expr_GO": (0.49, None, 0.57, 0.55, 0.60),
}
PAPER_LOSS = {
    "rcv1v2_subset1": (0.05, 0.10, 0.46, 0.12, 0.20, 0.13),
    "enron_hmc": (0.31, 0.36, 0.25, 0.35, 0.41, 0.35),
    "seq_FUN": (0.24, 0.26, 0.41, 0.38, 0.38, 0.41),
    "pheno_FUN": (0.39, 0.38, 0.61, 0.38, 0.55, 0.41),
    "cellcycle_FUN": (0.24, 0.29, 0.41, 0.29, 0.38, 0.30),
    "church_FUN": (0.26, 0.30, 0.42, 0.30, 0.41, 0.31),
    "derisi_FUN": (0.26, 0.30, 0.45, 0.30, 0.43, 0.30),
    "eisen_FUN": (0.30, 0.36, 0.39, 0.38, 0.36, 0.38),
    "gasch1_FUN": (0.24, 0.27, 0.43, 0.29, 0.39, 0.29),
    "gasch2_FUN": (0.30, 0.27, 0.42, 0.29, 0.39, 0.29),
    "spo_FUN": (0.31, 0.29, 0.42, 0.30, 0.40, 0.30),
    "expr_FUN": (0.24, 0.26, 0.41, 0.28, 0.39, 0.28),
}


@dataclass
class Result:
    """One data set: the mean over folds of every method's figures."""

    name: str
    n_rows: int
    n_leaves: int
    leaves_per_row: float
    hf: dict[str, list[float]] = field(default_factory=dict)
    loss: dict[str, list[float]] = field(default_factory=dict)
    loss_by_alpha: dict[str, list[list[float]]] = field(default_factory=dict)
    nested_k: list[int] = field(default_factory=list)
    nested: list[list[float]] = field(default_factory=list)


def preprocess(X: Any, Y: sparse.csr_array, hierarchy: Hierarchy) -> tuple[Any, Any, Hierarchy]:
    """Drop labels with fewer than 10 rows, then rows with partial paths, until nothing changes."""
    rows = np.arange(Y.shape[0])
    while True:
        smaller = hierarchy.prune(Y, min_count=10)
        Y = Y[:, hierarchy.indices(smaller.labels)]
        whole = np.array(
            [bool(ends) and set(ends) <= set(smaller.leaves) for ends in smaller.decode(Y)]
        )
        if whole.all() and smaller == hierarchy:
            return (X.iloc[rows] if hasattr(X, "iloc") else X[rows]), Y, hierarchy
        rows, Y, hierarchy = rows[whole], Y[np.flatnonzero(whole)], smaller


def models(X: Any, Y: Any, hierarchy: Hierarchy) -> Iterator[tuple[str, Any]]:
    """Yield the methods, fitted; what they share is fitted once."""
    lasso = SiblingLassoClassifier(hierarchy, random_state=0).fit(X, Y)
    frozen = FrozenEstimator(lasso)
    yield "MAS", MandatoryLeafClassifier(frozen).fit(X, Y)
    yield "MASR", MandatoryLeafClassifier(frozen, objective="risk").fit(X, Y)
    counts = np.asarray(Y[:, hierarchy.indices(hierarchy.leaves)].sum(axis=1)).ravel()
    counter = FrozenEstimator(SiblingLassoClassifier(random_state=0).fit(X, counts))
    yield "HBR", MetaLabeler(frozen, counter=counter).fit(X, Y)
    tree = PCTClassifier(hierarchy, min_samples_leaf=5, random_state=0)
    yield "CLUS-HMC", MetaLabeler(tree, counter=counter).fit(X, Y)
    each = FlatClassifier(estimator=SiblingLassoClassifier(random_state=0))
    flat = MetaLabeler(each, hierarchy=hierarchy, counter=counter, leaves_only=True)
    yield "BR", flat.fit(X, Y)
    if hierarchy.is_tree:
        # Cross-validation for each of hundreds of sets would take most of the time.
        sets = LevelPowerset(SiblingLassoClassifier(penalty=0.3), hierarchy=hierarchy)
        yield "HMC-LP", sets.fit(X, Y)


def evaluate(result: Result, model: Any, method: str, data: tuple[Any, ...]) -> None:
    """Note the figures of one method on one fold."""
    X, Y, hierarchy, alpha = data
    predicted = model.predict(X)
    f1 = hierarchical_precision_recall_f1(Y, predicted, hierarchy=hierarchy)[2]
    result.hf.setdefault(method, []).append(float(f1))
    loss = symmetric_loss(Y, predicted, hierarchy=hierarchy, alpha=alpha)
    result.loss.setdefault(method, []).append(loss)
    by_alpha = []
    for other in ALPHAS:
        if method == "MASR":
            model.alpha_ = float(other)
            predicted = model.predict(X)
        by_alpha.append(symmetric_loss(Y, predicted, hierarchy=hierarchy, alpha=other))
    result.loss_by_alpha.setdefault(method, []).append(by_alpha)
    if method == "MAS":
        scores = model.estimator_.predict_conditional_proba(X)
        found = nested_approximation(scores, hierarchy, conditional=True)
        result.nested_k, shares = found.k.tolist(), found.share.tolist()
        result.nested.append(shares)


def run(name: str, n_folds: int) -> Result:
    """Measure one data set on the first of its five folds, or on all."""
    data = fetch(name)
    X, Y, hierarchy = preprocess(data.X, data.y, data.hierarchy)
    leaves = Y[:, hierarchy.indices(hierarchy.leaves)]
    result = Result(name, Y.shape[0], leaves.shape[1], float(leaves.sum() / Y.shape[0]))
    folds = list(KFold(5, shuffle=True, random_state=0).split(np.empty((Y.shape[0], 1))))
    for train, test in folds[:n_folds]:
        pick = (lambda r: X.iloc[r]) if hasattr(X, "iloc") else (lambda r: X[r])
        alpha = label_imbalance(Y[train])
        for method, model in models(pick(train), Y[train], hierarchy):
            evaluate(result, model, method, (pick(test), Y[test], hierarchy, alpha))
            print(f"{name} {method}: HF {result.hf[method][-1]:.3f}, "
                  f"loss {result.loss[method][-1]:.3f}", flush=True)  # fmt: skip
    return result


def print_results(results: list[Result]) -> None:
    """Print both tables, the paper's figure after each of ours."""
    for title, of, order, paper in (
        ("Table 1: hierarchical F", "hf", ("MAS", *METHODS[2:]), PAPER_HF),
        ("Table 2: weighted symmetric loss", "loss", ("MASR", "MAS", *METHODS[2:]), PAPER_LOSS),
    ):
        table = [["data set", "rows", "leaves", "per row", *(f"{m} (paper)" for m in order)]]
        for result in results:
            theirs: Any = paper.get(result.name, (None,) * len(order))
            cells = [
                cell(getattr(result, of).get(method), figure)
                for method, figure in zip(order, theirs, strict=True)
            ]
            table.append([result.name, f"{result.n_rows}", f"{result.n_leaves}",
                          f"{result.leaves_per_row:.1f}", *cells])  # fmt: skip
        print(f"\n{title}")
        print_table(table)


def cell(ours: list[float] | None, paper: float | None) -> str:
    """Return our mean and the paper's figure."""
    mean = "-" if not ours else f"{np.mean(ours):.2f}"
    return f"{mean} ({'-' if paper is None else f'{paper:.2f}'})"


def draw(results: list[Result]) -> None:
    """Draw loss against alpha for each data set, and the nested property of all."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 (only when there is something to draw)

    folder = BUILD / "benchmarks" / "bi2012"
    folder.mkdir(parents=True, exist_ok=True)
    for result in results:
        figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
        for method in METHODS:
            if method in result.loss_by_alpha:
                mean = np.mean(result.loss_by_alpha[method], axis=0)
                ax.plot(ALPHAS, mean, marker=".", label=method)
        ax.set(xscale="log", xlabel="α", ylabel="weighted symmetric loss", title=result.name)
        ax.set_xticks([0.1, 0.2, 0.5, 1, 2, 5, 10], ["1/10", "1/5", "1/2", "1", "2", "5", "10"])
        ax.minorticks_off()
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        figure.savefig(folder / f"alpha_{result.name}.png", dpi=120)
        plt.close(figure)
    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for result in results:
        ax.plot(result.nested_k, 100 * np.mean(result.nested, axis=0), "o-", label=result.name)
    ax.set(xlabel="number of leaves k", ylabel="rows with nested best sets (%)", ylim=(0, 102))
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(folder / "nested.png", dpi=120)
    plt.close(figure)


def main() -> None:
    """Measure, print, draw and keep the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two small sets, 2 of 5 folds")
    parser.add_argument("--sets", nargs="+", default=None, help="names of data sets")
    parser.add_argument("--folds", type=int, default=None, help="how many of the 5 folds")
    options = parser.parse_args()
    names = options.sets or (QUICK if options.quick else SETS)
    results = [run(name, options.folds or (2 if options.quick else 5)) for name in names]
    print_results(results)
    draw(results)
    kept: list[Mapping[str, Any]] = [asdict(result) for result in results]
    path = BUILD / "benchmarks" / "bi2012" / "results.json"
    path.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
