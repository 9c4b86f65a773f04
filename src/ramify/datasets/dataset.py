"""The data set container returned by loaders, generators and downloads."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ramify._messages import counted, did_you_mean, shorten
from ramify.labels.hierarchy import Hierarchy

Categories = dict[str, tuple[str, ...]]


class DataSet(Bunch):  # type: ignore[misc]  # scikit-learn carries no types
    """Features, labels and hierarchy of a data set, with its published splits.

    Parameters
    ----------
    X : ndarray, csr_array or pandas.DataFrame of shape (n, n_features)
        The features; missing values are NaN. In an array, a nominal value is coded as its
        position in `categories`.
    y : csr_array of shape (n, n_labels)
        Label matrix of zeros and ones, including ancestors, with columns in the order of
        ``hierarchy.labels``.
    hierarchy : Hierarchy
        The label hierarchy.
    feature_names : tuple of str
        Names of the columns of `X`.
    categories : dict of str to tuple of str
        The values of each nominal feature; numeric features are not listed.
    splits : dict of str to ndarray, optional
        Row numbers of each published split; by default, a single split "all". If there are
        several, each is also available by name, as in ``X_train`` and ``y_train``.
    **more : object
        Further entries, such as ``name``, ``description`` and ``names`` of the rows.

    Examples
    --------
    >>> from ramify.datasets import load_animals
    >>> data = load_animals(as_frame=False)
    >>> data
    <DataSet 'animals': 189 rows, 13 features, 203 labels>
    >>> data.hierarchy.decode(data.y[:1])[0][0]
    'habitat/freshwater/pond'
    """

    def __init__(
        self,
        *,
        X: Any,
        y: Any,
        hierarchy: Any,
        feature_names: Sequence[str],
        categories: Mapping[str, tuple[str, ...]],
        splits: Mapping[str, NDArray[np.intp]] | None = None,
        **more: Any,
    ) -> None:
        splits = {"all": np.arange(X.shape[0])} if splits is None else dict(splits)
        super().__init__(
            X=X,
            y=y,
            hierarchy=hierarchy,
            feature_names=tuple(feature_names),
            categories=dict(categories),
            splits=splits,
            **more,
        )
        if len(splits) > 1:
            for split in splits:
                self[f"X_{split}"], self[f"y_{split}"] = self.rows(split)

    def rows(self, *splits: str) -> tuple[Any, Any]:
        """Return the features and labels of some splits, concatenated.

        Parameters
        ----------
        *splits : str
            Names of splits.

        Returns
        -------
        X, y : of the same types as `X` and `y` of the data set
            Views if the rows are contiguous and the types allow it.

        Examples
        --------
        The protocol of the yeast data sets is to tune on "valid" and then train on both splits:

        >>> import numpy as np
        >>> from ramify.datasets import load_animals
        >>> data = load_animals(as_frame=False)
        >>> data.splits = {"train": np.arange(99), "valid": np.arange(99, 149),
        ...                "test": np.arange(149, 189)}
        >>> X, y = data.rows("train", "valid")
        >>> X.shape
        (149, 13)
        >>> data.rows("tset")
        Traceback (most recent call last):
            ...
        ValueError: splits of 'animals' must be among 'train', 'valid', 'test', got 'tset'. Did ...
        """
        for split in splits:
            if split not in self.splits:
                raise ValueError(
                    f"splits of {self.get('name', 'the data set')!r} must be among "
                    f"{shorten(self.splits)}, got {split!r}.{did_you_mean(split, self.splits)}"
                )
        if not splits:
            raise ValueError(
                f"rows() requires at least one split; {self.get('name', 'the data set')!r} has "
                f"{shorten(self.splits)}. Pass one or more of them, or use X and y for all rows."
            )
        chosen = _contiguous(np.concatenate([self.splits[split] for split in splits]))
        X = self.X.iloc[chosen] if hasattr(self.X, "iloc") else self.X[chosen]
        return X, self.y[chosen]

    def __repr__(self) -> str:
        n, n_features = self.X.shape
        name = repr(self.name) + ": " if "name" in self else ""
        labels = counted(self.y.shape[1], "label")
        return f"<DataSet {name}{counted(n, 'row')}, {counted(n_features, 'feature')}, {labels}>"


def _contiguous(rows: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """Return a slice if the rows are contiguous: slicing an array does not copy it."""
    if rows.size and np.array_equal(rows, np.arange(rows[0], rows[0] + rows.size)):
        return slice(int(rows[0]), int(rows[0]) + rows.size)
    return rows


def present(
    X: NDArray[np.float64],
    feature_names: Sequence[str],
    categories: Categories,
    as_frame: bool | None,
    *,
    caller: str,
    index: Any = None,
) -> Any:
    """Return dense features, nominal ones as codes, as an array or a pandas data frame.

    >>> frame = present(np.array([[1.0, 2.5]]), ["colour", "size"],
    ...                 {"colour": ("green", "red")}, None, caller="load")
    >>> frame["colour"].tolist()
    ['red']
    """
    wanted = bool(categories) if as_frame is None else as_frame
    if not wanted:
        return X
    try:
        import pandas as pd  # noqa: PLC0415 (optional)
    except ImportError:
        why = "nominal features" if as_frame is None else "as_frame=True"
        raise ImportError(
            f"{caller} requires pandas for {why}. Run: pip install 'ramify[tables]', or pass "
            "as_frame=False for an array in which a nominal value is coded as its position in "
            "`categories`."
        ) from None
    columns: dict[str, Any] = {}
    for j, name in enumerate(feature_names):
        if name in categories:
            codes = np.nan_to_num(X[:, j], nan=-1).astype(np.int32)
            dtype = pd.CategoricalDtype(list(categories[name]))
            columns[name] = pd.Categorical.from_codes(codes, dtype=dtype)
        else:
            columns[name] = X[:, j]
    return pd.DataFrame(columns, index=index, copy=False)


# ---- the bundled animals --------------------------------------------------------------------


NUMERIC = ("mass_kg", "length_cm", "lifespan_years", "young", "speed_kmh", "legs")
NOMINAL = ("diet", "active", "cover", "birth", "moves", "social", "blood")

DESCRIPTION = """\
Animals: traits of common animals, labelled with a taxonomy and with habitats.

Each row is a kind of animal, from the African wild dog to the zebra. The numbers are rounded
values from general knowledge for a typical adult in the wild. They are good enough for examples,
but no substitute for a textbook. The data were compiled for ramify and may be used freely.

Features (some values are missing):

    mass_kg         body mass
    length_cm       head and body; includes the tail for birds, reptiles, amphibians and fish;
                    the shell of snails and shellfish, the bell of jellyfish
    lifespan_years  typical lifespan; of the adult for insects
    young           young per litter or eggs per clutch
    speed_kmh       top speed, including dives of birds; 0 for animals that stay attached
    legs            legs for walking; not wings, fins, flippers or tentacles
    diet            blood, detritus (dead matter), fish, insects (and other small animals),
                    meat, mixed, nectar, plankton, plants
    active          any (no fixed time), day, night, twilight
    cover           exoskeleton, feathers, fur, plates, scales, shell, skin (bare), spines
    birth           eggs, eggs-inside (they hatch in the mother), live-birth, pouch
    moves           main way of moving: attached, climbs, crawls, digs, drifts, flies, hops,
                    runs, slithers, swims, walks
    social          colony, group, pairs, solitary
    blood           cold, partly-warm, warm

Values of bees, wasps and ants are those of a worker, which has no young.

Labels:

    taxonomy/class/order/family    one per animal, such as
                                   taxonomy/mammal/carnivora/felidae. Classes have their
                                   common names (fish are several classes in strict
                                   taxonomy); whales are a separate order.
    habitat/realm/place            one or more per animal, such as habitat/sea/coast and
                                   habitat/land/tundra
"""


def load_animals(as_frame: bool | None = None) -> DataSet:
    """Load the animals data set: 13 traits, with a taxonomy and habitats as labels.

    This small data set for examples and tests has numeric and nominal features, missing values,
    labels at several levels and several labels per row.

    Parameters
    ----------
    as_frame : bool or None
        Whether to return `X` as a pandas data frame, with the animals as its index. None is the
        same as True, because seven features are nominal. If False, `X` is an array in which a
        nominal value is coded as its position in ``categories``.

    Returns
    -------
    DataSet
        With `X`, `y`, `hierarchy`, `feature_names`, `categories`, `splits`, `name`,
        `description`, and `names`, the animals in the order of the rows.

    Raises
    ------
    ImportError
        If `as_frame` is not False and pandas is not installed.

    Examples
    --------
    >>> from ramify.datasets import load_animals
    >>> data = load_animals()
    >>> data.X.loc["lion", ["diet", "moves", "social"]].tolist()
    ['meat', 'runs', 'group']
    >>> lion = data.names.index("lion")
    >>> data.hierarchy.decode(data.y[[lion]])[0]
    ('habitat/land/grassland', 'habitat/land/savanna', 'taxonomy/mammal/carnivora/felidae')
    """
    rows = _read()
    names = tuple(row["animal"] for row in rows)
    categories = {
        name: tuple(sorted({row[name] for row in rows if row[name]})) for name in NOMINAL
    }
    labels = [_labels(row) for row in rows]
    hierarchy = Hierarchy.from_paths(label for row in labels for label in row)
    feature_names = NUMERIC + NOMINAL
    X = _features(rows, categories)
    return DataSet(
        X=present(X, feature_names, categories, as_frame, caller="load_animals", index=names),
        y=hierarchy.encode(labels),
        hierarchy=hierarchy,
        feature_names=feature_names,
        categories=categories,
        names=names,
        name="animals",
        description=DESCRIPTION,
    )


def _read() -> list[dict[str, str]]:
    text = files("ramify.datasets").joinpath("animals.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _labels(row: dict[str, str]) -> tuple[str, ...]:
    habitats = (f"habitat/{place}" for place in row["habitat"].split())
    return (f"taxonomy/{row['taxonomy']}", *habitats)


def _features(rows: list[dict[str, str]], categories: Categories) -> NDArray[np.float64]:
    columns = [[float(row[name] or "nan") for row in rows] for name in NUMERIC]
    for name, values in categories.items():
        code = {value: float(position) for position, value in enumerate(values)}
        columns.append([code.get(row[name], np.nan) for row in rows])
    return np.ascontiguousarray(np.array(columns, dtype=np.float64).T)
