"""Tables and plots of `benchmarks.does_the_hierarchy_help`."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ramify.io.files import replacing

LEARNERS = ("forest", "linear")
OTHERS = ("all labels", "hierarchical")
MEASURES = {
    "pooled": "AU(PRC), all labels pooled",
    "mean": "AU(PRC), mean over labels",
    "ends": "AU(PRC), leaves pooled",
    "f_max": "largest F1",
    "right": "right ends of paths",
    "wrong": "wrong labels a row",
}
MOST = 10**9
ROWS = ((1, 2), (3, 5), (6, 10), (11, 30), (31, 100), (101, MOST))
LEVELS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (7, MOST))
FAMILIES = {
    "FunCat": "#0a6b74",
    "Gene Ontology": "#8bb8bd",
    "texts": "#b3372f",
    "images": "#2563a8",
    "rivers": "#c79a2b",
}
FEWEST = 3  # labels of a set in a group
COLOURS = {"flat": "#9aa5aa", "all labels": "#5b8bc4", "hierarchical": "#0a6b74"}
INK = "#22313a"

Results = Sequence[Mapping[str, Any]]


def family_of(name: str) -> str:
    """Return the kind of data of a set; sets of a kind often share their rows."""
    if name.endswith("_FUN") or name == "mulan_hierarchical":
        return "FunCat"
    if "_GO" in name:
        return "Gene Ontology"
    if name.startswith(("rcv1", "reuters", "enron")):
        return "texts"
    return "rivers" if name == "slovenian_rivers" else "images"


def gains(results: Results, measure: str, learner: str, way: str) -> dict[str, float]:
    """Return by how much a way is better than flat, in hundredths, for each set.

    For wrong labels it is the share by which they are fewer, in per cent.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for one in results:
        own, flat = (one["results"].get(f"{learner}, {kind}", {}) for kind in (way, "flat"))
        if measure in own:
            gain = own[measure] - flat[measure]
            found[one["set"]].append(
                -100 * gain / flat[measure] if measure == "wrong" else 100 * gain
            )
    return {name: float(np.mean(values)) for name, values in found.items()}


def interval(values: Iterable[float]) -> tuple[float, float, float]:
    """Return the mean over sets and its bootstrap interval of 95 %."""
    given = np.array(list(values))
    draws = np.random.default_rng(0).choice(given, (4_000, len(given)))
    low, high = np.quantile(draws.mean(axis=1), (0.025, 0.975))
    return float(given.mean()), float(low), float(high)


def by_group(
    results: Results, key: str, groups: Sequence[tuple[int, int]], learner: str, way: str
) -> list[dict[str, float]]:
    """Return, for each group of labels, the mean gain in AU(PRC) of its labels in each set."""
    found: list[dict[str, list[float]]] = [defaultdict(list) for _ in groups]
    for one in results:
        if f"{learner}, {way}" not in one["results"]:
            continue
        areas = [
            np.array(one["results"][f"{learner}, {kind}"]["labels"], dtype=float)
            for kind in (way, "flat")
        ]
        gain, size = 100 * (areas[0] - areas[1]), np.array(one[key])
        for (low, high), kept in zip(groups, found, strict=True):
            chosen = gain[(size >= low) & (size <= high) & ~np.isnan(gain)]
            if len(chosen) >= FEWEST:
                kept[one["set"]].append(float(chosen.mean()))
    return [{name: float(np.mean(own)) for name, own in kept.items()} for kept in found]


# ---- tables -----------------------------------------------------------------------------------


def write_report(results: Results, hidden: Results, folder: Path) -> None:
    """Write all tables and plots."""
    for name, rows in (
        ("hierarchy-measures", list(table_of_measures(results))),
        ("hierarchy-families", list(table_of_families(results))),
        ("hierarchy-labels", list(table_of_labels(results))),
        ("hierarchy-hidden", list(table_of_hidden(hidden))),
        ("hierarchy-costs", list(table_of_costs(results))),
        ("hierarchy-sets", list(table_of_sets(results))),
    ):
        with replacing(folder / f"{name}.csv") as new, new.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        print("\n".join(" | ".join(map(str, row)) for row in rows), end="\n\n")
    draw(folder / "hierarchy-measures.svg", draw_measures, results)
    draw(folder / "hierarchy-labels.svg", draw_labels, results)
    draw(folder / "hierarchy-uses.svg", draw_uses, results, hidden)


def _told(values: Iterable[float]) -> str:
    mean, low, high = interval(values)
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f})"


def table_of_measures(results: Results) -> Iterable[Sequence[Any]]:
    """Yield the mean gains over sets by measure, learner and way."""
    yield "measure", "learner", *(f"{way} − flat" for way in OTHERS), "better on", "sets"
    for learner in LEARNERS:
        for measure, title in MEASURES.items():
            both = [gains(results, measure, learner, way) for way in OTHERS]
            if both[0]:
                better = sum(value > 0 for value in both[1].values())
                told = (_told(own.values()) for own in both)
                yield title, learner, *told, f"{better} of {len(both[1])}", len(both[1])


def table_of_families(results: Results) -> Iterable[Sequence[Any]]:
    """Yield the gains of hierarchical learners in pooled AU(PRC) by kind of data."""
    yield "data", "sets", *(f"{one}, {way} − flat" for one in LEARNERS for way in OTHERS)
    for family in FAMILIES:
        cells, n_sets = [], 0
        for learner in LEARNERS:
            for way in OTHERS:
                found = gains(results, "pooled", learner, way)
                own = [value for name, value in found.items() if family_of(name) == family]
                n_sets = max(n_sets, len(own))
                cells.append(f"{np.mean(own):+.1f}" if own else "–")
        yield family, n_sets, *cells


def table_of_labels(results: Results) -> Iterable[Sequence[Any]]:
    """Yield the gains by training rows and by level of a label."""
    yield "labels", *(f"{one}, {way} − flat" for one in LEARNERS for way in OTHERS)
    for key, groups, word in (("rows", ROWS, "training rows"), ("level", LEVELS, "level")):
        cells = [
            [_told(own.values()) if own else "–" for own in by_group(results, key, groups, *both)]
            for both in ((learner, way) for learner in LEARNERS for way in OTHERS)
        ]
        for number, group in enumerate(groups):
            yield f"{word} {_range(*group)}", *(column[number] for column in cells)


def _range(low: int, high: int) -> str:
    if high == MOST:
        return f"over {low - 1}"
    return str(low) if low == high else f"{low} to {high}"


def hidden_gains(hidden: Results, way: str) -> dict[str, dict[float, list[float]]]:
    """Return the gains over flat by set and share of rows whose deeper labels are hidden."""
    found: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in hidden:
        for share, ways in one["results"].items():
            gain = ways[way]["pooled"] - ways["flat"]["pooled"]
            found[one["set"]][float(share)].append(100 * gain)
    return found


def table_of_hidden(hidden: Results) -> Iterable[Sequence[Any]]:
    """Yield AU(PRC) of flat and hierarchical forests by the share of rows with hidden labels."""
    yield (
        "set",
        "rows known to level 1 only",
        "flat",
        "hierarchical, rows left out",
        "hierarchical",
    )
    found: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for one in hidden:
        for share, ways in one["results"].items():
            found[one["set"], share].append([way["pooled"] for way in ways.values()])
    for (name, share), values in found.items():
        yield name, f"{float(share):.0%}", *(f"{mean:.3f}" for mean in np.mean(values, axis=0))


def table_of_costs(results: Results) -> Iterable[Sequence[Any]]:
    """Yield wrong labels a row of two decisions, for sets with one path per row."""
    yield "set", "forest", "right ends", "wrong labels: most probable end", "labels of 0.5 or more"
    for name, way, values in _costs(results):
        yield (
            name,
            way,
            *(f"{value:.2f}" if k else f"{value:.1%}" for k, value in enumerate(values)),
        )


def _costs(results: Results) -> Iterable[tuple[str, str, Any]]:
    names = dict.fromkeys(one["set"] for one in results if one["one_path"])
    for name in names:
        for way in ("flat", *OTHERS):
            own = [one["results"][f"forest, {way}"] for one in results if one["set"] == name]
            measures = ("right", "wrong_best", "wrong")
            yield name, way, np.mean([[one[m] for m in measures] for one in own], axis=0)


def table_of_sets(results: Results) -> Iterable[Sequence[Any]]:
    """Yield pooled AU(PRC) of every set, learner and way."""
    models = [f"{learner}, {way}" for learner in LEARNERS for way in ("flat", *OTHERS)]
    yield "set", "labels", "training rows", "draws", *models
    for name in dict.fromkeys(one["set"] for one in results):
        own = [one for one in results if one["set"] == name]
        cells = (
            f"{np.mean([one['results'][model]['pooled'] for one in own]):.3f}"
            if model in own[0]["results"]
            else "–"
            for model in models
        )
        yield name, len(own[0]["level"]), own[0]["n_train"], len(own), *cells


# ---- plots ------------------------------------------------------------------------------------


def draw(path: Path, make: Callable[..., Any], *given: Any) -> None:
    """Write a plot as SVG, always with the same bytes."""
    import matplotlib  # noqa: PLC0415 (slow)

    matplotlib.use("Agg")
    style = {"svg.hashsalt": "ramify", "font.size": 10, "axes.spines.top": False}
    with matplotlib.rc_context({**style, "axes.spines.right": False, "text.color": INK}):
        figure = make(*given)
        with replacing(path) as new:
            figure.savefig(new, format="svg", metadata={"Date": None}, bbox_inches="tight")


def draw_measures(results: Results) -> Any:
    """Draw the gain of every set by measure, and the means with their intervals."""
    from matplotlib import pyplot  # noqa: PLC0415 (slow)

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.8), sharey=True)
    shown = [measure for measure in MEASURES if measure != "right"]
    jitter = np.random.default_rng(0)
    for ax, learner in zip(axes, LEARNERS, strict=True):
        for place, measure in enumerate(shown):
            for shift, way in zip((-0.17, 0.17), OTHERS, strict=True):
                found = gains(results, measure, learner, way)
                y = place + shift
                for name, value in found.items():
                    spread = y + jitter.uniform(-0.08, 0.08)
                    colour = FAMILIES[family_of(name)]
                    ax.plot(value, spread, ".", color=colour, alpha=0.55, markersize=6)
                mean, low, high = interval(found.values())
                ax.plot([low, high], [y, y], color=INK, linewidth=2.2)
                marker = "D" if way == "hierarchical" else "o"
                filled = INK if way == "hierarchical" else "white"
                ax.plot(mean, y, marker, color=INK, markerfacecolor=filled, markersize=6.5)
        ax.axvline(0, color="#8a979c", linewidth=1)
        ax.set_title({"forest": "Forests", "linear": "Linear models"}[learner], fontsize=11)
        ax.set_ylim(len(shown) - 0.5, -0.5)
    axes[0].set_yticks(range(len(shown)), [MEASURES[measure] for measure in shown])
    lines: list[Any] = [
        pyplot.Line2D([], [], color=INK, marker="o", markerfacecolor="white", linewidth=2.2),
        pyplot.Line2D([], [], color=INK, marker="D", linewidth=2.2),
    ]
    texts = ["flat, but told the ancestors", "hierarchical"]
    for family, colour in FAMILIES.items():
        lines.append(
            pyplot.Line2D([], [], color=colour, marker=".", linestyle="none", markersize=9)
        )
        texts.append(family)
    figure.legend(lines, texts, loc="lower center", ncol=7, frameon=False, fontsize=9)
    figure.supxlabel("hundredths above flat; wrong labels: per cent fewer", y=0.09, fontsize=10)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    return figure


def draw_labels(results: Results) -> Any:
    """Draw the gain by training rows and by level of a label."""
    from matplotlib import pyplot  # noqa: PLC0415 (slow)

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True)
    for ax, key, groups, title in (
        (axes[0], "rows", ROWS, "training rows that have the label"),
        (axes[1], "level", LEVELS, "level of the label, 1 at the top"),
    ):
        for learner, colour in zip(LEARNERS, ("#0a6b74", "#b3372f"), strict=True):
            for way, dashes in zip(OTHERS, ((2, 2), (1, 0)), strict=True):
                found = by_group(results, key, groups, learner, way)
                known = [number for number, own in enumerate(found) if len(own) > 1]
                stats = np.array([interval(found[number].values()) for number in known])
                told = "hierarchical" if way == "hierarchical" else "told the ancestors"
                label = f"{learner}, {told}"
                ax.plot(known, stats[:, 0], color=colour, dashes=dashes, marker="o", label=label)
                if way == "hierarchical":
                    ax.fill_between(known, stats[:, 1], stats[:, 2], color=colour, alpha=0.15)
        ax.axhline(0, color="#8a979c", linewidth=1)
        ax.set_xticks(range(len(groups)), [_range(*group) for group in groups])
        ax.set_xlabel(title)
    axes[0].set_ylabel("AU(PRC) of a label, hundredths above flat")
    axes[0].legend(frameon=False, fontsize=9)
    figure.tight_layout()
    return figure


def draw_uses(results: Results, hidden: Results) -> Any:
    """Draw what partial labels and decisions are worth."""
    from matplotlib import pyplot  # noqa: PLC0415 (slow)

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4))
    colours = ["#2563a8", "#0a6b74", "#c79a2b", "#b3372f", "#7a5195"]
    found = hidden_gains(hidden, "hierarchical")
    for (name, shares), colour in zip(found.items(), colours, strict=False):
        xs = [f"{share:.0%}" for share in shares]
        axes[0].plot(xs, [np.mean(own) for own in shares.values()], "o-", color=colour, label=name)
        for x, own in zip(xs, shares.values(), strict=True):
            axes[0].plot([x] * len(own), own, ".", color=colour, alpha=0.4)
    axes[0].axhline(0, color="#8a979c", linewidth=1)
    axes[0].set_xlabel("training rows known to the first level only")
    axes[0].set_ylabel("AU(PRC), hundredths above flat")
    axes[0].legend(frameon=False, fontsize=9)
    _draw_costs(axes[1], list(_costs(results)))
    figure.tight_layout()
    return figure


def _draw_costs(ax: Any, costs: list[tuple[str, str, Any]]) -> None:
    names = list(dict.fromkeys(name for name, _, _ in costs))
    for name, way, (_, best, half) in costs:
        x = names.index(name) + (("flat", *OTHERS).index(way) - 1) * 0.26
        first = name == names[0]
        ax.bar(x, best, 0.22, color="white", edgecolor=COLOURS[way], linewidth=1.5)
        ax.bar(x, half, 0.22, color=COLOURS[way], label=f"{way}, labels of 0.5" if first else None)
    ax.bar([0], [0], color="white", edgecolor=INK, label="outline: most probable end")
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel("wrong labels a row")
    ax.set_ylim(0, 2.7)
    ax.legend(frameon=False, fontsize=9, ncol=2, loc="upper right")
