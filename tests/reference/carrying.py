"""Labels and probabilities carried to another taxonomy, row by row and label by label."""

from __future__ import annotations

from typing import Any, NamedTuple


def with_ancestors(hierarchy: Any, label: Any) -> set[Any]:
    return {label, *hierarchy.ancestors(label)}


def image(mapping: Any, label: Any) -> set[Any]:
    """What the successors of a label have in common, or what its parents became."""
    found = [with_ancestors(mapping.new, x) for x in mapping.successors(label)]
    common = set.intersection(*found) if found else set()
    if common:
        return common
    return set().union(*(image(mapping, parent) for parent in mapping.old.parents(label)))


def carry_row(mapping: Any, labels: Any) -> set[Any]:
    """Return the new labels of a row with some old labels."""
    below = {x for label in labels for x in mapping.old.ancestors(label)}
    return set().union(*(image(mapping, label) for label in set(labels) - below))


def open_labels(mapping: Any, labels: Any) -> set[Any]:
    """Return the new labels of which nothing is known for a row with some old labels."""
    new, marked = mapping.new, set()
    for label in set(labels) - {x for own in labels for x in mapping.old.ancestors(own)}:
        targets, known = mapping.successors(label), image(mapping, label)
        if len(targets) > 1:
            marked |= set().union(*(with_ancestors(new, x) for x in targets)) - known
        elif not targets and known:
            marked |= {child for own in known for child in new.children(own)} - known
        elif not targets:
            marked |= {top for top in new.labels if not new.parents(top)}
    has = carry_row(mapping, labels)
    marked = {x for own in marked for x in (own, *new.descendants(own))} - has
    for label in new.labels:  # below a label that the row does not have, all is known
        if any(parent not in marked | has for parent in new.parents(label)):
            marked.discard(label)
    return marked


def carry_paths(mapping: Any, ends: Any) -> list[float]:
    """Return the probabilities of the new labels, given how probable it is to end at old ones."""
    found = dict.fromkeys(mapping.new.labels, 0.0)
    for label, probability in zip(mapping.old.labels, ends, strict=True):
        for new in image(mapping, label):
            found[new] += probability
    return list(found.values())


class RowsOfNodes(NamedTuple):
    """A node of a tree, and the label sets of the rows that reach each node."""

    tree: Any
    node: int
    parents: Any
    rows: Any

    def counts(self, node: int, label: Any, above: Any) -> tuple[int, int]:
        rows = [labels for labels in self.rows[node] if set(above) <= labels]
        return sum(label in labels for labels in rows), len(rows)

    def share(self, node: int, label: Any, above: Any) -> float:
        having, possible = self.counts(node, label, above)
        if possible:
            return having / possible
        return self.share(self.parents[node], label, above) if self.parents[node] >= 0 else 0.0


def relearnt_leaf(at: RowsOfNodes, carried: Any, hierarchy: Any, learnt: Any) -> dict[Any, float]:
    """Return what a leaf stores for every new label.

    `carried`: what was known about each label in the leaf; labels without it are missing.
    """
    found: dict[Any, float] = {}
    for label in hierarchy.labels:
        above = hierarchy.parents(label)
        if label not in learnt:
            found[label] = carried[label]
            continue
        estimate = at.share(at.node, label, above)
        if label in carried:
            before = min((carried[p] for p in above), default=1.0)
            n_before = at.tree.weight[at.node] * min((found[p] for p in above), default=1.0)
            n = at.counts(at.node, label, above)[1]
            old = min(1.0, carried[label] / before) if before else 0.0
            if n + n_before > 0:
                estimate = (estimate * n + old * n_before) / (n + n_before)
        found[label] = estimate * min((found[p] for p in above), default=1.0)
    for label in reversed(hierarchy.labels):  # a parent is as probable as its children
        for parent in hierarchy.parents(label):
            found[parent] = max(found[parent], found[label])
    return found
