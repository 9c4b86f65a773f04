"""The switches of CLUS's command line that ``ramify clus`` accepts."""

from __future__ import annotations

from dataclasses import dataclass


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
