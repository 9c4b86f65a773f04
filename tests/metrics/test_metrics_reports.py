"""evaluate, per_label_report, scorers and training records."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ramify import Hierarchy, PCTClassifier, metrics
from ramify.labels import read_labels

HIERARCHY = Hierarchy.from_paths(["a/x", "a/y", "b"])


class Prior(ClassifierMixin, BaseEstimator):
    """Predicts the label frequencies of the training data, in the format of y."""

    def __init__(self, hierarchy: Hierarchy | None = None) -> None:
        self.hierarchy = hierarchy

    def fit(self, X, y):
        encoded = read_labels(y, self.hierarchy)
        self.hierarchy_ = encoded.hierarchy
        self.format_ = encoded.format
        self.frequency_ = np.asarray(encoded.Y.mean(axis=0)).ravel()
        self.classes_ = np.array(encoded.hierarchy.labels)
        return self

    def predict_proba(self, X):
        return np.tile(self.frequency_, (len(X), 1))

    def predict(self, X):
        best = np.zeros((len(X), len(self.frequency_)), dtype=int)
        best[:, self.hierarchy_.index("b")] = 1
        return self.format_.write(best)


def _case(n_rows: int = 40):
    rng = np.random.default_rng(0)
    truth = HIERARCHY.close(rng.integers(0, 2, (n_rows, 4)))
    return truth, np.minimum(rng.random((n_rows, 4)), [1, 0.9, 0.9, 1])


def test_evaluate_gives_the_figures_of_the_functions():
    truth, scores = _case()
    result = metrics.evaluate(truth, scores, HIERARCHY)
    predicted = scores >= 0.5
    options = {"hierarchy": HIERARCHY}
    assert result["pooled_auprc"] == metrics.pooled_auprc(truth, scores)
    assert result["mean_auprc", "leaves"] == metrics.mean_auprc(
        truth, scores, labels="leaves", **options
    )
    assert result["micro_f1", "level 2"] == metrics.micro_f1(truth, predicted, labels=2, **options)
    for kind in ("micro", "macro"):
        figures = getattr(metrics, f"{kind}_precision_recall_f1")(truth, predicted)
        names = [f"{kind}_{name}" for name in ("precision", "recall", "f1")]
        assert [result[name] for name in names] == list(figures)
    figures = metrics.hierarchical_precision_recall_f1(truth, predicted, **options)
    names = [f"hierarchical_{name}" for name in ("precision", "recall", "f1")]
    assert [result[name] for name in names] == list(figures)
    assert result["hmc_loss"] == metrics.hmc_loss(truth, predicted, **options)
    levels = metrics.level_accuracy(truth, predicted, **options)
    assert [result["level_accuracy", f"level {k}"] for k in (1, 2)] == levels.tolist()
    with pytest.raises(KeyError, match="there is no measure 'accuracy'"):
        result["accuracy"]


def test_evaluate_names_every_measure_of_the_module_that_takes_predictions():
    result = metrics.evaluate(*_case(), HIERARCHY)
    scores = np.full((1, HIERARCHY.n_labels), 0.6)
    one_path = metrics.evaluate([["b"]], scores, HIERARCHY)
    named = {*result.columns["measure"], *one_path.columns["measure"]}
    for name in metrics.get_scorer_names():
        assert name.removeprefix("neg_") in named, name


def test_evaluate_takes_training_labels_and_predicted_sets():
    truth, scores = _case()
    train = HIERARCHY.encode([["a/x"], ["b"], ["b"], []])
    predicted = np.zeros(truth.shape, dtype=int)
    result = metrics.evaluate(truth, scores, HIERARCHY, y_train=train, y_pred=predicted)
    assert result["example_recall"] == metrics.example_recall(truth, predicted)
    bits = metrics.information_content(train, hierarchy=HIERARCHY)
    assert result["s_min"] == metrics.s_min(truth, scores, hierarchy=HIERARCHY, information=bits)
    ratio = metrics.label_imbalance(train)
    options = {"hierarchy": HIERARCHY, "alpha": ratio}
    assert result["symmetric_loss"] == metrics.symmetric_loss(truth, predicted, **options)
    assert result["hmc_loss"] == pytest.approx(result["symmetric_loss"])


def test_evaluate_without_hierarchy_or_positives():
    flat = metrics.evaluate([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.3]])
    assert set(flat.columns["labels"]) == {"all"}
    assert "hmc_loss" not in flat.columns["measure"]
    empty = metrics.evaluate([[0, 0]], [[0.9, 0.1]])
    assert np.isnan(empty["pooled_auprc"])
    assert np.isnan(empty["f_max"])
    assert empty["hamming_loss"] == 0.5


def test_tables_print_and_become_frames():
    result = metrics.evaluate(*_case(), HIERARCHY)
    lines = str(result).splitlines()
    assert lines[0].split() == ["measure", "all", "leaves", "level", "1", "level", "2"]
    assert len({len(line) for line in lines[1:5]}) == 1
    (printed,) = (line.split() for line in lines if line.startswith("pooled_auprc"))
    assert float(printed[1]) == pytest.approx(result["pooled_auprc"], abs=1e-3)
    assert float(printed[2]) == pytest.approx(result["pooled_auprc", "leaves"], abs=1e-3)
    frame = result.to_frame()
    assert list(frame.columns) == ["measure", "labels", "value"]
    assert len(frame) == len(result) == len(list(result.rows()))
    assert "<table>" in result._repr_html_()


def test_per_label_report_has_a_row_for_each_label():
    truth, scores = _case()
    report = metrics.per_label_report(truth, scores, HIERARCHY)
    assert report.columns["label"] == list(HIERARCHY.labels)
    assert report.columns["level"] == [1, 2, 2, 1]
    assert report.columns["support"] == np.asarray(truth.sum(axis=0)).tolist()
    assert np.mean(report.columns["auprc"]) == pytest.approx(metrics.mean_auprc(truth, scores))
    assert np.mean(report.columns["f1"]) == pytest.approx(metrics.macro_f1(truth, scores >= 0.5))


def test_per_label_report_of_labels_that_never_occur():
    report = metrics.per_label_report([[1, 0, 0]], [[0.9, 0.8, 0.1]])
    rows = list(report.rows())
    assert rows[1]["precision"] == 0.0
    assert np.isnan(rows[1]["recall"])
    assert np.isnan(rows[2]["f1"])
    assert np.isnan(rows[2]["auroc"])
    assert str(report).splitlines()[-1].split()[-2:] == ["-", "-"]
    sets_only = metrics.per_label_report([[1, 0]], y_pred=[[1, 0]], sample_weight=[0.5])
    assert "auprc" not in sets_only.columns
    assert sets_only.columns["support"] == [0.5, 0.0]
    with pytest.raises(ValueError, match="y_score and y_pred are both None"):
        metrics.per_label_report([[1, 0]])


def test_deep_hierarchies_print_their_first_levels():
    deep = Hierarchy.from_paths(["/".join("abcdefgh")])
    text = str(metrics.evaluate(deep.encode([["a/b/c"]]), np.full((1, 8), 0.6), deep))
    assert text.splitlines()[0].split()[-2:] == ["level", "6"]
    assert text.endswith("… and level 7 to level 8: see rows() or to_frame()")


def test_long_tables_are_cut():
    report = metrics.per_label_report(np.eye(70, dtype=int), np.eye(70))
    assert str(report).endswith("… and 10 more rows")


def test_scorers_of_scikit_learn_models():
    X, y = make_multilabel_classification(random_state=0)
    scoring = metrics.get_scorers(["pooled_auprc", "micro_f1", "neg_hamming_loss"])
    found = cross_validate(KNeighborsClassifier(), X, y, scoring=scoring, cv=3)
    model = KNeighborsClassifier().fit(X, y)
    proba = np.column_stack([p[:, 1] for p in model.predict_proba(X)])
    assert scoring["pooled_auprc"](model, X, y) == metrics.pooled_auprc(y, proba)
    loss = scoring["neg_hamming_loss"](model, X, y)
    assert loss == -metrics.hamming_loss(y, model.predict(X))
    assert (found["test_neg_hamming_loss"] <= 0).all()


def test_scorers_find_the_hierarchy_inside_pipelines_and_searches():
    X = np.arange(12.0)[:, None]
    y = np.array(["a/x", "b", "a/y"] * 4)
    chosen = metrics.get_scorers(["pooled_auprc", "top_k_accuracy"], labels="all")
    chosen |= metrics.get_scorers(["hierarchical_f1", "neg_h_loss"])
    pipeline = make_pipeline(StandardScaler(), Prior())
    found = cross_validate(pipeline, X, y, scoring=chosen, cv=2)
    # A fold has 2 × (a, a/x), 2 × b, 2 × (a, a/y): 10 labels, of which 6 times "b" hits 2.
    assert found["test_hierarchical_f1"] == pytest.approx([4 / 16, 4 / 16])
    grid = {"prior__hierarchy": [HIERARCHY]}
    search = GridSearchCV(pipeline, grid, scoring=chosen["neg_h_loss"], cv=2).fit(X, y)
    assert chosen["pooled_auprc"](search, X, y) > 0


def test_scorers_of_flat_classes():
    X, y = make_classification(n_classes=3, n_informative=4, random_state=0)
    names = np.array(["red", "green", "blue"])[y]
    model = LogisticRegression().fit(X, names)
    Y = (names[:, None] == model.classes_).astype(int)
    scorer = metrics.get_scorer("pooled_auprc")
    assert scorer(model, X, names) == metrics.pooled_auprc(Y, model.predict_proba(X))
    assert metrics.get_scorer("subset_accuracy")(model, X, names) == model.score(X, names)


def test_a_label_with_one_class_only_gets_a_constant_column():
    X, Y = np.arange(6.0)[:, None], np.array([[1, 0, 1]] * 3 + [[1, 0, 0]] * 3)
    model = DecisionTreeClassifier().fit(X, Y)
    assert metrics.get_scorer("pooled_auprc")(model, X, Y) == 1.0


def test_scorers_take_weights_when_routed():
    X, y = make_multilabel_classification(random_state=0)
    weight = np.random.default_rng(0).random(len(X))
    scorer = metrics.get_scorer("micro_f1").set_score_request(sample_weight=True)
    model = KNeighborsClassifier().fit(X, y)
    weighted = metrics.micro_f1(y, model.predict(X), sample_weight=weight)
    assert scorer(model, X, y, sample_weight=weight) == weighted
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_validate(
            model, X, y, scoring=scorer, cv=3, params={"sample_weight": weight}
        )
    plain = cross_validate(model, X, y, scoring=metrics.get_scorer("micro_f1"), cv=3)
    assert (routed["test_score"] != plain["test_score"]).any()


def test_scorers_pickle_and_print():
    scorer = metrics.get_scorer("neg_hmc_loss", labels="leaves")
    assert repr(scorer) == "HierarchicalScorer(negative hmc_loss, labels='leaves')"
    assert repr(pickle.loads(pickle.dumps(scorer))) == repr(scorer)
    with pytest.raises(ValueError, match=r"name must be one of .*, got 'accuracy'"):
        metrics.get_scorer("accuracy")


def test_overfit_score():
    # levatic2015, Table 4: HMC on Slovenian rivers loses 13.2 % of what it had in training.
    assert metrics.overfit_score(0.374 / (1 - 0.132), 0.374) == pytest.approx(0.132)
    assert np.isnan(metrics.overfit_score(0.0, 0.0))


def test_complexity_counts_all_nodes():
    X, y = make_multilabel_classification(random_state=0)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert metrics.model_complexity(tree) == tree.tree_.node_count
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    nodes = sum(member.tree_.node_count for member in forest.estimators_)
    assert metrics.model_complexity(forest) == nodes
    pipeline = make_pipeline(StandardScaler(), forest)
    assert metrics.model_complexity(pipeline) == nodes
    with pytest.raises(
        ValueError, match="model must contain fitted trees, got KNeighborsClassifier"
    ):
        metrics.model_complexity(KNeighborsClassifier())


def test_complexity_of_trees_of_ramify():
    X = np.arange(12.0)[:, None]
    y = np.array(["a/x", "b", "a/y"] * 4)
    model = PCTClassifier().fit(X, y)
    assert metrics.model_complexity(model) == len(model.tree_.feature)
    assert metrics.get_scorer("pooled_auprc")(model, X, y) > 0.3
    found = cross_validate(model, X, y, scoring=metrics.get_scorers(["hierarchical_f1"]), cv=2)
    assert np.isfinite(found["test_hierarchical_f1"]).all()


def test_record_fit():
    X, y = make_multilabel_classification(random_state=0)
    record = metrics.record_fit(DecisionTreeClassifier(), X, y, sample_weight=np.ones(len(X)))
    assert record.learning_time > 0
    assert record.complexity == record.model.tree_.node_count
    assert str(record).startswith("DecisionTreeClassifier: ")
    assert str(record).endswith(f" s, {record.complexity} nodes")
    without = metrics.record_fit(KNeighborsClassifier(), X, y)
    assert without.complexity is None
    assert str(without).endswith(" s, no trees")


def test_public_names_are_documented():
    for name in metrics.__all__:
        assert getattr(metrics, name).__doc__, name
