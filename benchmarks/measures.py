"""Measures: speed against scikit-learn, and agreement with other implementations.

``python -m benchmarks.measures`` prints two tables: the seconds that areas under curves take on
matrices of the size of the GO and FunCat data, and for every measure the largest difference from
CLUS's printed figures, scikit-learn, scipy, scikit-posthocs and figures computed by hand.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy import stats as scipy_stats
from sklearn import metrics as sklearn_metrics

from ramify import Hierarchy, metrics, stats
from tests.support.clus_measures import flat_runs, hierarchical_runs
from tests.support.clus_oracle import ORACLE

REQUIRED_TIMES = 5.0


@dataclass(frozen=True)
class Case:
    """Truth and scores of one size and kind."""

    name: str
    truth: sparse.csr_array
    scores: np.ndarray


def random_case(name: str, kind: str, n_rows: int, n_labels: int, per_row: float) -> Case:
    """Return scores that look like those of a tree, of a forest, or of a model without ties."""
    rng = np.random.default_rng(0)
    frequency = rng.pareto(1.0, n_labels) + 0.01
    frequency = np.minimum(0.9, frequency * per_row / frequency.sum())
    truth = sparse.csr_array(rng.random((n_rows, n_labels)) < frequency).astype(np.int32)
    if kind == "tree":
        leaves = rng.binomial(5, np.minimum(1, 2 * frequency), (n_rows // 10, n_labels)) / 5
        scores = leaves[rng.integers(0, len(leaves), n_rows)]
    elif kind == "forest":
        scores = rng.binomial(250, frequency, (n_rows, n_labels)) / 250 * rng.random(n_labels)
    else:
        scores = rng.random((n_rows, n_labels)) * frequency
    return Case(name, truth, scores)


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the processor time of the shortest of several runs; both sides use one thread."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def speed_rows() -> Iterator[list[str]]:
    """Yield a line per case and measure; making the labels dense for scikit-learn is not timed."""
    go = {"n_rows": 1300, "n_labels": 4125, "per_row": 34}
    funcat = {"n_rows": 1300, "n_labels": 499, "per_row": 9}
    for case, average, ours in (
        (random_case("GO, tree", "tree", **go), "micro", metrics.pooled_auprc),
        (random_case("GO, forest", "forest", **go), "micro", metrics.pooled_auprc),
        (random_case("GO, no ties", "no ties", **go), "micro", metrics.pooled_auprc),
        (random_case("FunCat, forest", "forest", **funcat), "micro", metrics.pooled_auprc),
        (random_case("FunCat, forest", "forest", **funcat), "macro", metrics.mean_auprc),
    ):
        dense = case.truth.toarray()
        present = dense.any(axis=0)
        fast = seconds(lambda c=case, m=ours: m(c.truth, c.scores), 5)
        slow = seconds(
            lambda c=case, d=dense, p=present, a=average: sklearn_metrics.average_precision_score(
                d[:, p], c.scores[:, p], average=a
            ),
            2 if average == "micro" else 1,
        )
        times = slow / fast
        verdict = "" if average == "macro" else "ok" if times >= REQUIRED_TIMES else "TOO SLOW"
        shape = f"{case.scores.shape[0]} × {case.scores.shape[1]}"
        yield [
            ours.__name__,
            case.name,
            shape,
            f"{fast:.4f}",
            f"{slow:.3f}",
            f"{times:.1f}",
            f"≥ {REQUIRED_TIMES:g}" if average == "micro" else "",
            verdict,
        ]


@dataclass
class Agreement:
    """The largest difference seen between two ways to compute a measure."""

    measure: str
    against: str
    n_cases: int = 0
    largest: float = 0.0

    def add(self, ours: float, theirs: float) -> None:
        """Add a pair of values; two NaN agree."""
        self.n_cases += 1
        if np.isnan(ours) and np.isnan(theirs):
            return
        difference = abs(ours - theirs)
        self.largest = max(self.largest, np.inf if np.isnan(difference) else difference)


class Book(dict[tuple[str, str], Agreement]):
    """All agreements, by measure and peer."""

    def add(self, measure: str, against: str, ours: float, theirs: float) -> None:
        """Add a pair of values."""
        entry = self.setdefault((measure, against), Agreement(measure, against))
        entry.add(float(ours), float(theirs))


def compare_with_clus(book: Book) -> None:
    """Compare with every figure that CLUS printed for the hand-sized runs."""
    full_precision = {
        "auroc": metrics.mean_auroc,
        "auprc": metrics.mean_auprc,
        "auprc_weighted": metrics.weighted_auprc,
        "auprc_pooled": metrics.pooled_auprc,
    }
    for run in hierarchical_runs():
        found = run.predictions()
        labels = run.evaluated(found.labels)
        for name, value in run.hierarchical().items():
            measure = full_precision[name]
            ours = measure(found.truth, found.scores, labels=labels)
            book.add(measure.__name__, "CLUS", ours, value)
        listed = metrics.clus_multilabel_measures(found.truth, found.scores, labels=labels)
        for name, value in run.multilabel().items():
            book.add(f"clus {name}", "CLUS, 7 digits", listed[name], value)
    for run, model in flat_runs():
        found = run.predictions(model)
        listed = metrics.clus_multilabel_measures(found.truth, found.scores)
        for name, value in run.flat_multilabel(model).items():
            # Ties of summed votes break differently once they are shares; see the tests.
            if name != "RankingLoss":
                book.add(f"clus {name}", "CLUS, 5 digits", listed[name], value)


def compare_with_sklearn(book: Book) -> None:
    """Compare where scikit-learn defines the same measure, on random sets with ties."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        shape = (int(rng.integers(5, 60)), int(rng.integers(2, 12)))
        truth = (rng.random(shape) < 0.3).astype(int)
        truth[0], truth[1] = 1, 0
        scores = rng.integers(0, 20, shape) / 20
        predicted = (scores > 0.6).astype(int)
        for name, theirs in sklearn_figures(truth, predicted, scores).items():
            ours = our_figures(truth, predicted, scores)[name]
            book.add(name, "scikit-learn", ours, theirs)


def sklearn_figures(
    truth: np.ndarray, predicted: np.ndarray, scores: np.ndarray
) -> Mapping[str, float]:
    """Return scikit-learn's figures under our names."""
    sk = sklearn_metrics
    zero = {"zero_division": 0.0}
    return {
        "pooled_auprc (step)": sk.average_precision_score(truth, scores, average="micro"),
        "mean_auprc (step)": sk.average_precision_score(truth, scores, average="macro"),
        "weighted_auprc (step)": sk.average_precision_score(truth, scores, average="weighted"),
        "pooled_auroc": sk.roc_auc_score(truth, scores, average="micro"),
        "mean_auroc": sk.roc_auc_score(truth, scores, average="macro"),
        "hamming_loss": sk.hamming_loss(truth, predicted),
        "subset_accuracy": sk.accuracy_score(truth, predicted),
        "jaccard_accuracy": sk.jaccard_score(truth, predicted, average="samples", **zero),
        "example_precision": sk.precision_score(truth, predicted, average="samples", **zero),
        "example_recall": sk.recall_score(truth, predicted, average="samples", **zero),
        "example_f1": sk.f1_score(truth, predicted, average="samples", **zero),
        "micro_f1": sk.f1_score(truth, predicted, average="micro", **zero),
        "macro_f1": sk.f1_score(truth, predicted, average="macro", **zero),
    }


def our_figures(
    truth: np.ndarray, predicted: np.ndarray, scores: np.ndarray
) -> Mapping[str, float]:
    """Return our figures, under scikit-learn's conventions where the defaults differ."""
    of_scores = ("pooled_auroc", "mean_auroc")
    areas = ("pooled_auprc", "mean_auprc", "weighted_auprc")
    plain = ("hamming_loss", "subset_accuracy")
    divided = ("jaccard_accuracy", "example_precision", "example_recall", "example_f1")
    divided += ("micro_f1", "macro_f1")
    return {
        **{n: getattr(metrics, n)(truth, scores) for n in of_scores},
        **{f"{n} (step)": getattr(metrics, n)(truth, scores, interpolation="step") for n in areas},
        **{n: getattr(metrics, n)(truth, predicted) for n in plain},
        **{n: getattr(metrics, n)(truth, predicted, zero_division=0.0) for n in divided},
    }


def compare_by_hand(book: Book) -> None:
    """Compare with values computed by hand, as in the tests."""
    animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    y = ([["mammal/cat"]], [["bird"]])
    options = {"hierarchy": animals}
    book.add("hmc_loss", "by hand", metrics.hmc_loss(*y, **options), 1.25)
    book.add("h_loss", "by hand", metrics.h_loss(*y, **options), 1.0)
    heavy = metrics.symmetric_loss(*y, **options, alpha=4)
    book.add("symmetric_loss", "by hand", heavy, 8 / 5 * 0.75 + 2 / 5 * 0.5)
    inherited = metrics.hierarchical_hamming_loss(*y, **options)
    book.add("hierarchical_hamming_loss", "by hand", inherited, 1.0)
    sets = ([["mammal/cat"], ["bird"]], [["mammal/dog"], ["mammal/dog"]])
    for ours, theirs in zip(
        metrics.hierarchical_precision_recall_f1(*sets, **options),
        (1 / 4, 1 / 3, 2 / 7),
        strict=True,
    ):
        book.add("hierarchical P, R, F1", "by hand", ours, theirs)
    ranked = ([[1, 0, 1], [0, 1, 0]], [[0.9, 0.8, 0.1], [0.2, 0.7, 0.6]])
    book.add("top_k_accuracy", "by hand", metrics.top_k_accuracy(*ranked, k=2), 0.5)
    pairs = ([[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.5]])
    book.add("f_max", "by hand", metrics.f_max(*pairs), 6 / 7)
    book.add("s_min", "by hand", metrics.s_min(*pairs, information=[0.0, 1.0]), 0.5)
    book.add("overfit_score", "by hand", metrics.overfit_score(0.8, 0.6), 0.25)


# Demšar (2006), Table 6; see tests/stats/test_stats.py.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def compare_tests(book: Book) -> None:
    """Compare the tests of hypotheses."""
    worked = stats.friedman(DEMSAR, tie_correction=False)
    book.add("Friedman chi2", "Demšar, 2 digits", round(worked.chi2, 2), 9.28)
    book.add("Iman-Davenport F", "Demšar, 2 digits", round(worked.f, 2), 3.69)
    critical = stats.nemenyi(DEMSAR).critical_difference
    book.add("critical difference", "Demšar, 2 digits", round(critical, 2), 1.25)
    theirs = scipy_stats.friedmanchisquare(*DEMSAR.T)
    book.add("Friedman p", "scipy", stats.friedman(DEMSAR).p_chi2, theirs.pvalue)
    compare_with_posthocs(book)


def compare_with_posthocs(book: Book) -> None:
    """Compare Nemenyi's p-values with scikit-posthocs, if it is installed."""
    try:
        import scikit_posthocs  # noqa: PLC0415 (optional)
    except ImportError:
        return
    rng = np.random.default_rng(0)
    for scores in (DEMSAR, *(rng.random((n, k)) for n, k in ((5, 3), (10, 6), (30, 8)))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = scikit_posthocs.posthoc_nemenyi_friedman(scores).to_numpy()
        for ours, value in zip(
            stats.nemenyi(scores).p_values.ravel(), theirs.ravel(), strict=True
        ):
            book.add("Nemenyi p", "scikit-posthocs", ours, value)


def agreement_rows() -> Iterator[list[str]]:
    """Yield a line for each measure and peer."""
    book = Book()
    if ORACLE.is_dir():
        compare_with_clus(book)
    compare_with_sklearn(book)
    compare_by_hand(book)
    compare_tests(book)
    for entry in book.values():
        yield [entry.measure, entry.against, str(entry.n_cases), f"{entry.largest:.1e}"]


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print an aligned table; all but the first columns of text to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    left = [not any(row[j][:1].isdigit() for row in rows) for j in range(len(header))]
    print(f"\n{title}\n")
    for row in (header, ["-" * width for width in widths], *rows):
        cells = zip(row, widths, left, strict=True)
        print(
            "  ".join(f"{c:<{w}}" if at_left else f"{c:>{w}}" for c, w, at_left in cells).rstrip()
        )


def main() -> None:
    """Print both tables."""
    header = ["measure", "scores", "size", "ramify s", "sklearn s", "times", "wanted", ""]
    print_table("Speed, beside average_precision_score", header, list(speed_rows()))
    header = ["measure", "compared with", "figures", "largest difference"]
    print_table("Agreement", header, list(agreement_rows()))


if __name__ == "__main__":
    main()
