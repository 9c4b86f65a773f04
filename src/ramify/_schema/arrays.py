"""Kinds of saved arrays, dense and sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ramify._schema.values import Kind, SchemaError, Size, Sizes, wrong


@dataclass(frozen=True)
class Array(Kind):
    """A dense array."""

    shape: Sequence[Size]  # its lengths
    # The data types it may have, e.g. "f4 f8"; "O" and "U" for objects and strings of any length.
    dtypes: str = "f8"
    # Bounds of its elements; `below` is exclusive and may be a size. NaN is not within bounds.
    low: float | None = None
    high: float | None = None
    below: Size | None = None
    finite: bool = True  # whether NaN and infinity are refused
    missing: bool = False  # whether NaN is allowed although `finite` is true

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not np.ndarray or value.ndim != len(self.shape):
            raise wrong(where, f"an array of {len(self.shape)} dimensions", value)
        _check_dtype(value, self.dtypes, where)
        for size, found in zip(self.shape, value.shape, strict=True):
            sizes.match(size, found, where)
        finite = self.finite and not self.missing
        _check_elements(value, where, self.low, self.high, finite=finite)
        if self.missing and np.isinf(value).any():
            raise SchemaError(f"{where}: elements must be finite or NaN")
        if self.below is not None and value.size and value.max() >= sizes.get(self.below):
            raise SchemaError(f"{where}: elements must be below {sizes.get(self.below)}")


@dataclass(frozen=True)
class Increasing(Kind):
    """An array of one dimension whose elements never decrease."""

    length: Size  # its length
    dtypes: str = "f8"  # the data types it may have
    first: Size | None = None  # its first and last element
    last: Size | None = None
    strictly: bool = False  # whether elements must differ

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        Array((self.length,), self.dtypes).check(value, where, sizes)
        below, above = value[:-1], value[1:]
        if not (below < above if self.strictly else below <= above).all():
            raise SchemaError(f"{where}: elements must increase")
        for size, at in ((self.first, 0), (self.last, -1)):
            if size is not None and (not value.size or value[at] != sizes.get(size)):
                raise SchemaError(f"{where}: element {at} must be {sizes.get(size)}")


@dataclass(frozen=True)
class Sparse(Kind):
    """A sparse matrix whose indices are within range."""

    shape: Sequence[Size]  # its lengths
    dtypes: str = "f8"  # the data types that its elements may have
    formats: str = "csr"  # the formats it may have, "csr" and "csc"
    low: float | None = None  # bounds of its elements
    high: float | None = None
    finite: bool = True  # whether NaN and infinity are refused
    canonical: bool = True  # whether indices must be sorted and distinct

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        matrix: Any = value
        if not sparse.issparse(value) or matrix.format not in self.formats.split():
            raise wrong(where, f"a sparse matrix ({self.formats})", value)
        _check_dtype(matrix.data, self.dtypes, where)
        for size, found in zip(self.shape, matrix.shape, strict=True):
            sizes.match(size, found, where)
        check_sparse(matrix, where, canonical=self.canonical)
        _check_elements(matrix.data, where, self.low, self.high, finite=self.finite)


def check_sparse(matrix: Any, where: str, *, canonical: bool = False) -> None:
    """Check the arrays of a csr or csc matrix, which scipy's native code uses without checks.

    scipy's own check_format skips the indices if the last element of indptr is not positive.
    """
    n_major, n_minor = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    parts = (matrix.data, matrix.indices, matrix.indptr)
    check_compressed(parts, n_major, n_minor, where, canonical=canonical)


def check_compressed(
    parts: Sequence[Any], n_major: int, n_minor: int, where: str, *, canonical: bool = False
) -> None:
    """Check data, indices and indptr of a matrix before it is created from them."""
    data, indices, indptr = parts
    for name, part in (("data", data), ("indices", indices), ("indptr", indptr)):
        if type(part) is not np.ndarray or part.ndim != 1:
            raise SchemaError(f"{where}: {name} must be an array of one dimension")
    if data.dtype.kind not in "biuf":
        raise SchemaError(f"{where}: data must be numbers, got {data.dtype}")
    if any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)):
        raise SchemaError(f"{where}: indices and indptr must be int32 or int64")
    if len(data) != len(indices) or len(indptr) != n_major + 1:
        raise SchemaError(f"{where}: data, indices and indptr differ in length")
    # Compared, not subtracted: differences of int64 may overflow.
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[:-1] > indptr[1:]).any():
        raise SchemaError(f"{where}: indptr must increase from 0 to {len(indices)}")
    if len(indices) and (indices.min() < 0 or indices.max() >= n_minor):
        raise SchemaError(f"{where}: indices must be from 0 to {n_minor - 1}")
    if canonical and len(indices) > 1:
        rises = indices[:-1] < indices[1:]
        starts = indptr[1:-1]
        rises[starts[(starts > 0) & (starts < len(indices))] - 1] = True
        if not rises.all():
            raise SchemaError(f"{where}: indices of a row must be sorted and distinct")


def _check_dtype(array: Any, dtypes: str, where: str) -> None:
    dtype = array.dtype
    names = (f"{dtype.kind}{dtype.itemsize}", dtype.kind if dtype.kind in "OU" else "")
    if not set(names) & set(dtypes.split()):
        raise SchemaError(f"{where}: the data type must be {dtypes}, got {dtype}")


def _check_elements(
    array: Any, where: str, low: float | None, high: float | None, *, finite: bool
) -> None:
    if not array.size or array.dtype.kind not in "biuf":
        return
    if array.dtype.kind == "f" and finite and not np.isfinite(array).all():
        raise SchemaError(f"{where}: elements must be finite")
    if low is not None and not (array >= low).all():
        raise SchemaError(f"{where}: elements must be at least {low}")
    if high is not None and not (array <= high).all():
        raise SchemaError(f"{where}: elements must be at most {high}")
