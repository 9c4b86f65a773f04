"""The web service of ``ramify serve``, with a real server and a real client."""

from __future__ import annotations

import datetime as dt
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramify
from ramify import PCTClassifier, PCTForestClassifier, load_animals
from ramify.apps.serving import ServedModel, make_app
from tests.support.cli_runs import run

httpx = pytest.importorskip("httpx")
pytest.importorskip("starlette")
web_server = pytest.importorskip("ramify.apps.web_server")


@contextmanager
def serving(model: Any, **limits: Any) -> Iterator[Any]:
    """Serve a model in a thread and yield a client."""
    listening = web_server.open_socket("127.0.0.1", 0)
    server = web_server.make_server(make_app(model, **limits), max_connections=100)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        with httpx.Client(base_url=address, timeout=60) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture(scope="module")
def numeric() -> tuple[Any, np.ndarray]:
    data = ramify.make_hierarchical_classification(100, 4, n_labels=8, random_state=0)
    model = PCTForestClassifier(data.hierarchy, n_estimators=5, random_state=0)
    return model.fit(data.X, data.y), np.asarray(data.X)


@pytest.fixture(scope="module")
def animals() -> tuple[Any, Any]:
    data = load_animals()
    model = PCTForestClassifier(data.hierarchy, n_estimators=3, random_state=0)
    return model.fit(data.X, data.y), data.X


def test_many_clients_get_the_predictions_of_their_rows(numeric: tuple[Any, np.ndarray]) -> None:
    model, X = numeric
    expected = model.predict_proba(X)
    with serving(model) as client:

        def ask(k: int) -> bool:
            rows = X[k : k + 1 + k % 3]
            answer = client.post("/predict_proba", json={"rows": rows.tolist()}).json()
            return bool(np.array_equal(answer["probabilities"], expected[k : k + len(rows)]))

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(ask, [k % 90 for k in range(200)]))
        assert client.get("/health").json() == {"status": "ok"}


def test_labels_are_those_of_predict(numeric: tuple[Any, np.ndarray]) -> None:
    model, X = numeric
    with serving(model) as client:
        found = client.post("/predict", json={"rows": X.tolist()}).json()["predictions"]
        low = client.post("/predict", json={"rows": X.tolist(), "threshold": 0.1}).json()
    decode = model.hierarchy_.decode
    assert [tuple(row) for row in found] == decode(model.predict(X))
    assert [tuple(row) for row in low["predictions"]] == decode(model.predict(X, threshold=0.1))


def test_requests_may_ask_for_another_promise() -> None:
    data = ramify.make_hierarchical_classification(
        400, 4, n_labels=6, labels_per_row=1, random_state=0
    )
    tree = ramify.PCTClassifier(data.hierarchy, min_samples_leaf=5)
    model = ramify.SelectiveClassifier(tree, max_error=0.05, random_state=0)
    model.fit(data.X, data.y)
    rows = data.X[:20].tolist()
    with serving(model) as client:
        own = client.post("/predict", json={"rows": rows}).json()["predictions"]
        other = client.post("/predict", json={"rows": rows, "max_error": 0.5}).json()
        odd = [2, 0, -1, True, "0.1", [0.1] * 9999, 10**400]
        wrong = [client.post("/predict", json={"rows": rows, "max_error": each}) for each in odd]
        wrong += [client.post("/predict", json={"rows": rows, "max_error": 0.1, "threshold": 0.5})]
    decode = data.hierarchy.decode
    assert [tuple(row) for row in own] == decode(model.predict(data.X[:20]))
    loose = model.predict(data.X[:20], max_error=0.5)
    assert [tuple(row) for row in other["predictions"]] == decode(loose)
    assert all(each.status_code == 422 and "max_error must be" in each.text for each in wrong)
    assert max(len(each.text) for each in wrong) < 500


def test_rows_of_data_frames_are_named(animals: tuple[Any, Any]) -> None:
    model, X = animals
    rows = json.loads(X.to_json(orient="records"))
    labels = [str(label) for label in model.classes_[:3]]
    with serving(model) as client:
        answer = client.post("/predict_proba", json={"rows": rows, "labels": labels}).json()
        as_lists = client.post("/predict_proba", json={"rows": [list(r.values()) for r in rows]})
        partial = client.post("/predict_proba", json={"rows": [{}]}).json()
        facts = client.get("/model").json()
    expected = model.predict_proba(X)
    assert answer["labels"] == labels
    np.testing.assert_array_equal(answer["probabilities"], expected[:, :3])
    np.testing.assert_array_equal(as_lists.json()["probabilities"], expected)
    assert len(partial["probabilities"][0]) == len(model.classes_)  # all values are missing
    assert [feature["name"] for feature in facts["features"]] == list(X.columns)


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/predict", b"{", 400, "must be JSON"),
        ("/predict", b"\xff\xfe\xff", 400, "must be JSON"),
        ("/predict", b'{"rows": [[NaN, 1, 1, 1]]}', 400, "got NaN. Use null"),
        ("/predict", b"[" * 100_000, 400, "must be JSON"),
        ("/predict", b"[1]", 422, "an object with the field 'rows'"),
        ("/predict", b"{}", 422, "rows must be a list with at least one row"),
        ("/predict", b'{"rows": [[1, 2]]}', 422, "row 0 must have 4 values, got 2"),
        ("/predict", b'{"rows": [[1, 2, 3, "a"]]}', 422, "a number or null as 'x3', got 'a'"),
        ("/predict", b'{"rows": [[1, 2, 3, 1e999]]}', 422, "a number or null as 'x3', got inf"),
        ("/predict", b'{"rows": [[1, 2, 3, 1%s]]}' % (b"0" * 400), 422, "as 'x3', got 1000"),
        ("/predict", b'{"rows": [[1, 2, 3, 1%s]]}' % (b"0" * 5000), 400, "must be JSON"),
        ("/predict_proba", b'{"rows": [[1,2,3,4]], "labels": ["1", "1"]}', 422, "not repeat"),
        ("/predict", b'{"rows": [{"a": 1}]}', 422, "row 0 must be a list of 4 values"),
        ("/predict", b'{"rows": [[1,2,3,4]], "top": 3}', 422, "got 'top'"),
        ("/predict", b'{"rows": [[1,2,3,4]], "threshold": 2}', 422, "from 0 to 1 or null, got 2"),
        ("/predict", b'{"rows": [[1,2,3,4]], "max_error": 0.1}', 422, "not trained with --max"),
        ("/predict_proba", b'{"rows": [[1,2,3,4]], "labels": ["z"]}', 422, "got 'z'"),
        ("/predict_proba", b'{"rows": [[1,2,3,4]], "labels": "z"}', 422, "got 'z'"),
        ("/predict", b'{"rows": [[1,2,3,4],[1,2,3,4],[1,2,3,4]]}', 413, "at most 2 rows, got 3"),
        ("/predict", b" " * 200_001, 413, "at most 200000 bytes"),
    ],
)
def test_wrong_requests_are_refused_with_a_reason(
    client: Any, path: str, body: bytes, status: int, message: str
) -> None:
    answer = client.post(path, content=body)
    assert (answer.status_code, message in answer.json()["error"]) == (status, True), answer.text


@pytest.fixture(scope="module")
def client(numeric: tuple[Any, np.ndarray]) -> Iterator[Any]:
    with serving(numeric[0], max_bytes=200_000, max_rows=2) as client:
        yield client


def test_the_description_lists_every_path(client: Any) -> None:
    facts = client.get("/openapi.json").json()
    assert facts["openapi"].startswith("3.1")
    for path, methods in facts["paths"].items():
        (method,) = methods
        assert client.request(method, path).status_code in (200, 400), path


def test_the_description_has_the_fields_and_rows_that_are_accepted(
    client: Any, animals: tuple[Any, Any]
) -> None:
    def described(client: Any, path: str) -> tuple[set[str], list[Any]]:
        facts = client.get("/openapi.json").json()["paths"][path]["post"]["requestBody"]
        fields = facts["content"]["application/json"]["schema"]["properties"]
        return set(fields), fields["rows"]["items"]["oneOf"]

    for path in ("/predict", "/predict_proba"):
        fields, (row,) = described(client, path)
        refused = client.post(path, json={"rows": [[1, 2, 3, 4]], "other": 1}).json()["error"]
        assert fields == set(re.findall(r"'(\w+)'", refused.split("got")[0]))
        assert (row["minItems"], row["maxItems"]) == (4, 4)
    model, X = animals
    with serving(model) as named:
        _, (_, row) = described(named, "/predict")
    assert row["propertyNames"]["enum"] == list(X.columns)


def test_errors_show_the_beginning_of_long_values(client: Any) -> None:
    long = "z" * 100_000
    for body in (
        {"rows": [[1, 2, 3, long]]},
        {"rows": [long]},
        {"rows": [{long: 1}]},
        {"rows": [[1, 2, 3, 4]], long: 1},
        {"rows": [[1, 2, 3, 4]], "threshold": long},
    ):
        answer = client.post("/predict", json=body)
        assert answer.status_code == 422
        assert len(answer.content) < 300
    answer = client.post("/predict_proba", json={"rows": [[1, 2, 3, 4]], "labels": [long]})
    assert (answer.status_code, len(answer.content) < 300) == (422, True)


def test_answers_are_limited_in_size(numeric: tuple[Any, np.ndarray]) -> None:
    model, X = numeric
    labels = list(model.classes_[:2])
    with serving(model, max_values=20) as client:
        large = client.post("/predict_proba", json={"rows": X[:3].tolist()})
        few = client.post("/predict_proba", json={"rows": X[:3].tolist(), "labels": labels})
    assert large.status_code == 413
    assert "rows x labels must be at most 20, got 3 x 8" in large.json()["error"]
    np.testing.assert_array_equal(few.json()["probabilities"], model.predict_proba(X[:3])[:, :2])


def test_blocks_of_rows_give_the_same_answers(
    numeric: tuple[Any, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, X = numeric
    served = ServedModel(model, max_rows=100, max_values=1000)
    whole = [b"".join(answer({"rows": X.tolist()})) for answer in (served.predict,)]
    monkeypatch.setattr("ramify.apps.serving._BLOCK_VALUES", 1)
    assert whole == [b"".join(answer({"rows": X.tolist()})) for answer in (served.predict,)]


def test_categories_are_found_by_value_or_text() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "size": pandas.Categorical([1, 2] * 10, categories=[1, 2]),
            "wild": pandas.Categorical([True, False] * 10),
        }
    )
    model = PCTClassifier().fit(frame, ["one", "two"] * 10)
    served = ServedModel(model, max_rows=10, max_values=100)

    def labels(size: Any, wild: Any) -> Any:
        answer = b"".join(served.predict({"rows": [{"size": size, "wild": wild}]}))
        return json.loads(answer)["predictions"][0]

    assert [labels(1, None), labels("1", None)] == [["one"]] * 2
    assert [labels(None, True), labels(None, "True"), labels(None, "true")] == [["one"]] * 3
    # Neither is a category of size: both are missing values.
    assert labels(True, None) == labels(None, None)
    assert labels("x", None) == labels(None, None)


def test_a_client_that_leaves_or_dawdles_does_no_harm(
    numeric: tuple[Any, np.ndarray], capfd: pytest.CaptureFixture[str]
) -> None:
    head = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n[1"
    with serving(numeric[0], body_seconds=0.05) as client:
        address = (client.base_url.host, client.base_url.port)
        with socket.create_connection(address) as leaves:
            leaves.sendall(head)
        with socket.create_connection(address) as dawdles:
            dawdles.sendall(head)
            assert dawdles.recv(100).startswith(b"HTTP/1.1 408")
        assert client.get("/health").json() == {"status": "ok"}
    assert "Traceback" not in capfd.readouterr().err


def test_the_server_stops_although_clients_have_not_finished(
    numeric: tuple[Any, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ramify.apps.web_server._STOP_SECONDS", 0)
    unfinished = b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n[1"
    with ExitStack() as clients, serving(numeric[0]) as client:
        address = (client.base_url.host, client.base_url.port)
        for _ in range(20):
            clients.enter_context(socket.create_connection(address)).sendall(unfinished)
        assert client.get("/health").status_code == 200


def test_a_client_must_send_the_head_of_a_request_in_time(
    numeric: tuple[Any, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ramify.apps.web_server._HEADER_SECONDS", 0.05)
    with serving(numeric[0]) as client:
        with socket.create_connection((client.base_url.host, client.base_url.port)) as silent:
            silent.sendall(b"POST /predict HT")
            assert silent.recv(100) == b""  # closed
        assert client.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"GET /", b"x"),
        (b"GET / HTTP/1.1\r\nHost: ", b"x"),
        (b"GET / HTTP/1.1\r\n", b"a: b\r\n"),
        (b"POST /predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
        (b"POST /predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x"),
    ],
)
def test_requests_are_limited_outside_their_body(
    numeric: tuple[Any, np.ndarray], start: bytes, more: bytes
) -> None:
    with serving(numeric[0]) as client:
        address = (client.base_url.host, client.base_url.port)
        with socket.create_connection(address) as endless:
            endless.settimeout(60)
            with pytest.raises(ConnectionError):
                endless.sendall(start + more * ((32 << 20) // len(more)))
        assert client.get("/health").status_code == 200


def test_many_requests_may_use_one_connection(numeric: tuple[Any, np.ndarray]) -> None:
    model, X = numeric
    body = {"rows": np.tile(X, (30, 1)).tolist()}  # larger than the head of a request may be
    with serving(model) as client:
        answers = {client.post("/predict", json=body).status_code for _ in range(5)}
        answers |= {client.get("/health").status_code for _ in range(3_000)}
        assert answers == {200}


def test_an_address_that_cannot_be_used_is_an_error_of_the_options(
    numeric: tuple[Any, np.ndarray], tmp_path: Path
) -> None:
    path = tmp_path / "m.ramify"
    ramify.save(numeric[0], path)
    with web_server.open_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        for options in (("--port", port), ("--host", "256.1.1.1"), ("--host", "x" * 80)):
            done = run("serve", path, *options)
            assert done.exit_code == 2
            assert "cannot listen on --host" in done.output
            assert "Traceback" not in done.output


def test_dates_and_times_are_read_as_in_training() -> None:
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2020-01-01", periods=12)
    frame = pandas.DataFrame(
        {
            "day": days,
            "at": (days + pandas.Timedelta(hours=9)).tz_localize("UTC"),
            "took": pandas.to_timedelta(range(12), unit="min"),
            "clock": [dt.time(k, 30) for k in range(12)],
            "n": range(12),
        }
    )
    model = PCTForestClassifier(n_estimators=5, random_state=0).fit(frame, list("aaabbbcccddd"))
    frame.iloc[3, :] = None
    rows = [
        {
            "day": str(row.day)[:10],
            "at": row.at.isoformat() if k % 2 else row.at.isoformat().replace("+00:00", "Z"),
            "took": row.took.total_seconds(),
            "clock": row.clock.isoformat(),
            "n": row.n,
        }
        for k, row in enumerate(frame.drop(index=3).itertuples())
    ]
    rows.insert(3, {})
    with serving(model) as client:
        found = client.post("/predict_proba", json={"rows": rows}).json()["probabilities"]
        assert found == model.predict_proba(frame).tolist()
        kinds = [feature["type"] for feature in client.get("/model").json()["features"]]
        assert kinds == ["date", "date with time zone", "duration", "time of day", "number"]
        described = json.dumps(client.get("/openapi.json").json())
        assert "a date such as 2024-01-31 or 2024-01-31T09:30:00 or null" in described
        for column, value, message in (
            ("day", "31 Jan", "row 0 must have a date such as 2024-01-31 or"),
            ("day", 5, "row 0 must have a date such as 2024-01-31 or"),
            ("at", "soon", "row 0 must have a date such as 2024-01-31T09:30:00Z"),
            ("took", "5", "row 0 must have a number of seconds or null as 'took', got '5'"),
            ("took", 1e300, "row 0 must have a number of seconds"),
            ("clock", "25:00", "row 0 must have a time such as 09:30"),
        ):
            answer = client.post("/predict", json={"rows": [{column: value}]})
            assert answer.status_code == 422
            assert message in answer.json()["error"]


def test_dates_are_read_in_the_notation_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        f"{1 + k % 28:02d}/{1 + k % 12:02d}/2024;{'a' if k % 12 < 6 else 'b'}" for k in range(60)
    ]
    table, model = tmp_path / "d.csv", tmp_path / "m.ramify"
    table.write_text("\n".join(["day;kind", *rows]) + "\n", "utf-8")
    trained = run("train", table, "-t", "kind", "-m", "tree", "--folds", 0, "-o", model)
    assert trained.exit_code == 0, trained.output
    made = []
    monkeypatch.setattr("ramify.apps.serving.make_app", lambda _, **given: made.append(given))
    monkeypatch.setattr("ramify.apps.web_server.run_server", lambda *_: None)
    assert run("serve", model, "--port", 0).exit_code == 0
    served = ServedModel(ramify.load(model), max_rows=10, max_values=100, dates=made[0]["dates"])
    request = {"rows": [["05/11/2024"], ["2024-11-05"], ["05/03/2024"]]}
    found = json.loads(b"".join(served.predict(request)))["predictions"]
    assert found == [["b"], ["b"], ["a"]]
    unknown = ServedModel(ramify.load(model), max_rows=10, max_values=100)
    with pytest.raises(ValueError, match="row 0 must have a date such as 2024-01-31"):
        unknown.predict(request)


def test_an_array_of_dates_and_a_vote_are_served() -> None:
    days = np.arange("2020-01-01", "2020-01-13", dtype="M8[D]")[:, np.newaxis]
    model = PCTClassifier().fit(days, list("aaaabbbbcccc"))
    served = ServedModel(model, max_rows=10, max_values=100)
    request = {"rows": [["2020-01-02"], [None], ["2020-01-12 10:00"]]}
    found = json.loads(b"".join(served.predict_proba(request)))["probabilities"]
    given = np.array(["2020-01-02", "NaT", "2020-01-12T10:00"], dtype="M8[us]")[:, np.newaxis]
    assert found == model.predict_proba(given).tolist()
    data = load_animals()
    vote = ramify.HierarchicalVotingClassifier(
        [("tree", PCTClassifier()), ("bayes", ramify.GlobalNaiveBayes())], hierarchy=data.hierarchy
    ).fit(data.X, data.y)
    served = ServedModel(vote, max_rows=10, max_values=10_000)
    (row,) = json.loads(data.X[:1].to_json(orient="records"))
    found = json.loads(b"".join(served.predict_proba({"rows": [row]})))["probabilities"]
    np.testing.assert_allclose(found, vote.predict_proba(data.X[:1]))


@pytest.mark.process
def test_the_command_serves_until_it_is_interrupted(
    numeric: tuple[Any, np.ndarray], tmp_path: Path
) -> None:
    path = tmp_path / "m.ramify"
    ramify.save(numeric[0], path)
    assert run("serve", tmp_path / "none.ramify").exit_code == 2
    with _command(path) as (process, address):
        assert httpx.get(f"{address}/health", timeout=60).status_code == 200
    assert process.returncode in (0, 130)


@pytest.mark.process
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="requires SIGHUP")
def test_several_processes_read_a_new_model(
    numeric: tuple[Any, np.ndarray], tmp_path: Path
) -> None:
    path = tmp_path / "m.ramify"
    ramify.save(numeric[0], path)
    with _command(path, "--workers", 2) as (process, address):
        model = f"{address}/model"
        assert httpx.get(model, timeout=60).json()["labels"] == list(numeric[0].hierarchy_.labels)
        ramify.save(PCTClassifier().fit([[0.0], [1.0]], ["new", "newer"]), path)
        process.send_signal(signal.SIGHUP)
        while httpx.get(model, timeout=60).json()["labels"] != ["new", "newer"]:
            assert process.poll() is None
    assert process.returncode in (0, 130)


@pytest.mark.process
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="requires SIGHUP")
def test_processes_go_on_with_their_model_if_the_new_one_cannot_be_read(
    numeric: tuple[Any, np.ndarray], tmp_path: Path
) -> None:
    path = tmp_path / "m.ramify"
    ramify.save(numeric[0], path)
    with _command(path, "--workers", 2) as (process, address):
        assert httpx.get(f"{address}/health", timeout=60).status_code == 200
        path.write_bytes(b"not a model")
        process.send_signal(signal.SIGHUP)
        assert process.stderr is not None
        assert any("a process of the service ends" in line for line in process.stderr)
        assert httpx.get(f"{address}/health", timeout=60).status_code == 200
    assert process.returncode in (0, 130)


@contextmanager
def _command(path: Path, *options: Any) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run ``ramify serve`` until the end of the context, and yield its address."""
    command = [sys.executable, "-c", "from ramify.apps.cli import main; main()"]
    command += ["serve", str(path), "--port", "0", *map(str, options)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process, process.stderr.readline().split(" ")[2]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
