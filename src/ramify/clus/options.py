"""The options of CLUS 2.12.8, their sections, and the spellings of older versions."""

from __future__ import annotations

from ramify.clus.option import Option
from ramify.clus.option_table import MAIN_OPTIONS
from ramify.clus.other_sections import OTHER_OPTIONS

# The order in which CLUS prints the sections.
SECTIONS = (
    "General",
    "Data",
    "Attributes",
    "Constraints",
    "Nominal",
    "Model",
    "Tree",
    "Rules",
    "Multilabel",
    "Hierarchical",
    "HMTR",
    "OptionTree",
    "Beam",
    "Exhaustive",
    "TimeSeries",
    "Phylogeny",
    "ILevelC",
    "Relief",
    "Ensemble",
    "kNN",
    "kNNTree",
    "SIT",
    "SemiSupervised",
    "Experimental",
    "Output",
)

# Spellings of older versions of CLUS, in which names of values ignore case as they do here.
OLD_SECTIONS = {"MultiLabel": "Multilabel"}
OLD_OPTIONS = {
    ("Hierarchical", "ClassificationTreshold"): "ClassificationThreshold",
}
OLD_VALUES = {
    ("Tree", "PruningMethod"): {"C4.5": "C45"},
}

OPTIONS: dict[tuple[str, str], Option] = {
    (option.section, option.name): option
    for section in SECTIONS
    for option in (*MAIN_OPTIONS, *OTHER_OPTIONS)
    if option.section == section
}
"""All options by section and name, in the order in which CLUS prints them."""
