"""Compare our trees with those of CLUS node by node: ``python -m benchmarks.parity``.

Grows every stored tree of one model under CLUS's conventions and compares tests, thresholds and
leaves. The data sets are read from the folder RAMIFY_DATA; without it, only the hand-sized cases
are compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from tests.support import clus_data
from tests.support.clus_models import REAL_TREES, TREE_CASES, fitted, real_classifier
from tests.support.clus_oracle import ORACLE, read_models, read_tree_file
from tests.support.clus_trees import TreeNode, differences
from tests.support.engine_trees import as_printed

Comparison = tuple[str, TreeNode, TreeNode]


def hand_sized() -> Iterator[Comparison]:
    """Yield the name of each hand-sized case with CLUS's tree and ours."""
    for case in TREE_CASES:
        (expected,) = read_models(case.path(".out"))["Original"]
        model = fitted(case)
        actual = as_printed(
            model.tree_,
            [attribute.name for attribute in case.train.attributes],
            [attribute.values for attribute in case.train.attributes],
            [model.hierarchy_.index(label) for label in case.labels],
            multilabel=not case.is_hierarchical,
            nary=model.nominal_tests == "nary",
        )
        yield str(case), expected, actual


def real() -> Iterator[Comparison]:
    """Yield the same for each run on a real data set."""
    for record in REAL_TREES if "RAMIFY_DATA" in os.environ else []:
        data = clus_data.load(record["dataset"])
        (expected,) = read_tree_file(ORACLE / record["tree_file"])
        model = real_classifier(record, data.hierarchy)
        model.fit(data.X_train, data.Y_train)
        categories = [model.schema_.categories.get(k, ()) for k in range(len(data.names))]
        actual = as_printed(
            model.tree_,
            data.names,
            [[str(value) for value in values] for values in categories],
            data.order,
            multilabel=record["dataset"].endswith("_mlc"),
        )
        yield f"{record['dataset']} {record['config']}", expected, actual


def main() -> int:
    """Print the summary and all differences; return their number."""
    if not ORACLE.is_dir():
        raise SystemExit(f"no results of CLUS in {ORACLE}; set RAMIFY_CLUS_ORACLE to their folder")
    n_differences = 0
    for title, comparisons in (("hand-sized cases", hand_sized()), ("real data sets", real())):
        n_trees = n_nodes = 0
        found = []
        for name, expected, actual in comparisons:
            n_trees += 1
            n_nodes += sum(1 for _ in expected.walk())
            found += [f"  {name}: {line}" for line in differences(expected, actual)]
        print(f"{title}: {n_trees} trees, {n_nodes} nodes compared, {len(found)} differences")
        print("".join(f"{line}\n" for line in found), end="")
        n_differences += len(found)
    return n_differences


if __name__ == "__main__":
    raise SystemExit(main())
