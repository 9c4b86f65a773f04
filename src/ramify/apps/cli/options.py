"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from ramify.apps.reading.settings import ReadingSettings
    from ramify.io.limits import ReadLimits

__all__ = [
    "AnnotationOptions",
    "AsJson",
    "CafaOptions",
    "DataFile",
    "Decide",
    "FileOptions",
    "IdColumns",
    "LabelOptions",
    "ListCommand",
    "MaxError",
    "ModelFile",
    "PredictionThreshold",
    "Threshold",
    "TrainingColumns",
    "only_id",
]


DataFile = Annotated[
    Path, typer.Argument(help="ARFF, CSV, parquet, .xlsx or JSON file.", metavar="DATA")
]
ModelFile = Annotated[
    Path, typer.Argument(help="Model file written by `ramify train`.", metavar="MODEL")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
IgnoreUnknown = Annotated[
    bool, typer.Option(help="Ignore labels that are not known to the model.")
]
Threshold = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Predict labels with at least this probability."),
]
PredictionThreshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        min=0.0,
        max=1.0,
        help="Predict labels with at least this probability (default: the model's own rule).",
    ),
]
MaxError = Annotated[
    float | None,
    typer.Option(
        "--max-error",
        min=0.001,
        max=0.999,
        help="Keep another promise than in training: the largest share of wrong answers.",
    ),
]
Decide = Annotated[
    str | None,
    typer.Option(
        "--decide",
        help="jointly: the labels that together are expected to agree best with the true ones; "
        "separately: every label with a probability of at least 0.5 (default: jointly).",
    ),
]
IdColumns = Annotated[
    list[str] | None,
    typer.Option("--id", help="Column of identifiers (default: the first distinct text column)."),
]


def only_id(columns: list[str] | None) -> str | None:
    """Return the column of --id; of an option that is given twice, typer would keep the last."""
    if columns and len(columns) > 1:
        raise ValueError(
            f"--id must be given once, got {' and '.join(map(repr, columns))}. Leave other "
            "columns out of the features with --drop."
        )
    return columns[0] if columns else None


class ListCommand(TyperCommand):
    """A command whose option --target takes several columns: --target class order family.

    Words after the first are columns, too, unless they are files or the only argument of the
    command.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before every column."""
        found: list[str] = []
        listing = False
        for place, word in enumerate(args):
            if word in ("--target", "-t"):
                listing = True
            elif word.startswith("-"):
                listing = False
            elif listing and args[place - 1] not in ("--target", "-t"):
                listing = not Path(word).exists() and self._has_argument(args[:place])
                found += ["--target"] * listing
            found.append(word)
        return super().parse_args(ctx, found)

    def _has_argument(self, args: list[str]) -> bool:
        """Return whether a file stands before some words, as the first of all."""
        return bool(args) and not args[0].startswith("-")


@dataclass(frozen=True)
class FileOptions:
    """Options for reading data files of any format. A model remembers those of its training."""

    delimiter: Annotated[
        str | None,
        typer.Option(
            help="Delimiter of a CSV file, e.g. ';'; a blank for runs of blanks (default: found).",
            callback=lambda mark: "\t" if mark == "\\t" else mark,  # shells pass \t literally
        ),
    ] = None
    decimal: Annotated[
        str | None, typer.Option(help='Decimal mark of a CSV file, e.g. "," (default: found).')
    ] = None
    thousands: Annotated[
        str | None,
        typer.Option(
            help='Mark between groups of digits in a CSV file, e.g. "." in 1.000,5 (default: '
            "found)."
        ),
    ] = None
    dates: Annotated[
        str | None,
        typer.Option(help="Order of dates such as 03/04/2024: dmy or mdy (default: found)."),
    ] = None
    header: Annotated[
        str | None,
        typer.Option(help="Line of the column names, or two, e.g. 3-4 (default: found)."),
    ] = None
    sheet: Annotated[
        str | None,
        typer.Option(help="Sheet of a spreadsheet (default: the first with a table)."),
    ] = None
    footer: Annotated[
        str | None,
        typer.Option(help="Totals and footnotes below the rows: drop (default) or keep."),
    ] = None
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            help="What a column is: COLUMN=number, category, date or time (default: found); "
            "repeatable.",
        ),
    ] = None
    missing: Annotated[
        list[str] | None,
        typer.Option(help="Text of a file that marks a missing value, e.g. #NV; repeatable."),
    ] = None
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="Vectors of the rows, e.g. embeddings: a .npy, .npz or .parquet matrix in the "
            "order of the rows, or a .npz file with vectors and ids, or a .parquet file with the "
            "column of --id."
        ),
    ] = None
    embed: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Add embeddings of the texts by a model of sentence-transformers on this "
            "machine: its folder, or its name.",
        ),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of a text file, e.g. latin-1 (default: found).")
    ] = None
    index_base: Annotated[
        int | None,
        typer.Option(
            min=0, max=1, help="First index of sparse ARFF rows: 0 (default), or 1 as in CLUS."
        ),
    ] = None
    limit: Annotated[
        list[str] | None,
        typer.Option(help="Limit on data files, e.g. max_bytes=17179869184; repeatable."),
    ] = None

    def limits(self) -> ReadLimits:
        """Return the limits on the size of files."""
        from ramify.io.limits import ReadLimits

        return ReadLimits.from_settings(self.limit or ())

    def settings(self) -> ReadingSettings:
        """Return what the user said about data files."""
        from ramify.apps.reading.settings import ReadingSettings

        return ReadingSettings(
            delimiter=self.delimiter,
            decimal=self.decimal,
            thousands=self.thousands,
            dates=self.dates,
            header=self.header,
            sheet=self.sheet,
            footer=self.footer,
            kinds=tuple(self.kinds) if self.kinds else None,
            missing=tuple(self.missing) if self.missing else None,
            encoding=self.encoding,
            index_base=self.index_base,
            embed=self.embed,
            vectors=None if self.vectors is None else str(self.vectors),
        )


@dataclass(frozen=True)
class LabelOptions:
    """Options for reading the labels of data files. A model remembers those of its training."""

    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            help='Label column, e.g. with "A/B;C" (default: labels, or the hierarchical attribute '
            "of an ARFF file).",
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(help="Separator of the names of a path (default: found; / in ARFF files)."),
    ] = None
    label_separator: Annotated[
        str | None,
        typer.Option(help="Separator of the labels of a row (default: ;, or else found)."),
    ] = None
    gaps: Annotated[
        str | None,
        typer.Option(
            help="An empty level above others: refuse, skip (leave the level out; default) or end "
            "(end the path above it)."
        ),
    ] = None

    def settings(self, files: FileOptions) -> ReadingSettings:
        """Return what the user said about labels and data files."""
        return replace(
            files.settings(),
            target=tuple(self.target) if self.target else None,
            separator=self.separator,
            label_separator=self.label_separator,
            gaps=self.gaps,
        )


@dataclass(frozen=True)
class TrainingColumns:
    """What columns of the training data are for, besides labels."""

    weight: Annotated[str | None, typer.Option(help="Column of sample weights.")] = None
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; repeatable.")] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Column to use although it looks like an identifier; repeatable."),
    ] = None
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column of groups, e.g. sites or persons; cross-validation keeps them together."
        ),
    ] = None

    def settings(self, others: ReadingSettings) -> ReadingSettings:
        """Return what the user said, besides other settings."""
        drop = tuple(self.drop) if self.drop else None
        return replace(others, weight=self.weight, groups=self.groups, drop=drop)


@dataclass(frozen=True)
class AnnotationOptions:
    """Options that choose annotations of an ontology."""

    annotations: Annotated[
        Path | None,
        typer.Option(
            help="Annotations of the rows with terms of --ontology: GAF, GPAD or target and term."
        ),
    ] = None
    ontology: Annotated[Path | None, typer.Option(help="OBO file, plain or .gz.")] = None
    namespace: Annotated[
        str | None, typer.Option(help="Namespace of the ontology, e.g. BP (default: all).")
    ] = None
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            help="Evidence code or group to use, e.g. experimental, or to leave out, e.g. -IEA; "
            "repeatable."
        ),
    ] = None
    row_ids: Annotated[
        str,
        typer.Option(help="What identifies rows in --annotations: object, symbol or database."),
    ] = "object"
    ids: IdColumns = None

    @property
    def id_column(self) -> str | None:
        """The column of identifiers, if one was given."""
        return only_id(self.ids)

    def check(self) -> None:
        """Raise an error if an option requires another one."""
        if self.annotations is None and (self.namespace or self.evidence):
            given = "--namespace" if self.namespace else "--evidence"
            raise ValueError(f"{given} requires --annotations. Pass a GAF, GPAD or TSV file.")
        if self.annotations is not None and self.ontology is None:
            raise ValueError("--annotations requires --ontology. Pass an OBO file.")


@dataclass(frozen=True)
class CafaOptions:
    """Options that only apply to --cafa."""

    cafa: Annotated[
        bool,
        typer.Option(
            "--cafa",
            help="Use CAFA's measures. MODEL is a model, with --annotations, or a file of target, "
            "term and score; then DATA is the true annotations.",
        ),
    ] = False
    information: Annotated[
        Path | None, typer.Option(help="With --cafa: file of terms and their information.")
    ] = None
    known: Annotated[
        Path | None, typer.Option(help="With --cafa: annotations that were known before.")
    ] = None
    terms: Annotated[
        Path | None, typer.Option(help="With --cafa: file of the terms to evaluate.")
    ] = None
    normalization: Annotated[str, typer.Option(help="With --cafa: cafa, gt or pred.")] = "cafa"
    propagation: Annotated[str, typer.Option(help="With --cafa: max or fill.")] = "max"
    step: Annotated[float, typer.Option(help="With --cafa: step between thresholds.")] = 0.01
    max_terms: Annotated[
        int | None,
        typer.Option(
            help="With --cafa: use only the first terms of a target and namespace in a file, or "
            "the best of a row by a model, by default 500."
        ),
    ] = None
    roots: Annotated[bool, typer.Option(help="With --cafa: evaluate terms without parents.")] = (
        True
    )
