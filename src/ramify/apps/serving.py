"""A web service for one model: JSON rows in, labels or probabilities out."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import time, timedelta, timezone
from typing import Any

import numpy as np

from ramify import __version__
from ramify._messages import did_you_mean, import_extra
from ramify.apps.predicting import label_sets, schema_of
from ramify.data.dates import read_dates
from ramify.decision.best_sets import DECISIONS

_BLOCK_VALUES = 1 << 22  # probabilities computed at once
_BODIES = 1 << 28  # bytes of all requests that are being received


class RequestError(ValueError):
    """A request that cannot be answered, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ServedModel:
    """A model that reads rows and writes predictions as JSON values."""

    def __init__(
        self, model: Any, max_rows: int, max_values: int, dates: str | None = None
    ) -> None:
        self.model, self.max_rows, self.max_values = model, max_rows, max_values
        self.dates = dates
        names = getattr(model, "feature_names_in_", None)
        self.names = None if names is None else [str(name) for name in names]
        schema = schema_of(model)
        known = {} if schema is None else schema.categories
        self._known = {j: list(values) for j, values in known.items()}
        self.categories = {j: _Categories(values) for j, values in known.items()}
        self.times: dict[int, str] = {} if schema is None else dict(schema.times)
        self.texts: set[int] = set() if schema is None else set(schema.texts)
        self.vectors: dict[int, int] = {} if schema is None else dict(schema.vectors)
        self._only_numbers = not (known or self.times or self.texts or self.vectors)
        self.labels = list(model.hierarchy_.labels)
        self._column = {label: k for k, label in enumerate(self.labels)}
        if self.categories or self.names is not None:
            self._pandas = import_extra("pandas", "tables")

    def describe(self) -> dict[str, Any]:
        """Return what a client has to know."""
        features = [
            {"name": self._name(j), **self._kind(j)} for j in range(self.model.n_features_in_)
        ]
        return {
            "model": type(self.model).__name__,
            "ramify": __version__,
            "features": features,
            "labels": self.labels,
        }

    def _kind(self, feature: int) -> dict[str, Any]:
        """Return the type of a feature as JSON."""
        if feature in self._known:
            return {"categories": self._known[feature]}
        if feature in self.texts:
            return {"type": "text"}
        if feature in self.vectors:
            return {"type": "vector", "length": self.vectors[feature]}
        kind = self.times.get(feature)
        return {"type": "number"} if kind is None else {"type": kind, "example": _EXAMPLES[kind]}

    def times_schema(self) -> dict[str, Any]:
        """Return the features that are times, for OpenAPI."""
        return {
            self._name(j): {
                "type": ["number" if kind == "duration" else "string", "null"],
                "description": f"{_WORDS[kind]} or null",
                "examples": [_EXAMPLES[kind]],
            }
            for j, kind in self.times.items()
        }

    def predict(self, request: dict[str, Any]) -> Iterator[bytes]:
        """Yield an answer with the most specific predicted labels of each row."""
        X = self._read(request, ("rows", "threshold", "decide", "max_error"))
        threshold = request.get("threshold")
        if threshold is not None and not (_is_number(threshold) and 0 <= threshold <= 1):
            raise RequestError(
                422, f"threshold must be a number from 0 to 1 or null, got {_shown(threshold)}."
            )
        decide = request.get("decide")
        if decide is not None and (threshold is not None or decide not in DECISIONS):
            raise RequestError(
                422,
                f"decide must be {' or '.join(DECISIONS)}, and null with a threshold, got "
                f"{_shown(decide)}.",
            )
        max_error = request.get("max_error")
        if max_error is not None and threshold is not None:
            raise RequestError(
                422, f"max_error must be null with a threshold, got {_shown(max_error)}."
            )
        model = self._promising(max_error)
        rows = (
            list(row)
            for block in self._blocks(X)
            for row in model.hierarchy_.decode(label_sets(model, block, threshold, decide))
        )
        return _written('{"predictions":', rows)

    def _promising(self, max_error: Any) -> Any:
        """Return the model with another promise about its errors."""
        if max_error is None:
            return self.model
        if not hasattr(self.model, "with_max_error"):
            raise RequestError(
                422, "max_error must be null: the model was not trained with --max-error."
            )
        if not (_is_number(max_error) and 0 < max_error < 1):
            raise RequestError(
                422,
                f"max_error must be a number between 0 and 1 or null, got {_shown(max_error)}.",
            )
        try:
            return self.model.with_max_error(max_error)
        except ValueError as error:  # label sets have thresholds for some shares only
            raise RequestError(422, str(error)) from None

    def predict_proba(self, request: dict[str, Any]) -> Iterator[bytes]:
        """Yield an answer with the probabilities of all labels, or of those in `labels`."""
        wanted = request.get("labels")
        columns = None if wanted is None else self._columns_of(wanted)
        n_labels = len(self.labels if wanted is None else wanted)
        X = self._read(request, ("rows", "labels"))
        if X.shape[0] * n_labels > self.max_values:
            raise RequestError(
                413,
                f"rows x labels must be at most {self.max_values}, got {X.shape[0]} x {n_labels}. "
                "Ask for fewer rows at once, or for some of the labels.",
            )
        rows = (
            row.tolist()
            for block in self._blocks(X)
            for row in _taken(np.asarray(self.model.predict_proba(block)), columns)
        )
        names = json.dumps(self.labels if wanted is None else wanted, ensure_ascii=False)
        return _written(f'{{"labels":{names},"probabilities":', rows)

    def _blocks(self, X: Any) -> Iterator[Any]:
        """Yield the rows of X in blocks whose probabilities fit into little memory."""
        size = max(1, _BLOCK_VALUES // len(self.labels))
        for start in range(0, X.shape[0], size):
            yield X[start : start + size]

    def _columns_of(self, wanted: Any) -> list[int]:
        """Return the columns of the labels that a request asks for, each once."""
        unknown = _unknown(wanted, self._column)
        if unknown:
            raise RequestError(
                422,
                f"labels must be a list of labels of the model, got {_shown(unknown[0])}."
                f"{did_you_mean(unknown[0], self.labels)} GET /model lists them.",
            )
        repeated = [label for label, count in Counter(wanted).items() if count > 1]
        if repeated:
            raise RequestError(
                422, f"labels must not repeat, got {_shown(repeated[0])} more than once."
            )
        return [self._column[label] for label in wanted]

    def _name(self, feature: int) -> str:
        return f"x{feature}" if self.names is None else self.names[feature]

    def _read(self, request: dict[str, Any], known: Sequence[str]) -> Any:
        """Return the rows of a request as X."""
        unknown = [key for key in request if key not in known]
        if unknown:
            raise RequestError(
                422, f"the request must have the fields {list(known)}, got {_shown(unknown[0])}."
            )
        rows = request.get("rows")
        if not isinstance(rows, list) or not rows:
            raise RequestError(422, "rows must be a list with at least one row.")
        if len(rows) > self.max_rows:
            raise RequestError(
                413, f"rows must have at most {self.max_rows} rows, got {len(rows)}."
            )
        cells = [self._read_row(row, number) for number, row in enumerate(rows)]
        if self.names is None and self.texts:  # a list of texts, without a name
            return np.array([row[0] or "" for row in cells], dtype=object)
        if self.names is None and not self.categories:
            # An array has one data type.
            return np.array(cells, dtype=self._dtype(0))
        columns = {
            self._name(j): self._pandas.Series(list(column), dtype=self._dtype(j))
            for j, column in enumerate(zip(*cells, strict=True))
        }
        return self._pandas.DataFrame(columns)

    def _dtype(self, feature: int) -> Any:
        if feature in self.categories or feature in self.texts or feature in self.vectors:
            return object
        return _DTYPES[self.times[feature]] if feature in self.times else np.float64

    def _read_row(self, row: Any, number: int) -> list[Any]:
        n_features = int(self.model.n_features_in_)
        if isinstance(row, dict):
            if self.names is None:
                raise RequestError(
                    422, f"row {number} must be a list of {n_features} values, got an object."
                )
            unknown = [name for name in row if name not in self.names]
            if unknown:
                raise RequestError(
                    422,
                    f"row {number} must have the features of the model, got {_shown(unknown[0])}."
                    f"{did_you_mean(unknown[0], self.names)} GET /model lists them.",
                )
            row = [row.get(name) for name in self.names]
        if not isinstance(row, list) or len(row) != n_features:
            raise RequestError(
                422,
                f"row {number} must have {n_features} values, got "
                f"{len(row) if isinstance(row, list) else _shown(row)}. "
                "Use null for missing ones.",
            )
        if self._only_numbers and all(map(_is_number, row)):
            return row
        return [self._read_cell(value, j, number) for j, value in enumerate(row)]

    def _read_cell(self, value: Any, feature: int, number: int) -> Any:
        if value is None:
            return np.nan if self._dtype(feature) is np.float64 else None
        kind, length = self.times.get(feature), self.vectors.get(feature)
        read, wanted = None, "a number"
        if kind is not None:
            read, wanted = _read_time(value, kind, self.dates), _WORDS[kind]
        elif feature in self.texts:
            read, wanted = (value if isinstance(value, str) else None), "a text"
        elif length is not None:
            fits = isinstance(value, list) and len(value) == length and all(map(_is_number, value))
            read, wanted = (value if fits else None), f"a list of {length} numbers"
        elif feature in self.categories:
            wanted = "a category"
            if isinstance(value, str | bool) or _is_number(value):
                return self.categories[feature].find(value)
        elif _is_number(value):
            return float(value)
        if read is None:
            raise RequestError(
                422,
                f"row {number} must have {wanted} or null as {self._name(feature)!r}, "
                f"got {_shown(value)}.",
            )
        return read


_WORDS = {
    "date": "a date such as 2024-01-31 or 2024-01-31T09:30:00",
    "date with time zone": "a date such as 2024-01-31T09:30:00Z",
    "duration": "a number of seconds",
    "time of day": "a time such as 09:30 or 09:30:00",
}
_EXAMPLES = {
    "date": "2024-01-31",
    "date with time zone": "2024-01-31T09:30:00Z",
    "duration": 90,
    "time of day": "09:30:00",
}
_DTYPES = {
    "date": "datetime64[us]",
    "date with time zone": "datetime64[us, UTC]",
    "duration": "timedelta64[us]",
    "time of day": object,
}


def _read_time(value: Any, kind: str, order: str | None) -> Any:
    """Return a value of JSON as a time that a model understands, or None if it is not one."""
    try:
        if kind == "duration":
            return timedelta(seconds=value) if _is_number(value) else None
        if not isinstance(value, str):
            return None
        if kind == "time of day":
            return time.fromisoformat(value)
    except (ValueError, OverflowError):
        return None
    dates = read_dates([value], order)
    moment = dates.moments.get(value) if dates is not None else None
    return moment if moment is None or kind == "date" else moment.replace(tzinfo=timezone.utc)


class _Categories:
    """The categories of a feature, found by value or, since JSON has few types, by their text."""

    def __init__(self, known: Sequence[Any]) -> None:
        self._known = {(isinstance(value, bool), value): value for value in known}
        texts = Counter(str(value) for value in known)
        self._by_text = {str(value): value for value in known if texts[str(value)] == 1}

    def find(self, value: Any) -> Any:
        """Return the category that a value stands for, or the value if it is unknown."""
        known = self._known.get((isinstance(value, bool), value))
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return self._by_text.get(text, text) if known is None else known


def _is_number(value: Any) -> bool:
    """Return whether a value of JSON is a number that a double can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that is too large
        return False


def _shown(value: Any) -> str:
    """Return a value of a request for an error message, cut to what people read."""
    text = repr(value[:200] if isinstance(value, str | list) else value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _unknown(wanted: Any, known: dict[Any, int]) -> list[Any]:
    if not isinstance(wanted, list):
        return [wanted]
    return [label for label in wanted if isinstance(label, list | dict) or label not in known]


def _taken(scores: Any, columns: list[int] | None) -> Any:
    return scores if columns is None else scores[:, columns]


def _written(start: str, rows: Iterator[list[Any]]) -> Iterator[bytes]:
    """Yield a JSON object that ends in a list of rows, one by one, so that other threads run."""
    yield start.encode()
    before = b"["
    for row in rows:
        yield before + json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
        before = b","
    yield b"]}"


def make_app(
    model: Any,
    *,
    max_bytes: int = 10 << 20,
    max_rows: int = 10_000,
    max_values: int = 5_000_000,
    body_seconds: float = 30.0,
    dates: str | None = None,
) -> Any:
    """Return an ASGI application that predicts with a model and refuses larger requests."""
    import_extra("starlette", "serve")
    from anyio import CapacityLimiter, to_thread
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    served = ServedModel(model, max_rows, max_values, dates)
    limits = {"max_bytes": max_bytes, "max_rows": max_rows, "max_values": max_values}
    bodies = _Bodies(max_bytes, body_seconds)
    # Each answer that is being computed takes memory, and more threads than cores are not faster.
    at_once = CapacityLimiter(max(2, os.cpu_count() or 1))

    def constant(facts: dict[str, Any]) -> Callable[[Any], Awaitable[Any]]:
        async def answer(_: Any) -> Any:
            return JSONResponse(facts)

        return answer

    def computed(work: Callable[[dict[str, Any]], Iterator[bytes]]) -> Any:
        def compute(body: bytes) -> bytes:
            return b"".join(work(_parse(body)))

        async def answer(request: Any) -> Any:
            try:
                body = await bodies.read(request.stream())
                content = await to_thread.run_sync(compute, body, limiter=at_once)
                return Response(content, media_type="application/json")
            except ClientDisconnect:
                return Response(status_code=400)  # which nobody reads
            except RequestError as error:
                return JSONResponse({"error": str(error)}, status_code=error.status)
            except ValueError as error:  # what ramify refuses, such as infinite values
                return JSONResponse({"error": str(error)}, status_code=422)

        return answer

    return Starlette(
        routes=[
            Route("/health", constant({"status": "ok"})),
            Route("/model", constant({**served.describe(), "limits": limits})),
            Route("/openapi.json", constant(_describe_service(served))),
            Route("/predict", computed(served.predict), methods=["POST"]),
            Route("/predict_proba", computed(served.predict_proba), methods=["POST"]),
        ]
    )


class _Bodies:
    """Receives requests, within limits of size and time and of the size of all together."""

    def __init__(self, max_bytes: int, seconds: float) -> None:
        self._max_bytes, self._seconds = max_bytes, seconds
        self._received = 0

    async def read(self, stream: Any) -> bytes:
        """Return the body of a request, but not more than the limit, whatever its header says."""
        from anyio import fail_after

        body = bytearray()
        try:
            with fail_after(self._seconds):
                async for part in stream:
                    body += part
                    self._received += len(part)
                    self._check(len(body))
        except TimeoutError:
            raise RequestError(
                408, f"the request must arrive within {self._seconds:g} seconds."
            ) from None
        finally:
            self._received -= len(body)
        return bytes(body)

    def _check(self, n_bytes: int) -> None:
        if n_bytes > self._max_bytes:
            raise RequestError(413, f"the request must have at most {self._max_bytes} bytes.")
        if self._received > max(_BODIES, self._max_bytes):
            raise RequestError(503, "too many requests are being received. Try again later.")


def _parse(body: bytes) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise RequestError(400, f"the request must be JSON, got {name}. Use null for it.")

    try:
        request = json.loads(body, parse_constant=refuse)
    except RequestError:
        raise
    except (ValueError, RecursionError) as error:  # an integer of 5,000 digits is a ValueError
        raise RequestError(400, f"the request must be JSON: {error}.") from None
    if not isinstance(request, dict):
        raise RequestError(422, "the request must be an object with the field 'rows'.")
    return request


def _describe_service(served: ServedModel) -> dict[str, Any]:
    """Return the OpenAPI description."""
    rows = {
        "type": "array",
        "minItems": 1,
        "maxItems": served.max_rows,
        "items": {"oneOf": _describe_row(served)},
    }
    labels = {"type": "array", "items": {"type": ["string", "number"]}}
    threshold = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
    max_error = {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1}
    decide = {"enum": [*DECISIONS, None]}
    numbers = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
    posts: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
        "/predict": (
            "The most specific predicted labels of each row",
            {"rows": rows, "threshold": threshold, "decide": decide, "max_error": max_error},
            {"predictions": {"type": "array", "items": labels}},
        ),
        "/predict_proba": (
            "The probabilities of labels for each row",
            {"rows": rows, "labels": labels},
            {"labels": labels, "probabilities": numbers},
        ),
    }
    errors = {
        str(status): {
            "description": text,
            "content": _content({"error": {"type": "string"}}, ["error"]),
        }
        for status, text in (
            (400, "Not JSON"),
            (408, "Too slow"),
            (413, "Too large"),
            (422, "Not rows of this model"),
            (503, "Too many requests"),
        )
    }
    paths: dict[str, Any] = {
        path: {"get": {"summary": text, "responses": {"200": {"description": text}}}}
        for path, text in (
            ("/health", "Whether the service runs"),
            ("/model", "Features, labels and limits"),
        )
    }
    for path, (text, given, found) in posts.items():
        answer = {"description": text, "content": _content(found, list(found))}
        paths[path] = {
            "post": {
                "summary": text,
                "requestBody": {"required": True, "content": _content(given, ["rows"])},
                "responses": {"200": answer, **errors},
            }
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "ramify", "version": __version__},
        "paths": paths,
    }


def _describe_row(served: ServedModel) -> list[dict[str, Any]]:
    """Return the schemas of a row: a list, and an object if the features have names."""
    cell: dict[str, Any] = {"type": ["number", "string", "boolean", "null"]}
    if served.vectors:
        cell = {"oneOf": [cell, {"type": "array", "items": {"type": "number"}}]}
    n_features = int(served.model.n_features_in_)
    rows = [{"type": "array", "items": cell, "minItems": n_features, "maxItems": n_features}]
    if served.names is not None:
        rows.append(
            {
                "type": "object",
                "additionalProperties": cell,
                "propertyNames": {"enum": served.names},
                "properties": served.times_schema(),
            }
        )
    return rows


def _content(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    return {"application/json": {"schema": {**schema, "additionalProperties": False}}}
