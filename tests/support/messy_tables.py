"""Tables as people write them: each with the clean values that a reader must find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

N_ROWS = 60


@dataclass(frozen=True)
class Messy:
    """A file, the label columns, and what must be read."""

    path: Path
    target: str | list[str]
    # Features by name: numbers, dates as text, or names; None for a missing cell.
    features: dict[str, list[Any]]
    labels: tuple[str, ...]
    n_rows: int = N_ROWS
    said: tuple[str, ...] = ()  # parts of the notes
    settings: dict[str, Any] = field(default_factory=dict)


def _random() -> np.random.Generator:
    return np.random.default_rng(0)


def _german(number: float, digits: int = 1) -> str:
    return f"{number:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def plants(folder: Path) -> Messy:
    """A German export: Windows-1252, semicolons, decimal commas, dates, prose, totals, blanks."""
    rng = _random()
    height = np.round(rng.gamma(2, 900, N_ROWS), 1)
    days = pd.date_range("2024-03-01", periods=N_ROWS, freq="5D")
    soil = rng.choice(["Löß", "Sand ", "Ton"], N_ROWS)
    labels = rng.choice(["Rosengewächse/Rose", "Rosengewächse/Apfel", "Gräser"], N_ROWS)
    lines = ["Erhebung Wald, Stand 1. Mai 2024", "", "Nr;Höhe;Tag;Boden;Familie"]
    lines += [
        f"P{k:03d};{_german(height[k])};{days[k]:%d.%m.%Y};{soil[k]};{labels[k]}"
        for k in range(N_ROWS)
    ]
    lines += [f"Summe;{_german(height.sum())};;;", "Quelle: eigene Messung, ohne Gewähr;;;;"]
    path = folder / "plants.csv"
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    return Messy(
        path,
        "Familie",
        {
            "Höhe": height.tolist(),
            "Tag": days.strftime("%Y-%m-%d").tolist(),
            "Boden": [name.strip() for name in soil],
        },
        ("Gräser", "Rosengewächse", "Rosengewächse/Apfel", "Rosengewächse/Rose"),
        said=("encoded in cp1252", "separated by ';'", "column names are in line 3", "'Summe'"),
        settings={"delimiter": ";", "decimal": ",", "encoding": "cp1252", "header": "3"},
    )


def animals(folder: Path) -> Messy:
    """Units, estimates and limits in cells, percent, marks of missing values."""
    rng = _random()
    mass = np.round(rng.gamma(2, 5, N_ROWS), 1)
    mass_cells = [f"{'ca. ' if k % 7 == 0 else ''}{mass[k]} kg" for k in range(N_ROWS)]
    mass_cells[3], mass_cells[10] = "<0.5 kg", "-"
    found: list[Any] = mass.tolist()
    found[3], found[10] = 0.5, None
    share = rng.integers(0, 100, N_ROWS)
    legs: list[Any] = rng.choice([2, 4, 6], N_ROWS).tolist()
    leg_cells = [str(n) for n in legs]
    for k in (5, 6):
        leg_cells[k], legs[k] = "n/a", None
    kinds = rng.choice(["mammal/cat", "mammal/dog;pet", "bird", "bird/owl"], N_ROWS)
    path = folder / "animals.csv"
    lines = ["mass,share,legs,kind"]
    lines += [f"{mass_cells[k]},{share[k]} %,{leg_cells[k]},{kinds[k]}" for k in range(N_ROWS)]
    path.write_text("\n".join(lines), "utf-8")
    return Messy(
        path,
        "kind",
        {"mass": found, "share": share.tolist(), "legs": legs},
        ("bird", "bird/owl", "mammal", "mammal/cat", "mammal/dog", "pet"),
        said=("numbers in kg", "'<0.5 kg' as 0.5", "'-' as missing (1 cell)", "numbers in %"),
    )


def leaves(folder: Path) -> Messy:
    """Two rows of names, of which the upper one is merged, and a column without a name."""
    rng = _random()
    cells = np.round(rng.normal(5, 1, (N_ROWS, 4)), 2)
    labels = rng.choice(["setosa", "virginica"], N_ROWS)
    lines = ["Leaf,,Flower,,Class,", "length,width,length,width,,"]
    lines += [",".join([*map(str, cells[k]), labels[k], ""]) for k in range(N_ROWS)]
    path = folder / "leaves.csv"
    path.write_text("\n".join(lines) + "\n,,,,,\n", "utf-8")
    names = ["Leaf length", "Leaf width", "Flower length", "Flower width"]
    return Messy(
        path,
        "Class",
        dict(zip(names, cells.T.tolist(), strict=True)),
        ("setosa", "virginica"),
        said=("column names are in lines 1 and 2", "1 empty row was left out"),
        settings={"header": "1-2"},
    )


def products(folder: Path) -> Messy:
    """Prices with a currency and groups of digits, paths with " > ", tabs, UTF-16."""
    rng = _random()
    price = np.round(rng.gamma(2, 900, N_ROWS), 2)
    price[0] = 1234.5
    stock = rng.integers(0, 50, N_ROWS)
    paths = rng.choice(["Home > Kitchen > Pans", "Home > Kitchen > Pots", "Garden"], N_ROWS)
    lines = ["price\tstock\tcategory"]
    lines += [f"${price[k]:,.2f}\t{stock[k]}\t{paths[k]}" for k in range(N_ROWS)]
    path = folder / "products.txt"
    path.write_text("\n".join(lines), "utf-16")
    return Messy(
        path,
        "category",
        {"price": price.tolist(), "stock": stock.tolist()},
        ("Garden", "Home", "Home > Kitchen", "Home > Kitchen > Pans", "Home > Kitchen > Pots"),
        said=("encoded in utf-16", "separated by '\\t'", "'$1,234.50' as 1234.5"),
        settings={"delimiter": "\t", "encoding": "utf-16"},
    )


def diagnoses(folder: Path) -> Messy:
    """Levels with gaps, identifiers, US dates, codes with zeros."""
    rng = _random()
    days = pd.date_range("2024-01-05", periods=N_ROWS, freq="4D")
    age = rng.integers(1, 90, N_ROWS)
    ward = rng.choice(["007", "013", "100"], N_ROWS)
    chapters = rng.choice(["I", "II"], N_ROWS)
    blocks = ["–" if k % 20 == 0 else f"{chapters[k]}-{k % 2}" for k in range(N_ROWS)]
    codes = [f"{chapters[k]}{k % 4}" for k in range(N_ROWS)]
    lines = ["patient,day,age,ward,chapter,block,code"]
    lines += [
        f"{100900 + 13 * k},{days[k]:%m/%d/%Y},{age[k]},{ward[k]},{chapters[k]},{blocks[k]},"
        f"{codes[k]}"
        for k in range(N_ROWS)
    ]
    path = folder / "diagnoses.csv"
    path.write_text("\n".join(lines), "utf-8")
    return Messy(
        path,
        ["chapter", "block", "code"],
        {
            "patient": [100900 + 13 * k for k in range(N_ROWS)],
            "day": days.strftime("%Y-%m-%d").tolist(),
            "age": age.tolist(),
            "ward": ward.tolist(),
        },
        (),
        said=(
            "read as dates, '",
            "codes of 3 digits",
            "have an empty level above others",
        ),
        settings={"dates": "mdy"},
    )


def samples(folder: Path) -> Messy:
    """Columns set with blanks, several labels of a row in one cell without blanks."""
    rng = _random()
    x, y = np.round(rng.normal(size=(2, N_ROWS)), 3)
    labels = rng.choice(["A", "B", "A,B", "B,C", "C"], N_ROWS)
    lines = ["# measured by hand", f"{'x':>8} {'y':>8}  found"]
    lines += [f"{x[k]:>8} {y[k]:>8}  {labels[k]}" for k in range(N_ROWS)]
    path = folder / "samples.dat"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return Messy(
        path,
        "found",
        {"x": x.tolist(), "y": y.tolist()},
        ("A", "B", "C"),
        said=("separated by runs of blanks", "line 1 is not part", "joined by ','"),
        settings={"delimiter": " ", "header": "2", "label_separator": ","},
    )


def sites(folder: Path) -> Messy:
    """Numbers in quotes with decimal commas, months by name, blanks around cells, a bar."""
    rng = _random()
    ph = np.round(rng.normal(7, 1, N_ROWS), 2)
    days = pd.date_range("2023-01-31", periods=N_ROWS, freq="6D")
    water = rng.choice(["lake", "river", "sea"], N_ROWS)
    labels = rng.choice(["algae::green", "algae::red", "diatom::round", "diatom::long"], N_ROWS)
    lines = ["pH | sampled | water | taxon"]
    lines += [
        f'"{str(ph[k]).replace(".", ",")}" | {days[k]:%d %b %Y} | {water[k]}  | {labels[k]}'
        for k in range(N_ROWS)
    ]
    path = folder / "sites.csv"
    path.write_text("\n".join(lines), "utf-8-sig")
    return Messy(
        path,
        "taxon",
        {
            "pH": ph.tolist(),
            "sampled": days.strftime("%Y-%m-%d").tolist(),
            "water": water.tolist(),
        },
        (
            *("algae", "algae::green", "algae::red"),
            *("diatom", "diatom::long", "diatom::round"),
        ),
        said=("separated by '|'", "as 2023-01-31", "separated by '::'"),
        settings={"delimiter": "|", "decimal": ","},
    )


def sheet(folder: Path) -> Messy:
    """A spreadsheet with a title, merged names and groups, text cells and a total."""
    import openpyxl

    rng = _random()
    width = np.round(rng.normal(5, 1, N_ROWS), 2)
    length = np.round(rng.normal(50, 9, N_ROWS), 1)
    regions = [f"region {k // 10}" for k in range(N_ROWS)]
    labels = rng.choice(["beetle/ground", "beetle/leaf", "bug"], N_ROWS)
    book = openpyxl.Workbook()
    page = book.active
    page.append(["Survey of insects, 2024"])
    page.merge_cells("A1:E1")
    page.append([None, "Size", None, None, "Insect"])
    page.merge_cells("B2:C2")
    page.append(["region", "width", "length", "sun", None])
    for k in range(N_ROWS):
        shown = regions[k] if k % 10 == 0 else None
        page.append([shown, f"{width[k]} mm", length[k], f"{k % 8} h", labels[k]])
    for start in range(0, N_ROWS, 10):
        page.merge_cells(f"A{start + 4}:A{start + 13}")
    page.append(["Mean", None, float(length.mean()), None, None])
    path = folder / "insects.xlsx"
    book.save(path)
    return Messy(
        path,
        "Insect",
        {
            "region": regions,
            "Size width": width.tolist(),
            "Size length": length.tolist(),
            "sun": [k % 8 for k in range(N_ROWS)],
        },
        ("beetle", "beetle/ground", "beetle/leaf", "bug"),
        said=("numbers in mm", "'Mean'", "merged cells"),
        settings={"header": "2-3"},
    )


TABLES: dict[str, Callable[[Path], Messy]] = {
    "plants": plants,
    "animals": animals,
    "leaves": leaves,
    "products": products,
    "diagnoses": diagnoses,
    "samples": samples,
    "sites": sites,
    "sheet": sheet,
}
