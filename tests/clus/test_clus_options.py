"""The table of options agrees with CLUS, and the documentation with the table."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from typing import get_args

import pytest

from ramify.apps.clus.options import OPTIONS, SECTIONS, Kind, Status
from ramify.apps.clus.values import check_value
from tests.golden.make_clus_defaults import FILE, clus_defaults
from tests.support.clus_option_table import PAGE, page_with_table
from tests.support.clus_program import requires_clus

DEFAULTS = json.loads(FILE.read_text())
# CLUS prints 0, which means 100.
NAMED_DIFFERENTLY = {("Ensemble", "Iterations"): "100"}
# CLUS does not print these in the runs of the golden file, or not their default.
NOT_PRINTED = {
    ("Data", "PruneSetMax"),
    ("Tree", "M5PruningMult"),
    ("Tree", "1-SE-Rule"),
    ("General", "Compatibility"),  # an option of older versions
    ("Exhaustive", "Exhaustive"),  # printed for files that name the section
}
UNPRINTED_SECTIONS = {"HMTR", "TimeSeries", "ILevelC"}


@requires_clus
@pytest.mark.process
def test_the_golden_file_holds_what_clus_prints():
    assert clus_defaults() == DEFAULTS


def test_the_defaults_are_those_of_clus():
    expected = {
        (section, name): NAMED_DIFFERENTLY.get((section, name), value)
        for section, options in DEFAULTS.items()
        for name, value in options.items()
    }
    assert {key: OPTIONS[key].default for key in expected} == expected


def test_the_order_is_that_of_clus():
    for section, options in DEFAULTS.items():
        ours = [name for place, name in OPTIONS if place == section and name in options]
        assert ours == list(options)
    printed = [section for section in DEFAULTS if section != "Multilabel"]
    assert printed == [section for section in SECTIONS if section in printed]


def test_no_option_is_made_up():
    printed = {(section, name) for section, options in DEFAULTS.items() for name in options}
    of_the_data = {
        *[("Data", "File"), ("Attributes", "Target"), ("Attributes", "Clustering")],
        *[("Attributes", "Descriptive"), ("Hierarchical", "Type"), ("Hierarchical", "HSeparator")],
        *[("Tree", "Heuristic"), ("Tree", "PruningMethod")],
    }
    others = {key for key in OPTIONS if key[0] not in UNPRINTED_SECTIONS}
    assert others == printed | of_the_data | NOT_PRINTED


def refuses_its_default(option):
    try:
        return check_value(option, option.default, "here") != option.default
    except ValueError:
        return True


def test_options_are_complete():
    faults = {
        "an unknown kind": lambda option: option.kind not in get_args(Kind),
        "an unknown status": lambda option: option.status not in get_args(Status),
        "no meaning": lambda option: not option.meaning,
        "a meaning with a full stop": lambda option: option.meaning.endswith("."),
        "no reason": lambda option: option.status != "supported" and not option.reason,
        "unsupported values that are no choices": (
            lambda option: not set(option.unsupported) <= set(option.choices)
        ),
        "bounds in the wrong order": lambda option: option.bounds[0] >= option.bounds[1],
        "choices that no value of its kind names": (
            lambda option: (
                option.choices and option.kind not in {"choice", "choices", "numbers", "text"}
            )
        ),
        "a default that it refuses": lambda option: option.default and refuses_its_default(option),
    }
    found = [
        f"{'.'.join(key)} has {fault}"
        for key, option in OPTIONS.items()
        for fault, is_found in faults.items()
        if is_found(option)
    ]
    assert found == []


def test_no_option_is_listed_twice_and_sections_stay_together():
    text = files("ramify.apps.clus").joinpath("options.csv").read_text(encoding="utf-8")
    rows = [(row["section"], row["option"]) for row in csv.DictReader(text.splitlines())]
    assert len(set(rows)) == len(rows)
    assert [section for section, _ in groupby(rows, key=itemgetter(0))] == list(SECTIONS)


def test_the_documentation_holds_the_table():
    text = PAGE.read_text(encoding="utf-8")
    assert text == page_with_table(text), "run python -m tests.support.clus_option_table"
