"""An ontology, annotations and features made up to the proportions of the Gene Ontology.

The terms are 62 % processes, 27 % functions and 11 % components, up to about 15 levels deep, with
one to three parents; one in seven is obsolete, one in twenty has an alternative identifier, and
one function in six is part of a process. A gene has a few annotations in every namespace, which
depend on its features; few terms have many genes and most have a handful.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

NAMESPACES = ("biological_process", "molecular_function", "cellular_component")
SHARES = (0.62, 0.27, 0.11)
ASPECTS = dict(zip(NAMESPACES, "PFC", strict=True))
EVIDENCE = ("IEA", "IDA", "IMP", "IBA", "HDA", "ISS", "TAS", "ND")
EVIDENCE_SHARES = (0.45, 0.2, 0.1, 0.12, 0.05, 0.05, 0.02, 0.01)


@dataclass(frozen=True)
class MadeUp:
    """Terms by namespace, as written to the files."""

    terms: dict[str, list[str]]
    obsolete: list[str]
    alternatives: list[str]


def write_ontology(path: Path, n_terms: int, seed: int = 0) -> MadeUp:
    """Write an OBO file with this many terms, obsolete ones not counted."""
    rng = np.random.default_rng(seed)
    number = iter(range(1, 10_000_000))
    terms: dict[str, list[str]] = {}
    alternatives = []
    with path.open("w", encoding="utf-8") as file:
        file.write("format-version: 1.2\ndefault-namespace: gene_ontology\nontology: go\n")
        for namespace, share in zip(NAMESPACES, SHARES, strict=True):
            ids = [f"GO:{next(number):07d}" for _ in range(max(2, round(n_terms * share)))]
            terms[namespace] = ids
            for position, term in enumerate(ids):
                lines = _term_lines(term, namespace, position)
                if rng.random() < 0.05:
                    alternatives.append(f"GO:{next(number):07d}")
                    lines.append(f"alt_id: {alternatives[-1]}")
                lines += _parent_lines(ids, position, rng)
                if namespace == "molecular_function" and rng.random() < 1 / 6:
                    whole = terms["biological_process"]
                    parent = whole[rng.integers(len(whole))]
                    lines.append(f"relationship: part_of {parent} ! whole")
                file.write("\n" + "\n".join(lines) + "\n")
        obsolete = [f"GO:{next(number):07d}" for _ in range(n_terms // 7)]
        for position, term in enumerate(obsolete):
            lines = _term_lines(term, NAMESPACES[position % 3], position)
            lines.append("is_obsolete: true")
            if position % 2:
                own = terms[NAMESPACES[position % 3]]
                lines.append(f"replaced_by: {own[rng.integers(len(own))]}")
            file.write("\n" + "\n".join(lines) + "\n")
        file.write("\n[Typedef]\nid: part_of\nname: part of\nis_transitive: true\n")
    return MadeUp(terms, obsolete, alternatives)


def _term_lines(term: str, namespace: str, position: int) -> list[str]:
    words = f"made-up activity number {position} of a {namespace.replace('_', ' ')}"
    return [
        "[Term]",
        f"id: {term}",
        f"name: {words}",
        f"namespace: {namespace}",
        f'def: "The {words}, which occurs in no organism: it only has the length of a definition '
        'that a curator would write." [GOC:made_up, PMID:1234567]',
        f'synonym: "{words} synonym" EXACT []',
    ]


def _parent_lines(ids: list[str], position: int, rng: np.random.Generator) -> list[str]:
    lines = [f"is_a: {ids[place]} ! parent" for place in draw_parents(position, rng)]
    if len(lines) > 1 and rng.random() < 0.3:
        lines[-1] = lines[-1].replace("is_a: ", "relationship: part_of ")
    return lines


def draw_parents(position: int, rng: np.random.Generator) -> list[int]:
    """Return the positions of the parents of a term; earlier terms are more general."""
    if position == 0:
        return []
    n_parents = min(position, int(rng.choice([1, 2, 3], p=[0.45, 0.4, 0.15])))
    return sorted({int(position * share) for share in rng.uniform(0.02, 0.55, n_parents)})


def write_annotations(
    path: Path, made_up: MadeUp, n_genes: int, seed: int = 0, prefix: str = "G"
) -> list[str]:
    """Write a GAF file with about 15 lines per gene; return the genes."""
    rng = np.random.default_rng(seed)
    genes = [f"{prefix}{k:06d}" for k in range(n_genes)]
    groups = rng.integers(0, 64, n_genes)
    with path.open("w", encoding="utf-8") as file:
        file.write("!gaf-version: 2.2\n!generated-by: a benchmark\n")
        for gene, group in zip(genes, groups.tolist(), strict=True):
            for namespace in NAMESPACES:
                for term in draw_terms(made_up.terms[namespace], group, rng):
                    file.write(_gaf_line(gene, term, namespace, rng))
            if rng.random() < 0.05:
                old = made_up.obsolete[rng.integers(len(made_up.obsolete))]
                file.write(_gaf_line(gene, old, NAMESPACES[0], rng))
    return genes


def draw_terms(ids: list[str], group: int, rng: np.random.Generator) -> list[str]:
    """Draw terms: half of them near those of the other genes of the group, most of them rare."""
    n_terms = 1 + int(rng.poisson(4))
    centre = (group * 2654435761) % len(ids)
    near = centre + rng.geometric(0.05, n_terms)
    anywhere = (len(ids) * rng.random(n_terms) ** 1.5).astype(np.int64)
    chosen = np.where(rng.random(n_terms) < 0.5, near, anywhere) % len(ids)
    return [ids[k] for k in chosen.tolist()]


def _gaf_line(gene: str, term: str, namespace: str, rng: np.random.Generator) -> str:
    evidence = EVIDENCE[int(rng.choice(len(EVIDENCE), p=EVIDENCE_SHARES))]
    relation = "NOT|involved_in" if rng.random() < 0.005 else "involved_in"
    cells = ["MadeUp", gene, gene.lower(), relation, term, "PMID:1", evidence, ""]
    cells += [ASPECTS[namespace], "made-up gene", "", "protein", "taxon:559292", "20260101"]
    return "\t".join([*cells, "MadeUp", "", ""]) + "\n"


def features(n_genes: int, n_features: int, seed: int = 0) -> np.ndarray:
    """Return features whose means depend on the group of the gene; see `write_annotations`."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 64, n_genes)
    X = np.random.default_rng(seed + 1).normal(size=(n_genes, n_features))
    means = np.random.default_rng(7).normal(size=(64, n_features))
    found: np.ndarray = X + means[groups]
    return found
