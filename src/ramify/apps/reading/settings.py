"""How data files are read: options that models and studies store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ramify._messages import did_you_mean
from ramify.io.csv_files import TextForm
from ramify.io.limits import ReadLimits

__all__ = [
    "DataOptions",
    "ReadingSettings",
]


_MOST_CHARACTERS = 10_000
_MOST_ITEMS = 100_000


@dataclass(frozen=True)
class DataOptions:
    """Options for reading a data file; options that do not apply to its format are ignored.

    Attributes
    ----------
    target : tuple of str or None
        The label columns. None means the column "labels" of a table and the hierarchical
        attribute of an ARFF file.
    separator : str
        Separator of the segments of a path.
    label_separator : str
        Separator of the labels of a row of a table.
    sample_weight : str or None
        The column of sample weights.
    form : TextForm
        Options for text files.
    limits : ReadLimits or None
        Limits on the size of files.
    index_base : int
        First index of sparse ARFF rows, 0 or 1.
    drop : tuple of str
        Columns to leave out, which must exist.
    ignore : tuple of str
        Columns to leave out if they exist.
    id_column : str or None
        The column of identifiers, which is not a feature.
    """

    target: tuple[str, ...] | None = None
    separator: str = "/"
    label_separator: str = ";"
    sample_weight: str | None = None
    form: TextForm = field(default_factory=TextForm)
    limits: ReadLimits | None = None
    index_base: int = 0
    drop: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    id_column: str | None = None


@dataclass(frozen=True)
class ReadingSettings:
    """How a user describes data files. None means that a setting was not given.

    Attributes
    ----------
    target, missing, drop : tuple of str or None
        Label columns, texts that mark missing values, columns to leave out.
    separator, label_separator, delimiter, decimal, thousands, encoding : str or None
        As in `read_table`.
    index_base : int or None
        As in `read_arff`.
    weight, id_column : str or None
        Columns of sample weights and of identifiers.

    Examples
    --------
    >>> trained = ReadingSettings(delimiter=";", decimal=",", target=("taxon",))
    >>> ReadingSettings(delimiter="|").over(trained).to_dict()
    {'target': ['taxon'], 'delimiter': '|', 'decimal': ','}
    """

    target: tuple[str, ...] | None = None
    separator: str | None = None
    label_separator: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: tuple[str, ...] | None = None
    encoding: str | None = None
    index_base: int | None = None
    weight: str | None = None
    drop: tuple[str, ...] | None = None
    id_column: str | None = None

    def over(self, other: ReadingSettings) -> ReadingSettings:
        """Return these settings, completed with those of `other`.

        Parameters
        ----------
        other : ReadingSettings
            Used where these settings are None.

        Returns
        -------
        ReadingSettings
            Both together.
        """
        return ReadingSettings(**{**other.given(), **self.given()})

    def given(self) -> dict[str, Any]:
        """Return the settings that are not None."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def options(self, limits: ReadLimits | None = None) -> DataOptions:
        """Return the options for reading features and labels.

        Parameters
        ----------
        limits : ReadLimits, optional
            Limits on the size of files.

        Returns
        -------
        DataOptions
            With defaults for settings that were not given.
        """
        given = self.given()
        form = {entry.name for entry in fields(TextForm)}
        named = {"weight": "sample_weight"}
        options = {entry.name for entry in fields(DataOptions)}
        return DataOptions(
            form=TextForm(**{name: value for name, value in given.items() if name in form}),
            limits=limits,
            **{
                named.get(name, name): value
                for name, value in given.items()
                if named.get(name, name) in options
            },
        )

    def labelled(self, limits: ReadLimits | None = None) -> DataOptions:
        """Return the options for reading features and labels for a model.

        Parameters
        ----------
        limits : ReadLimits, optional
            Limits on the size of files.

        Returns
        -------
        DataOptions
            As in `options`, but the columns of weights, and those that were left out in training,
            may be missing.
        """
        named = self.options(limits)
        weight = () if self.weight is None else (self.weight,)
        return replace(named, sample_weight=None, drop=(), ignore=(*weight, *named.drop))

    def unlabelled(self, limits: ReadLimits | None = None) -> DataOptions:
        """Return the options for reading features only, without the other columns of training.

        Parameters
        ----------
        limits : ReadLimits, optional
            Limits on the size of files.

        Returns
        -------
        DataOptions
            The columns of labels and weights, and those that were left out, may be missing.
        """
        named = self.labelled(limits)
        return replace(named, target=(), ignore=(*(self.target or ()), *named.ignore))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that are not None, for JSON and TOML."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self.given().items()
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ReadingSettings:
        """Read the result of `to_dict`, or settings that a user has written.

        Parameters
        ----------
        values : mapping of str to str, int or list of str
            The settings by name.

        Returns
        -------
        ReadingSettings
            The settings. A value of another type, or one that is too long, raises a ValueError.

        Examples
        --------
        >>> ReadingSettings.from_dict({"delimiter": ";", "missing": ["k.A."]}).missing
        ('k.A.',)
        >>> ReadingSettings.from_dict({"delimeter": ";"})
        Traceback (most recent call last):
            ...
        ValueError: there is no setting 'delimeter' for reading data. Did you mean 'delimiter'?
        """
        if not isinstance(values, Mapping):
            raise ValueError(f"settings for reading data must be a table, got {values!r}.")
        kinds = {entry.name: str(entry.type) for entry in fields(cls)}
        found: dict[str, Any] = {}
        for name, value in values.items():
            if name not in kinds:
                raise ValueError(
                    f"there is no setting {name!r} for reading data.{did_you_mean(name, kinds)}"
                )
            found[name] = _checked(name, value, kinds[name])
        return cls(**found)


def _checked(name: str, value: Any, kind: str) -> Any:
    if kind.startswith("tuple"):
        items = [value] if isinstance(value, str) else value
        if isinstance(items, list) and len(items) <= _MOST_ITEMS and all(map(_is_text, items)):
            return tuple(items)
        wanted = "a list of texts"
    elif kind.startswith("int"):
        if type(value) is int and value in (0, 1):
            return value
        wanted = "0 or 1"
    else:
        if _is_text(value):
            return value
        wanted = "a text"
    raise ValueError(f"{name} must be {wanted}, got {str(value)[:100]!r}.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _MOST_CHARACTERS
