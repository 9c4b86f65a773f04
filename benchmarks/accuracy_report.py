"""Tables and plot of `benchmarks.accuracy`."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.accuracy_protocol import Model
from benchmarks.trees import Check, print_table
from ramify.io.files import replacing

PUBLISHED = Path(__file__).parent / "published" / "accuracy.csv"
PEER = "C-HMCNN"
PEERS = (PEER, "HMCN-F")
NEEDED_SETS = 17 / 20
NEEDED_SHORTFALL = 0.006
BASELINE = "label-shares"

Published = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Summary:
    """The results of a model on a data set, over all seeds."""

    test: list[float]
    valid: list[float]  # empty if the model cannot be chosen
    rounds: list[int]
    fit_s: float
    choice_s: float
    n_labels: int

    @property
    def mean(self) -> float:
        """Mean AU(PRC) on the test rows."""
        return mean(self.test)

    @property
    def deviation(self) -> float:
        """Standard deviation over the seeds, 0 for a single seed."""
        return stdev(self.test) if len(self.test) > 1 else 0.0

    def __str__(self) -> str:
        return (
            f"{self.mean:.3f} ± {self.deviation:.3f}" if len(self.test) > 1 else f"{self.mean:.3f}"
        )


Table = dict[str, dict[str, Summary]]


def read_published() -> Published:
    """Return the published figures by data set and method."""
    with PUBLISHED.open(newline="", encoding="utf-8") as file:
        return {(row["set"], row["method"]): float(row["auprc"]) for row in csv.DictReader(file)}


def summarize(records: Sequence[Mapping[str, Any]]) -> Table:
    """Return the results by data set and model."""
    grouped: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for record in records:
        grouped.setdefault(record["set"], {}).setdefault(record["model"], []).append(record)
    return {
        name: {model: _summary(some) for model, some in models.items()}
        for name, models in grouped.items()
    }


def _summary(records: Sequence[Mapping[str, Any]]) -> Summary:
    return Summary(
        [record["test_auprc"] for record in records],
        [record["valid_auprc"] for record in records if "valid_auprc" in record],
        [record["rounds"] for record in records if record["rounds"]],
        mean(record["fit_s"] for record in records),
        mean(record.get("choice_s", 0.0) for record in records),
        records[0]["n_labels"],
    )


def choose(results: Mapping[str, Summary]) -> str | None:
    """Return the model with the largest mean score on the validation rows.

    All candidates must have been run with the same number of seeds.
    """
    candidates = {name: found for name, found in results.items() if found.valid}
    counts = {len(found.valid) for found in candidates.values()}
    if len(counts) != 1:
        return None
    return max(candidates, key=lambda name: mean(candidates[name].valid))


def difference(found: Summary, published: float) -> float:
    """Return by how much a mean is above a published figure, in the digits that it has."""
    return round(round(found.mean, 3) - published, 3)


def drawn_rows(table: Table, models: Mapping[str, Model]) -> list[list[str]]:
    """Return AU(PRC) and CPU seconds of models on rows without published figures."""
    titles = [cell for model in models.values() for cell in (model.title, "CPU s")]
    rows = [["set", "labels", *titles]]
    for name, results in table.items():
        cells = [f"{next(iter(results.values())).n_labels}"]
        for model in models:
            found = results.get(model)
            cells += [str(found), f"{found.fit_s + found.choice_s:.1f}"] if found else ["", ""]
        rows.append([name, *cells])
    return rows


def differences(table: Table, published: Published, model: str) -> dict[str, float]:
    """Return the differences to C-HMCNN by data set; `model` is "chosen" or a model's name."""
    found = {}
    for name, results in table.items():
        used = choose(results) if model == "chosen" else model
        if used in results and (name, PEER) in published:
            found[name] = difference(results[used], published[name, PEER])
    return found


def rows_of(table: Table, models: Mapping[str, Model], published: Published) -> list[list[str]]:
    """Return the main table, its headings first."""
    titles = [model.title for model in models.values()]
    head = ["set", "labels", *PEERS, *titles, "chosen", "AU(PRC)", "difference"]
    rows = [[*head, "rounds", "CPU s"]]
    for name, results in table.items():
        chosen = choose(results)
        used = results.get(chosen or "")
        peers = [published.get((name, method)) for method in PEERS]
        rounds = [n for found in results.values() for n in found.rounds]
        rows.append(
            [
                name,
                f"{next(iter(results.values())).n_labels}",
                *(f"{figure:.3f}" if figure is not None else "" for figure in peers),
                *(str(results[model]) if model in results else "" for model in models),
                models[chosen].title if chosen else "",
                f"{used.mean:.3f}" if used else "",
                f"{difference(used, peers[0]):+.3f}" if used and peers[0] is not None else "",
                f"{min(rounds)}–{max(rounds)}" if rounds else "",
                f"{sum(found.fit_s + found.choice_s for found in results.values()):.1f}",
            ]
        )
    return rows


def verdict_rows(
    table: Table, models: Mapping[str, Model], published: Published
) -> list[list[str]]:
    """Return wins, ties, losses and the largest shortfall against C-HMCNN for every model."""
    rows = [[f"against {PEER}", "sets", "wins", "ties", "losses", "largest shortfall", "on"]]
    titles = {name: model.title for name, model in models.items()} | {"chosen": "chosen"}
    for model, title in titles.items():
        gaps = differences(table, published, model)
        if not gaps:
            continue
        worst = min(gaps, key=lambda name: gaps[name])
        signs = [(gap > 0) - (gap < 0) for gap in gaps.values()]
        counts = [str(len(gaps)), *(str(signs.count(sign)) for sign in (1, 0, -1))]
        short = gaps[worst] < 0
        rows.append(
            [title, *counts, f"{-gaps[worst]:.3f}" if short else "none", worst if short else ""]
        )
    return rows


def judge(table: Table, published: Published) -> list[Check]:
    """Compare the chosen models with the requirements."""
    gaps = differences(table, published, "chosen")
    if not gaps:
        return []
    reached = sum(gap >= 0 for gap in gaps.values())
    return [
        Check(f"sets at least equal to {PEER}, of {len(gaps)}", reached, NEEDED_SETS * len(gaps)),
        Check("largest shortfall × 1,000", 1_000 * max(0.0, -min(gaps.values())), 6, at_most=True),
    ]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as a Markdown table, numbers to the right."""
    head, *body = rows
    lines = [head, ["---", *("--:" for _ in head[1:])], *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def long_rows(table: Table) -> list[list[str]]:
    """Return one row per data set and model, for a CSV file."""
    head = ["set", "model", "seeds", "test_mean", "test_sd", "valid_mean", "rounds", "fit_s"]
    rows = [[*head, "choice_s", "chosen"]]
    for name, results in table.items():
        chosen = choose(results)
        for model, found in results.items():
            rows.append(
                [
                    *(name, model, str(len(found.test))),
                    *(f"{found.mean:.6f}", f"{found.deviation:.6f}"),
                    f"{mean(found.valid):.6f}" if found.valid else "",
                    " ".join(map(str, found.rounds)),
                    *(f"{found.fit_s:.3f}", f"{found.choice_s:.3f}", str(int(model == chosen))),
                ]
            )
    return rows


def plot(table: Table, models: Mapping[str, Model], published: Published, path: Path) -> None:
    """Plot the differences to C-HMCNN: a line per data set, a dot per model."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (optional)

    names = [name for name in table if (name, PEER) in published]
    figure = Figure(figsize=(9, 1.4 + 0.36 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    axes.axvspan(-NEEDED_SHORTFALL, 0, color="0.9", lw=0, label=f"up to {NEEDED_SHORTFALL} below")
    axes.axvline(0, color="black", lw=1)
    shown = [name for name in models if name != BASELINE]  # far below: it would set the scale
    markers = ("s", "v", "^", "D", "o", "P", "X")
    for k, model in enumerate(shown):
        lines = [i for i, name in enumerate(names) if model in table[name]]
        found = [table[names[i]][model] for i in lines]
        gaps = [s.mean - published[names[i], PEER] for i, s in zip(lines, found, strict=True)]
        axes.errorbar(
            gaps,
            lines,
            xerr=[s.deviation for s in found],
            fmt=markers[k % len(markers)],
            color=f"C{k}",
            ms=6,
            alpha=0.85,
            label=models[model].title,
        )
    chosen = [(i, choose(table[name])) for i, name in enumerate(names)]
    rings = [(i, table[names[i]][model]) for i, model in chosen if model]
    axes.scatter(
        [found.mean - published[names[i], PEER] for i, found in rings],
        [i for i, _ in rings],
        s=150,
        facecolors="none",
        edgecolors="black",
        label="chosen on validation rows",
    )
    axes.set_yticks(range(len(names)), [f"{n} ({published[n, PEER]:.3f})" for n in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)
    axes.set_xlabel(f"AU(PRC) on test rows minus that of {PEER} (in brackets)")
    axes.set_title(f"Accuracy compared with {PEER}: mean and standard deviation over seeds")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)


def write(
    records: Sequence[Mapping[str, Any]],
    sets: Sequence[str],
    models: Mapping[str, Model],
    folder: Path,
    *,
    draw: int | None = None,
) -> int:
    """Print the tables, write them and the plot, and return the number of requirements missed."""
    found, published = summarize(records), read_published()
    table = {name: found[name] for name in sets if name in found}
    if not table:
        print("no results yet")
        return 0
    most = max(len(one.test) for results in table.values() for one in results.values())
    fewer = [
        f"{name} {model}: {len(one.test)}"
        for name, results in table.items()
        for model, one in results.items()
        if len(one.test) < most
    ]
    note = f"Seeds: {most}" + (f", but fewer for {', '.join(fewer)}" if fewer else "")
    folder.mkdir(parents=True, exist_ok=True)
    if draw is not None:
        rows = drawn_rows(table, models)
        print_table(rows)
        print(f"\n{note}")
        _write_tables(folder / f"accuracy-draw{draw}", f"{markdown(rows)}\n{note}\n", table)
        return 0
    main_rows = rows_of(table, models, published)
    verdicts = verdict_rows(table, models, published)
    print_table(main_rows)
    print(f"\n{note}\n")
    print_table(verdicts)
    checks = judge(table, published)
    if checks:
        print()
        print_table([["requirement", "found", "needed", ""], *(check.cells() for check in checks)])
    text = f"{markdown(main_rows)}\n{note}\n\n{markdown(verdicts)}"
    _write_tables(folder / "accuracy", text, table)
    plot(table, models, published, folder / "accuracy.png")
    print(f"\nwritten to {folder}: accuracy.md, accuracy.csv, accuracy.png")
    return sum(not check.passed for check in checks)


def _write_tables(stem: Path, text: str, table: Table) -> None:
    """Write the tables as Markdown and CSV."""
    with replacing(stem.with_suffix(".md")) as temporary:
        temporary.write_text(text, encoding="utf-8")
    with (
        replacing(stem.with_suffix(".csv")) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        csv.writer(file).writerows(long_rows(table))


if __name__ == "__main__":
    raise SystemExit("run: python -m benchmarks.accuracy --report")
