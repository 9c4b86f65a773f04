"""The command ``ramify serve``."""

from __future__ import annotations

from typing import Annotated

import typer

from ramify._messages import import_extra
from ramify.apps.cli.options import ModelFile
from ramify.apps.cli.output import say
from ramify.apps.cli.running import command
from ramify.io.errors import check_exists


@command
def serve(
    model: ModelFile,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 chooses one.")] = 8000,
    max_bytes: Annotated[int, typer.Option(min=1, help="Largest request in bytes.")] = 10 << 20,
    max_rows: Annotated[
        int, typer.Option(min=1, help="Largest number of rows in a request.")
    ] = 10_000,
) -> None:
    """Answer requests for predictions over HTTP, as JSON.

    ``ramify serve species.ramify --port 8000``
    """
    check_exists(model)
    from ramify.apps.cli.predicting import load_classifier
    from ramify.apps.serving import make_app

    uvicorn = import_extra("uvicorn", "serve")
    app = make_app(load_classifier(model), max_bytes=max_bytes, max_rows=max_rows)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", access_log=False)
    listening = config.bind_socket()
    address = f"http://{host}:{listening.getsockname()[1]}"
    say(f"Listening on {address} (Ctrl-C stops it)")
    uvicorn.Server(config).run(sockets=[listening])
