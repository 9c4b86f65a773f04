"""Boosting from dask collections on a cluster."""

from __future__ import annotations

import os
import signal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify import PCTGradientBoostingClassifier, make_hierarchical_classification
from ramify.boosting.partitions.dask_cluster import DaskPartitions
from tests.support.dask_cluster import PROCESSES, cluster
from tests.support.partition_cases import divide, everything, fit_in_parts

distributed = pytest.importorskip("dask.distributed")
arrays = pytest.importorskip("dask.array")

# dask may warn when processes start and stop; do not turn its warnings into errors.
pytestmark = pytest.mark.filterwarnings("default")

N_WORKERS = 4
N_ROWS = 400


@pytest.fixture(scope="module", params=["threads", PROCESSES])
def client(request):
    with cluster(N_WORKERS, processes=request.param == "processes", work_stealing=False) as client:
        yield client


@pytest.fixture(scope="module")
def disposable_client():
    """A separate cluster for tests that kill workers, which are started again."""
    with cluster(N_WORKERS, processes=True, work_stealing=False) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(N_ROWS, n_features=10, n_labels=25, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return PCTGradientBoostingClassifier(data.hierarchy, max_iter=6, random_state=0)


@pytest.fixture(scope="module")
def expected(model, data):
    return everything(fit_in_parts(model, data.X, data.y.toarray(), divide(N_ROWS, 1)))


def matrix(data, n_parts):
    size = -(-data.shape[0] // n_parts)
    dense = data.toarray() if sparse.issparse(data) else np.asarray(data)
    return arrays.from_array(dense, chunks=(size, -1) if dense.ndim == 2 else size)


@pytest.mark.parametrize("n_parts", [1, 4, 7])
def test_the_model_does_not_depend_on_the_cluster(n_parts, client, model, data, expected):
    found = model.fit(matrix(data.X, n_parts), matrix(data.y, n_parts))
    assert everything(found) == expected
    assert found.predict_proba(data.X).shape == (N_ROWS, data.hierarchy.n_labels)


def test_blocks_may_be_sparse_and_of_unknown_length(client, model, data, expected):
    X = matrix(data.X, 3).map_blocks(sparse.csr_array)
    kept = matrix(np.ones(N_ROWS), 3) > 0
    y = matrix(data.y, 3)[kept]  # dask does not know the lengths of its chunks
    assert np.isnan(y.shape[0])
    assert everything(model.fit(X, y)) == expected


def test_weights_and_early_stopping(client, data):
    model = PCTGradientBoostingClassifier(
        data.hierarchy, max_iter=5, early_stopping=True, subsample=0.5, random_state=0
    )
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.5], N_ROWS)
    found = model.fit(matrix(data.X, 4), matrix(data.y, 4), matrix(weights, 4))
    whole = fit_in_parts(model, data.X, data.y.toarray(), divide(N_ROWS, 1), weights)
    assert everything(found) == everything(whole)
    assert len(found.validation_score_) > 1


def test_data_frames_with_nominal_columns_and_classes(client):
    frames = pytest.importorskip("dask.dataframe")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=120),
            "colour": pd.Series(rng.choice(["red", "green", "blue"], 120), dtype=object),
            "shape": pd.Categorical(rng.choice(["round", "square"], 120)),
        }
    )
    X.loc[::7, ["size", "colour"]] = None
    y = pd.Series(
        np.where(X["colour"] == "red", "a/b", rng.choice(["a/c", "d"], 120)), name="kind"
    )
    model = PCTGradientBoostingClassifier(max_iter=5, random_state=0)
    alone = model.fit(X, y)
    expected = alone.predict_proba(X)
    found = model.fit(frames.from_pandas(X, npartitions=3), frames.from_pandas(y, npartitions=3))
    assert found.classes_.tolist() == ["a", "a/b", "a/c", "d"]
    assert found.feature_names_in_.tolist() == list(X.columns)
    assert found.target_names_.tolist() == ["kind"]
    np.testing.assert_allclose(found.predict_proba(X), expected, atol=1e-5)


# ---- workers that die ----------------------------------------------------------------------


class Killer:
    """Kills the worker of the last partition before one of the requests, without waiting."""

    def __init__(self, client, monkeypatch, kind, number):
        self.client = client
        self.processes = client.run(os.getpid)
        self.killed = []
        original = DaskPartitions.ask

        def ask(partitions, request):
            if not self.killed and (request.kind, request.round) == (kind, number):
                owner = partitions._owners[max(partitions._owners)]
                os.kill(self.processes[owner], signal.SIGKILL)
                self.killed.append(self.processes[owner])
            return original(partitions, request)

        monkeypatch.setattr(DaskPartitions, "ask", ask)


@pytest.fixture(params=[("histograms", 0), ("histograms", 3), ("leaves", 5)], ids=str)
def killer(request, disposable_client, monkeypatch):
    disposable_client.wait_for_workers(N_WORKERS)
    return Killer(disposable_client, monkeypatch, *request.param)


@pytest.mark.process
def test_a_killed_worker_does_not_change_the_model(killer, model, data, expected):
    found = model.fit(matrix(data.X, N_WORKERS), matrix(data.y, N_WORKERS))
    assert len(killer.killed) == 1
    assert killer.killed[0] not in killer.client.run(os.getpid).values()
    assert everything(found) == expected


# ---- what travels --------------------------------------------------------------------------


def sent(client):
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


@pytest.mark.parametrize("client", [PROCESSES], indirect=True)
def test_partitions_stay_where_they_are(client):
    """Workers send each other less than a partition of X."""
    n_rows = 40_000
    X = arrays.random.default_rng(0).normal(size=(n_rows, 40), chunks=(n_rows // N_WORKERS, -1))
    X = client.persist(X.round(1))
    y = client.persist((X[:, :2] > 0).astype(int).rechunk({1: -1}))
    distributed.wait([X, y])
    before = sent(client)
    model = PCTGradientBoostingClassifier(
        max_iter=2, max_features=4, max_bins=16, early_stopping=False, random_state=0
    )
    with client.as_current():  # another cluster may have been started since
        model.fit(X, y)
    assert sent(client) - before < n_rows / N_WORKERS * 40 * 8


# ---- errors --------------------------------------------------------------------------------


def test_collections_that_do_not_fit_together(client, model, data):
    X, y = matrix(data.X, 4), matrix(data.y, 4)
    with pytest.raises(TypeError, match="must be dask collections if one of them is, got ndarray"):
        model.fit(X, data.y.toarray())
    with pytest.raises(TypeError, match="got ndarray for X"):
        model.fit(data.X, y)
    with pytest.raises(ValueError, match=r"got \{'X': 4, 'y': 3\}"):
        model.fit(X, matrix(data.y, 3))
    with pytest.raises(ValueError, match="same number of rows in every partition, got chunks"):
        model.fit(X, arrays.from_array(data.y.toarray(), chunks=((90, 110, 100, 100), -1)))
    with pytest.raises(ValueError, match="X must be divided by rows only, got 2 chunks of col"):
        model.fit(X.rechunk({1: 5}), y)
    with pytest.raises(ValueError, match="X_val, y_val and sample_weight_val must not be passed"):
        model.fit(X, y, X_val=data.X, y_val=data.y)
    with pytest.raises(ValueError, match="class_weight must be None if X is a dask collection"):
        PCTGradientBoostingClassifier(class_weight="balanced").fit(X, y)
    kept = matrix(np.arange(N_ROWS), 4) >= 10
    with pytest.raises(ValueError, match="X has 100 rows, but y has 90"):
        model.fit(X, y[kept])


def test_errors_of_partitions_reach_the_client(client, model, data):
    X = data.X.copy()
    X[-1, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.fit(matrix(X, 4), matrix(data.y, 4))
