"""The web service of ``ramify serve``: time of a request, requests a second, memory.

``python -m benchmarks.serving [--requests N] [--slow N] [--workers N]`` starts the service of a
tree and asks it over connections that stay open, one client after the other and eight at a time,
alone and while slow clients hold unfinished requests. CPU time and memory are those of all
processes of the service.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import ramify

_AT_ONCE = 8  # clients
_Service: TypeAlias = tuple[subprocess.Popen[str], tuple[str, int]]


def main() -> None:
    """Print a table of the service alone and beside slow clients."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--slow", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    data = ramify.make_hierarchical_classification(2_000, 20, n_labels=50, random_state=0)
    body = json.dumps({"rows": [np.asarray(data.X)[0].tolist()]}).encode()
    print(f"{'':34} {'p50 ms':>8} {'p99 ms':>8} {'per s':>8} {'CPU ms':>8} {'MB':>6}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.ramify"
        ramify.save(ramify.PCTClassifier(data.hierarchy).fit(data.X, data.y), path)
        with _service(path, arguments.workers) as service:
            _ask(service[1], body, 200)  # wait for the processes and warm them up
            n_all, n_few = arguments.requests, max(1, arguments.requests // 10)
            _measure("one client", service, body, n_requests=n_few, n_clients=1)
            name = f"{_AT_ONCE} clients"
            _measure(name, service, body, n_requests=n_all, n_clients=_AT_ONCE)
            with _slow_clients(service[1], arguments.slow):
                name += f", {arguments.slow} slow ones"
                _measure(name, service, body, n_requests=n_few, n_clients=_AT_ONCE)
                started = time.perf_counter()
                service[0].send_signal(signal.SIGINT)
                service[0].wait()
                print(f"stopped in {time.perf_counter() - started:.1f} s beside slow clients")


@contextmanager
def _service(path: Path, n_workers: int) -> Iterator[_Service]:
    run = "from ramify.apps.cli import main; main()"
    options = ["--port", "0", "--workers", str(n_workers)]
    command = [sys.executable, "-c", run, "serve", str(path), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://([\d.]+):(\d+)", process.stderr.readline())
        assert found is not None
        try:
            yield process, (found[1], int(found[2]))
        finally:
            process.terminate()


@contextmanager
def _slow_clients(address: tuple[str, int], number: int) -> Iterator[None]:
    """Keep connections open which have sent a part of a request."""
    unfinished = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
    with ExitStack() as clients:
        for _ in range(number):
            clients.enter_context(socket.create_connection(address)).sendall(unfinished)
        yield


def _measure(
    name: str,
    service: _Service,
    body: bytes,
    *,
    n_requests: int,
    n_clients: int,
) -> None:
    process, address = service
    before, started = _cpu_seconds(process.pid), time.perf_counter()
    share = -(-n_requests // n_clients)
    with ThreadPoolExecutor(n_clients) as pool:
        times = np.concatenate(
            list(pool.map(lambda _: _ask(address, body, share), range(n_clients)))
        )
    seconds = time.perf_counter() - started
    cpu = (_cpu_seconds(process.pid) - before) / len(times)
    p50, p99 = np.percentile(1000 * times, [50, 99])
    rate = len(times) / seconds
    memory = _memory(process.pid)
    print(f"{name:34} {p50:8.2f} {p99:8.2f} {rate:8.0f} {1000 * cpu:8.2f} {memory:6.0f}")


def _ask(address: tuple[str, int], body: bytes, n_requests: int) -> NDArray[np.float64]:
    """Return the seconds of requests over one connection."""
    head = f"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    times = np.empty(n_requests)
    with socket.create_connection(address) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for k in range(n_requests):
            started = time.perf_counter()
            client.sendall(head + body)
            answer = b""
            while not answer.endswith(b"]}"):
                answer += client.recv(65536)
            times[k] = time.perf_counter() - started
            assert answer.startswith(b"HTTP/1.1 200")
    return times


def _processes(pid: int) -> list[int]:
    """Return a process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(int(child) for child in children)]


def _cpu_seconds(pid: int) -> float:
    stats = [Path(f"/proc/{one}/stat").read_text() for one in _processes(pid)]
    fields = [stat.rsplit(")", 1)[1].split() for stat in stats]
    return sum(int(one[11]) + int(one[12]) for one in fields) / 100


def _memory(pid: int) -> float:
    status = "".join(Path(f"/proc/{one}/status").read_text() for one in _processes(pid))
    return sum(int(found) for found in re.findall(r"VmRSS:\s+(\d+)", status)) / 1024


if __name__ == "__main__":
    main()
