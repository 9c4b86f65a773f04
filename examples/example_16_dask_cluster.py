"""
A Dask cluster
==============

Forests, local models and cross-validation run their tasks through joblib, and can therefore use a
Dask cluster (:doc:`/more-than-one-machine`). This example starts a small cluster on one machine
and shows which worker grew which trees. The forest is the same as without the cluster, to the last
bit.
"""

import time

import joblib
import matplotlib.pyplot as plt
from dask.distributed import Client, LocalCluster, get_task_stream

from ramify import PCTForestClassifier, make_hierarchical_classification

data = make_hierarchical_classification(1500, 30, n_labels=60, random_state=0)
forest = PCTForestClassifier(data.hierarchy, n_estimators=40, random_state=0)

options = {"threads_per_worker": 1, "processes": False, "dashboard_address": None}
with (
    LocalCluster(n_workers=2, **options) as cluster,
    Client(cluster) as client,
    get_task_stream(client) as stream,
    joblib.parallel_config("dask"),
):
    forest.fit(data.X, data.y)
    time.sleep(1)  # the scheduler lists its tasks a little later

alone = PCTForestClassifier(data.hierarchy, n_estimators=40, random_state=0).fit(data.X, data.y)
same = (alone.predict_proba(data.X) == forest.predict_proba(data.X)).all()
print("the same forest:", bool(same))

# %%
tasks = [
    (task["worker"], step["start"], step["stop"])
    for task in stream.data
    for step in task["startstops"]
    if step["action"] == "compute"
]
workers = sorted({worker for worker, _, _ in tasks})
first = min(start for _, start, _ in tasks)

fig, ax = plt.subplots(figsize=(9, 2.6), layout="constrained")
for worker, start, stop in tasks:
    lane = workers.index(worker)
    ax.barh(lane, stop - start, left=start - first, edgecolor="white", color=f"C{lane}")
ax.set_yticks(range(len(workers)), [f"worker {k + 1}" for k in range(len(workers))])
ax.set(xlabel="seconds", title=f"{len(tasks)} tasks on {len(workers)} workers")
