"""Read settings files of CLUS: lines, sections and options."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ramify._messages import did_you_mean
from ramify.apps.clus.errors import SettingsError, UnsupportedOptionError, place, quoted
from ramify.apps.clus.options import (
    OLD_OPTIONS,
    OLD_SECTIONS,
    OLD_VALUES,
    OPTIONS,
    SECTIONS,
    Switches,
)
from ramify.apps.clus.values import check_value, columns_of, items, number_of, same_value

Key = tuple[str, str]
_TEXT_FILES = (("Hierarchical", "EvalClasses"), ("Hierarchical", "DefinitionFile"))


@dataclass(frozen=True)
class Settings:
    r"""The options of a settings file; options that it does not set have the defaults of CLUS.

    The methods that return the value of an option take its section and its name.

    Attributes
    ----------
    path : Path
        The file.
    entries : mapping of (str, str) to Entry
        The values that the file sets and their lines, by section and option.
    sections : frozenset of str
        The sections that the file names, even without options.
    ignored : tuple of str
        What was ignored and why, one line each.

    Examples
    --------
    >>> from ramify.clus import read_settings
    >>> path = Path(getfixture("tmp_path")) / "run.s"
    >>> _ = path.write_text("[Tree]\nFTest = [0.001,0.01]\n")
    >>> settings = read_settings(path)
    >>> settings.numbers("Tree", "FTest")
    (0.001, 0.01)
    >>> settings.number("Model", "MinimalWeight")
    2.0
    """

    path: Path
    entries: Mapping[Key, Entry]
    sections: frozenset[str] = frozenset()
    ignored: tuple[str, ...] = field(default=())

    @property
    def application(self) -> Path:
        """Path of the settings file without ``.s``; the files of a run begin with it."""
        return self.path.with_suffix("") if self.path.suffix == ".s" else self.path

    def given(self, section: str, option: str) -> bool:
        """Whether the file sets an option."""
        return (section, option) in self.entries

    def place(self, section: str, option: str) -> str:
        """Return where an option is set, for the beginning of an error message."""
        entry = self.entries.get((section, option))
        return place(self.path, entry.line if entry else None, section, option)

    def text(self, section: str, option: str) -> str:
        """Return a value as text; names of values are spelled as in CLUS 2.12.8."""
        known = OPTIONS[section, option]  # a KeyError is a bug in the caller
        entry = self.entries.get((section, option))
        return known.default if entry is None else entry.value

    def number(self, section: str, option: str) -> float:
        """Return a number."""
        return number_of(self.text(section, option))

    def integer(self, section: str, option: str) -> int:
        """Return an integer."""
        return int(self.text(section, option))

    def limit(self, section: str, option: str) -> int | None:
        """Return an upper limit; None for Infinity and negative numbers."""
        value = self.number(section, option)
        return None if math.isinf(value) or value < 0 else int(value)

    def yes_no(self, section: str, option: str) -> bool:
        """Return whether an option is on."""
        return self.text(section, option) == "Yes"

    def names(self, section: str, option: str) -> tuple[str, ...]:
        """Return a list of names such as ``[Train,Test]``; it is empty for ``[]`` and None."""
        found = tuple(items(self.text(section, option)))
        return () if found == ("None",) else found

    def numbers(self, section: str, option: str) -> tuple[float, ...]:
        """Return a list of numbers such as ``[0.001,0.01]``; a single number is a list of one.

        The list is empty for a name such as None, Normalize or Dynamic.
        """
        try:
            return tuple(number_of(item) for item in items(self.text(section, option)))
        except ValueError:
            return ()

    def listed(self, section: str, option: str) -> tuple[float, ...]:
        """Return a list of numbers where CLUS ignores a number without brackets."""
        return self.numbers(section, option) if self.text(section, option)[:1] == "[" else ()

    def columns(self, section: str, option: str, n_columns: int) -> tuple[int, ...] | None:
        """Return the columns of a range such as ``2-5,8``.

        Indices start at 0 and increase. The text None is an empty range; for Default, the object
        None is returned.
        """
        value = self.text(section, option)
        if value == "Default":
            return None
        return columns_of(value, n_columns, self.place(section, option))

    def fraction(self, section: str, option: str) -> float | None:
        """Return the fraction of the rows to draw for a set of rows; None for a file or no set."""
        try:
            return self.number(section, option)
        except ValueError:
            return None

    def file(self, section: str, option: str) -> Path | None:
        """Return the path of an existing file; None for the text None.

        As in CLUS, a relative path starts at the working directory; if there is no such file, it
        starts at the folder of the settings file.
        """
        value = self.text(section, option)
        return None if value in ("None", "") else self._existing(section, option, value)

    def data_file(self) -> Path:
        """Return the path of the training file; by default, it has the name of the settings."""
        path = self.file("Data", "File")
        return path or self._existing("Data", "File", f"{self.application}.arff")

    def _existing(self, section: str, option: str, value: str) -> Path:
        places = (Path(value), self.path.parent / value)
        found = next((path for path in places if _is_file(path)), None)
        if found is None:
            raise SettingsError(
                f"{self.place(section, option)} must name an existing file, got {quoted(value)}."
            )
        return found

    def with_value(self, section: str, option: str, value: str) -> Settings:
        """Return the settings with another value of an option, as CLUS 2.12.8 spells it."""
        old = self.entries.get((section, option))
        entry = Entry(section, option, value, old.line if old else 0)
        return replace(self, entries={**self.entries, (section, option): entry})

    def supported(self, switches: Switches, *, ignore_unsupported: bool = False) -> Settings:
        """Check the settings and return them without options that ramify does not support.

        Parameters
        ----------
        switches : Switches
            The section Ensemble is not checked without ``-forest``.
        ignore_unsupported : bool
            Leave such options out and list them in `ignored` instead of raising an error.

        Returns
        -------
        Settings
            The settings with supported options only.
        """
        for section, name in _TEXT_FILES:
            path = self.file(section, name)
            if path is not None:
                read_small_text(path, f"the text file of [{section}] {name}")
        kept, ignored = dict(self.entries), list(self.ignored)
        for (section, name), entry in self.entries.items():
            problem = _unsupported(section, name, entry)
            if not problem or (section == "Ensemble" and not switches.forest):
                continue
            message = f"{self.place(section, name)} = {quoted(entry.value)} {problem}"
            if not ignore_unsupported:
                raise UnsupportedOptionError(
                    f"{message} Remove the line, or pass --ignore-unsupported to run without it."
                )
            ignored.append(f"{message} Ignored.")
            del kept[section, name]
        return replace(self, entries=kept, ignored=tuple(ignored))


def read_settings(path: str | Path) -> Settings:
    r"""Read a settings file of CLUS and check its sections, options and values.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Settings
        The options.

    Examples
    --------
    >>> path = Path(getfixture("tmp_path")) / "run.s"
    >>> _ = path.write_text("[Model]\nMinimalWeigth = 5\n")
    >>> read_settings(path)
    Traceback (most recent call last):
    ...
    ramify.apps.clus.errors.SettingsError: ...run.s, line 2: [Model] has no option
    'MinimalWeigth'. Did you mean 'MinimalWeight'?
    """
    path = Path(path)
    entries: dict[Key, Entry] = {}
    sections: set[str] = set()
    raw = read_entries(path)
    for found in raw.entries:
        section = _section(path, found)
        sections.add(section)
        if not found.name:
            continue
        name = _name(path, section, found)
        value = OLD_VALUES.get((section, name), {}).get(found.value, found.value)
        option = OPTIONS[section, name]
        try:
            value = check_value(option, value, place(path, found.line, section, name))
        except SettingsError as error:
            if option.status != "without effect":
                raise
            raw.ignored.append(f"{error} It has no effect.")
        entries[section, name] = replace(found, section=section, name=name, value=value)
    return Settings(path, entries, frozenset(sections), tuple(raw.ignored))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # for example, the name is too long
        return False


def _section(path: Path, found: Entry) -> str:
    name = OLD_SECTIONS.get(found.section, found.section)
    if name not in SECTIONS:
        raise SettingsError(
            f"{place(path, found.line)}: unknown section [{quoted(found.section)[1:-1]}]."
            f"{did_you_mean(found.section, SECTIONS)}"
        )
    return name


def _name(path: Path, section: str, found: Entry) -> str:
    name = OLD_OPTIONS.get((section, found.name), found.name)
    if (section, name) in OPTIONS:
        return name
    here = [option for place_, option in OPTIONS if place_ == section]
    hint = did_you_mean(found.name, here)
    elsewhere = [place_ for place_, option in OPTIONS if option == name]
    if elsewhere:
        hint = f" It belongs to [{elsewhere[0]}]."
    raise SettingsError(
        f"{place(path, found.line)}: [{section}] has no option {quoted(found.name)}.{hint}"
    )


def _unsupported(section: str, name: str, entry: Entry) -> str:
    """Return why a value is not supported; empty if it is."""
    option = OPTIONS[section, name]
    if option.status == "unsupported" and not same_value(entry.value, option.default):
        return f"is not supported: {option.reason}."
    refused = [item for item in items(entry.value) if item in option.unsupported]
    if refused:
        known = " or ".join(name for name in option.choices if name not in option.unsupported)
        return f"is not supported: {option.reason}. The value must be {known}."
    return ""


# ---- lines: sections, options, comments, lists ----------------------------------------------


MOST_BYTES = 16 << 20
_COMMENT = re.compile(r"\s+%.*")
_LIST_ENDS = {"[": "]", "{": "}"}


@dataclass(frozen=True)
class Entry:
    """An option in a settings file, or a section if the name is empty."""

    section: str  # the content of the file
    name: str
    value: str
    line: int  # number of the line, from 1


@dataclass
class Entries:
    """The content of a settings file."""

    # Sections and options in the order of the file.
    entries: list[Entry] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # lines that CLUS ignores, with the reason


def read_entries(path: Path) -> Entries:
    r"""Read the sections and options of a settings file without checking their names.

    >>> path = Path(getfixture("tmp_path")) / "run.s"
    >>> _ = path.write_text("[Tree]\nFTest = 0.01  % a comment\n")
    >>> read_entries(path).entries[1]
    Entry(section='Tree', name='FTest', value='0.01', line=2)
    """
    found, section = Entries(), ""
    lines = enumerate(read_small_text(path, "a settings file").splitlines(), 1)
    for number, line in lines:
        text = _COMMENT.sub("", " " + line).strip()
        if not text:
            continue
        if text.startswith("["):
            section = _heading(path, number, text)
            found.entries.append(Entry(section, "", "", number))
        elif not section:
            found.ignored.append(
                f"{place(path, number)}: {quoted(text)} stands before the first section. Ignored."
            )
        else:
            name, equals, value = (part.strip() for part in text.partition("="))
            if not equals or not name:
                raise SettingsError(
                    f"{place(path, number)}: expected NAME = VALUE or [SECTION], got "
                    f"{quoted(text)}."
                )
            end = _LIST_ENDS.get(value[:1])
            while end and end not in value:  # a list may continue on the next lines
                value += _next(path, number, name, lines)
            found.entries.append(
                Entry(section, name, _unquoted(path, number, name, value), number)
            )
    if not found.entries:
        raise SettingsError(
            f"{path}: the file has no section such as [Data]; it must be a settings file of CLUS."
        )
    return found


def read_small_text(path: Path, what: str) -> str:
    """Return the text of a file that may be missing, large, binary or in another encoding."""
    if path.is_dir():
        raise SettingsError(f"{path}: expected {what}, got a folder.")
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise SettingsError(f"{path}: there is no such file; expected {what}.") from None
    except OSError as error:
        raise SettingsError(f"{path}: {what} cannot be read: {error.strerror}.") from None
    if len(content) > MOST_BYTES:
        raise SettingsError(f"{path}: {what} must have at most {MOST_BYTES} bytes.")
    if b"\0" in content:
        raise SettingsError(f"{path}: expected {what}, got binary data.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")  # older files with names in a local encoding


def _heading(path: Path, number: int, text: str) -> str:
    if not text.endswith("]") or not text[1:-1].strip():
        raise SettingsError(
            f"{place(path, number)}: expected a section such as [Data], got {quoted(text)}."
        )
    return text[1:-1].strip()


def _next(path: Path, number: int, name: str, lines: enumerate[str]) -> str:
    for _, line in lines:
        text = _COMMENT.sub("", " " + line).strip()
        if text.startswith("[") or "=" in text:
            break
        return text
    raise SettingsError(f"{place(path, number)}: the list of {quoted(name)} has no end.")


def _unquoted(path: Path, number: int, name: str, value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    if not value:
        raise SettingsError(f"{place(path, number)}: {quoted(name)} has no value.")
    return value
