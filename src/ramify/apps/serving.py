"""A web service for one model: JSON rows in, labels or probabilities out."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np

from ramify import __version__
from ramify._messages import did_you_mean, import_extra, shorten
from ramify.apps.predicting import label_sets

__all__ = [
    "ServedModel",
    "make_app",
]


class RequestError(ValueError):
    """A request that cannot be answered, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ServedModel:
    """A model that reads rows and writes predictions as JSON values.

    Parameters
    ----------
    model : estimator
        A fitted classifier of ramify.
    max_rows : int
        Most rows of a request.
    """

    def __init__(self, model: Any, max_rows: int) -> None:
        self.model, self.max_rows = model, max_rows
        names = getattr(model, "feature_names_in_", None)
        self.names = None if names is None else [str(name) for name in names]
        self.categories = {j: set(known) for j, known in model.schema_.categories.items()}
        if model.schema_.times:
            raise ValueError(
                "the model must not use dates or times to be served, got columns "
                f"{shorten(self._name(j) for j in model.schema_.times)}. Convert them to numbers "
                "before training, e.g. to days."
            )
        if self.categories or self.names is not None:
            self._pandas = import_extra("pandas", "tables")

    def describe(self) -> dict[str, Any]:
        """Return what a client has to know."""
        features = [
            {"name": self._name(j)}
            | ({"categories": list(known)} if known is not None else {"type": "number"})
            for j, known in (
                (j, self.model.schema_.categories.get(j)) for j in range(self.model.n_features_in_)
            )
        ]
        return {
            "model": type(self.model).__name__,
            "ramify": __version__,
            "features": features,
            "labels": list(self.model.hierarchy_.labels),
        }

    def predict(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the most specific predicted labels of each row."""
        X = self._read(request, ("rows", "threshold"))
        threshold = request.get("threshold")
        if threshold is not None and not (_is_number(threshold) and 0 <= threshold <= 1):
            raise RequestError(
                422, f"threshold must be a number from 0 to 1 or null, got {threshold!r}."
            )
        Y = label_sets(self.model, X, threshold)
        return {"predictions": [list(row) for row in self.model.hierarchy_.decode(Y)]}

    def predict_proba(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the probabilities of all labels, or of those in `labels`."""
        X = self._read(request, ("rows", "labels"))
        labels = list(self.model.hierarchy_.labels)
        wanted = request.get("labels")
        if wanted is None:
            return {"labels": labels, "probabilities": self.model.predict_proba(X).tolist()}
        unknown = _unknown(wanted, labels)
        if unknown:
            raise RequestError(
                422,
                f"labels must be a list of labels of the model, got {shorten(unknown)}."
                f"{did_you_mean(unknown[0], labels)} GET /model lists them.",
            )
        columns = [labels.index(label) for label in wanted]
        scores = np.asarray(self.model.predict_proba(X))[:, columns]
        return {"labels": wanted, "probabilities": scores.tolist()}

    def _name(self, feature: int) -> str:
        return f"x{feature}" if self.names is None else self.names[feature]

    def _read(self, request: dict[str, Any], known: Sequence[str]) -> Any:
        """Return the rows of a request as X."""
        unknown = [key for key in request if key not in known]
        if unknown:
            raise RequestError(
                422, f"the request must have the fields {list(known)}, got {shorten(unknown)}."
            )
        rows = request.get("rows")
        if not isinstance(rows, list) or not rows:
            raise RequestError(422, "rows must be a list with at least one row.")
        if len(rows) > self.max_rows:
            raise RequestError(
                413, f"rows must have at most {self.max_rows} rows, got {len(rows)}."
            )
        cells = [self._read_row(row, number) for number, row in enumerate(rows)]
        if self.names is None and not self.categories:
            return np.array(cells, dtype=np.float64)
        columns = {
            self._name(j): self._pandas.Series(
                column, dtype=object if j in self.categories else np.float64
            )
            for j, column in enumerate(zip(*cells, strict=True))
        }
        return self._pandas.DataFrame(columns)

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
                    f"row {number} must have the features of the model, got {shorten(unknown)}."
                    f"{did_you_mean(unknown[0], self.names)} GET /model lists them.",
                )
            row = [row.get(name) for name in self.names]
        if not isinstance(row, list) or len(row) != n_features:
            raise RequestError(
                422,
                f"row {number} must have {n_features} values, got "
                f"{len(row) if isinstance(row, list) else repr(row)}. Use null for missing ones.",
            )
        return [self._read_cell(value, j, number) for j, value in enumerate(row)]

    def _read_cell(self, value: Any, feature: int, number: int) -> Any:
        is_nominal = feature in self.categories
        if value is None:
            return None if is_nominal else np.nan
        if is_nominal:
            if isinstance(value, str | int | float):
                return value
        elif _is_number(value):
            return float(value)
        wanted = "a category" if is_nominal else "a number"
        raise RequestError(
            422,
            f"row {number} must have {wanted} or null as {self._name(feature)!r}, got {value!r}.",
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unknown(wanted: Any, labels: list[Any]) -> list[Any]:
    if not isinstance(wanted, list):
        return [wanted]
    known = set(labels)
    return [label for label in wanted if isinstance(label, list | dict) or label not in known]


def make_app(model: Any, *, max_bytes: int = 10 << 20, max_rows: int = 10_000) -> Any:
    """Return an ASGI application that predicts with a model and refuses larger requests."""
    import_extra("starlette", "serve")
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    served = ServedModel(model, max_rows)
    limits = {"max_bytes": max_bytes, "max_rows": max_rows}

    def constant(facts: dict[str, Any]) -> Callable[[Any], Awaitable[Any]]:
        async def answer(_: Any) -> Any:
            return JSONResponse(facts)

        return answer

    def computed(work: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        async def answer(request: Any) -> Any:
            try:
                body = await _read_body(request, max_bytes)
                return JSONResponse(await run_in_threadpool(lambda: work(_parse(body))))
            except RequestError as error:
                return JSONResponse({"error": str(error)}, status_code=error.status)
            except ValueError as error:  # what ramify refuses, such as infinite values
                return JSONResponse({"error": str(error)}, status_code=422)

        return answer

    return Starlette(
        routes=[
            Route("/health", constant({"status": "ok"})),
            Route("/model", constant({**served.describe(), "limits": limits})),
            Route("/openapi.json", constant(_describe_service())),
            Route("/predict", computed(served.predict), methods=["POST"]),
            Route("/predict_proba", computed(served.predict_proba), methods=["POST"]),
        ]
    )


async def _read_body(request: Any, max_bytes: int) -> bytes:
    """Read a request, but not more than the limit, whatever its header says."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            raise RequestError(413, f"the request must have at most {max_bytes} bytes.")
        parts.append(part)
    return b"".join(parts)


def _parse(body: bytes) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise RequestError(400, f"the request must be JSON, got {name}. Use null for it.")

    try:
        request = json.loads(body, parse_constant=refuse)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(400, f"the request must be JSON: {error}.") from None
    if not isinstance(request, dict):
        raise RequestError(422, "the request must be an object with the field 'rows'.")
    return request


def _describe_service() -> dict[str, Any]:
    """Return the OpenAPI description."""
    cell = {"type": ["number", "string", "null"]}
    rows = {
        "type": "array",
        "minItems": 1,
        "items": {
            "oneOf": [
                {"type": "array", "items": cell},
                {"type": "object", "additionalProperties": cell},
            ]
        },
    }
    labels = {"type": "array", "items": {"type": ["string", "number"]}}
    threshold = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
    numbers = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
    posts: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
        "/predict": (
            "The most specific predicted labels of each row",
            {"rows": rows, "threshold": threshold},
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
            (413, "Too large"),
            (422, "Not rows of this model"),
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


def _content(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    return {"application/json": {"schema": {**schema, "additionalProperties": False}}}
