"""Run pytest on a copy of the package, whatever is installed.

Usage: python tools/run_sanitized.py FOLDER [pytest arguments]; FOLDER holds the package to test.
"""

import sys

import pytest

# Files whose tests reach native code without minutes of pure Python around it.
NATIVE = [
    "tests/test_boosting.py",
    "tests/test_boosting_reference.py",
    "tests/test_brdt.py",
    "tests/test_decision_leaves.py",
    "tests/test_hierarchy.py",
    "tests/test_io_arff.py",
    "tests/test_io_arff_messages.py",
    "tests/test_io_arff_roundtrip.py",
    "tests/test_metrics_oracle.py",
    "tests/test_tree.py",
    "tests/test_tree_clus.py",
    "tests/test_tree_distances.py",
    "tests/test_tree_one_label.py",
    "tests/test_tree_packing.py",
    "tests/test_tree_pruning.py",
    "tests/test_tree_rare_classes.py",
    "tests/test_tree_reference.py",
]


def main(folder: str, arguments: list[str]) -> int:
    """Put the folder before everything else, and run."""
    # An editable install answers before sys.path does.
    sys.meta_path[:] = [f for f in sys.meta_path if "Redirecting" not in type(f).__name__]
    sys.path.insert(0, folder)
    import ramify._core  # noqa: PLC0415

    if not str(ramify._core.__file__).startswith(folder):
        raise SystemExit(f"tests would run against {ramify._core.__file__}, not {folder}")
    return pytest.main([*(arguments or NATIVE), "-q", "-p", "no:cacheprovider"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
