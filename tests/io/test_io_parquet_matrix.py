"""Parquet files as matrices on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ramify.io import FormatError, parquet_matrix, parquet_to_npy

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def write(folder: Path, frame: object, **options: object) -> Path:
    path = folder / "rows.parquet"
    frame.to_parquet(path, index=False, **options)  # type: ignore[attr-defined]
    return path


def numbers(n_rows: int, dtype: str = "float32") -> object:
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(n_rows, 3)).astype(dtype), columns=list("abc"))
    frame.loc[::7, "b"] = np.nan
    return frame


def test_row_groups_are_read_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_matrix, "_ROWS_AT_ONCE", 30)
    frame = numbers(1000)
    path = write(tmp_path, frame, row_group_size=64)
    X = parquet_to_npy(path, tmp_path / "X.npy")
    assert isinstance(X, np.memmap)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, frame.to_numpy())  # type: ignore[attr-defined]
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), X)


def test_columns_keep_the_order_given(tmp_path: Path) -> None:
    frame = numbers(10)
    X = parquet_to_npy(write(tmp_path, frame), tmp_path / "X.npy", columns=["c", "a"])
    np.testing.assert_array_equal(X, frame[["c", "a"]].to_numpy())  # type: ignore[index]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (np.array([1, 2, 127], dtype=np.int8), np.float32),
        (np.array([1, 2, 65535], dtype=np.uint16), np.float32),
        (np.array([True, False, True]), np.float32),
        (np.array([1, 2, 2**24 + 1], dtype=np.int32), np.float64),
        (np.array([0.1, 0.2, 0.3]), np.float64),
    ],
)
def test_no_value_is_rounded_by_default(
    column: np.ndarray, expected: type, tmp_path: Path
) -> None:
    path = write(tmp_path, pandas.DataFrame({"a": column}))
    X = parquet_to_npy(path, tmp_path / "X.npy")
    assert X.dtype == expected
    np.testing.assert_array_equal(X[:, 0], column.astype(np.float64))


def test_float32_on_request(tmp_path: Path) -> None:
    frame = numbers(20, "float64")
    X = parquet_to_npy(write(tmp_path, frame), tmp_path / "X.npy", dtype=np.float32)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, frame.to_numpy().astype(np.float32))  # type: ignore


def test_missing_integers_are_nan(tmp_path: Path) -> None:
    path = write(tmp_path, pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int16")}))
    X = parquet_to_npy(path, tmp_path / "X.npy")
    np.testing.assert_array_equal(X[:, 0], [1, np.nan, 3])


def test_errors_name_the_column(tmp_path: Path) -> None:
    path = write(tmp_path, pandas.DataFrame({"a": [1.0], "labels": ["x"]}))
    target = tmp_path / "X.npy"
    with pytest.raises(ValueError, match=r"columns must be numeric, got 'labels'.*drop="):
        parquet_to_npy(path, target)
    with pytest.raises(ValueError, match=r"drop must name columns of .*got 'label'.*'labels'"):
        parquet_to_npy(path, target, drop=["label"])
    with pytest.raises(ValueError, match=r"dtype must be float32 or float64, got int32"):
        parquet_to_npy(path, target, drop=["labels"], dtype=np.int32)
    with pytest.raises(ValueError, match=r"at least one column"):
        parquet_to_npy(path, target, drop=["a", "labels"])
    assert not target.exists()
    assert parquet_to_npy(path, target, drop=["labels"]).shape == (1, 1)


def test_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 no")
    with pytest.raises(FormatError, match="expected a parquet file"):
        parquet_to_npy(path, tmp_path / "X.npy")
    with pytest.raises(FileNotFoundError):
        parquet_to_npy(tmp_path / "other.parquet", tmp_path / "X.npy")
