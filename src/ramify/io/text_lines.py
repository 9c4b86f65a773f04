"""Read text files line by line, with the number of every line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from os import fspath

from ramify.io.errors import FormatError
from ramify.io.files import FilePath, read_chunks
from ramify.io.limits import ReadLimits

_MOST_BYTES_PER_LINE = 1 << 20


def numbered_lines(path: FilePath, limits: ReadLimits | None = None) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line of a UTF-8 file, plain or gzip."""
    rest = b""
    number = 0
    for chunk in read_chunks(path, limits=limits):
        text = rest + chunk
        end = text.rfind(b"\n") + 1
        rest = text[end:]
        if len(rest) > _MOST_BYTES_PER_LINE:
            line = number + text.count(b"\n") + 1
            raise FormatError(
                f"{fspath(path)}, line {line}: the line is longer than "
                f"{_MOST_BYTES_PER_LINE >> 20} MiB. Check that this is a text file."
            )
        for found in _decoded(path, text[:end], number):
            number += 1
            yield number, found
    if rest:
        yield number + 1, next(_decoded(path, rest + b"\n", number))


def _decoded(path: FilePath, text: bytes, number: int) -> Iterator[str]:
    if number == 0:
        text = text.removeprefix(codecs.BOM_UTF8)
    try:
        lines = text.decode().split("\n")
    except UnicodeDecodeError as error:
        line = number + text.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"{fspath(path)}, line {line}: byte 0x{text[error.start]:02X} is not UTF-8. Save the "
            "file as UTF-8."
        ) from None
    lines.pop()
    return (line.removesuffix("\r") for line in lines)
