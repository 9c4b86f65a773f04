"""Taxonomies that change: mappings found, labels carried, and models carried or learnt in part.

``python -m benchmarks.taxonomies`` edits a product tree with a script, 30 edits of every kind, and
prints

- *mapping*: precision and recall of the proposed successors of old labels that have another path,
  by kind, without rows and with rows that are labelled in both versions;
- *labels*: how the rows of the old tree are carried with the mapping that was found: right and as
  specific as can be known, right but less specific, or wrong;
- *models*: accuracy of paths and hierarchical F1 on test rows, and CPU seconds of one thread, of
  the old model carried over, of the same with leaves or local models learnt from a sample that is
  labelled in the new tree, without and with the old rows whose labels can be carried exactly, of
  a new model of this sample, and of one of all rows relabelled.

``--pair OLD.obo NEW.obo`` (repeatable) compares versions of a real ontology: once as they are, and
once with identifiers, alternative identifiers and replacements hidden in the new version, so that
names, synonyms and places have to tell; what has the same identifier is the truth. Equal names are
the comparison. ``--rows`` adds models of made-up rows of the first pair.

``--crosswalk`` learns which terms of the Gene Ontology the functions of FunCat correspond to, from
half of the genes of cellcycle_FUN and cellcycle_GO, which are the same, and carries the FunCat
labels of the other half: how many of the carried terms are right, and how many of the true ones
are found, beside giving all genes the most frequent terms, as many as best match the first half.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ramify import (
    Hierarchy,
    LabelMapping,
    LinearClassifier,
    Ontology,
    PCTForestClassifier,
    PCTGradientBoostingClassifier,
    PerParentClassifier,
)
from ramify.datasets import fetch
from ramify.metrics import hierarchical_precision_recall_f1
from ramify.taxonomies import Crosswalk

THINGS = re.findall(
    r"\w+",
    """chairs tables lamps sofas shelves beds desks rugs mirrors clocks pans knives plates cups
    bowls kettles toasters ovens fridges mixers drills saws hammers ladders ropes nails paints
    brushes seeds pots hoses rakes mowers tents bikes helmets skis balls rackets gloves boots
    jackets shirts socks hats belts bags watches rings phones tablets cables chargers speakers
    radios cameras printers books maps games puzzles dolls trains""",
)
KINDS_OF = re.findall(
    r"\w+",
    """steel wooden plastic glass leather cotton woollen ceramic small large folding electric
    manual kids garden kitchen office travel winter summer vintage smart cordless portable
    outdoor""",
)
OTHERS = ("deluxe", "modern", "classic", "basic", "premium", "compact", "royal", "eco")
EDITS = ("renamed", "moved", "added", "removed", "split", "merged")


@dataclass
class Edited:
    """Two versions of a tree; an atom is what no edit divides: an old and a new label."""

    old: Hierarchy
    new: Hierarchy
    atoms: list[tuple[Any, Any]]
    edited: dict[Any, str] = field(default_factory=dict)  # the edit of old labels, if any

    def truth(self) -> dict[Any, set[Any]]:
        """Return the true successors of all old labels."""
        found: dict[Any, set[Any]] = defaultdict(set)
        for old, new in self.pairs:
            found[old].add(new)
        return found

    pairs: list[tuple[Any, Any]] = field(default_factory=list)


# ---- the product tree -------------------------------------------------------------------------


def edit_products(n_edits: int, seed: int) -> Edited:
    """Make up a product tree of three levels, and edit it."""
    rng = np.random.default_rng(seed)
    names: list[tuple[int, str]] = []  # the parent and the name of every node
    names += [(-1, thing) for thing in THINGS[:12]]
    for parent in range(12):
        chosen = rng.choice(THINGS[12:], 6, replace=False)
        names += [(parent, str(thing)) for thing in chosen]
    for parent in range(12, 84):
        base = names[parent][1]
        chosen = rng.choice(KINDS_OF, 8, replace=False)
        names += [(parent, f"{kind} {base}") for kind in chosen]
    return _edit(names, n_edits, rng)


def _edit(names: list[tuple[int, str]], n_edits: int, rng: Any) -> Edited:
    parent = dict(enumerate(p for p, _ in names))
    name = dict(enumerate(n for _, n in names))
    old_paths = {k: _path(k, parent, name) for k in name}
    leaves = [k for k in name if k not in set(parent.values())]
    inner = sorted(set(parent.values()) - {-1} - set(range(12)))
    order = [int(k) for k in rng.permutation(leaves)]
    take = iter(order)
    becomes: dict[int, list[int]] = {k: [k] for k in name}
    edits: dict[int, str] = {}
    fresh = iter(range(len(name), 10**6))
    for k in [*rng.permutation(inner)[: n_edits // 3].tolist(), *_some(take, n_edits * 2 // 3)]:
        name[k] = _other_name(name[k], len(edits), rng)
        edits[k] = "renamed"
    for k in _some(take, n_edits):
        parent[k] = int(rng.choice([p for p in inner if p != parent[k]]))
        edits[k] = "moved"
    added: list[int] = []
    for p in rng.choice(inner, n_edits):
        k = next(fresh)
        parent[k], name[k] = int(p), f"{rng.choice(OTHERS)} novelties {k}"
        added.append(k)
    for k in _some(take, n_edits):
        becomes[k], edits[k] = [], "removed"
    for k in _some(take, n_edits):
        becomes[k], edits[k] = [next(fresh), next(fresh)], "split"
        for part, how in zip(becomes[k], ("budget", "luxury"), strict=True):
            parent[part], name[part] = parent[k], f"{how} {name[k]}"
    siblings = defaultdict(list)
    for k in take:
        siblings[parent[k]].append(k)
    pairs = (tuple(group[:2]) for group in siblings.values() if len(group) > 1)
    for (a, b), _ in zip(pairs, range(n_edits), strict=False):
        both = next(fresh)
        parent[both], name[both] = parent[a], f"{name[a]} and {name[b]}"
        becomes[a] = becomes[b] = [both]
        edits[a] = edits[b] = "merged"
    alive = [*added, *(k for found in becomes.values() for k in found)]
    new_paths = {k: _path(k, parent, name) for k in dict.fromkeys(alive)}
    atoms = [(old_paths[parent[k]], new_paths[k]) for k in added]
    for k in leaves:
        targets = becomes[k] or [parent[k]]
        atoms += [(old_paths[k], new_paths[t]) for t in targets]
    return Edited(
        Hierarchy.from_paths(old_paths.values()),
        Hierarchy.from_paths(new_paths.values()),
        atoms,
        {old_paths[k]: kind for k, kind in edits.items()},
        [(old_paths[k], new_paths[t]) for k, found in becomes.items() for t in found],
    )


def _other_name(name: str, number: int, rng: Any) -> str:
    """Add a word, replace the first one, or spell the name another way, in turn."""
    first, *rest = name.split()
    word = f"{rng.choice(OTHERS)}"
    ways = (
        [word, first, *rest],
        [word, *rest] if rest else [word, first],
        [part.removesuffix("s") for part in (first, *rest)],
    )
    return " ".join(ways[number % 3])


def _some(source: Iterator[int], n: int) -> list[int]:
    return [k for k, _ in zip(source, range(n), strict=False)]


def _path(k: int, parent: dict[int, int], name: dict[int, str]) -> str:
    found = []
    while k >= 0:
        found.append(name[k])
        k = parent[k]
    return "/".join(reversed(found))


# ---- mappings ---------------------------------------------------------------------------------


def score_mapping(
    edited: Edited, mapping: LabelMapping
) -> Iterator[tuple[str, int, float, float]]:
    """Yield kinds of edits with the number of true pairs, precision and recall.

    Pairs of equal labels do not count. Removed labels have no successor, and count as one pair.
    """
    truth = edited.truth()
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for label in edited.old.labels:
        kind = edited.edited.get(label, "path of an ancestor")
        true = {t for t in truth[label] if t != label} or ({None} if not truth[label] else set())
        own = mapping.successors(label)
        proposed = {t for t in own if t != label} or ({None} if not own else set())
        for part in (kind, "all"):
            counts = found[part]
            for k, size in enumerate((len(true & proposed), len(proposed), len(true))):
                counts[k] += size
    for kind in (*EDITS, "path of an ancestor", "all"):
        both, proposed, true = found[kind]
        if true or proposed:
            yield kind, true, both / proposed if proposed else 0.0, both / true if true else 0.0


def score_labels(edited: Edited, mapping: LabelMapping, y: Any, y_new: Any) -> dict[str, float]:
    """Return the shares of rows by what their carried labels are."""
    carried = mapping.apply(y).Y
    known = LabelMapping(edited.old, edited.new, _lines(edited)).apply(y).Y
    truth = edited.new.encode([[label] for label in y_new])
    wrong = np.asarray((carried - carried.multiply(truth)).sum(axis=1)).ravel() > 0
    lengths = np.diff(carried.indptr), np.diff(known.indptr), np.diff(truth.indptr)
    return {
        "wrong": float(wrong.mean()),
        "as specific as can be known": float((~wrong & (lengths[0] >= lengths[1])).mean()),
        "exactly the new label": float((~wrong & (lengths[0] == lengths[2])).mean()),
    }


def _lines(edited: Edited) -> list[tuple[Any, Any]]:
    truth = edited.truth()
    return [(o, t) for o in edited.old.labels for t in (sorted(truth[o]) or [None])]


# ---- rows and models --------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows with an old and a new label each."""

    X: Any
    y: Any
    y_new: Any


def make_rows(edited: Edited, per_atom: int, rng: Any, atoms: Any = None) -> Rows:
    """Make up features: those of an atom lie around a point near those of its parents."""
    atoms = edited.atoms if atoms is None else atoms
    centres: dict[Any, Any] = {}
    for label in edited.new.labels:
        above = [centres[p] for p in edited.new.parents(label)]
        start = np.mean(above, axis=0) if above else np.zeros(24)
        spread = 1.5 if above else 3.0
        centres[label] = start + rng.normal(0, spread, 24)
    own = {atom: centres[atom[1]] + rng.normal(0, 1.0, 24) for atom in atoms}
    which = rng.permutation(np.repeat(np.arange(len(atoms)), per_atom))
    X = np.array([own[atoms[k]] for k in which]) + rng.normal(0, 1.6, (len(which), 24))
    y, y_new = (np.array([atoms[k][side] for k in which], dtype=object) for side in (0, 1))
    return Rows(X, y, y_new)


def measure(model: Any, X: Any, truth: Any) -> tuple[float, float]:
    """Return the share of exact answers and hierarchical F1."""
    predicted = model.hierarchy_.encode([[label] for label in model.predict(X)])
    true = model.hierarchy_.encode([[label] for label in truth])
    exact = np.asarray(abs(predicted - true).sum(axis=1)).ravel() == 0
    return float(exact.mean()), hierarchical_precision_recall_f1(true, predicted)[2]


MODELS: dict[str, Callable[[Hierarchy], Any]] = {
    "forest": lambda h: PCTForestClassifier(h, n_estimators=30, random_state=0),
    "boosting": lambda h: PCTGradientBoostingClassifier(
        h, max_iter=60, learning_rate=0.2, early_stopping=False, random_state=0
    ),
    "per parent": lambda h: PerParentClassifier(LinearClassifier(), hierarchy=h),
}


def compare_models(
    edited: Edited, mapping: LabelMapping, rows: tuple[Rows, Rows], share: float, names: Any
) -> Iterator[tuple[str, str, float, float, float]]:
    """Yield models, ways, exact answers, F1 and CPU seconds."""
    train, test = rows
    n = int(share * len(train.X))
    X, y = train.X[:n], train.y_new[:n]
    more, y_more = _with_old_rows(train, n, mapping)
    for name in names:
        make = MODELS[name]
        old, seconds = _timed(lambda make=make: make(edited.old).fit(train.X, train.y))
        yield name, "old model, old labels", *measure(old, test.X, test.y), seconds
        ways = {
            "carried": lambda old=old: old.with_hierarchy(edited.new, mapping),
            "relearnt, changed": lambda old=old: old.with_hierarchy(edited.new, mapping, X=X, y=y),
            "relearnt, all": lambda old=old: old.with_hierarchy(
                edited.new, mapping, X=X, y=y, relearn="all"
            ),
            "relearnt, old rows too": lambda old=old: old.with_hierarchy(
                edited.new, mapping, X=more, y=y_more
            ),
            "new, same sample": lambda make=make: make(edited.new).fit(X, y),
            "new, all rows": lambda make=make: make(edited.new).fit(train.X, train.y_new),
        }
        for way, run in ways.items():
            model, seconds = _timed(run)
            yield name, way, *measure(model, test.X, test.y_new), seconds


def _with_old_rows(train: Rows, n: int, mapping: LabelMapping) -> tuple[Any, Any]:
    """Return the first rows with new labels, and others if the mapping knows their new label."""
    carried = mapping.apply(train.y[n:])
    certain = {x for x in mapping.old.labels if mapping.status(x) in ("kept", "remapped")}
    rows = np.flatnonzero([label in certain for label in train.y[n:]])
    labels = [found[0] for found in mapping.new.decode(carried.Y[rows])]
    X = np.concatenate([train.X[:n], train.X[n:][rows]])
    return X, np.concatenate([train.y_new[:n], np.array(labels, dtype=object)])


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    found = run()
    return found, time.process_time() - start


# ---- pairs of ontologies ----------------------------------------------------------------------


def compare_pair(old: Path, new: Path) -> Iterator[tuple[str, Any]]:
    """Yield figures of two versions of an ontology."""
    before = Ontology.from_obo(old)
    after = Ontology.from_obo(new)
    plain, seconds = _timed(lambda: before.compare(after))
    yield "as they are", f"{plain!r}, {seconds:.1f} s"
    labels = before.hierarchy().labels
    mapped = LabelMapping.of(plain)
    lost = [label for label in labels if not mapped.successors(label)]
    yield "labels with a successor", f"{len(labels) - len(lost):,} of {len(labels):,}"
    with tempfile.TemporaryDirectory() as folder:
        hidden_file = Path(folder, "hidden.obo")
        text = re.sub(r"^(alt_id|replaced_by|consider):.*\n", "", new.read_text(), flags=re.M)
        prefix = str(labels[0]).partition(":")[0]
        hidden_file.write_text(re.sub(rf"\b{prefix}:(?=\d)", "HIDDEN:", text))
        hidden = Ontology.from_obo(hidden_file)
    found, seconds = _timed(lambda: before.compare(hidden))
    kept = set(labels) & set(after.hierarchy().labels)
    truth = {(x, str(x).replace(prefix, "HIDDEN", 1)) for x in kept}
    proposed = {(s.old, s.new) for s in found.successors}
    names = {term.name: x for x, term in hidden.terms.items()}
    equal = {(x, names[n]) for x in labels if (n := before.terms[x].name) in names}
    for name, pairs in (("identifiers hidden", proposed), ("equal names alone", equal)):
        right = len(pairs & truth)
        text = f"precision {right / len(pairs):.4f}, recall {right / len(truth):.4f}"
        yield name, text + (f", {seconds:.1f} s" if pairs is proposed else "")


def pair_as_edits(old: Path, new: Path, n_atoms: int, rng: Any) -> Edited:
    """Return two versions of an ontology with atoms: new labels, and where they were before."""
    before, after = Ontology.from_obo(old), Ontology.from_obo(new)
    first, second = before.hierarchy(), after.hierarchy()
    mapping = LabelMapping.of(before.compare(after))
    back = defaultdict(list)
    for label in first.labels:
        for target in mapping.successors(label):
            back[target].append(label)

    def origin(label: Any) -> Any:
        while label is not None and not back[label]:
            label = next(iter(second.parents(label)), None)
        return back[label][0] if label is not None else None

    added = [x for x in second.labels if not back[x]]
    others = [x for x in second.labels if back[x]]
    chosen = [*added, *rng.permutation(np.array(others, dtype=object))[: n_atoms - len(added)]]
    atoms = [(origin(x), x) for x in chosen if origin(x) is not None]
    return Edited(first, second, atoms)


# ---- labels of the same genes in two taxonomies ----------------------------------------------


def compare_crosswalk(rng: Any) -> Iterator[tuple[str, str]]:
    """Yield figures of terms carried from FunCat to the Gene Ontology."""
    first, second = fetch("cellcycle_FUN"), fetch("cellcycle_GO")
    keys = [[row.tobytes() for row in np.nan_to_num(data.X, nan=-9e9)] for data in (first, second)]
    once = [{key: k for k, key in enumerate(own) if own.count(key) == 1} for own in keys]
    pairs = [(k, once[1][key]) for key, k in once[0].items() if key in once[1]]
    rows = rng.permutation(pairs)
    learnt, tested = np.split(rows, [len(rows) // 2])
    Y = [(first.y[part[:, 0]], second.y[part[:, 1]]) for part in (learnt, tested)]
    yield "genes", f"{len(learnt):,} to learn from, {len(tested):,} to test"
    crosswalk, seconds = _timed(lambda: Crosswalk.learn(*Y[0], first.hierarchy, second.hierarchy))
    mapping = crosswalk.mapping()
    found = sum(line.new is not None for line in mapping.lines)
    yield "functions", f"{found} of {len(mapping.lines)} have a counterpart, {seconds:.2f} s"
    yield "carried", _quality(Y[1][1], mapping.apply(Y[1][0]).Y, second.hierarchy)
    order = np.argsort(-Y[0][1].mean(axis=0), kind="stable")
    frequent = max(range(1, 200), key=lambda n: _f1(Y[0][1], _same(order[:n], Y[0][1]), second))
    yield (
        "most frequent terms",
        _quality(Y[1][1], _same(order[:frequent], Y[1][1]), second.hierarchy),
    )


def _same(labels: Any, like: Any) -> Any:
    """Return a label matrix whose rows all have the same labels."""
    Y = np.zeros(like.shape, dtype=np.int32)
    Y[:, labels] = 1
    return sparse.csr_array(Y)


def _f1(truth: Any, predicted: Any, data: Any) -> float:
    return hierarchical_precision_recall_f1(truth, predicted, hierarchy=data.hierarchy)[2]


def _quality(truth: Any, predicted: Any, hierarchy: Hierarchy) -> str:
    values = hierarchical_precision_recall_f1(truth, predicted, hierarchy=hierarchy)
    return "precision {:.3f}, recall {:.3f}, F1 {:.3f}".format(*values)


# ---- what is printed --------------------------------------------------------------------------


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pair", nargs=2, type=Path, action="append", default=[])
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--crosswalk", action="store_true")
    parser.add_argument("--edits", type=int, default=30)
    parser.add_argument("--per-label", type=int, default=10, help="training rows of each label")
    parser.add_argument("--share", type=float, default=0.3, help="of rows with new labels")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    for number, (old, new) in enumerate(arguments.pair):
        print(f"\n{old.name} and {new.name}")
        for name, value in compare_pair(old, new):
            print(f"  {name:26} {value}", flush=True)
        if number == 0 and arguments.rows:
            edited = pair_as_edits(old, new, 400, rng)
            mapping = LabelMapping.of(Ontology.from_obo(old).compare(Ontology.from_obo(new)))
            _print_models(edited, mapping, _train_and_test(edited, arguments, rng), arguments)
    if arguments.crosswalk:
        print("\nFunCat and the Gene Ontology")
        for name, value in compare_crosswalk(np.random.default_rng(arguments.seed)):
            print(f"  {name:26} {value}", flush=True)
    edited = edit_products(arguments.edits, arguments.seed)
    train, test = _train_and_test(edited, arguments, rng)
    n = int(arguments.share * len(train.X))
    print(f"\nProduct tree: {edited.old.n_labels} and {edited.new.n_labels} labels")
    for name, given in (("without rows", ()), ("with rows", (train.y[:n], train.y_new[:n]))):
        found, seconds = _timed(lambda given=given: edited.old.compare(edited.new, *given))
        mapping = LabelMapping.of(found)
        print(f"\nmapping {name}, {seconds:.1f} s: {found!r}")
        for kind, size, precision, recall in score_mapping(edited, mapping):
            print(f"  {kind:22} {size:5}  precision {precision:.3f}  recall {recall:.3f}")
        for what, share in score_labels(edited, mapping, test.y, test.y_new).items():
            print(f"  labels of rows: {what:28} {share:.3f}")
    _print_models(edited, mapping, (train, test), arguments)


def _train_and_test(edited: Edited, arguments: Any, rng: Any) -> tuple[Rows, Rows]:
    rows = make_rows(edited, arguments.per_label + 5, rng)
    n = len(rows.X) * arguments.per_label // (arguments.per_label + 5)
    parts = (slice(0, n), slice(n, None))
    train, test = (Rows(rows.X[part], rows.y[part], rows.y_new[part]) for part in parts)
    return train, test


def _print_models(
    edited: Edited, mapping: LabelMapping, rows: tuple[Rows, Rows], arguments: Any
) -> None:
    print(f"\n  {len(rows[0].X):,} training and {len(rows[1].X):,} test rows")
    print(f"  {'model':12} {'way':22} {'exact':>7} {'F1':>7} {'CPU s':>7}")
    found = compare_models(edited, mapping, rows, arguments.share, arguments.models)
    for name, way, exact, f1, seconds in found:
        print(f"  {name:12} {way:22} {exact:7.3f} {f1:7.3f} {seconds:7.2f}", flush=True)


if __name__ == "__main__":
    main()
