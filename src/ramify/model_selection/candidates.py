"""The models that `choose_model` compares: classifiers, and votes of other candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from ramify._messages import did_you_mean
from ramify._validation import check_classifier
from ramify.forest.classifiers import PCTExtraTreesClassifier, PCTForestClassifier
from ramify.gradient_boosting.classifier import PCTGradientBoostingClassifier
from ramify.meta.voting import HierarchicalVotingClassifier
from ramify.tree.classifier import PCTClassifier

__all__ = ["BASELINE", "Candidates", "default_candidates", "read_candidates"]

BASELINE = "label shares"
"""Name of the baseline: a tree without tests predicts the share of every label."""


def default_candidates() -> list[tuple[str, Any]]:
    """Return the candidates of `choose_model`, simple models first.

    Returns
    -------
    list of (str, classifier or tuple of str)
        Names and classifiers. A tuple of names is the vote of these candidates.
    """
    return [
        ("tree", PCTClassifier(f_test=0.01)),
        (BASELINE, PCTClassifier(max_depth=0)),
        ("extra trees", PCTExtraTreesClassifier()),
        ("forest", PCTForestClassifier()),
        ("boosting", PCTGradientBoostingClassifier()),
        ("vote", ("boosting", "extra trees")),
    ]


@dataclass(frozen=True)
class Candidates:
    """The models to compare.

    Attributes
    ----------
    names : list of str
        All names in the given order.
    classifiers : dict of str to classifier
        The classifiers, not fitted.
    votes : dict of str to tuple of str
        The members of each vote.
    """

    names: list[str]
    classifiers: dict[str, Any]
    votes: dict[str, tuple[str, ...]]

    def make(self, name: str) -> Any:
        """Return an unfitted candidate."""
        if name in self.classifiers:
            return self.classifiers[name]
        return self.make_vote(self.votes[name])

    def make_vote(self, members: Sequence[str]) -> Any:
        """Return the unfitted vote of some classifiers, with equal weights."""
        return HierarchicalVotingClassifier([(name, self.classifiers[name]) for name in members])


def read_candidates(given: Any, n_jobs: int | None, random_state: Any) -> Candidates:
    """Check candidates and set their threads and seeds.

    Parameters
    ----------
    given : list of (str, classifier or sequence of str), optional
        The candidates. If None, those of `default_candidates`.
    n_jobs : int, optional
        Set in all classifiers with this parameter, unless it is None.
    random_state : int or None
        Set in all classifiers whose `random_state` is None.

    Returns
    -------
    Candidates
        Clones of the classifiers, and the members of votes.
    """
    pairs = default_candidates() if given is None else given
    if not isinstance(pairs, list | tuple) or not all(map(_is_pair, pairs)):
        raise TypeError(
            f"candidates must be a list of (name, classifier), got {pairs!r}. Write, for example, "
            '[("tree", PCTClassifier()), ("forest", PCTForestClassifier())].'
        )
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"candidates must have different names, got {names}. Rename some.")
    votes = {name: tuple(one) for name, one in pairs if isinstance(one, list | tuple)}
    classifiers = {name: one for name, one in pairs if name not in votes}
    if not classifiers:
        raise ValueError(f"candidates must have at least one classifier, got {pairs!r}.")
    for estimator in classifiers.values():
        check_classifier(estimator)
    for name, members in votes.items():
        _check_members(name, members, classifiers)
    prepared = {name: _prepared(one, n_jobs, random_state) for name, one in classifiers.items()}
    return Candidates(names, prepared, votes)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)


def _check_members(name: str, members: tuple[str, ...], classifiers: Mapping[str, Any]) -> None:
    for member in members:
        if member not in classifiers:
            raise ValueError(
                f"the vote {name!r} must name candidates that are classifiers, got {member!r}."
                f"{did_you_mean(member, classifiers)}"
            )


def _prepared(estimator: Any, n_jobs: int | None, random_state: Any) -> Any:
    copy = clone(estimator)
    known = copy.get_params(deep=False)
    if n_jobs is not None and "n_jobs" in known:
        copy.set_params(n_jobs=n_jobs)
    if "random_state" in known and known["random_state"] is None:
        copy.set_params(random_state=random_state)
    return copy
