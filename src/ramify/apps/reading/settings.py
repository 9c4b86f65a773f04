"""How data files are read: options that models and studies store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ramify._messages import did_you_mean
from ramify.io.formats import TextForm
from ramify.io.limits import ReadLimits
from ramify.io.tables.labels import LabelForm
from ramify.io.tables.roles import KINDS, Columns
from ramify.io.tables.table import Table

_MOST_CHARACTERS = 10_000
_MOST_ITEMS = 100_000


@dataclass(frozen=True)
class DataOptions:
    """Options for reading a data file; options that do not apply to its format are ignored."""

    # The label columns. None means the column "labels" of a table and the hierarchical attribute
    # of an ARFF file.
    target: tuple[str, ...] | None = None
    separator: str | None = None  # separator of the names of a path; None: found, "/" in ARFF
    label_separator: str | None = None  # separator of the labels of a row; None: found
    gaps: str = "skip"  # what to do with an empty level above others
    ends: str = "known"  # what is known below the ends of paths, as in `PartialLabels`
    sample_weight: str | None = None  # the column of sample weights
    form: TextForm = field(default_factory=TextForm)  # options for text files
    limits: ReadLimits | None = None  # limits on the size of files
    index_base: int = 0  # first index of sparse ARFF rows, 0 or 1
    drop: tuple[str, ...] = ()  # columns to leave out, which must exist
    ignore: tuple[str, ...] = ()  # columns to leave out if they exist
    id_column: str | None = None  # the column of identifiers, which is not a feature
    groups: str | None = None  # the column of groups, which is not a feature
    kinds: tuple[str, ...] = ()  # what columns are, such as "code=category"
    vectors: str | None = None  # the file of vectors of the rows
    embed: str | None = None  # the model that turns texts into vectors

    def columns(self, *, labelled: bool, kinds: Mapping[str, str], trained: bool) -> Columns:
        """Return what the columns of a table are for."""
        return Columns(
            self.target, self.sample_weight, self.groups, self.id_column, self.drop, self.ignore,
            {**kinds_of(self.kinds), **kinds}, labelled=labelled, trained=trained,
        )  # fmt: skip

    def labels(self) -> LabelForm:
        """Return how labels are written."""
        return LabelForm(self.separator, self.label_separator, self.gaps)


def kinds_of(settings: Sequence[str]) -> dict[str, str]:
    """Return what columns are from settings such as "code=category"."""
    found = {}
    for setting in settings:
        name, _, kind = setting.rpartition("=")
        if not name or kind not in KINDS:
            raise ValueError(
                f"a kind must be a column and one of {', '.join(KINDS)}, such as code=category, "
                f"got {setting!r}.{did_you_mean(kind, KINDS)}"
            )
        found[name] = kind
    return found


@dataclass(frozen=True)
class ReadingSettings:
    """How a user describes data files. None means that a setting was not given."""

    # Label columns, texts that mark missing values, columns to leave out.
    target: tuple[str, ...] | None = None
    separator: str | None = None  # as in `read_table`
    label_separator: str | None = None
    gaps: str | None = None
    ends: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: tuple[str, ...] | None = None
    dates: str | None = None
    header: str | None = None
    sheet: str | None = None
    footer: str | None = None
    encoding: str | None = None
    kinds: tuple[str, ...] | None = None
    units: tuple[str, ...] | None = None  # found, never given
    index_base: int | None = None  # as in `read_arff`
    weight: str | None = None  # columns of sample weights and of identifiers
    drop: tuple[str, ...] | None = None
    id_column: str | None = None
    groups: str | None = None
    embed: str | None = None  # the model that turns texts into vectors
    # The file of vectors of the rows. A model does not remember it: other rows have others.
    vectors: str | None = None
    # What was found in the training data, in case a file can be read in several ways.
    found: ReadingSettings | None = None

    def over(self, other: ReadingSettings) -> ReadingSettings:
        """Return these settings, completed with those of `other`."""
        return ReadingSettings(**{**other.given(), **self.given()})

    def given(self) -> dict[str, Any]:
        """Return the settings that are not None."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def options(self, limits: ReadLimits | None = None) -> DataOptions:
        """Return the options for reading features and labels."""
        given = self.given()
        form = {entry.name for entry in fields(TextForm)}
        hint = None if self.found is None else self.found.options().form
        named = {"weight": "sample_weight"}
        options = {entry.name for entry in fields(DataOptions)}
        return DataOptions(
            form=TextForm(
                **{name: value for name, value in given.items() if name in form}, hint=hint
            ),
            limits=limits,
            **{
                named.get(name, name): value
                for name, value in given.items()
                if named.get(name, name) in options
            },
        )

    def labelled(self, limits: ReadLimits | None = None) -> DataOptions:
        """Return the options for reading features and labels for a model."""
        named = self.options(limits)
        weight = () if self.weight is None else (self.weight,)
        groups = () if self.groups is None else (self.groups,)
        ignored = (*weight, *groups, *named.drop)
        return replace(named, sample_weight=None, groups=None, drop=(), ignore=ignored)

    def unlabelled(self, limits: ReadLimits | None = None) -> DataOptions:
        """Return the options for reading features only, without the other columns of training."""
        named = self.labelled(limits)
        return replace(named, target=(), ignore=(*(self.target or ()), *named.ignore))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that are not None, for JSON and TOML."""
        return {
            name: list(value)
            if isinstance(value, tuple)
            else value.to_dict()
            if isinstance(value, ReadingSettings)
            else value
            for name, value in self.given().items()
            if name != "vectors"
        }

    def with_found(self, table: Table) -> ReadingSettings:
        """Return these settings with what was found when the training data were read."""
        units = [f"{name}={unit}" for name, unit in table.units.items()]
        settings = {**table.settings, "units": units}
        names = ("delimiter", "decimal", "dates", "missing", "units")
        found = {
            name: value
            for name in names
            if getattr(self, name) is None and (value := settings.get(name))
        }
        joined = self.label_separator or settings.get("label_separator")
        target = settings.get("target")
        return replace(
            self,
            target=tuple(target) if isinstance(target, list) else self.target,
            label_separator=joined,
            found=ReadingSettings.from_dict(found) if found else None,
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ReadingSettings:
        """Read the result of `to_dict`, or settings that a user has written."""
        if not isinstance(values, Mapping):
            raise ValueError(f"settings for reading data must be a table, got {values!r}.")
        kinds = {entry.name: str(entry.type) for entry in fields(cls)}
        found: dict[str, Any] = {}
        for name, value in values.items():
            if name not in kinds or name == "vectors":
                raise ValueError(
                    f"there is no setting {name!r} for reading data.{did_you_mean(name, kinds)}"
                )
            found[name] = _checked(name, value, kinds[name])
        return cls(**found)


def _checked(name: str, value: Any, kind: str) -> Any:
    if kind.startswith("ReadingSettings"):
        return ReadingSettings.from_dict(value)
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
