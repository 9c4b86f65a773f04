"""Write a C++ header with a digest of the native sources, for results that depend on the code.

Usage: digest_sources.py HEADER FOLDER...

Comments, includes, layout and file names are ignored: only changes to the code change the digest.
The header is written only if it differs, so that an unchanged digest recompiles nothing.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

_RAW_STRING = r'\b(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
_QUOTED = r'"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\''
_COMMENT = re.compile(rf"(?P<kept>{_RAW_STRING}|{_QUOTED})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(
    rf"{_RAW_STRING}|{_QUOTED}|^[ \t]*#(?:\\\n|[^\n])*|[\w.]+|[^\w\s]", re.DOTALL | re.MULTILINE
)


def tokens(source: str) -> list[str]:
    """Return the tokens of C++ code without comments, includes and `#pragma once`."""
    code = _COMMENT.sub(lambda match: match["kept"] or " ", source)
    found = [match[0] for match in _TOKEN.finditer(code)]
    # A directive is one token, because its end of line matters.
    found = [" ".join(one.split()) if one.lstrip().startswith("#") else one for one in found]
    return [one for one in found if not re.match(r"# ?(include|pragma once)\b", one)]


def digest(paths: list[Path]) -> str:
    """Return the digest of the code in some files, whatever their names and order."""
    codes = ["\n".join(tokens(path.read_text(encoding="utf-8"))) for path in paths]
    parts = sorted(hashlib.sha256(code.encode()).hexdigest() for code in codes if code)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def main(header: str, *folders: str) -> None:
    """Write the header if the digest has changed."""
    paths = [path for folder in folders for path in Path(folder).rglob("*.[ch]pp")]
    text = f'#pragma once\n\n#define RAMIFY_SOURCE_DIGEST "{digest(paths)}"\n'
    target = Path(header)
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
