"""Turn texts into vectors with a model of sentence embeddings that is on the machine."""

from __future__ import annotations

from functools import lru_cache
from os import PathLike, fspath
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ramify._messages import import_extra
from ramify._savable import savable
from ramify._schema import Schema, Whole
from ramify._validation import check_number
from ramify.data.texts import are_texts, texts_of

__all__ = ["TextEmbedder"]

_LARGEST = 2**20  # numbers of a vector


@savable
class TextEmbedder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn texts into vectors with a model of the library sentence-transformers.

    The model must be on this machine: nothing is downloaded. Saved files have the name of the
    model, not the model itself, so that it must be there to predict, too. Models that have code
    of their own are refused.

    Parameters
    ----------
    model : str or path
        A folder with a model, or the name of one that sentence-transformers has downloaded
        before.
    batch_size : int
        Number of texts that the model reads at a time.

    Attributes
    ----------
    n_numbers_ : int
        The length of the vectors.

    See Also
    --------
    LinearClassifier : Learns from texts and vectors.

    Notes
    -----
    Only `transform` needs the model, which then stays in memory. Missing texts become NaN. The
    last digits of a vector may depend on the texts beside it, because the model reads several at
    once.

    Examples
    --------
    Words, and what they mean, as columns of one table:

    >>> import pandas as pd
    >>> from ramify import LinearClassifier, TextEmbedder
    >>> embedder = TextEmbedder("all-MiniLM-L6-v2")
    >>> frame = pd.DataFrame({"title": ["oak table", "pine table", "wool jumper", "shirt"]})
    >>> vectors = embedder.fit_transform(frame["title"])  # doctest: +SKIP
    >>> frame = frame.assign(embedding=list(vectors))  # doctest: +SKIP
    >>> y = ["furniture", "furniture", "clothes", "clothes"]
    >>> model = LinearClassifier().fit(frame, y)
    """

    n_numbers_: int

    _saved_schema: ClassVar[Schema] = {"n_numbers_": Whole(1, _LARGEST)}

    def __init__(self, model: str | PathLike[str], *, batch_size: int = 64) -> None:
        self.model = model
        self.batch_size = batch_size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> TextEmbedder:
        """Check the texts and load the model, which learns nothing.

        Parameters
        ----------
        X : array-like of str
            Texts: a list, an array, or a column of a data frame.
        y : object
            Ignored.

        Returns
        -------
        TextEmbedder
            The fitted transformer.
        """
        check_number("batch_size", self.batch_size, 1, whole=True)
        _texts(X)
        self.n_numbers_ = int(self._encode([""]).shape[1])
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Turn texts into vectors.

        Parameters
        ----------
        X : array-like of str
            Texts, as in `fit`.

        Returns
        -------
        ndarray of shape (n, ``n_numbers_``)
            A vector per text; NaN for missing texts.
        """
        check_is_fitted(self)
        texts = _texts(X)
        found = np.full((len(texts), self.n_numbers_), np.nan)
        known = [k for k, text in enumerate(texts) if text is not None]
        if not known:
            return found
        vectors = self._encode([texts[k] or "" for k in known])
        if vectors.shape[1] != self.n_numbers_:
            raise ValueError(
                f"model {fspath(self.model)!r} must give vectors of {self.n_numbers_} numbers, as "
                f"in fit, but gives {vectors.shape[1]}. Use the same model as in fit."
            )
        found[known] = vectors
        return found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the numbers: embedding[0], embedding[1], ….

        Parameters
        ----------
        input_features : object
            Ignored.

        Returns
        -------
        ndarray of object, shape (``n_numbers_``,)
            The names.
        """
        check_is_fitted(self)
        return np.array([f"embedding[{k}]" for k in range(self.n_numbers_)], dtype=object)

    def _encode(self, texts: list[str]) -> NDArray[Any]:
        encoder = _load(fspath(self.model))
        found = encoder.encode(
            texts, batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(found, dtype=np.float64)


@lru_cache(maxsize=1)
def _load(model: str) -> Any:
    """Load a model from this machine."""
    library = import_extra("sentence_transformers", "embed")
    try:
        return library.SentenceTransformer(model, local_files_only=True, trust_remote_code=False)
    except OSError as error:  # its text says that the library could not connect
        raise ValueError(
            f"model {model!r} was not found on this machine, and ramify downloads nothing. Pass "
            "the folder of a model of sentence-transformers, or download it with python -c "
            f'"from sentence_transformers import SentenceTransformer as S; S({model!r})".'
        ) from error
    except (ValueError, KeyError) as error:
        raise ValueError(
            f"model {model!r} cannot be loaded by sentence-transformers: "
            f"{str(error).partition(chr(10))[0]} Pass another model."
        ) from error


def _texts(X: Any) -> list[str | None]:
    if not are_texts(X):
        raise ValueError(
            f"X must be texts, got {type(X).__name__}. Pass a list of strings, or one column."
        )
    return texts_of(X, 0)
