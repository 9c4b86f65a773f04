"""Errors of all readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar, cast

from ramify._messages import did_you_mean

_LONGEST = 300  # characters of what a library says of a damaged file
_Read = TypeVar("_Read", bound=Callable[..., Any])


class FormatError(ValueError):
    """Raised if a file violates its format or a limit; the message gives the location."""


class UnknownLabelError(FormatError):
    """Raised if a file has labels that are not in the given hierarchy."""


def check_exists(*paths: Path | None) -> None:
    """Raise an error if there is no such file; suggest a similar name in the same folder."""
    for path in paths:
        if path is not None and not path.exists():
            names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
            raise FileNotFoundError(f"{path} does not exist.{did_you_mean(path.name, names)}")


@contextmanager
def parsing(path: str | PathLike[str], wanted: str) -> Iterator[None]:
    """Turn whatever a library raises about a damaged file into an error that names the file."""
    try:
        yield
    except (FormatError, MemoryError, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise FormatError(f"{fspath(path)}: expected {wanted}: {reason[:_LONGEST]}") from None


def names_file(read: _Read) -> _Read:
    """Decorate a reader: a MemoryError then says which file needs too much memory."""

    @wraps(read)
    def named(path: Any, *args: Any, **options: Any) -> Any:
        try:
            return read(path, *args, **options)
        except MemoryError as error:
            reason = str(error) or "Read it in parts, or on a machine with more memory."
            raise MemoryError(
                f"{fspath(path)}: not enough memory to read the file. {reason}"
            ) from None

    return cast("_Read", named)
