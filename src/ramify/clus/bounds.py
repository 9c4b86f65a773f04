"""Bounds of numbers in settings files, and the forms of values that mix numbers and names."""

from __future__ import annotations

import math
import re

from ramify.clus.errors import SettingsError, quoted
from ramify.clus.option import Option

__all__ = ["check_bounds", "check_form"]

_BOUNDS: dict[tuple[str, str], tuple[float, float]] = {
    ("Attributes", "ClusteringWeights"): (0, math.inf),
    ("Attributes", "Weights"): (0, math.inf),
    ("Data", "PruneSetMax"): (0, math.inf),
    ("Ensemble", "BagSize"): (0, 100_000_000),
    ("Ensemble", "Iterations"): (0, 1_000_000),
    ("Ensemble", "NumberOfThreads"): (0, 4096),
    ("Ensemble", "SymbolicWeight"): (0, 1),
    ("Hierarchical", "ClassificationThreshold"): (0, 100),
    ("Hierarchical", "RecallValues"): (0, 1),
    ("Hierarchical", "WParam"): (1e-12, 1e12),
    ("Model", "MinimalNumberExamples"): (0, math.inf),
    ("Model", "MinimalWeight"): (0, math.inf),
    ("Model", "ParamTuneNumberFolds"): (2, 1_000_000),
    ("Multilabel", "MLCThreshold"): (0, 1),
    ("Tree", "FTest"): (1e-12, 1),
    ("Tree", "M5PruningMult"): (0, math.inf),
}
_FRACTION = r"0?\.\d+([eE]-?\d+)?|0|1|1\.0*"
_FORMS: dict[tuple[str, str], tuple[str, str]] = {
    ("Data", "XVal"): (r"LOO|[2-9]|[1-9]\d{1,6}", "LOO or an integer >= 2"),
    ("Ensemble", "SelectRandomSubspaces"): (
        rf"SQRT|LOG|\d{{1,7}}|{_FRACTION}",
        "SQRT, LOG, an integer >= 0 or a fraction",
    ),
}
_FILES_OR_FRACTIONS = {("Data", "TestSet"), ("Data", "PruneSet")}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def check_bounds(option: Option, number: float, where: str) -> None:
    """Raise an error if a number is out of bounds.

    Parameters
    ----------
    option : Option
        The option.
    number : float
        Its value, or one of its values.
    where : str
        Its place, for error messages.

    Examples
    --------
    >>> from ramify.clus.options import OPTIONS
    >>> check_bounds(OPTIONS["Tree", "FTest"], 2.0, "run.s, line 3: [Tree] FTest")
    Traceback (most recent call last):
    ...
    ramify.clus.errors.SettingsError: run.s, line 3: [Tree] FTest must be from 1e-12 to 1, got 2.
    """
    least, most = _BOUNDS.get((option.section, option.name), (-math.inf, math.inf))
    if not least <= number <= most:
        span = f"at least {least:g}" if math.isinf(most) else f"from {least:g} to {most:g}"
        raise SettingsError(f"{where} must be {span}, got {number:g}.")


def check_form(option: Option, value: str, where: str) -> None:
    """Raise an error if a text is neither a name nor a number that an option knows.

    Parameters
    ----------
    option : Option
        The option.
    value : str
        Its value.
    where : str
        Its place, for error messages.

    Examples
    --------
    >>> from ramify.clus.options import OPTIONS
    >>> check_form(OPTIONS["Data", "XVal"], "1", "run.s, line 3: [Data] XVal")
    Traceback (most recent call last):
    ...
    ramify.clus.errors.SettingsError: run.s, line 3: [Data] XVal must be LOO or an integer >= 2,
    got '1'.
    """
    key = option.section, option.name
    if key in _FORMS:
        pattern, form = _FORMS[key]
        if re.fullmatch(pattern, value, re.ASCII) is None:
            raise SettingsError(f"{where} must be {form}, got {quoted(value)}.")
    is_number = key in _FILES_OR_FRACTIONS and _NUMBER.fullmatch(value) is not None
    if is_number and not 0 < float(value) < 1:
        raise SettingsError(
            f"{where} must be a file, or a fraction of the rows between 0 and 1, got "
            f"{quoted(value)}."
        )
