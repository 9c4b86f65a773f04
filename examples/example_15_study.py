"""
A whole study
=============

A study compares models on data sets by cross-validation. It is usually a TOML file that ``ramify
study`` runs (:doc:`/studies`); here it is written in Python. Finished cells are kept in a
folder, so that a study can be interrupted and extended, and its report has tables, tests and
rank diagrams.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

from ramify.studies import make_study, run_study, write_reports

study = make_study(
    {
        "name": "animals",
        "title": "Which model for the animals?",
        "datasets": [{"name": "animals"}],
        "protocol": {"folds": 5},
        "measures": {
            "auprc": {"measure": "pooled_auprc", "title": "AU(PRC)"},
            "f1": {"measure": "hierarchical_f1", "title": "hierarchical F1"},
        },
        "models": [
            {"name": "tree", "model": "tree", "parameters": {"f_test": 0.05}},
            {"name": "forest", "model": "forest", "parameters": {"n_estimators": 50}},
            {"name": "extra trees", "model": "extra-trees", "parameters": {"n_estimators": 50}},
            {"name": "shares", "title": "label shares", "model": "shares"},
        ],
    }
)
with TemporaryDirectory() as folder:
    results = run_study(study, folder)
    write_reports(folder)
    report = (Path(folder) / "report.md").read_text("utf-8")

print(report[:1500])

# %%
names = [model.name for model in study.models]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, measure in zip(axes, study.measures, strict=True):
    values = [results.mean(measure.name, "animals", name) for name in names]
    ax.barh(names, values, color="tab:cyan")
    for k, value in enumerate(values):
        ax.text(value + 0.01, k, f"{value:.2f}", va="center")
    ax.set(xlim=(0, 1), title=measure.title)
