"""A small ontology with everything that occurs in OBO files, and random ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

TOY = """format-version: 1.2
default-namespace: process
! a comment

[Term]
id: P:1
name: process

[Term]
id: P:2
name: growth
namespace: process
alt_id: P:22 ! former
def: "Growth: a colon, and a \\"quote\\"." [X:1]
is_a: P:1 {source="x"} ! process

[Term]
id: P:3
name: division
is_a: P:1 ! process
relationship: part_of P:2 {gci="y"} ! growth
relationship: regulates P:2 ! growth

[Term]
id: F:1
name: function
namespace: function

[Term]
id: F:2
name: binding
namespace: function
is_a: F:1 ! function
relationship: part_of P:3 ! division
is_a: X:9 ! of another ontology

[Term]
id: P:8
name: old
alt_id: P:88
is_obsolete: true
replaced_by: P:22

[Term]
id: P:9
name: gone
is_obsolete: true
consider: P:2

[Typedef]
id: part_of
name: part of
is_transitive: true
"""


@dataclass
class RandomOntology:
    """Terms of two namespaces; parents come before their children."""

    namespaces: dict[str, str] = field(default_factory=dict)
    parents: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    alternatives: dict[str, str] = field(default_factory=dict)
    obsolete: list[str] = field(default_factory=list)

    def to_obo(self) -> str:
        """Write the OBO file."""
        stanzas = ["format-version: 1.2\n"]
        for term, namespace in self.namespaces.items():
            lines = ["[Term]", f"id: {term}", f"name: {term}", f"namespace: {namespace}"]
            lines += [f"alt_id: {a}" for a, t in self.alternatives.items() if t == term]
            for relation, parent in self.parents[term]:
                lines.append(
                    f"is_a: {parent} ! x"
                    if relation == "is_a"
                    else f"relationship: {relation} {parent} ! x"
                )
            stanzas.append("\n".join(lines) + "\n")
        old = "[Term]\nid: {}\nname: old\nnamespace: one\nis_obsolete: true\n"
        stanzas += [old.format(term) for term in self.obsolete]
        return "\n".join(stanzas)

    @property
    def names(self) -> list[str]:
        """All identifiers that a file may contain, and unknown ones."""
        return [*self.namespaces, *self.alternatives, *self.obsolete, "Z:0"]


def random_ontology(rng: np.random.Generator, max_terms: int = 14) -> RandomOntology:
    """Draw an ontology with edges across namespaces, several roots and all kinds of terms."""
    ontology = RandomOntology()
    for k in range(int(rng.integers(2, max_terms + 1))):
        term = f"T:{k}"
        ontology.namespaces[term] = "one" if rng.random() < 0.7 else "two"
        n_parents = int(rng.integers(0, 4)) if rng.random() < 0.9 else 0
        above = rng.choice(k, size=min(k, n_parents), replace=False) if k else []
        relations = rng.choice(
            ["is_a", "part_of", "regulates"], size=len(above), p=[0.6, 0.3, 0.1]
        )
        ontology.parents[term] = [
            (str(r), f"T:{p}") for r, p in zip(relations, above, strict=True)
        ]
        if rng.random() < 0.15:
            ontology.alternatives[f"A:{k}"] = term
    ontology.obsolete = [f"O:{k}" for k in range(int(rng.integers(0, 3)))]
    return ontology
