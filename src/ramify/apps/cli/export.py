"""The command ``ramify export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ramify.apps.cli.options import ModelFile
from ramify.apps.cli.output import check_output, say_where
from ramify.apps.cli.running import command
from ramify.io.errors import check_exists


@command
def export(
    model: ModelFile,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="ONNX file to write (default: the model, as .onnx)."),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            help="Rows with missing values: divide them among branches as ramify does, or return "
            "nan, which is faster."
        ),
    ] = "divide",
    dtype: Annotated[str, typer.Option(help="Type of the input: float32 or float64.")] = "float32",
) -> None:
    """Write a model as an ONNX file, for other programs to predict with.

    ``ramify export species.ramify -o species.onnx``
    """
    path = out or model.with_suffix(".onnx")
    check_output(path, model)
    check_exists(model)
    from ramify.apps.cli.predicting import load_classifier
    from ramify.export import to_onnx
    from ramify.io.files import replacing

    proto = to_onnx(load_classifier(model), missing=missing, dtype=dtype)
    with replacing(path) as partial:
        partial.write_bytes(proto.SerializeToString())
    say_where("Wrote the model to", path)
