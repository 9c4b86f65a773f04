"""Options and switches of CLUS."""

from __future__ import annotations

from dataclasses import dataclass

from ramify.apps.clus.option import Option
from ramify.apps.clus.option_table import MAIN_OPTIONS
from ramify.apps.clus.other_sections import OTHER_OPTIONS

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


# ---- switches -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Switches:
    """The switches of one run.

    Attributes
    ----------
    forest : bool
        ``-forest``: learn an ensemble with the options of the section Ensemble.
    xval : bool
        ``-xval``: cross-validate with the folds of XVal in the section Data.
    fold : int or None
        ``-fold i``: accepted with ``-xval``, where CLUS runs all folds anyway.
    target : str or None
        ``-target r``: columns that replace Target in the section Attributes.
    disable : str or None
        ``-disable r``: columns to disable in addition to those of Disable in the section
        Attributes.
    silent : bool
        ``-silent``: print nothing but errors.
    """

    forest: bool = False
    xval: bool = False
    fold: int | None = None
    target: str | None = None
    disable: str | None = None
    silent: bool = False
