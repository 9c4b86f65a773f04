"""Choose the member of a vote, or of another model around others, that has trees to look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ramify._messages import counted, did_you_mean
from ramify.apps.cli.running import say


@dataclass(frozen=True)
class Member:
    """A model with trees, and how it is called in the model around it."""

    model: Any
    name: str = ""  # empty if it is the whole model
    weight: float | None = None  # in a vote
    others: tuple[str, ...] = ()  # names to choose from

    @property
    def words(self) -> str:
        """The member in words."""
        share = "" if self.weight is None else f", which has {self.weight:.0%} of the vote"
        return f"the member {self.name}{share}"


def choose_member(model: Any, path: Path, name: str | None = None) -> Member:
    """Return the model itself if it has trees, or else the named or the weightiest member."""
    members = _members(model)
    if _has_trees(model) or (not members and name is None):
        if name is not None:
            raise ValueError(
                f"--member is for models made of others, got {path}, a {type(model).__name__}. "
                "Omit it."
            )
        return Member(model)
    names = tuple(members)
    weights = dict(zip(names, getattr(model, "weights_", ()), strict=False))
    if name is not None and name not in members:
        raise ValueError(
            f"--member must be one of {', '.join(names)}, got {name!r}.{did_you_mean(name, names)}"
        )
    # Probabilities are easier to read than the margins of boosted trees.
    order = sorted(names, key=lambda one: (_has_margins(members[one]), -weights.get(one, 0.0)))
    chosen = name or next((one for one in order if _has_trees(members[one])), order[0])
    found = members[chosen]
    if not _has_trees(found) and _members(found):  # a classifier around a tree
        found = choose_member(found, path).model
    return Member(found, chosen, weights.get(chosen), names)


def say_member(member: Member) -> None:
    """Print which member of a model is shown."""
    if member.name:
        which = f"; choose with --member: {', '.join(member.others)}" * (len(member.others) > 1)
        of = counted(len(member.others), "member")
        say(f"Note: the model has {of} and is shown by {member.words}{which}", soft_wrap=True)


def _members(model: Any) -> dict[str, Any]:
    """Return the fitted models inside a model by name."""
    named = getattr(model, "named_estimators_", None)
    if named is not None:
        return {str(name): one for name, one in named.items()}
    listed = getattr(model, "estimators_", None)
    if isinstance(listed, list):
        return {str(k): one for k, one in enumerate(listed, 1)}
    inside = getattr(model, "estimator_", None)
    return {} if inside is None else {type(inside).__name__: inside}


def _has_trees(model: Any) -> bool:
    found = model._as_trees() if hasattr(model, "_as_trees") else None
    return found is not None and bool(found.trees)


def _has_margins(model: Any) -> bool:
    return _has_trees(model) and model._as_trees().unit == "margin"
