"""More than one process through joblib's dask backend: results equal to local ones."""

import inspect
import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_validate

from ramify import (
    HierarchicalStratifiedKFold,
    PCTClassifier,
    PCTForestClassifier,
    make_hierarchical_classification,
)
from ramify._cluster import count_threads
from ramify._members import TrainingSet
from tests.estimators import make, public_classifiers

distributed = pytest.importorskip("dask.distributed")

# Starting and stopping processes is not ours to be strict about.
pytestmark = pytest.mark.filterwarnings("default")

N_WORKERS = 3
PARALLEL = [cls for cls in public_classifiers() if "n_jobs" in inspect.signature(cls).parameters]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=N_WORKERS,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(150, n_features=8, n_labels=12, random_state=0)


@pytest.mark.parametrize("cls", PARALLEL, ids=lambda cls: cls.__name__)
def test_a_cluster_learns_what_one_machine_learns(cls, client, data):
    expected = make(cls).fit(data.X, data.y).predict_proba(data.X)
    with joblib.parallel_config("dask"):
        model = make(cls).fit(data.X, data.y)
        there = model.predict_proba(data.X)
    np.testing.assert_array_equal(there, expected)
    np.testing.assert_array_equal(model.predict_proba(data.X), expected)


@pytest.mark.parametrize("estimator", [PCTClassifier(), PCTForestClassifier(n_estimators=6)])
def test_cross_validation_gives_the_same_scores(estimator, client, data):
    estimator.set_params(hierarchy=data.hierarchy, random_state=0)
    folds = HierarchicalStratifiedKFold(3, hierarchy=data.hierarchy, random_state=0)
    y = data.hierarchy.decode(data.y)
    expected = cross_validate(estimator, data.X, y, cv=folds)
    with joblib.parallel_config("dask"):
        found = cross_validate(estimator, data.X, y, cv=folds)
    np.testing.assert_array_equal(found["test_score"], expected["test_score"])


def test_the_data_travel_once_and_not_with_every_tree(client, data, monkeypatch):
    written = []
    original = TrainingSet.__getstate__

    def counting(self):
        written.append(self)
        return original(self)

    monkeypatch.setattr(TrainingSet, "__getstate__", counting)
    with joblib.parallel_config("dask"):
        PCTForestClassifier(n_estimators=40, random_state=0).fit(data.X, data.y)
    assert 1 <= len(written) <= N_WORKERS


def test_a_cluster_has_not_more_threads_in_one_process(client):
    with joblib.parallel_config("dask"):
        assert joblib.effective_n_jobs(2) == N_WORKERS
        assert [count_threads(n_jobs) for n_jobs in (None, 1, 2)] == [1, 1, 2]
        assert count_threads(-1) == joblib.cpu_count()


class Killer(threading.Thread):
    """Ends a worker's process as soon as it works on trees."""

    def __init__(self, client):
        super().__init__()
        self.scheduler = client.cluster.scheduler
        self.processes = client.run(os.getpid)
        self.killed = None
        self.fit_is_over = threading.Event()

    def run(self):
        while self.killed is None and not self.fit_is_over.is_set():
            # Not the first trees: by then the fit is well under way.
            done = sum("_grow_member" in str(key) for key in dict(self.scheduler.tasks))
            for address, worker in list(self.scheduler.workers.items()):
                if done > N_WORKERS and worker.processing and self.killed is None:
                    os.kill(self.processes[address], signal.SIGKILL)
                    self.killed = self.processes[address]
            time.sleep(0.01)


def test_a_worker_may_die_in_the_middle_of_a_fit(client):
    data = make_hierarchical_classification(1500, n_features=20, n_labels=60, random_state=0)
    forest = PCTForestClassifier(n_estimators=150, random_state=0)
    expected = forest.fit(data.X, data.y).predict_proba(data.X)
    killer = Killer(client)
    killer.start()
    with joblib.parallel_config("dask"):
        there = forest.fit(data.X, data.y)
    killer.fit_is_over.set()
    killer.join()
    assert killer.killed is not None, "the fit was over before a worker could be ended"
    assert killer.killed not in client.run(os.getpid).values()
    np.testing.assert_array_equal(there.predict_proba(data.X), expected)
