"""Limits on the size of data files, checked before anything of that size is allocated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from ramify._messages import did_you_mean
from ramify.io.errors import FormatError

_SMALL = 256 << 20


@dataclass(frozen=True)
class ReadLimits:
    """Limits of the readers of data files.

    A file beyond a limit is refused with a `FormatError` that names the limit. To read a larger
    file from a source that you trust, pass larger limits.

    Attributes
    ----------
    max_bytes : int
        Size of a file, after decompression.
    max_ratio : int
        How many times larger the content of a compressed file may be than the file; applies beyond
        256 MiB.
    max_columns : int
        Number of columns or attributes.
    max_cells : int
        Number of rows times number of columns of a CSV or parquet file, whose rows may be shorter
        than the header.
    max_categories : int
        Number of values of a nominal column.
    max_labels : int
        Number of labels of the hierarchy.
    max_depth : int
        Number of segments of a path. A path names all labels on it, so a deep path needs memory
        proportional to the square of its length.

    Examples
    --------
    >>> from ramify.io import ReadLimits
    >>> ReadLimits(max_bytes=16 << 30).max_bytes
    17179869184
    """

    max_bytes: int = 4 << 30
    max_ratio: int = 256
    max_columns: int = 1_000_000
    max_cells: int = 500_000_000
    max_categories: int = 1_000_000
    max_labels: int = 1_000_000
    max_depth: int = 100

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or value < 1:
                raise ValueError(f"{field.name} must be an integer >= 1, got {value!r}.")

    @classmethod
    def from_settings(cls, settings: Sequence[str]) -> ReadLimits:
        """Read settings such as "max_bytes=17179869184".

        Parameters
        ----------
        settings : sequence of str
            Names and values; other limits keep their defaults.

        Returns
        -------
        ReadLimits
            The limits.

        Examples
        --------
        >>> ReadLimits.from_settings(["max_depth=200"]).max_depth
        200
        """
        names = [field.name for field in fields(cls)]
        values: dict[str, int] = {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in names or not value.isdecimal():
                raise ValueError(
                    f"a limit must be one of {', '.join(names)} with a number, such as "
                    f"max_depth=200, got {setting!r}.{did_you_mean(name, names)}"
                )
            values[name] = int(value)
        return cls(**values)

    def check(self, name: str, found: int, what: str, path: str) -> None:
        """Raise FormatError if a file has more than a limit allows.

        Parameters
        ----------
        name : str
            The limit.
        found : int
            The number found in the file.
        what : str
            What is counted, for the message.
        path : str
            The file.
        """
        most = getattr(self, name)
        if found > most:
            raise FormatError(
                f"{path}: {what} must be at most {most}, got {found}. If you trust the file, pass "
                f"limits=ramify.io.ReadLimits({name}={found}) or, on the command line, --limit "
                f"{name}={found}."
            )

    def check_bytes(self, n_bytes: int, packed: int | None, path: str) -> None:
        """Check the size of the content read so far, and its ratio to the compressed file.

        Parameters
        ----------
        n_bytes : int
            Size of the content.
        packed : int or None
            Size of the compressed file, None if it is not compressed.
        path : str
            The file.
        """
        self.check("max_bytes", n_bytes, "the size of the content in bytes", path)
        if packed is not None and n_bytes > _SMALL:
            ratio = -(-n_bytes // max(packed, 1))
            self.check("max_ratio", ratio, "the ratio of decompressed to compressed size", path)

    def checked_paths(
        self, paths: Iterable[tuple[str, ...]], separator: str, path: str
    ) -> Iterator[str]:
        """Yield label paths as strings; check their depth and the number of their labels.

        Parameters
        ----------
        paths : iterable of tuples of str
            Label paths.
        separator : str
            Separator of the segments of a path.
        path : str
            The file.

        Yields
        ------
        str
            The paths, for `Hierarchy.from_paths`.
        """
        prefixes: set[str] = set()
        for segments in paths:
            self.check("max_depth", len(segments), "the number of segments of a label", path)
            name = prefix = separator.join(segments)
            while prefix and prefix not in prefixes:
                prefixes.add(prefix)
                prefix = prefix.rpartition(separator)[0]
            self.check("max_labels", len(prefixes), "the number of labels", path)
            yield name
