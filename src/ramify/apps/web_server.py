"""Run a web service: a socket, limits for clients, processes, and an end that does not hang."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

_HEADER_SECONDS = 10.0  # in which a client must send the head of a request
_HEADER_BYTES = 1 << 16  # of a head, or of what follows a body
_START_SECONDS = 120  # in which a process must have read its model
_STOP_SECONDS = 5  # in which requests may finish after the service was told to stop


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or raise an error that names what is wrong."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio only turns off Nagle's algorithm, which delays answers by 40 ms, for sockets of the
    # declared protocol.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except (OSError, UnicodeError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(
            f"cannot listen on --host {host} --port {port}: {reason}. Pass an address of this "
            "machine and a free port, or --port 0 to choose one."
        ) from None
    return listening


def run_server(app: Any, listening: socket.socket, max_connections: int) -> None:
    """Answer requests until the process is told to stop."""
    make_server(app, max_connections).run(sockets=[listening])


def run_workers(
    make_app: Callable[[], Any], listening: socket.socket, max_connections: int, n_workers: int
) -> None:
    """Answer requests in several processes, which are started anew if they end.

    `make_app` has to be picklable. SIGHUP lets the processes make their applications again, one
    after the other, so that a new model file is read without a pause.
    """
    config = _configuration(make_app, -(-max_connections // n_workers), factory=True)
    config.workers = n_workers
    config.timeout_worker_healthcheck = _START_SECONDS
    Multiprocess(config, sockets=[listening]).run()


def make_server(app: Any, max_connections: int) -> uvicorn.Server:
    """Return a server of uvicorn whose clients can neither hold connections nor its end."""
    return uvicorn.Server(_configuration(app, max_connections))


def _configuration(app: Any, max_connections: int, *, factory: bool = False) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        http=_PatientProtocol,
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        limit_concurrency=max_connections,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )


class _PatientProtocol(HttpToolsProtocol):  # type: ignore[misc]
    """HTTP whose clients have limited time and space for the head of a request."""

    _outside = 0  # bytes since the last end of a head, part of a body or end of a request

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(_HEADER_SECONDS, self._check_head, None)

    def data_received(self, data: bytes) -> None:
        self._outside += len(data)
        super().data_received(data)
        if self._outside > _HEADER_BYTES:
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._outside = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._outside = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._outside = 0
        super().on_message_complete()

    def _check_head(self, before: Any) -> None:
        """Close the connection if it waits for the same head as at the last call."""
        if self.transport.is_closing():
            return
        if self.cycle is before and (before is None or before.response_complete):
            self.transport.close()
        else:
            self.loop.call_later(_HEADER_SECONDS, self._check_head, self.cycle)
