"""Lines of settings files: sections, options, comments, and lists over several lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ramify.clus.errors import SettingsError, place, quoted

MOST_BYTES = 16 << 20
_COMMENT = re.compile(r"\s+%.*")
_LIST_ENDS = {"[": "]", "{": "}"}


@dataclass(frozen=True)
class Entry:
    """An option in a settings file, or a section if the name is empty.

    Attributes
    ----------
    section, name, value : str
        The content of the file.
    line : int
        Number of the line, from 1.
    """

    section: str
    name: str
    value: str
    line: int


@dataclass
class Entries:
    """The content of a settings file.

    Attributes
    ----------
    entries : list of Entry
        Sections and options in the order of the file.
    ignored : list of str
        Lines that CLUS ignores, with the reason.
    """

    entries: list[Entry] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def read_entries(path: Path) -> Entries:
    r"""Read the sections and options of a settings file without checking their names.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Entries
        The content of the file.

    Examples
    --------
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
    """Return the text of a file that may be missing, large, binary or in another encoding.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        What it must be, for error messages.

    Returns
    -------
    str
        The text.
    """
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
