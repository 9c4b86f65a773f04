"""Run a web service: a socket, time limits for clients, and an end that does not hang."""

from __future__ import annotations

import socket
from typing import Any

from ramify._messages import import_extra

_HEADER_SECONDS = 10.0  # in which a client must send the head of a request
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


def make_server(app: Any, max_connections: int) -> Any:
    """Return a server of uvicorn whose clients can neither hold connections nor its end."""
    uvicorn = import_extra("uvicorn", "serve")
    config = uvicorn.Config(
        app,
        http=_protocol(),
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        limit_concurrency=max_connections,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    return uvicorn.Server(config)


def _protocol() -> type:
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class PatientProtocol(H11Protocol):  # type: ignore[misc]
        """HTTP whose clients have a limited time to send the head of a request."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(_HEADER_SECONDS, self._check_head, None)

        def _check_head(self, before: Any) -> None:
            """Close the connection if it waits for the same head as at the last call."""
            if self.transport.is_closing():
                return
            if self.cycle is before and self.conn.their_state is h11.IDLE:
                self.transport.close()
            else:
                self.loop.call_later(_HEADER_SECONDS, self._check_head, self.cycle)

    return PatientProtocol
