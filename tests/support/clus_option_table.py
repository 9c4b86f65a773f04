"""The table of CLUS's options in docs/coming-from-clus.md.

Run with ``python -m tests.support.clus_option_table`` to write it again after a change.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from ramify.apps.clus.options import OPTIONS, Option

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coming-from-clus.md"
START, END = "<!-- options: begin -->\n", "<!-- options: end -->\n"


def done(option: Option) -> str:
    """Say what ramify does with an option."""
    if option.status == "unsupported":
        return f"not done: {option.reason}"
    if option.status == "without effect":
        return f"read, no effect: {option.reason}"
    if option.unsupported:
        return f"done; not done: {', '.join(option.unsupported)} ({option.reason})"
    return f"done differently: {option.reason}" if option.reason else "done"


def table() -> str:
    """Return the table; sections with the same answer for all options have one row."""
    lines = ["| Option | Default | Meaning | In ramify |", "|---|---|---|---|"]
    for section, found in groupby(OPTIONS.values(), key=lambda option: option.section):
        options = list(found)
        if len({option.meaning for option in options}) == 1:
            answer = f"{options[0].meaning} | {done(options[0])}"
            lines.append(f"| `[{section}]`, all {len(options)} options | | {answer} |")
            continue
        lines.append(f"| **`[{section}]`** | | | |")
        for option in options:
            default = f"`{option.default}`" if option.default else ""
            lines.append(f"| `{option.name}` | {default} | {option.meaning} | {done(option)} |")
    return "\n".join(lines) + "\n"


def page_with_table(text: str) -> str:
    """Return a page with the current table."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}{table()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
