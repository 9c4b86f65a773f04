"""Limits on the size of a model, checked before anything of that size is allocated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ramify._schema import SchemaError

__all__ = ["LimitError", "LoadLimits", "check_hierarchy_size"]


class LimitError(ValueError):
    """A model file declares more than a limit allows."""


@dataclass(frozen=True)
class LoadLimits:
    """Limits of `ramify.load`.

    A file beyond a limit is refused with a `ModelFileError` that names the limit. To load a larger
    model from a source that you trust, pass larger limits.

    Attributes
    ----------
    max_bytes : int
        Size of all members together after decompression.
    max_ratio : int
        How many times larger the members may be than the file; applies beyond 256 MiB.
    max_json_bytes : int
        Size of one JSON member, whose parsed form takes about twenty times as much memory.
    max_depth : int
        Nesting of lists and dicts.
    max_objects : int
        Number of arrays, trees, estimators and other objects.
    max_labels : int
        Number of labels of one hierarchy.

    Examples
    --------
    >>> from ramify.saving import LoadLimits
    >>> LoadLimits(max_bytes=16 << 30).max_bytes
    17179869184
    """

    max_bytes: int = 4 << 30
    max_ratio: int = 64
    max_json_bytes: int = 512 << 20
    max_depth: int = 64
    max_objects: int = 5_000_000
    max_labels: int = 1_000_000

    def check(self, name: str, found: int, what: str) -> None:
        """Raise LimitError if a file declares more than a limit allows.

        Parameters
        ----------
        name : str
            The limit.
        found : int
            What the file declares.
        what : str
            What is counted, for the message.
        """
        most = getattr(self, name)
        if found > most:
            raise LimitError(
                f"{what} must be at most {most}, got {found}. If you trust the file, load it with "
                f"limits=ramify.saving.LoadLimits({name}={found})."
            )


def check_hierarchy_size(content: Any, limits: LoadLimits) -> None:
    """Check the labels and parents of a hierarchy in JSON before it is built.

    Parameters
    ----------
    content : dict
        What `Hierarchy.to_json` wrote.
    limits : LoadLimits
        The limits.
    """
    labels, parents = content["labels"], content["parents"]
    if type(labels) is not list or type(parents) is not list or len(labels) != len(parents):
        raise SchemaError("a hierarchy must have a list of labels and as many lists of parents")
    limits.check("max_labels", len(labels), "the number of labels")
    for position, row in enumerate(parents):
        if type(row) is not list or any(
            type(parent) is not int or not 0 <= parent < position for parent in row
        ):
            raise SchemaError(f"the parents of label {position} must be positions before it")
        if len(set(row)) != len(row):
            raise SchemaError(f"the parents of label {position} must be distinct")
