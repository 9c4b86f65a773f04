"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ramify.cli.annotations import AnnotationChoice
from ramify.io.any_file import DataOptions, TextForm
from ramify.io.limits import ReadLimits

__all__ = [
    "AnnotationOptions",
    "AsJson",
    "DataFile",
    "FileOptions",
    "IdColumn",
    "LabelOptions",
    "ModelFile",
    "Threshold",
]

DataFile = Annotated[
    Path, typer.Argument(help="ARFF, CSV or parquet file, plain or .gz.", metavar="DATA")
]
ModelFile = Annotated[
    Path, typer.Argument(help="Model file written by `ramify train`.", metavar="MODEL")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Threshold = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Predict labels with at least this probability."),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", help="Column of identifiers (default: the first distinct text column)."),
]


@dataclass(frozen=True)
class FileOptions:
    """Options for reading data files of any format."""

    delimiter: Annotated[
        str | None,
        typer.Option(
            help='Delimiter of a CSV file, e.g. ";" (default: a comma).',
            callback=lambda mark: "\t" if mark == "\\t" else mark,  # shells pass \t literally
        ),
    ] = None
    decimal: Annotated[str, typer.Option(help='Decimal point of a CSV file, e.g. ",".')] = "."
    encoding: Annotated[str, typer.Option(help="Encoding of a text file, e.g. latin-1.")] = "utf-8"
    limit: Annotated[
        list[str] | None,
        typer.Option(help="Limit on data files, e.g. max_bytes=17179869184; repeatable."),
    ] = None

    def limits(self) -> ReadLimits:
        """Return the limits on the size of files."""
        return ReadLimits.from_settings(self.limit or ())

    def unlabelled(self) -> DataOptions:
        """Return the options for reading features without labels."""
        form = TextForm(self.delimiter, self.decimal, self.encoding)
        return DataOptions(target=(), form=form, limits=self.limits())


@dataclass(frozen=True)
class LabelOptions:
    """Options for reading the labels of data files."""

    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", help='Label column, e.g. with "A/B;C" (default: labels).'),
    ] = None
    separator: Annotated[str, typer.Option(help="Separator of the segments of a path.")] = "/"
    label_separator: Annotated[str, typer.Option(help="Separator of the labels of a row.")] = ";"

    def reading(self, files: FileOptions, weight: str | None = None) -> DataOptions:
        """Return the options for reading features and labels."""
        form = TextForm(files.delimiter, files.decimal, files.encoding)
        target = tuple(self.target or ["labels"])
        return DataOptions(
            target, self.separator, self.label_separator, weight, form, files.limits()
        )


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
    id_column: IdColumn = None

    def choice(self, limits: ReadLimits, min_count: int = 1) -> AnnotationChoice:
        """Return the annotations to read."""
        return AnnotationChoice(
            self.annotations,
            self.ontology,
            self.namespace,
            tuple(self.evidence or ()),
            self.row_ids,
            self.id_column,
            min_count,
            limits,
        )
