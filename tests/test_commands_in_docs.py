"""Commands that the documentation quotes exist and have the quoted options."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ramify.studies import list_studies, load_study

click = pytest.importorskip("click")
typer = pytest.importorskip("typer")

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
QUOTED = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")
START = re.compile(r"(?:nice )?(ramify|make|python -m benchmarks\.\w+)(?=$|\s)")
# Sections of docs/benchmarks.md whose figures are those of another page, which names the command.
ELSEWHERE = ("Boosting of labels", "The engine", "When and where")


def commands() -> Iterator[tuple[str, str]]:
    """Yield the pages and the commands in their code spans and indented blocks."""
    for page in PAGES:
        text = page.read_text("utf-8")
        text = text.replace("\\\n", " ")
        spans = [" ".join(span.split()) for span in QUOTED.findall(text)]
        lines = re.findall(r"^(?: {4}|\t|\$ )+((?:ramify|make) .*)$", text, re.M)
        for found in dict.fromkeys([*spans, *(line for line in lines if line.strip())]):
            for one in re.split(r" && | \|\| |; ", found):
                if START.match(one.strip()):
                    yield str(page.relative_to(ROOT)), one.strip()


def quoted(start: str) -> list[tuple[str, str]]:
    """Return the pages and the commands that start with a word; a page names a command once."""
    return sorted({(page, one) for page, one in commands() if one.startswith(start)})


def words_of(command: str) -> list[str]:
    """Return the words of a command without comments and redirections."""
    words = shlex.split(command.replace("…", "..."), comments=True)
    for number, word in enumerate(words):
        if word in (">", "|", "&", "<"):
            return words[:number]
    return words


@cache
def options_of(module: str) -> set[str]:
    """Return the options that a benchmark, or a benchmark that it imports, declares."""
    path = ROOT / "benchmarks" / f"{module}.py"
    tree = ast.parse(path.read_text("utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            constants = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            found |= {value for value in constants if str(value).startswith("-")}
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("benchmarks."):
            found |= options_of(node.module.partition(".")[2])
    return found


@pytest.mark.parametrize(("page", "command"), quoted("python -m benchmarks."))
def test_benchmarks_exist_and_have_the_quoted_options(page: str, command: str) -> None:
    words = words_of(command)
    module = words[2].partition(".")[2]
    assert (ROOT / "benchmarks" / f"{module}.py").is_file(), f"{page}: no such benchmark"
    options = {word.partition("=")[0] for word in words[3:] if word.startswith("--")}
    assert options <= options_of(module), f"{page}: {module} lacks some of these options"


@pytest.mark.parametrize(("page", "command"), quoted("ramify "))
def test_commands_exist_and_have_the_quoted_options(page: str, command: str) -> None:
    from ramify.apps.cli.commands import app

    group = typer.main.get_command(app)
    words = [word for word in words_of(command)[1:] if word != "..."]
    while isinstance(group, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        if name.isupper():
            return  # a placeholder
        assert name in group.commands, f"{page}: ramify has no command {name!r}"
        group = group.commands[name]
    if not isinstance(group, click.Group):
        context = click.Context(group, info_name=group.name, ignore_unknown_options=False)
        if words and words[-1] in {opt for one in group.params for opt in one.opts}:
            words.append("1")  # an option that is only named
        group.make_parser(context).parse_args(list(words))
    if group.name == "study":
        check_study(words)


def check_study(words: list[str]) -> None:
    """Raise an error for a study, or a variant, that does not exist."""
    name = words[0] if words and not words[0].startswith("-") else "NAME"
    if name == "NAME" or name.endswith(".toml"):
        return
    assert name in list_studies()
    variant = words[words.index("--variant") + 1] if "--variant" in words else None
    load_study(name, variant=variant)


@pytest.mark.parametrize(("page", "command"), quoted("make "))
def test_targets_of_make_exist(page: str, command: str) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = {
        word
        for line in re.findall(r"^([^\s:=][^:=\n]*):", makefile, re.M)
        for word in line.split()
    }
    target = words_of(command)[1].rstrip(",")
    assert target in targets, f"{page}: the Makefile has no target {target!r}"


def test_every_section_of_benchmarks_names_its_command() -> None:
    text = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    sections = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", text, re.M))
    assert len(sections) > 10
    pattern = r"`(python -m benchmarks\.|ramify study|make bench)"
    missing = [title for title, own in sections.items() if not re.search(pattern, own)]
    assert set(missing) <= set(ELSEWHERE)


def test_there_are_commands_to_check() -> None:
    assert len(quoted("python -m benchmarks.")) > 30
    assert len(quoted("ramify ")) > 60
    assert len(quoted("make ")) > 10
