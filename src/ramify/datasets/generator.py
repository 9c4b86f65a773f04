"""Made-up data with every property a test may want, and a signal that can be learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from ramify.datasets.dataset import Categories, DataSet, present
from ramify.hierarchy.hierarchy import Hierarchy

_VALUES = ("blue", "green", "red", "yellow")
_DECAY = 0.75  # effect of a label on the features, against that of its parent


def make_hierarchical_classification(
    n_samples: int = 100,
    n_features: int = 20,
    *,
    n_labels: int = 30,
    depth: int = 3,
    branching: int | None = None,
    dag_share: float = 0.0,
    labels_per_row: float = 1.5,
    noise: float = 0.3,
    sparsity: float = 0.0,
    missing_share: float = 0.0,
    n_nominal: int = 0,
    as_frame: bool | None = None,
    random_state: Any = None,
) -> DataSet:
    """Make a data set whose features depend on labels that form a hierarchy.

    Every label moves the features in a direction of its own, the deeper the less; a row lies
    at the sum of its labels and their ancestors, plus noise. Rows that share an ancestor are
    therefore near each other, and nearer still if they share a child of it.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of `X`.
    n_labels : int
        How many labels the hierarchy has.
    depth : int
        Its number of levels.
    branching : int or None
        The most children a label (or the root) may have. None takes the smallest number with
        which `n_labels` fit into `depth` levels, which gives an evenly filled hierarchy.
    dag_share : float
        Share of the labels below the top level that get a second parent, of the same level as
        the first. 0 gives a tree, whose labels are paths such as "2/1"; otherwise labels are
        names such as "L07".
    labels_per_row : float
        Mean number of leaf labels of a row, 1 or more. Exactly 1 gives one path a row.
    noise : float
        Standard deviation of the noise; that of the signal is 1.
    sparsity : float
        Share of the cells that are 0, those nearest to it. Above 0, `X` is a csr_array.
    missing_share : float
        Share of the cells that are missing, at random.
    n_nominal : int
        How many features, the last ones, are nominal with four values.
    as_frame : bool or None
        Whether `X` is a pandas frame; None: if it has nominal features.
    random_state : int, RandomState or None
        The same seed gives the same data.

    Returns
    -------
    DataSet
        With `X`, `y`, `hierarchy`, `feature_names`, `categories`, `splits` and `name`.

    Examples
    --------
    >>> from ramify.datasets import make_hierarchical_classification
    >>> data = make_hierarchical_classification(n_labels=12, depth=2, random_state=0)
    >>> data
    <DataSet 'made': 100 rows, 20 features, 12 labels>
    >>> data.hierarchy.labels[:5]
    ('1', '1/1', '1/2', '1/3', '2')
    >>> data.hierarchy.decode(data.y[:2])
    [('1/2',), ('1/3', '3/1')]
    """
    width = _check_shape(n_samples, n_features, n_labels, depth, branching)
    _check_shares(dag_share=dag_share, sparsity=sparsity, missing_share=missing_share)
    _check_layout(n_features, n_nominal, sparsity, noise, as_frame)
    rng = check_random_state(random_state)
    hierarchy = _make_hierarchy(n_labels, depth, width, dag_share, rng)
    y = hierarchy.encode(_draw_labels(hierarchy, n_samples, labels_per_row, rng))
    X = _signal(y, hierarchy, n_features, rng)
    X += noise * rng.standard_normal(X.shape)
    names = tuple(f"x{j}" for j in range(n_features))
    categories: Categories = dict.fromkeys(names[n_features - n_nominal :], _VALUES)
    _cut_into_values(X[:, n_features - n_nominal :], rng)
    _blank_smallest(X, sparsity)
    X[_choose_cells(X.shape, missing_share, rng)] = np.nan
    return DataSet(
        X=_layout(X, names, categories, as_frame, sparsity),
        y=y,
        hierarchy=hierarchy,
        feature_names=names,
        categories=categories,
        name="made",
        description="Made by ramify.datasets.make_hierarchical_classification.",
    )


def _check_shape(
    n_samples: int, n_features: int, n_labels: int, depth: int, branching: int | None
) -> int:
    """Check the counts; return the most children a label may have."""
    counts = {"n_samples": n_samples, "n_features": n_features, "depth": depth}
    for name, value in counts.items():
        if value < 1:
            raise ValueError(f"{name}={value!r} must be 1 or more.")
    if n_labels < depth:
        raise ValueError(
            f"n_labels={n_labels!r} is too few for depth={depth!r}: every level needs a label. "
            f"Give n_labels={depth} or more."
        )
    if branching is None:
        width = 1
        while _capacity(width, depth) < n_labels:
            width += 1
        return width
    if branching < 1 or _capacity(branching, depth) < n_labels:
        raise ValueError(
            f"branching={branching!r} holds at most {_capacity(max(branching, 0), depth)} labels "
            f"in depth={depth!r} levels, and n_labels={n_labels!r}. Raise branching or depth, or "
            "leave branching out."
        )
    return branching


def _capacity(branching: int, depth: int) -> int:
    return int(sum(branching**level for level in range(1, depth + 1)))


def _check_shares(**shares: float) -> None:
    for name, value in shares.items():
        if not 0 <= value < 1 and not (name == "dag_share" and value == 1):
            raise ValueError(f"{name}={value!r} is a share: give 0 or more, and less than 1.")


def _check_layout(
    n_features: int, n_nominal: int, sparsity: float, noise: float, as_frame: bool | None
) -> None:
    if not noise >= 0:
        raise ValueError(f"noise={noise!r} is a standard deviation: give 0 or more.")
    if not 0 <= n_nominal <= n_features:
        raise ValueError(
            f"n_nominal={n_nominal!r} must lie between 0 and n_features={n_features!r}."
        )
    if sparsity and n_nominal:
        raise ValueError(
            f"sparsity={sparsity!r} with n_nominal={n_nominal!r}: a sparse matrix holds numbers "
            "only. Set one of them to 0."
        )
    if sparsity and as_frame:
        raise ValueError(
            f"sparsity={sparsity!r} with as_frame=True: sparse data come as a csr_array. Leave "
            "as_frame out."
        )


def _make_hierarchy(
    n_labels: int, depth: int, width: int, dag_share: float, rng: np.random.RandomState
) -> Hierarchy:
    """Grow a chain of the wanted depth, then hang every further label below a random one."""
    parent, level = list(range(-1, depth - 1)), list(range(1, depth + 1))
    room = np.full(n_labels + 1, width)  # free places below every label; the root is the last
    room[-1] -= 1
    room[: depth - 1] -= 1
    room[depth - 1] = 0
    for label in range(depth, n_labels):
        open_labels = np.flatnonzero(room[: len(parent)])
        choices = [*open_labels, -1] if room[-1] else list(open_labels)
        above = int(choices[rng.randint(len(choices))])
        parent.append(above)
        level.append(1 if above < 0 else level[above] + 1)
        room[above] -= 1
        if level[label] == depth:
            room[label] = 0
    if not dag_share:
        return Hierarchy.from_paths(_path_names(parent))
    return _with_second_parents(parent, level, dag_share, rng)


def _path_names(parent: list[int]) -> list[str]:
    """Name every label by its path of positions among siblings, "2/1"; parents come first."""
    names: list[str] = []
    children: dict[int, int] = {}
    for above in parent:
        children[above] = children.get(above, 0) + 1
        prefix = "" if above < 0 else names[above] + "/"
        names.append(f"{prefix}{children[above]}")
    return names


def _with_second_parents(
    parent: list[int], level: list[int], dag_share: float, rng: np.random.RandomState
) -> Hierarchy:
    """Give some labels another parent of the first one's level, which keeps every depth."""
    names = [f"L{label + 1:0{len(str(len(parent)))}d}" for label in range(len(parent))]
    levels = np.array(level)
    below_top = np.flatnonzero(levels > 1)
    eligible = [label for label in below_top if np.sum(levels == levels[label] - 1) > 1]
    wanted = min(round(dag_share * below_top.size), len(eligible))
    edges = [("root" if above < 0 else names[above], names[i]) for i, above in enumerate(parent)]
    for label in rng.permutation(eligible)[:wanted].astype(int):
        others = np.flatnonzero(levels == levels[label] - 1)
        others = others[others != parent[label]]
        edges.append((names[others[rng.randint(others.size)]], names[label]))
    return Hierarchy.from_edges(edges, root="root")


def _draw_labels(
    hierarchy: Hierarchy, n_samples: int, mean: float, rng: np.random.RandomState
) -> list[list[Any]]:
    """Draw leaves: one a row, and a binomial number more, so that the mean is exact."""
    n_leaves = len(hierarchy.leaves)
    if not 1 <= mean <= n_leaves:
        raise ValueError(
            f"labels_per_row={mean!r} must lie between 1 and {n_leaves}, the number of leaves "
            "of this hierarchy. Lower it, or raise n_labels."
        )
    most = min(n_leaves - 1, int(np.ceil(2 * (mean - 1))))
    counts = np.ones(n_samples, dtype=int)
    if most:
        counts += rng.binomial(most, (mean - 1) / most, size=n_samples)
    return [
        [hierarchy.leaves[leaf] for leaf in rng.choice(n_leaves, size=count, replace=False)]
        for count in counts
    ]


def _signal(
    y: sparse.csr_array[np.int32],
    hierarchy: Hierarchy,
    n_features: int,
    rng: np.random.RandomState,
) -> NDArray[np.float64]:
    """Sum the directions of every row's labels; each feature has deviation 1 over the rows."""
    level = {label: i for i, labels in enumerate(hierarchy.levels) for label in labels}
    effect = np.array([_DECAY ** level[label] for label in hierarchy.labels])
    directions = rng.standard_normal((hierarchy.n_labels, n_features)) * effect[:, np.newaxis]
    X: NDArray[np.float64] = np.asarray(y @ directions)
    X -= X.mean(axis=0)
    deviation = X.std(axis=0)
    X /= np.where(deviation > 0, deviation, 1)
    return X


def _cut_into_values(X: NDArray[np.float64], rng: np.random.RandomState) -> None:
    """Replace columns, in place, by codes of their quarters; the order of codes means nothing."""
    for column in X.T:
        quarters = np.searchsorted(np.quantile(column, [0.25, 0.5, 0.75]), column)
        column[:] = rng.permutation(len(_VALUES))[quarters]


def _blank_smallest(X: NDArray[np.float64], share: float) -> None:
    """Set the share of cells nearest to 0 to 0, in place: the large ones carry the signal."""
    n_blank = round(share * X.size)
    if n_blank:
        X.ravel()[np.argsort(np.abs(X), axis=None, kind="stable")[:n_blank]] = 0


def _choose_cells(
    shape: tuple[int, ...], share: float, rng: np.random.RandomState
) -> NDArray[np.bool_]:
    n_cells = int(np.prod(shape))
    chosen = np.zeros(n_cells, dtype=bool)
    chosen[rng.permutation(n_cells)[: round(share * n_cells)]] = True
    return chosen.reshape(shape)


def _layout(
    X: NDArray[np.float64],
    names: tuple[str, ...],
    categories: Categories,
    as_frame: bool | None,
    sparsity: float,
) -> Any:
    if sparsity:
        return sparse.csr_array(X)
    return present(X, names, categories, as_frame, caller="make_hierarchical_classification")
