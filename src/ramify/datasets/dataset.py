"""The data set container returned by loaders, generators and downloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ramify._messages import did_you_mean, shorten

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
        return f"<DataSet {name}{n} rows, {n_features} features, {self.y.shape[1]} labels>"


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
    """Return dense features as an array or a pandas data frame.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Features, with codes for nominal values and NaN for missing values.
    feature_names : sequence of str
        Names of the columns.
    categories : dict of str to tuple of str
        The values of the nominal features.
    as_frame : bool or None
        If None, return a data frame if there are nominal features, and an array otherwise.
    caller : str
        Name of the calling function, for error messages.
    index : array-like, optional
        Row names of the data frame.

    Returns
    -------
    ndarray or pandas.DataFrame
        Nominal columns of a data frame have the dtype "category" with all declared values.

    Examples
    --------
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
