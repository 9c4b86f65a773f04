"""Trees that divide rows with missing values among branches, as operators of ONNX.

A loop moves all rows down all trees at the same time. Its state is a list of parts of rows: the
row, the node that the part has reached, and its share. A test with a missing value divides a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.export.onnx_graph import INPUT, GraphBuilder
from ramify.export.tree_ensembles import round_down

_YES, _NO, _UNKNOWN = 1, 0, -1
_SHARE = np.float64  # a row with many missing values is the sum of many small parts


@dataclass(frozen=True)
class _Tests:
    """All nodes of some trees with two branches each; a leaf is followed by itself."""

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    yes: NDArray[np.int64]
    no: NDArray[np.int64]
    share_yes: NDArray[np.float64]
    share_no: NDArray[np.float64]
    is_test: NDArray[np.bool_]
    first_code: NDArray[np.int64]  # where the codes of a nominal test start in `answers`
    n_codes: NDArray[np.int64]  # 0: a numeric test or a leaf
    answers: NDArray[np.int8]
    first_value: NDArray[np.int64]
    n_values: NDArray[np.int64]
    roots: NDArray[np.int64]


def add_dividing_mean(graph: GraphBuilder, trees: Sequence[_core.Tree], n_labels: int) -> str:
    """Add the mean of predictive clustering trees to a graph; return the name of the result."""
    tests = _join(trees)
    n_rows = graph.add("Shape", INPUT, start=0, end=1)  # of shape (1,)
    n_trees = graph.constant([len(trees)], np.int64)
    all_parts = graph.add("Concat", n_rows, n_trees, axis=0)
    flat = graph.constant([-1], np.int64)
    row_numbers = _count_up(graph, n_rows)
    one = graph.constant([1], np.int64)
    rows = graph.add("Expand", graph.add("Unsqueeze", row_numbers, one), all_parts)
    nodes = graph.add("Expand", graph.constant(tests.roots[None, :]), all_parts)
    shares = graph.add("Expand", graph.constant([[1.0]], _SHARE), all_parts)
    parts = tuple(graph.add("Reshape", part, flat) for part in (rows, nodes, shares))
    if tests.is_test.any():
        parts = _descend(graph, tests, parts)
    shape = graph.add("Concat", n_rows, graph.constant([n_labels], np.int64), axis=0)
    scores = _sum_leaves(graph, tests, trees, shape, parts)
    mean = graph.add("Div", scores, graph.constant(float(len(trees)), _SHARE))
    return graph.cast(mean, np.float32)


def _count_up(graph: GraphBuilder, n: str) -> str:
    """Return 0, …, n - 1 for a tensor of shape (1,)."""
    zero, one = graph.constant(0, np.int64), graph.constant(1, np.int64)
    return graph.add("Range", zero, graph.add("Squeeze", n), one)


def _descend(graph: GraphBuilder, tests: _Tests, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Add the loop that moves all parts to leaves."""
    has_nominal = bool(tests.n_codes.any())
    needed = ["feature", "yes", "no", "is_test"]
    needed += ["first_code", "n_codes", "answers"] if has_nominal else []
    arrays = {name: graph.constant(getattr(tests, name)) for name in needed}
    arrays["threshold"] = graph.constant(round_down(tests.threshold, graph.dtype))
    for name in ("share_yes", "share_no"):
        arrays[name] = graph.constant(getattr(tests, name), _SHARE)
    body = GraphBuilder(graph.dtype, prefix="step_")
    rows, nodes, shares = "rows_in", "nodes_in", "shares_in"
    answer, unknown = _answer(body, arrays, rows, nodes, has_nominal=has_nominal)
    moved = []
    for branch, taken in (("yes", answer), ("no", body.add("Not", answer))):
        share = body.add(
            "Where",
            unknown,
            body.add("Gather", arrays[f"share_{branch}"], nodes),
            body.cast(taken, _SHARE),
        )
        moved.append((body.add("Gather", arrays[branch], nodes), body.add("Mul", shares, share)))
    both = [
        body.add("Concat", rows, rows, axis=0),
        body.add("Concat", moved[0][0], moved[1][0], axis=0),
        body.add("Concat", moved[0][1], moved[1][1], axis=0),
    ]
    is_kept = body.add("Greater", both[2], body.constant(0.0, _SHARE))
    kept = body.add("Reshape", body.add("NonZero", is_kept), body.constant([-1], np.int64))
    outputs = [body.add("Gather", part, kept) for part in both]
    at_test = body.cast(body.add("Gather", arrays["is_test"], outputs[1]), np.int32)
    any_test = body.add("ReduceMax", at_test, keepdims=0)
    goes_on = body.add("Greater", any_test, body.constant(0, np.int32))
    types = (np.int64, np.int64, _SHARE)
    loop_body = body.body(
        {"step": (np.int64, ()), "going": (np.bool_, ())}
        | dict(zip((rows, nodes, shares), ((dtype, (None,)) for dtype in types), strict=True)),
        {goes_on: np.bool_} | dict(zip(outputs, types, strict=True)),
    )
    start = graph.constant(True, np.bool_)
    return tuple(graph.add_many("Loop", ("", start, *parts), 3, body=loop_body))


def _answer(
    body: GraphBuilder, arrays: dict[str, str], rows: str, nodes: str, *, has_nominal: bool
) -> tuple[str, str]:
    """Return whether the parts take the branch "yes", and whether their values are missing."""
    one = body.constant([1], np.int64)
    feature = body.add("Gather", arrays["feature"], nodes)
    cells = [body.add("Unsqueeze", index, one) for index in (rows, feature)]
    value = body.add("GatherND", INPUT, body.add("Concat", *cells, axis=1))
    answer = body.add("Greater", value, body.add("Gather", arrays["threshold"], nodes))
    unknown = body.add("IsNaN", value)
    if not has_nominal:
        return answer, unknown
    n_codes = body.add("Gather", arrays["n_codes"], nodes)
    zero = body.constant(0.0, body.dtype)
    is_nominal = body.add("Greater", n_codes, body.constant(0, np.int64))
    inside = body.add(
        "And",
        body.add("GreaterOrEqual", value, zero),
        body.add("Less", value, body.cast(n_codes, body.dtype)),
    )
    code = body.cast(body.add("Where", inside, value, zero), np.int64)
    place = body.add("Add", body.add("Gather", arrays["first_code"], nodes), code)
    entry = body.cast(body.add("Gather", arrays["answers"], place), np.int32)
    is_yes = body.add("Equal", entry, body.constant(_YES, np.int32))
    not_seen = body.add("Less", entry, body.constant(_NO, np.int32))
    nominal_unknown = body.add("Or", body.add("Not", inside), not_seen)
    return (
        _choose(body, is_nominal, is_yes, answer),
        _choose(body, is_nominal, nominal_unknown, unknown),
    )


def _choose(body: GraphBuilder, condition: str, first: str, second: str) -> str:
    """Return `first` where `condition` holds, otherwise `second`; all of them are Booleans."""
    return body.add(
        "Or",
        body.add("And", condition, first),
        body.add("And", body.add("Not", condition), second),
    )


def _sum_leaves(
    graph: GraphBuilder,
    tests: _Tests,
    trees: Sequence[_core.Tree],
    shape: str,
    parts: tuple[str, ...],
) -> str:
    """Return the sums of the leaf values of each row, times the shares of its parts."""
    rows, nodes, shares = parts
    zero, flat = graph.constant([0], np.int64), graph.constant([-1], np.int64)
    one = graph.constant([1], np.int64)
    labels = graph.constant(np.concatenate([tree.value_label for tree in trees]), np.int32)
    values = graph.constant(np.concatenate([tree.value for tree in trees]), graph.dtype)

    # Entry k of the expanded list belongs to part `owner[k]`, and is one value of its leaf.
    length = graph.add("Gather", graph.constant(tests.n_values), nodes)
    kept = graph.add("Reshape", graph.add("NonZero", length), flat)
    rows, nodes, shares, length = (
        graph.add("Gather", part, kept) for part in (rows, nodes, shares, length)
    )
    ends = graph.add("CumSum", length, graph.constant(0, np.int64))
    starts = graph.add("Sub", ends, length)
    total = graph.add("ReduceSum", length, zero, keepdims=1)
    nothing = graph.add("Expand", zero, total)
    marks = graph.add(
        "ScatterElements", nothing, starts, graph.add("Expand", one, graph.add("Shape", starts))
    )
    owner = graph.add("Sub", graph.add("CumSum", marks, graph.constant(0, np.int64)), one)
    first = graph.add("Gather", graph.constant(tests.first_value), nodes)
    offset = graph.add("Gather", graph.add("Sub", first, starts), owner)
    place = graph.add("Add", _count_up(graph, total), offset)
    value = graph.cast(graph.add("Gather", values, place), _SHARE)
    value = graph.add("Mul", value, graph.add("Gather", shares, owner))
    n_labels = graph.add("Slice", shape, one, graph.constant([2], np.int64))
    row = graph.add("Mul", graph.add("Gather", rows, owner), n_labels)
    cell = graph.add("Add", row, graph.cast(graph.add("Gather", labels, place), np.int64))
    n_cells = graph.add("ReduceProd", shape, keepdims=1)
    empty = graph.add("Expand", graph.constant([0.0], _SHARE), n_cells)
    sums = graph.add("ScatterElements", empty, cell, value, reduction="add")
    return graph.add("Reshape", sums, shape)


def _join(trees: Sequence[_core.Tree]) -> _Tests:
    """Return the nodes of all trees, numbered consecutively."""
    parts = [_binary(tree) for tree in trees]
    n_nodes = [len(part["feature"]) for part in parts]
    n_codes = [len(part["answers"]) for part in parts]
    n_values = [len(tree.value) for tree in trees]
    roots = np.concatenate([[0], np.cumsum(n_nodes)]).astype(np.int64)
    shifts = {
        "yes": roots,
        "no": roots,
        "first_code": np.concatenate([[0], np.cumsum(n_codes)]),
        "first_value": np.concatenate([[0], np.cumsum(n_values)]),
    }
    joined = {
        name: np.concatenate(
            [
                part[name] + (shifts[name][k] if name in shifts else 0)
                for k, part in enumerate(parts)
            ]
        ).astype(parts[0][name].dtype)
        for name in parts[0]
        if name != "is_test"
    }
    # Codes are looked up for all nodes, even where there are none.
    joined["answers"] = np.append(joined["answers"], np.int8(_UNKNOWN))
    return _Tests(
        is_test=np.concatenate([part["is_test"] for part in parts]),
        roots=roots[:-1],
        **joined,
    )


def _binary(tree: _core.Tree) -> dict[str, NDArray[Any]]:
    """Return the nodes of a tree; a test with more branches becomes several tests in a row."""
    n_nodes = len(tree.feature)
    is_test = tree.feature >= 0
    itself = np.arange(n_nodes, dtype=np.int64)
    first = tree.child_indptr[:-1][is_test]
    columns: dict[str, Any] = {
        "feature": np.where(is_test, tree.feature, 0).astype(np.int64),
        "threshold": np.where(is_test, tree.threshold, -np.inf),
        "yes": itself.copy(),
        "no": itself.copy(),
        "share_yes": np.ones(n_nodes),
        "share_no": np.zeros(n_nodes),
        "is_test": is_test,
        "first_code": np.zeros(n_nodes, dtype=np.int64),
        "n_codes": np.zeros(n_nodes, dtype=np.int64),
        "first_value": tree.value_indptr[:-1].astype(np.int64),
        "n_values": np.diff(tree.value_indptr).astype(np.int64),
    }
    columns["yes"][is_test] = tree.child[first]
    columns["no"][is_test] = tree.child[first + 1]
    columns["share_yes"][is_test] = tree.share[first]
    columns["share_no"][is_test] = tree.share[first + 1]
    columns = {name: values.tolist() for name, values in columns.items()}
    answers: list[int] = []
    for node in np.flatnonzero(np.diff(tree.category_indptr) > 0).tolist():
        _add_nominal(tree, node, columns, answers)
    found = {name: np.array(values) for name, values in columns.items()}
    return {**found, "answers": np.array(answers, dtype=np.int8)}


def _add_nominal(
    tree: _core.Tree, node: int, columns: dict[str, list[Any]], answers: list[int]
) -> None:
    """Set the tests of a nominal node: one per branch, except the last."""
    codes = tree.category_branch[tree.category_indptr[node] : tree.category_indptr[node + 1]]
    begin, end = int(tree.child_indptr[node]), int(tree.child_indptr[node + 1])
    children, shares = tree.child[begin:end].tolist(), tree.share[begin:end].tolist()
    at = node
    for branch in range(len(children) - 1):
        is_last = branch == len(children) - 2
        rest = sum(shares[branch:])
        row = {
            "feature": columns["feature"][node],
            "threshold": 0.0,
            "yes": children[branch],
            "no": children[-1] if is_last else len(columns["yes"]) + (branch > 0),
            "share_yes": shares[branch] / rest if rest > 0 else 0.0,
            "share_no": sum(shares[branch + 1 :]) / rest if rest > 0 else 0.0,
            "is_test": True,
            "first_code": len(answers),
            "n_codes": len(codes),
            "first_value": 0,
            "n_values": 0,
        }
        answers += [_UNKNOWN if b < 0 else int(b == branch) for b in codes.tolist()]
        for name, value in row.items():
            if at == node:
                columns[name][node] = value
            else:
                columns[name].append(value)
        at = len(columns["yes"])
