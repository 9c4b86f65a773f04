"""The tables of a study as LaTeX, for papers that use booktabs."""

from __future__ import annotations

import re

from ramify.studies.findings import Table, TableCell, score_table
from ramify.studies.results import StudyResults

__all__ = ["to_latex"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def to_latex(results: StudyResults) -> str:
    r"""Write a table for each measure and cost.

    Parameters
    ----------
    results : StudyResults
        Stored results.

    Returns
    -------
    str
        Floats to be included with ``\input``; they require the package booktabs.
    """
    lines = ["% \\usepackage{booktabs}", ""]
    for quantity in (*results.measures, *results.costs) if results.cells else ():
        for part in results.parts():
            table = score_table(part, quantity).upright()
            name = " ".join(filter(None, (quantity.name, part.family)))
            label = f"tab:{results.study['name']}-{re.sub('[^A-Za-z0-9]+', '-', name)}"
            lines += _float(table, f"{table.title}; {results.study['protocol']}.", label)
    return "\n".join(lines)


def _float(table: Table, caption: str, label: str) -> list[str]:
    columns = "l" + "r" * (len(table.header) - 1)
    return [
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{_escape(caption[0].upper() + caption[1:])}}}",
        f"  \\label{{{label}}}",
        f"  \\begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        f"    {' & '.join(map(_escape, table.header))} \\\\",
        r"    \midrule",
        *(
            f"    {' & '.join([_escape(name), *map(_cell, cells)])} \\\\"
            for name, cells in table.rows
        ),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
        "",
    ]


def _cell(cell: TableCell) -> str:
    text = _escape(cell.text).replace("±", r"$\pm$").replace("–", "--")
    return f"\\textbf{{{text}}}" if cell.best else text


def _escape(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in text)
