"""Read the predictions of CLUS runs and the measures that CLUS computed from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.clus_oracle import (
    TINY,
    Predictions,
    read_measures,
    read_predictions,
    read_settings,
)

ENDINGS = {"train": ".train.1.pred.arff", "test": ".test.pred.arff"}


@dataclass(frozen=True)
class Run:
    """One model of CLUS on one part of its data."""

    out: Path
    part: str

    @property
    def name(self) -> str:
        return f"{self.out.parent.name}-{self.out.stem}-{self.part}"

    def predictions(self, model: str | None = None) -> Predictions:
        return read_predictions(self.out.with_name(self.out.stem + ENDINGS[self.part]), model)

    def evaluated(self, labels: tuple[str, ...]) -> list[int]:
        """Columns of the labels that the settings of the run evaluate."""
        settings = read_settings(self.out.with_suffix(".s"))
        chosen = settings.get("Hierarchical", {}).get("EvalClasses")
        if chosen is None:
            return list(range(len(labels)))
        names = (self.out.parent / chosen).read_text().split()
        return [labels.index(name) for name in names]

    def hierarchical(self) -> dict[str, float]:
        """Return the hierarchical measures of the tree or the forest, with full precision."""
        figures = read_measures(self.out)[self.part]
        return figures.get("Original") or figures["Forest with 3 trees"]

    def multilabel(self) -> dict[str, float]:
        """Return the multi-label measures of a hierarchical run; the file groups them by model."""
        lines = self._lines()
        found: dict[str, float] = {}
        model = ""
        for line in lines[lines.index("Multilabel error measures for HMLC") :]:
            if match := re.match(r"^   (\S.*): *$", line):
                model = match[1]
            elif model != "Default" and (match := re.match(r"^ {6}(\w+): .*?(\S+)$", line)):
                found[match[1]] = float(match[2])
        return found

    def flat_multilabel(self, model: str) -> dict[str, float]:
        """Return the measures of a flat multi-label run; the file groups them by measure."""
        found: dict[str, float] = {}
        measure = ""
        for line in self._lines():
            if re.match(r"^\w+$", line):
                measure = line
            elif measure and line.strip().startswith(model):
                found[measure] = float(line.split("(")[0].split(":")[-1])
        return found

    def _lines(self) -> list[str]:
        text = self.out.read_text()
        begin = text.index("Training error" if self.part == "train" else "Testing error")
        ends = [text.find(mark, begin) for mark in ("\nTesting error", "\nDefault Model")]
        return text[begin : min(end for end in ends if end > 0)].splitlines()


def hierarchical_runs() -> Iterator[Run]:
    for out in sorted(TINY.glob("*/*.out")):
        for part, ending in ENDINGS.items():
            predictions = out.with_name(out.stem + ending)
            if predictions.exists() and part in read_measures(out):
                yield Run(out, part)


def flat_runs() -> Iterator[tuple[Run, str]]:
    for out in sorted(TINY.glob("t12_mlc/*.out")):
        for model in ("Original", "Pruned", "Forest with 3 trees"):
            if f"   {model} " in out.read_text():
                yield from ((Run(out, part), model) for part in ENDINGS)
