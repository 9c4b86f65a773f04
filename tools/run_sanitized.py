"""Run pytest, or a module, on a copy of the package instead of the installed one.

Usage: python tools/run_sanitized.py FOLDER [pytest arguments], or FOLDER -m MODULE [arguments].
FOLDER contains the package. Without the name of a test in the arguments, those of native code run.
"""

import os
import runpy
import sys

import pytest

# Test files that cover native code without long-running pure Python.
NATIVE = [
    "tests/boosting/test_adaboost.py",
    "tests/boosting/test_adaboost_reference.py",
    "tests/base/test_many_labels.py",
    "tests/local/test_brdt.py",
    "tests/decision/test_decision_leaves.py",
    "tests/boosting/test_core_arrays.py",
    "tests/boosting/test_core_growth.py",
    "tests/boosting/test_core_interrupts.py",
    "tests/boosting/test_core_margins.py",
    "tests/boosting/test_core_probabilities.py",
    "tests/boosting/test_core_splits.py",
    "tests/boosting/test_partition_sums.py",
    "tests/labels/test_hierarchy.py",
    "tests/labels/test_propagation.py",
    "tests/io/test_io_arff.py",
    "tests/io/test_io_arff_messages.py",
    "tests/io/test_io_arff_roundtrip.py",
    "tests/metrics/test_metrics_oracle.py",
    "tests/metrics/test_metrics_sparse.py",
    "tests/trees/test_multi_target.py",
    "tests/trees/test_targets_clus.py",
    "tests/trees/test_targets_reference.py",
    "tests/saving/test_saving_schema.py",
    "tests/trees/test_tree.py",
    "tests/trees/test_tree_clus.py",
    "tests/trees/test_tree_distances.py",
    "tests/trees/test_tree_one_label.py",
    "tests/trees/test_tree_packing.py",
    "tests/trees/test_tree_pruning.py",
    "tests/trees/test_tree_rare_classes.py",
    "tests/trees/test_tree_reference.py",
    "tests/trees/test_tree_threads.py",
]
# Test files whose native code starts threads. None of them imports polars, which crashes when
# ThreadSanitizer is preloaded.
THREADED = [
    "tests/boosting/test_adaboost.py",
    "tests/trees/test_forest.py",
    "tests/boosting/test_core_growth.py",
    "tests/boosting/test_core_margins.py",
    "tests/trees/test_targets_reference.py",
    "tests/trees/test_tree_one_label.py",
    "tests/trees/test_tree_rare_classes.py",
    "tests/trees/test_tree_threads.py",
]


# The import hook of an editable install comes before sys.path. The workers of pytest-xdist have
# the sys.path of this process, and import this module as a plugin.
sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in type(f).__module__]


def pytest_configure() -> None:
    """Refuse to test another package than the one in the folder."""
    import ramify._core  # noqa: PLC0415

    if not str(ramify._core.__file__).startswith(os.environ["RAMIFY_SANITIZED"]):
        raise SystemExit(f"tests would run against {ramify._core.__file__}")


def main(folder: str, arguments: list[str]) -> int:
    """Import the package from the folder, and run pytest or a module."""
    os.environ["RAMIFY_SANITIZED"] = folder
    sys.path.insert(0, folder)
    if arguments[:1] == ["-m"]:
        pytest_configure()
        sys.path.insert(1, os.getcwd())  # noqa: PTH109
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    chosen = list(arguments)
    if all(argument.startswith("-") for argument in arguments):
        chosen += THREADED if os.environ.get("TSAN_OPTIONS") else NATIVE
    # With --capture=sys, what a sanitizer writes before it ends the process is seen.
    options = ["-q", "-n", "auto", "--capture=sys", "--hypothesis-profile=sanitized"]
    return pytest.main([*options, "-p", "no:cacheprovider", "-p", "run_sanitized", *chosen])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
