"""``python -m ramify.inspection.page MODEL [DATA] -o PAGE``: a model as one page to explore."""

from __future__ import annotations

import argparse
from pathlib import Path

from ramify.hierarchy import Hierarchy
from ramify.inspection.explorer import explore
from ramify.io import Table, read_arff, read_table
from ramify.saving import load

__all__ = ["main"]


def _read_data(path: Path, hierarchy: Hierarchy) -> Table:
    """Read rows by the ending of the file's name."""
    is_arff = path.name.removesuffix(".gz").endswith(".arff")
    read = read_arff if is_arff else read_table
    return read(path, hierarchy=hierarchy)


def main(arguments: list[str] | None = None) -> None:
    """Write the page of a saved model and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m ramify.inspection.page", description=__doc__)
    parser.add_argument("model", type=Path, help="a model that ramify.save wrote")
    parser.add_argument("data", type=Path, nargs="?", help="rows: an ARFF, CSV or parquet file")
    parser.add_argument("-o", "--out", type=Path, default=Path("page.html"), help="the page")
    parser.add_argument("--title", help="what the page is called")
    parser.add_argument("--max-trees", type=int, default=10, help="trees of a set on the page")
    parser.add_argument("--max-rows", type=int, default=1000, help="rows of the data on the page")
    given = parser.parse_args(arguments)
    model = load(given.model)
    settings = {"title": given.title, "max_trees": given.max_trees, "max_rows": given.max_rows}
    if given.data is None:
        page = explore(model, path=given.out, **settings)
    else:
        table = _read_data(given.data, model.hierarchy_)
        page = explore(
            model,
            table.X,
            table.y,
            given.out,
            feature_names=table.feature_names,
            categories=table.categories,
            **settings,
        )
    print(f"The page is {page.resolve()}")  # noqa: T201


if __name__ == "__main__":
    main()
