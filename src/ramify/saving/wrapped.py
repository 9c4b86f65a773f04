"""Save and load estimators of other libraries with skops, which runs no code from files."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import json
import math
import zipfile
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse, special

from ramify._messages import import_extra
from ramify._schema import SchemaError, check_sparse
from ramify._validation import is_missing
from ramify.saving.container import DamageError, LoadLimits, ModelFileError, open_archive
from ramify.saving.values import Decoder, Encoder, Kind

_MAX_JOBS = 1024
_CLASSES = {
    "calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration",
    "compose": "ColumnTransformer make_column_selector",
    "compose._column_transformer": "_RemainderColsList",
    "decomposition": "PCA TruncatedSVD",
    "discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "dummy": "DummyClassifier",
    "ensemble": "AdaBoostClassifier BaggingClassifier ExtraTreesClassifier RandomForestClassifier "
    "StackingClassifier VotingClassifier",
    "feature_extraction.text": "CountVectorizer TfidfTransformer TfidfVectorizer",
    "feature_selection": "SelectFromModel SelectKBest SelectPercentile VarianceThreshold",
    "frozen": "FrozenEstimator",
    "impute": "SimpleImputer",
    "linear_model": "LogisticRegression LogisticRegressionCV PassiveAggressiveClassifier "
    "Perceptron RidgeClassifier RidgeClassifierCV SGDClassifier",
    "multiclass": "OneVsOneClassifier OneVsRestClassifier _ConstantPredictor",
    "multioutput": "ClassifierChain MultiOutputClassifier",
    "naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "neighbors": "KNeighborsClassifier NearestCentroid",
    "neural_network": "MLPClassifier",
    "neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "pipeline": "FeatureUnion Pipeline",
    "preprocessing": "Binarizer FunctionTransformer LabelBinarizer LabelEncoder MaxAbsScaler "
    "MinMaxScaler Normalizer OneHotEncoder OrdinalEncoder RobustScaler StandardScaler",
    "svm": "LinearSVC",
    "tree": "DecisionTreeClassifier ExtraTreeClassifier",
    "tree._tree": "Tree",
}
# Their constructors take numbers only. The same modules have functions that follow pointers.
_LOSSES = {
    "_loss._loss": "CyAbsoluteError CyExponentialLoss CyHalfBinomialLoss CyHalfGammaLoss "
    "CyHalfMultinomialLoss CyHalfPoissonLoss CyHalfSquaredError CyHalfTweedieLoss "
    "CyHalfTweedieLossIdentity CyHuberLoss CyPinballLoss",
    "linear_model._sgd_fast": "EpsilonInsensitive Hinge Huber Log ModifiedHuber "
    "SquaredEpsilonInsensitive SquaredHinge SquaredLoss",
}
_FUNCTIONS = {"feature_selection": "chi2 f_classif"}
# Where the names of universal functions are found, in this and earlier versions.
_NUMPY = ("numpy", "numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
_SCIPY = ("scipy.special", "scipy.special._special_ufuncs", "scipy.special._ufuncs")
_VALUES = ("builtins.bool", "builtins.float", "builtins.int", "builtins.str")
_CONTAINERS = ("builtins.dict", "builtins.list", "builtins.set", "builtins.tuple")
_SPARSE_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


class NeedsTrustError(ValueError):
    """An object is read without trust only with other settings than it has."""


def is_known(node: dict[str, Any]) -> bool:
    """Return whether a node of a skops archive stands for an object that needs no trust."""
    loader = node["__loader__"]
    # These stand for another node, and for JSON: skops takes nothing from their names.
    if loader in ("CachedNode", "JsonNode"):
        return True
    return f"{node['__module__']}.{node['__class__']}" in _names_by_loader().get(loader, ())


def known_names() -> frozenset[str]:
    """Return all names that nodes may have without trust; none comes from a file."""
    return frozenset().union(*_names_by_loader().values())


@functools.cache
def _names_by_loader() -> dict[str, frozenset[str]]:
    """Return the names that nodes may have, by the class of skops that reads them.

    They are exact, modules included: skops imports the module of a name.
    """
    scalars = {
        f"numpy.{one.__name__}"
        for one in np.sctypeDict.values()
        if issubclass(one, np.number | np.bool_ | np.str_)
    }
    kinds = [f"{one}_{kind}" for one in _SPARSE_FORMATS for kind in ("array", "matrix")]
    trees = set(_resolved({"tree._tree": "Tree"}))
    names = {
        "DTypeNode": {"numpy.dtype"},
        "DictNode": {"builtins.dict", *_resolved({"utils": "Bunch"})},
        "FunctionNode": {*_ufuncs(_NUMPY, np), *_ufuncs(_SCIPY, special), *_resolved(_FUNCTIONS)},
        "ListNode": {"builtins.list"},
        "LossNode": set(_resolved(_LOSSES)),
        "NdArrayNode": {"numpy.ndarray", *scalars},
        "ObjectNode": set(_classes()) - trees,
        "RandomStateNode": {_name_of(np.random.RandomState)},
        "SetNode": {"builtins.set"},
        "SliceNode": {"builtins.slice"},
        "SparseMatrixNode": {_name_of(getattr(sparse, one)) for one in kinds},
        "TreeNode": trees,
        "TupleNode": {"builtins.tuple"},
        "TypeNode": {*_VALUES, *_CONTAINERS, *scalars},
    }
    return {loader: frozenset(those) for loader, those in names.items()}


@functools.cache
def _classes() -> dict[str, str]:
    """Return the classes of `_CLASSES` that are installed: their full names, and those there."""
    return _resolved(_CLASSES)


def _resolved(table: dict[str, str]) -> dict[str, str]:
    """Return the names of objects of scikit-learn in full, which differ between versions."""
    found = {}
    for package, names in table.items():
        with contextlib.suppress(ImportError):
            module = import_module(f"sklearn.{package}")
            for name in names.split():
                if hasattr(module, name):
                    found[_name_of(getattr(module, name))] = f"{package}.{name}"
    return found


def _name_of(value: Any) -> str:
    return f"{value.__module__}.{value.__name__}"


def _ufuncs(modules: tuple[str, ...], root: Any) -> set[str]:
    names = [name for name in dir(root) if isinstance(getattr(root, name), np.ufunc)]
    return {f"{module}.{name}" for module in modules for name in names}


def check_content(value: Any) -> None:
    """Raise SchemaError if native code could follow the content of an object out of bounds.

    Or NeedsTrustError if the object is valid, but cannot be checked.
    """
    if isinstance(value, np.random.RandomState):
        _check_random_state(value)
        return
    name = _classes().get(_name_of(type(value)))
    if name is None:
        return
    fitted = getattr(value, "__dict__", {})
    _check_common(fitted, type(value))
    check = _CHECKS.get(name)
    if check is not None:
        check(value, fitted)


def _require(is_met: Any, message: str) -> None:
    if not is_met:
        raise SchemaError(message)


def _require_trust_unless(is_met: Any, message: str) -> None:
    if not is_met:
        raise NeedsTrustError(message)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check_random_state(value: np.random.RandomState) -> None:
    state: Any = value.get_state(legacy=False)
    is_twister = state["bit_generator"] == "MT19937"
    # numpy does not check the position and would read past the end of the key.
    _require(is_twister and 0 <= state["state"]["pos"] <= 624, "a random state is not valid")


def _check_common(fitted: dict[str, Any], cls: type) -> None:
    """Check what all estimators have in common: methods, numbers of threads and of classes."""
    for name in fitted:
        _require(not callable(getattr(cls, name, None)), f"{cls.__name__}.{name} must be a method")
    n_jobs = fitted.get("n_jobs")
    _require(
        n_jobs is None or (_is_whole(n_jobs) and abs(n_jobs) <= _MAX_JOBS),
        f"{cls.__name__}.n_jobs must be at most {_MAX_JOBS}, got {n_jobs!r}",
    )
    if "n_classes_" in fitted:
        lengths = np.asarray(fitted["n_classes_"]).ravel().tolist()
        classes = fitted.get("classes_", ())
        own = [len(one) for one in classes] if isinstance(classes, list) else [len(classes)]
        _require(lengths == own, f"{cls.__name__}.n_classes_ must be the number of classes")


def _check_tree(tree: Any, _: dict[str, Any]) -> None:
    """Check the nodes of a tree of scikit-learn, whose code follows them without checks."""
    nodes: Any = tree.__getstate__()["nodes"]
    left, right = nodes["left_child"], nodes["right_child"]
    inner = left != -1
    children = np.concatenate([left[inner], right[inner]])
    _require(
        len(nodes) > 0
        and (inner == (right != -1)).all()
        and (left[inner] > np.flatnonzero(inner)).all()
        and (right[inner] > np.flatnonzero(inner)).all()
        and (children < len(nodes)).all()
        and (np.bincount(children, minlength=len(nodes))[1:] == 1).all(),
        "the nodes of a tree must have later nodes as children, each with one parent",
    )
    features = nodes["feature"][inner]
    _require(
        ((features >= 0) & (features < tree.n_features)).all(),
        f"the features of a tree must be from 0 to {tree.n_features - 1}",
    )
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while len(level):
        depth += 1
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]])
    _require(tree.max_depth == depth, f"the depth of a tree must be {depth}")


def _check_decision_tree(tree: Any, fitted: dict[str, Any]) -> None:
    if "tree_" in fitted:
        _require(type(tree.tree_).__name__ == "Tree", "a decision tree has no nodes")
        _check_number_of_features(fitted, tree.tree_.n_features, "a decision tree")


def _check_number_of_features(fitted: dict[str, Any], n_features: int, what: str) -> None:
    own = fitted.get("n_features_in_")
    _require(_is_whole(own) and own == n_features, f"{what} must have {n_features} features")


def _check_forest(forest: Any, fitted: dict[str, Any]) -> None:
    """Check that all trees have the features of the forest, which are not checked again."""
    if "estimators_" not in fitted:
        return
    _require(type(forest.estimators_) is list, "the trees of a forest must be a list")
    for tree in forest.estimators_:
        is_tree = type(tree).__name__ in ("DecisionTreeClassifier", "ExtraTreeClassifier")
        _require(is_tree and "tree_" in vars(tree), "a forest must consist of fitted trees")
        _check_number_of_features(fitted, tree.tree_.n_features, "a forest")


_METRICS = ("chebyshev", "cityblock", "cosine", "euclidean", "l1", "l2", "manhattan", "minkowski",
            "sqeuclidean")  # fmt: skip


def _check_neighbors(model: Any, fitted: dict[str, Any]) -> None:
    """Check what the search for neighbours and the count of their classes read."""
    _require_trust_unless(
        fitted.get("metric") in _METRICS
        and fitted.get("effective_metric_", "l2") in _METRICS
        and fitted.get("metric_params") is None
        and _are_metric_parameters(fitted.get("effective_metric_params_", {}))
        and _are_numbers({"p": fitted.get("p")}),
        f"a KNeighborsClassifier with a metric other than {', '.join(_METRICS)}",
    )
    if "_fit_X" not in fitted:
        return
    X: Any = fitted["_fit_X"]
    y: Any = fitted.get("_y")
    classes = fitted.get("classes_")
    _require(
        (type(X) is np.ndarray or getattr(X, "format", "") == "csr")
        and X.dtype in (np.float32, np.float64)
        and X.ndim == 2
        and fitted.get("n_samples_fit_") == X.shape[0],
        "the rows of KNeighborsClassifier are not valid",
    )
    _check_number_of_features(fitted, X.shape[1], "KNeighborsClassifier")
    _require(
        _is_whole(model.n_neighbors) and 1 <= model.n_neighbors <= X.shape[0],
        f"KNeighborsClassifier.n_neighbors must be from 1 to {X.shape[0]}",
    )
    columns = [classes] if isinstance(classes, np.ndarray) else classes
    codes = y.reshape(len(y), -1) if type(y) is np.ndarray and y.size else np.empty((0, 0))
    _require(
        codes.dtype == np.intp
        and isinstance(columns, list)
        and codes.shape == (X.shape[0], len(columns))
        and (y.ndim == 1) == (fitted.get("outputs_2d_") is False)
        and all(
            isinstance(one, np.ndarray) and ((codes[:, k] >= 0) & (codes[:, k] < len(one))).all()
            for k, one in enumerate(columns)
        ),
        "the codes of classes of KNeighborsClassifier must be below the number of classes",
    )


def _are_metric_parameters(values: Any) -> bool:
    """Return whether values are numbers; the metric Minkowski has weights as well, or None."""
    return type(values) is dict and _are_numbers(
        {name: value for name, value in values.items() if (name, value) != ("w", None)}
    )


def _are_numbers(values: Any) -> bool:
    return type(values) is dict and all(type(v) in (int, float) for v in values.values())


def _check_nearest_centroid(model: Any, fitted: dict[str, Any]) -> None:
    metric = fitted.get("metric")
    known = metric in ("euclidean", "manhattan")
    _require_trust_unless(known, "a NearestCentroid with a metric of its own")


def _check_vote(vote: Any, fitted: dict[str, Any]) -> None:
    """Refuse to count predicted classes, each of which claims memory up to its number."""
    is_soft = fitted.get("voting") == "soft"
    _require_trust_unless(is_soft, "a VotingClassifier with voting='hard'")


def _check_function(transformer: Any, fitted: dict[str, Any]) -> None:
    """Refuse arguments: "out" would write to arrays of other objects after their check."""
    is_plain = not fitted.get("kw_args") and not fitted.get("inv_kw_args")
    _require_trust_unless(is_plain, "a FunctionTransformer with arguments")


def _check_pipeline(pipeline: Any, fitted: dict[str, Any]) -> None:
    """Refuse a cache: when the pipeline is fitted again, it would read pickles from there."""
    _require_trust_unless(fitted.get("memory") is None, "a Pipeline with memory")


def _check_one_hot(encoder: Any, fitted: dict[str, Any]) -> None:
    """Check the widths from which an encoder computes the columns of a sparse matrix."""
    if "categories_" in fitted:
        is_plain = (
            fitted.get("_drop_idx_after_grouping") is None
            and fitted.get("_infrequent_enabled") is False
        )
        _require_trust_unless(is_plain, "a OneHotEncoder that drops or groups categories")
        widths = [len(one) for one in encoder.categories_]
        n_features = fitted.get("n_features_in_")
        _require(
            fitted.get("_n_features_outs") == widths and n_features == len(widths),
            "the columns of OneHotEncoder must be its categories",
        )
        # A binary search among others may answer with their number, which is no column.
        is_sorted = all(map(_is_sorted, encoder.categories_))
        _require_trust_unless(is_sorted, "a OneHotEncoder whose categories are not sorted")


def _is_sorted(categories: Any) -> bool:
    """Return whether categories are in ascending order, the missing ones last."""
    values = categories.tolist() if isinstance(categories, np.ndarray) else []
    while values and is_missing(values[-1]):
        values.pop()
    try:
        return len(values) > 0 and all(a < b for a, b in itertools.pairwise(values))
    except TypeError:  # of different types
        return False


def _check_vocabulary(model: Any, fitted: dict[str, Any]) -> None:
    """Check that words stand for the columns of a matrix, and that runs of words have an end."""
    shortest, longest = fitted.get("ngram_range", (1, 1))
    _require(
        _is_whole(shortest) and _is_whole(longest) and 1 <= shortest <= longest,
        f"{type(model).__name__}.ngram_range must be two numbers from 1",
    )
    words = fitted.get("vocabulary_", {})
    _require(
        type(words) is dict and set(words.values()) == set(range(len(words))),
        f"{type(model).__name__}.vocabulary_ must number its words from 0",
    )


_CHECKS: dict[str, Callable[[Any, dict[str, Any]], None]] = {
    "ensemble.ExtraTreesClassifier": _check_forest,
    "ensemble.RandomForestClassifier": _check_forest,
    "ensemble.VotingClassifier": _check_vote,
    "feature_extraction.text.CountVectorizer": _check_vocabulary,
    "feature_extraction.text.TfidfVectorizer": _check_vocabulary,
    "neighbors.KNeighborsClassifier": _check_neighbors,
    "neighbors.NearestCentroid": _check_nearest_centroid,
    "pipeline.Pipeline": _check_pipeline,
    "preprocessing.FunctionTransformer": _check_function,
    "preprocessing.OneHotEncoder": _check_one_hot,
    "tree.DecisionTreeClassifier": _check_decision_tree,
    "tree.ExtraTreeClassifier": _check_decision_tree,
    "tree._tree.Tree": _check_tree,
}


def dump_wrapped(objects: Sequence[Any]) -> bytes:
    """Serialise estimators of other libraries."""
    dumped: bytes = import_extra("skops.io", "skops").dumps(list(objects))
    return dumped


def load_wrapped(data: bytes, trusted: Collection[str], limits: LoadLimits) -> list[Any]:
    """Load the output of `dump_wrapped` if all types in it are trusted."""
    skops_io = import_extra("skops.io", "skops")
    _check_sizes(data, limits)
    _check_schema(data, trusted)
    # skops decides by name what it constructs, so it is asked as well; no name that it is told to
    # trust comes from the file.
    listed = known_names() | set(trusted)
    _require_known(set(skops_io.get_untrusted_types(data=data)) - listed)
    found = skops_io.loads(data, trusted=sorted(listed))
    if type(found) is not list:
        raise DamageError("its wrapped estimators are not a list")
    _check_objects(found, trusted)
    return found


def _check_schema(data: bytes, trusted: Collection[str]) -> None:
    """Raise an error unless all nodes of an archive are of known kinds and types."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        schema = json.loads(archive.read("schema.json"))
        _check_protocol(schema)
        unknown = set()
        waiting: list[Any] = [schema]
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting.extend(value)
            elif isinstance(value, dict):
                waiting.extend(value.values())
                # A dict of the user may have the same keys, with nodes as values.
                if isinstance(value.get("__loader__"), str):
                    name = f"{value['__module__']}.{value['__class__']}"
                    if not is_known(value) and name not in trusted:
                        unknown.add(name)
                    _check_file(value, archive)
    _require_known(unknown)


def _check_protocol(schema: Any) -> None:
    """Refuse other versions of the format: skops would read them with other classes of nodes."""
    with zipfile.ZipFile(io.BytesIO(dump_wrapped([]))) as archive:
        own = json.loads(archive.read("schema.json"))["protocol"]
    found = schema["protocol"]
    if type(found) is not int or found != own:
        raise DamageError(
            f"its estimators of other libraries are in version {found!r} of the format of skops, "
            f"but the installed version of skops writes version {own}"
        )


def _check_file(node: dict[str, Any], archive: zipfile.ZipFile) -> None:
    """Check that a node reads a member that was checked as what the node takes it for."""
    suffix = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}.get(node["__loader__"])
    if suffix is None or "file" not in node:
        return
    name = str(node["file"])
    if not name.endswith(suffix):
        raise DamageError(f"an array must be in a member *{suffix}, got {name!r}")
    if suffix == ".npz":
        # skops may iterate over objects while it puts them together, before they are checked.
        _check_sparse(sparse.load_npz(io.BytesIO(archive.read(name))))


def _require_known(unknown: set[str]) -> None:
    if unknown:
        listed = sorted(unknown)
        raise _needs_trust(f"objects of types that are not known to be safe: {listed}", listed)


def _needs_trust(what: str, names: list[str]) -> ModelFileError:
    return ModelFileError(
        f"the file contains {what}. If you trust the source of the file, load it with "
        f"trusted={names}."
    )


def _check_objects(found: list[Any], trusted: Collection[str]) -> None:
    """Check the content of all objects whose types are not trusted by name."""
    waiting: list[Any] = [found]
    seen: dict[int, Any] = {}  # keeps the objects alive, so their ids stay unique
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, str | bytes | int | float | None):
            continue
        seen[id(value)] = value
        if sparse.issparse(value):
            _check_sparse(value)
        elif isinstance(value, dict):
            waiting.extend([*value.keys(), *value.values()])
        elif isinstance(value, list | tuple | set | frozenset):
            waiting.extend(value)
        elif isinstance(value, np.ndarray):
            waiting.extend(value.ravel().tolist() if value.dtype.kind == "O" else ())
        else:
            name = f"{type(value).__module__}.{type(value).__qualname__}"
            if name not in trusted:
                try:
                    check_content(value)
                except NeedsTrustError as error:
                    raise _needs_trust(str(error), [*sorted(trusted), name]) from None
            waiting.extend(getattr(value, "__dict__", {}).values())


def _check_sparse(matrix: Any) -> None:
    if matrix.format not in ("csr", "csc"):
        raise DamageError(f"a sparse matrix has the unsupported format {matrix.format!r}")
    check_sparse(matrix, "a sparse matrix")


def _check_sizes(data: bytes, limits: LoadLimits, suffix: str = "") -> None:
    """Check the declared shapes of arrays: numpy's reader, used by skops, does not."""
    with open_archive(data, limits) as archive:
        for info in archive.infolist():
            if not info.filename.endswith(suffix):
                raise DamageError(f"a sparse matrix has the unknown part {info.filename!r}")
            if info.filename.endswith(".npy"):
                _check_size(archive.read(info))
            elif info.filename.endswith(".npz"):
                _check_sizes(archive.read(info), limits, suffix=".npy")


def _check_size(data: bytes) -> None:
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    # Structured arrays, which scikit-learn's trees use, have a header of version 1 or 2.
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read_header(stream)
    claimed = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or claimed != len(data) - stream.tell():
        raise DamageError(
            f"an array declares {claimed} bytes, but has {len(data) - stream.tell()}"
        )


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _encode(encoder: Encoder, value: Any, where: str) -> dict[str, Any]:
    encoder.wrapped.append(value)
    return {"at": len(encoder.wrapped) - 1}


def _decode(decoder: Decoder, entry: dict[str, Any]) -> Any:
    if type(entry["at"]) is not int or not 0 <= entry["at"] < len(decoder.wrapped):
        raise DamageError(f"it refers to a wrapped estimator {entry['at']!r} that does not exist")
    return decoder.wrapped[entry["at"]]


WRAPPED = Kind("wrapped", _is_estimator, _encode, _decode, {"at": object})
"""Any estimator that is not part of ramify."""
