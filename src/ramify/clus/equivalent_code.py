"""Python code with the public functions of ramify that does what a settings file does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from ramify.clus.errors import SettingsError, UnsupportedOptionError, quoted
from ramify.clus.roles import Roles, read_roles
from ramify.clus.settings import Settings
from ramify.clus.switches import Switches
from ramify.clus.values import number_of
from ramify.io.arff_columns import ArffFile, parse_arff

__all__ = ["WEIGHTING", "python_code"]

WEIGHTING = {
    "ExpSumParentWeight": "sum",
    "ExpAvgParentWeight": "avg",
    "ExpMinParentWeight": "min",
    "ExpMaxParentWeight": "max",
    "NoWeight": "avg",
}
CRITERIA = {
    "Default": "entropy",
    "Gain": "entropy",
    "GainRatio": "gain_ratio",
    "VarianceReduction": "gini",
}
_FORESTS = {"Bagging": "PCTBaggingClassifier", "RForest": "PCTForestClassifier"}
_MEASURES = ("mean_auroc", "mean_auprc", "weighted_auprc", "pooled_auprc")
# Options that change the results, but that no parameter of an estimator expresses.
_NOT_IN_CODE = (
    ("Data", "RemoveMissingTarget"),
    ("Hierarchical", "EmptySetIndicator"),
    ("Hierarchical", "RecallValues"),
    ("Hierarchical", "MEstimate"),
    ("Hierarchical", "SingleLabel"),
    ("Hierarchical", "OptimizeErrorMeasure"),
    ("Attributes", "Weights"),
    ("Attributes", "ClusteringWeights"),
    ("Model", "MinimalNumberExamples"),
)


@dataclass
class _Code:
    """The parts of a program.

    Attributes
    ----------
    settings : Settings
        The settings.
    switches : Switches
        The switches.
    file : ArffFile
        The training file.
    roles : Roles
        The roles of its columns.
    imports : dict of str to set of str
        Names to import, by module.
    notes : list of str
        What the program does differently.
    chosen : str
        Selects the features from the columns of a table; empty for all.
    """

    settings: Settings
    switches: Switches
    file: ArffFile
    roles: Roles
    imports: dict[str, set[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    chosen: str = ""

    def use(self, module: str, *names: str) -> None:
        self.imports.setdefault(module, set()).update(names)

    @property
    def is_hierarchical(self) -> bool:
        return [self.file.kinds[at] for at in self.roles.target] == ["labels"]


def python_code(settings: Settings, switches: Switches) -> list[str]:
    """Return a program that learns and evaluates the model of a settings file.

    Parameters
    ----------
    settings : Settings
        The settings.
    switches : Switches
        The switches of the command line.

    Returns
    -------
    list of str
        The lines of the program.
    """
    file = _parse(settings)
    code = _Code(settings, switches, file, read_roles(settings, switches, file))
    _check_target(code)
    body = [*_reading(code), "", *_model(code), *_fitting(code), *_evaluation(code)]
    _note_differences(code)
    notes = [f"# {note}" for note in code.notes]
    return [*_import_lines(code), "", *notes, *([""] if notes else []), *body]


def _parse(settings: Settings) -> ArffFile:
    path = settings.file("Data", "File")
    if path is None or not path.is_file():
        raise SettingsError(
            f"{settings.place('Data', 'File')} must name an existing file, got "
            f"{quoted(str(path))}."
        )
    return parse_arff(path, index_base=1, rename_duplicates=True, encoding="utf-8")


def _check_target(code: _Code) -> None:
    values = [set(code.file.values.get(at, ())) for at in code.roles.target]
    if code.is_hierarchical or (len(values) > 1 and all(v == {"0", "1"} for v in values)):
        return
    names = ", ".join(code.file.names[at] for at in code.roles.target)
    raise UnsupportedOptionError(
        f"{code.settings.place('Attributes', 'Target')}: --explain requires a hierarchical "
        f"target, or several targets with the values 0 and 1, got {quoted(names)}."
    )


def _reading(code: _Code) -> list[str]:
    """Return the lines that read the data files."""
    code.use("ramify.io", "read_arff")
    lines = _reading_options(code)
    lines.append(f"train = read_arff({_literal(_path(code, 'File'))}, **reading)")
    for option, name in (("TestSet", "test"), ("PruneSet", "valid")):
        text = code.settings.text("Data", option)
        if text in {"None", ""}:
            continue
        if _is_fraction(text):
            code.notes.append(
                f"{option} = {text} draws rows at random: give a file to explain it."
            )
            continue
        known = "hierarchy=train.hierarchy, **reading"
        lines.append(f"{name} = read_arff({_literal(_path(code, option))}, {known})")
    return lines


def _reading_options(code: _Code) -> list[str]:
    options: dict[str, Any] = {"index_base": 1, "duplicate_names": "rename"}
    if not code.is_hierarchical:
        names = [code.file.names[at] for at in code.roles.target]
        return _assigned("reading", {"target": names, **options})
    is_dag = _is_dag(code)
    options |= {
        "separator": "/" if is_dag else code.settings.text("Hierarchical", "HSeparator"),
        "hierarchy_type": "dag" if is_dag else "tree",
        "zero_ends_path": not is_dag,
    }
    lines = _assigned("reading", options)
    definition = code.settings.file("Hierarchical", "DefinitionFile")
    if definition is not None:
        code.use("pathlib", "Path")
        code.use("ramify", "Hierarchy")
        path = _literal(str(definition))
        lines += [
            f'edges = Path({path}).read_text().replace("\\n", ",").split(",")',
            'pairs = [edge.strip().split("/") for edge in edges if edge.strip()]',
            'reading["hierarchy"] = Hierarchy.from_edges(pairs, root="root")',
        ]
    return lines


def _is_dag(code: _Code) -> bool:
    """Whether CLUS reads a DAG; without Type, if no label has three segments."""
    kind = code.settings.text("Hierarchical", "Type")
    if kind != "Unknown":
        return kind == "DAG"
    separator = code.settings.text("Hierarchical", "HSeparator")
    names = code.file.declared_labels or code.file.label_sets.names
    return not any(name.count(separator) >= 2 for name, _, _ in names)


def _model(code: _Code) -> list[str]:
    """Return the lines that make the estimator."""
    name = "PCTClassifier"
    if code.switches.forest:
        method = code.settings.text("Ensemble", "EnsembleMethod")
        if method not in _FORESTS:
            raise UnsupportedOptionError(
                f"{code.settings.place('Ensemble', 'EnsembleMethod')}: --explain requires Bagging "
                f"or RForest, got {quoted(method)}."
            )
        name = _FORESTS[method]
    code.use("ramify", name)
    parameters = _tree_parameters(code)
    if code.switches.forest:
        parameters |= _forest_parameters(code, name)
    lines = [f"    {key}={_literal(value)}," for key, value in parameters.items()]
    return [f"model = {name}(", "    train.hierarchy,", *lines, "    clus_compat=True,", ")"]


def _tree_parameters(code: _Code) -> dict[str, Any]:
    settings = code.settings
    found: dict[str, Any] = {}
    if code.is_hierarchical:
        kind = settings.text("Hierarchical", "WType")
        found["w0"] = 1.0 if kind == "NoWeight" else settings.number("Hierarchical", "WParam")
        found["weighting"] = WEIGHTING[kind]
    else:
        found["criterion"] = CRITERIA[settings.text("Tree", "Heuristic")]
        pruned = settings.text("Tree", "PruningMethod") in {"Default", "C45"}
        if pruned and not code.switches.forest:
            found["pruning"] = "pessimistic"
    found["min_weight"] = settings.number("Model", "MinimalWeight")
    if settings.limit("Constraints", "MaxDepth") is not None:
        found["max_depth"] = settings.limit("Constraints", "MaxDepth")
    levels = settings.numbers("Tree", "FTest")
    if levels != (1.0,) and found.get("criterion") in {None, "gini"}:
        found["f_test"] = list(levels) if len(levels) > 1 else levels[0]
        if len(levels) > 1 and settings.text("Data", "PruneSet") == "None":
            found["cv"] = settings.integer("Model", "ParamTuneNumberFolds")
    if settings.text("Tree", "SplitPosition") == "Middle":
        found["threshold_at"] = "midpoint"
    if not settings.yes_no("Tree", "BinarySplit"):
        found["nominal_tests"] = "nary"
    elif not settings.yes_no("Model", "NominalSubsetTests"):
        found["nominal_tests"] = "single"
    return found


def _forest_parameters(code: _Code, name: str) -> dict[str, Any]:
    settings = code.settings
    sizes = [int(size) for size in settings.numbers("Ensemble", "Iterations")]
    if len(sizes) > 1:
        code.notes.append(f"The first trees of the ensemble are those of {sorted(sizes)[:-1]}.")
    found: dict[str, Any] = {"n_estimators": max(sizes) or 100}
    if name == "PCTForestClassifier":
        text = settings.text("Ensemble", "SelectRandomSubspaces")
        named = {"0": "sqrt", "SQRT": "sqrt", "LOG": "log2"}
        found["max_features"] = named.get(text) or (
            int(text) if text.isdecimal() else number_of(text)
        )
    if settings.integer("Ensemble", "BagSize"):
        found["max_samples"] = settings.integer("Ensemble", "BagSize")
    if settings.yes_no("Ensemble", "OOBestimate"):
        found["oob_score"] = True
    threads = settings.integer("Ensemble", "NumberOfThreads")
    if threads != 1:
        found["n_jobs"] = threads or -1
    found["random_state"] = settings.integer("General", "RandomSeed")
    return found


def _fitting(code: _Code) -> list[str]:
    """Return the lines that fit the model, with the features of the settings."""
    cells = [at for at in code.file.cell_positions if at not in code.roles.target]
    columns = [cells.index(at) for at in code.roles.features]
    lines = []
    if columns != list(range(len(cells))):
        code.use("", "numpy as np")
        lines.append(f"columns = np.r_[{_slices(columns)}]")
        is_frame = any(at in code.file.values for at in cells) and not code.file.is_sparse
        code.chosen = ".iloc[:, columns]" if is_frame else "[:, columns]"
    arguments = [f"train.X{code.chosen}", "train.y", "sample_weight=train.sample_weight"]
    if _has_validation(code):
        arguments.append(f"validation=(valid.X{code.chosen}, valid.y)")
    return [*lines, f"model.fit({', '.join(arguments)})", ""]


def _slices(columns: Sequence[int]) -> str:
    """Write columns as slices: 0:3, 7."""
    breaks = [at for at, (a, b) in enumerate(pairwise(columns), 1) if b != a + 1]
    starts = [0, *breaks]
    ends = [*breaks, len(columns)]
    parts = [(columns[a], columns[b - 1] + 1) for a, b in zip(starts, ends, strict=True)]
    return ", ".join(str(a) if b == a + 1 else f"{a}:{b}" for a, b in parts)


def _has_validation(code: _Code) -> bool:
    text = code.settings.text("Data", "PruneSet")
    tuned = len(code.settings.numbers("Tree", "FTest")) > 1
    return tuned and text not in {"None", ""} and not _is_fraction(text)


def _evaluation(code: _Code) -> list[str]:
    """Return the lines that print the model and its measures."""
    settings = code.settings
    code.use("ramify.inspection", "export_text")
    code.use("ramify.metrics", *_MEASURES)
    lines, only = ["print(export_text(model))"], ""
    chosen = settings.file("Hierarchical", "EvalClasses")
    if chosen is not None and code.is_hierarchical:
        code.use("pathlib", "Path")
        lines.append(f"labels = Path({_literal(str(chosen))}).read_text().split()")
        only = ", hierarchy=train.hierarchy, labels=labels"
    test = settings.text("Data", "TestSet")
    has_test = test not in {"None", ""} and not _is_fraction(test)
    tables = '("train", train), ("test", test)' if has_test else '("train", train)'
    lines += [
        f"for name, table in [{tables}]:",
        f"    scores = model.predict_proba(table.X{code.chosen})",
        f"    for measure in ({', '.join(_MEASURES)}):",
        f"        print(name, measure.__name__, measure(table.y, scores{only}))",
    ]
    levels = [level / 100 for level in settings.numbers("Hierarchical", "ClassificationThreshold")]
    if levels:
        predicted = f"model.predict(table.X{code.chosen}, level)"
        lines.append(f"    label_sets = {{level: {predicted} for level in {levels}}}")
    return lines


def _note_differences(code: _Code) -> None:
    if code.switches.xval:
        code.notes.append(
            "The cross-validation of -xval is left out: its folds are drawn by CLUS."
        )
    for section, name in _NOT_IN_CODE:
        if code.settings.given(section, name):
            code.notes.append(f"[{section}] {name} is left out: `ramify clus` does it.")


def _path(code: _Code, option: str) -> str:
    path = code.settings.file("Data", option)
    if path is None or not path.is_file():
        raise SettingsError(
            f"{code.settings.place('Data', option)} must name an existing file, got "
            f"{quoted(str(path))}."
        )
    return str(Path(path))


def _is_fraction(text: str) -> bool:
    try:
        number_of(text)
    except ValueError:
        return False
    return True


def _literal(value: Any) -> str:
    """Write a value as Python code with double quotes."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)


def _assigned(name: str, values: dict[str, Any]) -> list[str]:
    pairs = [f"    {_literal(key)}: {_literal(value)}," for key, value in values.items()]
    return [f"{name} = {{", *pairs, "}"]


def _import_lines(code: _Code) -> list[str]:
    plain = [f"import {name}" for name in sorted(code.imports.pop("", ()))]
    named = [
        f"from {module} import {', '.join(sorted(names))}"
        for module, names in sorted(code.imports.items())
    ]
    return [*plain, *named]
