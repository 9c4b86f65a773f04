"""Results on a cluster with the dask backend of joblib equal local results."""

import inspect
import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.tree import DecisionTreeClassifier

from ramify import (
    HierarchicalStratifiedKFold,
    PCTClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    make_hierarchical_classification,
)
from ramify._parallel import _kept_by_cluster, count_threads
from ramify.studies import run_study
from ramify.trees.tree_data import TreeData
from tests.support.dask_cluster import PROCESSES, cluster
from tests.support.estimators import make, public_classifiers
from tests.support.studies_cases import MODELS, small, without_times

distributed = pytest.importorskip("dask.distributed")

# dask may warn when processes start and stop; do not turn its warnings into errors.
pytestmark = pytest.mark.filterwarnings("default")

N_WORKERS = 3
FOREST = {"name": "forest", "model": "forest", "parameters": {"n_estimators": 5}}
PARALLEL = [cls for cls in public_classifiers() if "n_jobs" in inspect.signature(cls).parameters]


@pytest.fixture(scope="module", params=["threads", PROCESSES])
def client(request):
    with cluster(N_WORKERS, processes=request.param == "processes") as client:
        yield client


@pytest.fixture
def disposable_client():
    """A separate cluster for a test that kills one of two workers."""
    with cluster(2, processes=True) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(150, n_features=8, n_labels=12, random_state=0)


@pytest.mark.parametrize("cls", PARALLEL, ids=lambda cls: cls.__name__)
def test_models_fitted_on_a_cluster_equal_local_ones(cls, client, data):
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


def test_data_is_sent_once_and_not_with_every_tree(client, data, monkeypatch):
    written = []
    original = TreeData.__getstate__

    def counting(self):
        written.append(self)
        return original(self)

    monkeypatch.setattr(TreeData, "__getstate__", counting)
    with joblib.parallel_config("dask"):
        PCTForestClassifier(n_estimators=40, random_state=0).fit(data.X, data.y)
    assert 1 <= len(written) <= N_WORKERS


@pytest.mark.process
def test_data_is_sent_again_if_the_last_copy_is_lost(disposable_client, data):
    """Keep the only copy on one worker, and kill this worker before any tree is grown."""
    with joblib.parallel_config("dask"):
        backend, _ = get_active_backend()
        with _kept_by_cluster(backend, [data.X]):
            future = backend.data_futures[id(data.X)]
            distributed.wait(future)
            (holder,) = disposable_client.who_has(future)[future.key]
            os.kill(disposable_client.run(os.getpid)[holder], signal.SIGKILL)
            found = disposable_client.submit(np.sum, future).result(timeout=60)
        assert id(data.X) not in backend.data_futures
    assert found == data.X.sum()


def test_threads_are_limited_to_the_cores_of_one_machine(client):
    with joblib.parallel_config("dask"):
        assert joblib.effective_n_jobs(2) == N_WORKERS
        assert [count_threads(n_jobs) for n_jobs in (None, 1, 2)] == [1, 1, 2]
        assert count_threads(-1) == joblib.cpu_count()


class Killer(threading.Thread):
    """Kills a worker process when some of the tasks are done and some are not."""

    def __init__(self, client, task):
        super().__init__()
        self.client = client
        self.task = task
        self.processes = client.run(os.getpid)
        self.killed = None
        self.is_over = threading.Event()

    def run(self):
        while self.killed is None and not self.is_over.is_set():
            time.sleep(0.005)
            self.killed = self.client.run_on_scheduler(self._find, self.task, self.processes)
        if self.killed is not None:
            os.kill(self.killed, signal.SIGKILL)

    @staticmethod
    def _find(task, processes, dask_scheduler):
        """Return the process of a worker that runs a task, other than the first tasks."""
        tasks = [state for key, state in dask_scheduler.tasks.items() if task in str(key)]
        at_work = [state.processing_on for state in tasks if state.processing_on]
        if len(tasks) <= N_WORKERS or not at_work:
            return None
        return processes[at_work[0].address]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.join()


def check_death(killer, client):
    assert killer.killed is not None, "the work was done before a worker could be ended"
    assert killer.killed not in client.run(os.getpid).values()


@pytest.fixture(scope="module")
def more_data():
    return make_hierarchical_classification(1500, n_features=20, n_labels=60, random_state=0)


@pytest.mark.process
@pytest.mark.parametrize(
    ("estimator", "task"),
    [
        (PCTForestClassifier(n_estimators=100, random_state=0), "_grow_member"),
        (PerEdgeClassifier(estimator=DecisionTreeClassifier(random_state=0)), "_learn_bundle"),
    ],
    ids=["forest", "local"],
)
def test_fit_survives_the_death_of_a_worker(estimator, task, disposable_client, more_data):
    X, y = more_data.X, more_data.y
    estimator = clone(estimator).set_params(hierarchy=more_data.hierarchy)
    expected = estimator.fit(X, y).predict_proba(X)
    with joblib.parallel_config("dask"), Killer(disposable_client, task) as killer:
        there = clone(estimator).fit(X, y)
    check_death(killer, disposable_client)
    np.testing.assert_array_equal(there.predict_proba(X), expected)


def test_a_cluster_runs_the_cells_of_a_study(client, tmp_path):
    study = small(models=[*MODELS[1:], FOREST])
    expected = run_study(study, tmp_path / "here").cells
    with joblib.parallel_config("dask"):
        there = run_study(study, tmp_path / "there").cells
    assert len(there) == 9
    assert list(map(without_times, there)) == list(map(without_times, expected))
