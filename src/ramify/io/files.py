"""Read and write files: gzip, zip, encodings, atomic writes."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import secrets
import socket
import struct
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, TypeAlias

from ramify.io.errors import FormatError
from ramify.io.formats import is_gzip
from ramify.io.limits import ReadLimits

FilePath: TypeAlias = str | PathLike[str]

# Errors raised for damaged, encrypted and unusual zip files.
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(NotImplementedError, OverflowError, RuntimeError, ValueError),
)

_CHUNK = 1 << 20
_MOST_BYTES_PER_LINE = 1 << 20
_DAY = 86_400.0
_PART_OWNER = re.compile(r"\.(?P<host>[^./]{0,40})-(?P<process>\d{1,10})-[0-9a-f]{8}\.part$")


def read_chunks(
    path: FilePath, encoding: str = "utf-8", limits: ReadLimits | None = None
) -> Iterator[bytes]:
    """Yield the text of a file in chunks of UTF-8, decompressed if its first bytes say so."""
    if _codec(encoding) in ("utf-8", "utf-8-sig"):
        yield from _raw_chunks(path, limits)
    else:
        yield from _recoded_chunks(path, encoding, limits)


def read_bytes(path: FilePath, limits: ReadLimits | None = None) -> bytes:
    """Return the content of a file, decompressed if it is a gzip or zip file."""
    return b"".join(_raw_chunks(path, limits))


def read_utf8(path: FilePath, encoding: str = "utf-8", limits: ReadLimits | None = None) -> bytes:
    """Return the text of a file as valid UTF-8, without a byte order mark."""
    content = b"".join(read_chunks(path, encoding, limits)).removeprefix(codecs.BOM_UTF8)
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise _encoding_error(path, encoding, error, error.start) from None
    return content


_MARKED = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What files that are no tables begin with, whatever their names are, and what to do.
_OTHER_FILES = (
    (
        re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)\b", re.IGNORECASE),
        "a web page, not a table. Download the table itself.",
    ),
    (re.compile(rb"%PDF-"), "a PDF file, not a table. Save the table as .csv or .xlsx."),
    (re.compile(rb"PAR1"), "a parquet file. Let its name end in .parquet."),
    (
        re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        "a spreadsheet in another format. Save it as .xlsx or .csv.",
    ),
)
_CONTROL = bytes(k for k in range(32) if k not in b"\t\n\r\x0b\x0c")  # not in texts
_WESTERN = "cp1252"  # of Windows; all its letters and more than those of Latin-1
# Characters other than letters that texts in Western languages have.
_USUAL = frozenset("°²³¹µ·×÷±€£¥§©®™–—‘’‚“”„‹›«»…•†‡ ‰¼½¾¿¡ªº´¨¸¬¢¤¦¶\u00a0\u00ad")


def encoding_of(path: FilePath, start: bytes, *, is_whole: bool = True) -> tuple[str, str]:
    """Return the encoding of a text from its bytes, and a word that shows it."""
    for sign, told in _OTHER_FILES:
        if sign.match(start):
            raise FormatError(f"{fspath(path)} is {told}")
    for mark, name in _MARKED:
        if start.startswith(mark):
            return name, ""
    head = start[:4096]
    if head.count(0) * 3 > len(head) > 3:
        return ("utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"), ""
    if start.isascii():
        return "utf-8", ""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=is_whole)
        return "utf-8", ""
    except UnicodeDecodeError as error:
        text = start.decode(_WESTERN, "replace")
        found = Counter(char for char in text if char > "\x7f")
        odd = [char for char in found if not (char.isalpha() or char in _USUAL)]
        if any(byte in start for byte in _CONTROL):
            raise FormatError(
                f"{fspath(path)} is not a table: byte 0x{error.object[error.start]:02X} at offset "
                f"{error.start} is no text, and the file has control characters."
            ) from None
        if odd:
            raise _encoding_error(path, "utf-8", error, error.start) from None
        word = re.search(r"\w*[^\x00-\x7f]\w*", text)
        return _WESTERN, word[0][:40] if word else ""


def check_content(path: FilePath, limits: ReadLimits) -> None:
    """Check the size of a file after decompression (gzip, bzip2, xz) without storing it."""
    openers: dict[bytes, Callable[[IO[bytes]], Any]] = {
        b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
        b"BZ": bz2.BZ2File,
        b"\xfd7": lzma.LZMAFile,
    }
    n_bytes = 0
    with Path(path).open("rb") as raw:
        size = os.fstat(raw.fileno()).st_size
        opener = openers.get(raw.peek(2)[:2])
        if opener is None:
            limits.check_bytes(size, None, fspath(path))
            return
        stream = opener(raw)
        try:
            while chunk := stream.read(_CHUNK):
                n_bytes += len(chunk)
                limits.check_bytes(n_bytes, size, fspath(path))
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise FormatError(f"{fspath(path)}: the compressed file is corrupt: {error}") from None


def _encoding_error(
    path: FilePath, encoding: str, error: UnicodeDecodeError, offset: int
) -> FormatError:
    return FormatError(
        f"{fspath(path)}: expected text in {encoding}, found byte "
        f"0x{error.object[error.start]:02X} at offset {offset}. Pass the encoding of the file, "
        "for example encoding='latin-1'."
    )


def _codec(encoding: str) -> str:
    try:
        "".encode(encoding)  # fails for codecs that are not text encodings, such as base64
        return codecs.lookup(encoding).name
    except LookupError:
        raise ValueError(
            f"encoding must be a text encoding known to Python, got {encoding!r}. Pass, for "
            "example, 'utf-8', 'latin-1' or 'cp1252'."
        ) from None


def _raw_chunks(path: FilePath, limits: ReadLimits | None) -> Iterator[bytes]:
    limits = limits or ReadLimits()
    n_bytes = 0
    with Path(path).open("rb") as raw:
        size = os.fstat(raw.fileno()).st_size
        stream, packed = _decompressed(raw, path)
        while True:
            try:
                chunk = stream.read(_CHUNK)
            except EOFError:
                raise FormatError(
                    f"{fspath(path)}: the {packed} file is truncated: it ends after {n_bytes} "
                    "bytes of text; copy or download it again."
                ) from None
            except (zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
                raise FormatError(
                    f"{fspath(path)}: the {packed} file is corrupt after {n_bytes} bytes of text "
                    f"({error}); copy or download it again."
                ) from None
            if not chunk:
                return
            n_bytes += len(chunk)
            limits.check_bytes(n_bytes, size if packed else None, fspath(path))
            yield chunk


def _decompressed(raw: io.BufferedReader, path: FilePath) -> tuple[IO[bytes], str]:
    """Return the stream of the content and the name of the compression, empty for none."""
    start = raw.peek(4)[:4]
    if start[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=raw), "gzip"  # type: ignore[return-value]
    if start != b"PK\x03\x04":
        return raw, ""
    try:
        archive = zipfile.ZipFile(raw)
        names = [name for name in archive.namelist() if not name.endswith("/")]
        stream = archive.open(names[0]) if len(names) == 1 else raw
    except _ZIP_ERRORS as error:
        raise FormatError(
            f"{fspath(path)}: the zip file cannot be read ({error}); unpack it."
        ) from None
    if "xl/workbook.xml" in names:
        raise FormatError(f"{fspath(path)} is a spreadsheet. Let its name end in .xlsx.")
    if len(names) != 1:
        raise FormatError(
            f"{fspath(path)}: expected a zip file with a single file, found {len(names)}; unpack "
            "it."
        )
    return stream, "zip"


def _recoded_chunks(path: FilePath, encoding: str, limits: ReadLimits | None) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    n_bytes = 0
    chunk = b""
    try:
        for chunk in _raw_chunks(path, limits):
            yield decoder.decode(chunk).encode()
            n_bytes += len(chunk)
        chunk = b""
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        # The decoder may hold the first bytes of a character from the previous chunk.
        offset = n_bytes + len(chunk) - len(error.object) + error.start
        raise _encoding_error(path, encoding, error, offset) from None


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


@contextmanager
def replacing(path: FilePath) -> Iterator[Path]:
    """Yield a temporary path next to `path`; on success, the temporary file replaces `path`.

    Readers see either the old file or the complete new one. After an error, the old file remains.
    """
    final = Path(path)
    owner = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    temporary = final.with_name(f".{final.name}.{owner}.part")
    try:
        yield temporary
        temporary.replace(final)
    finally:
        temporary.unlink(missing_ok=True)


def remove_stale_parts(folder: FilePath, name: str | None = None) -> None:
    """Remove the temporary files, of one name or all, that killed processes have left in a folder.

    Files of running processes are kept, and those of other computers until they are a day old.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     stale = Path(folder, ".a.json.1234.part")
    ...     stale.touch()
    ...     remove_stale_parts(folder)
    ...     stale.exists()
    False
    """
    pattern = ".*.part" if name is None else f".{escape(name)}.*.part"
    for part in Path(folder).glob(pattern):
        if not _is_being_written(part):
            with suppress(OSError):  # a file of somebody else
                part.unlink()


def _host() -> str:
    return socket.gethostname().replace(".", "_")[:40]


def _is_being_written(part: Path) -> bool:
    found = _PART_OWNER.search(part.name)
    if found is None:
        return False
    if found["host"] == _host():
        return _is_running(int(found["process"]))
    try:
        return time.time() - part.stat().st_mtime < _DAY
    except FileNotFoundError:
        return False


def _is_running(process: int) -> bool:
    if os.name == "nt":  # pragma: no cover - there, files that are open cannot be removed
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def writing_text(path: FilePath) -> Iterator[IO[str]]:
    """Open a UTF-8 text file that replaces `path` on success; gzip if its name asks for it."""
    with replacing(path) as temporary, temporary.open("xb") as raw:
        if is_gzip(path):
            # Without a timestamp and a name, the same content gives the same bytes.
            with (
                gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
                io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
            ):
                yield text
        else:
            with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as text:
                yield text
