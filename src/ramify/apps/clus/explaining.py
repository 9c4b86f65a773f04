"""Say what a settings file does, as code that uses ramify."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any

from ramify.apps.clus.data import Attributes, read_attributes, read_file
from ramify.apps.clus.estimator import (
    TargetKind,
    estimator_name,
    f_test_levels,
    forest_parameters,
    forest_sizes,
    prunes_on_rows,
    target_weights,
    tree_parameters,
)
from ramify.apps.clus.options import OPTIONS, Switches
from ramify.apps.clus.settings import Settings
from ramify.io.arff.columns import ArffFile


@dataclass
class Program:
    """A program that is being written."""

    settings: Settings  # the settings
    switches: Switches  # the switches of the command line
    file: ArffFile  # the training file
    attributes: Attributes  # its columns and their roles
    imports: dict[str, set[str]] = field(default_factory=dict)  # names to import, by module
    notes: list[str] = field(default_factory=list)  # what the program does differently

    def use(self, module: str, *names: str) -> None:
        """Import names of a module, or modules if it is empty."""
        self.imports.setdefault(module, set()).update(names)

    def rows_file(self, option: str) -> Path | None:
        """Return the file of the test or validation rows; None for a fraction of the rows."""
        is_drawn = self.settings.fraction("Data", option) is not None
        return None if is_drawn else self.settings.file("Data", option)

    @property
    def kind(self) -> TargetKind:
        """The kind of the targets."""
        return self.attributes.target_kind

    @property
    def is_hierarchical(self) -> bool:
        """Whether the labels form a hierarchy."""
        return self.kind == "hierarchical"

    @property
    def has_labels(self) -> bool:
        """Whether the targets are read as labels of a hierarchy, which may be flat."""
        return self.kind in {"hierarchical", "multilabel"}


def _note_choices(program: Program) -> None:
    """Say which alternatives of the settings the estimator does not have."""
    forest, labels = program.switches.forest, program.has_labels
    if forest and len(sizes := forest_sizes(program.settings)) > 1:
        program.notes.append(f"The ensembles of {sizes[:-1]} trees are the first of these trees.")
    if prunes_on_rows(program.settings, program.kind) and not forest:
        program.notes.append("The pruning on the rows of PruneSet is left out.")
    if len(f_test_levels(program.settings)) > 1 and (forest or not labels):
        program.notes.append(
            "The choice among the values of FTest is left out: the first is used."
        )


def _estimator(program: Program) -> tuple[str, dict[str, Any]]:
    """Return the class of the estimator and the parameters that differ from their defaults."""
    settings, forest = program.settings, program.switches.forest
    name = estimator_name(settings, program.kind, forest=forest)
    parameters = tree_parameters(settings, program.kind, forest=forest)
    if forest:
        parameters |= forest_parameters(settings)
    if program.kind in ("nominal", "numeric"):
        factors, normalize = target_weights(settings, len(program.attributes.target))
        own = factors.tolist() if (factors != factors[0]).any() or not normalize else None
        parameters |= {"target_weight": own, "normalize": normalize}
    known = signature(getattr(import_module("ramify.trees"), name)).parameters
    defaults = {key: parameter.default for key, parameter in known.items()}
    # With clus_compat, thresholds are observed values unless something else is asked for.
    defaults["threshold_at"] = "observed"
    return name, {
        key: value for key, value in parameters.items() if key in known and value != defaults[key]
    }


# ---- code that does the same ----------------------------------------------------------------


_MEASURES = ("mean_auroc", "mean_auprc", "weighted_auprc", "pooled_auprc")
# Options that change the results, but that no parameter of an estimator expresses.
_NOT_IN_CODE = (
    ("Data", "RemoveMissingTarget"),
    ("Hierarchical", "EmptySetIndicator"),
    ("Hierarchical", "RecallValues"),
    ("Hierarchical", "OptimizeErrorMeasure"),
    ("Attributes", "Weights"),
)


def python_code(settings: Settings, switches: Switches) -> list[str]:
    """Return a program that learns and evaluates the model of a settings file."""
    file = read_file(settings.data_file())
    program = Program(settings, switches, file, read_attributes(settings, switches, file))
    name, parameters = _estimator(program)
    _note_choices(program)
    columns, features, targets = _columns(program)
    body = [
        *_reading(program),
        "",
        *_made(program, name, parameters),
        *columns,
        _fitted(program, features, targets),
        "",
        *_evaluation(program, features, targets),
    ]
    _note_differences(program)
    notes = [f"# {note}" for note in program.notes]
    return [*_import_lines(program), "", *notes, *([""] if notes else []), *body]


def _reading(program: Program) -> list[str]:
    """Return the lines that read the data files."""
    program.use("ramify.io", "read_arff")
    lines = _reading_options(program)
    lines.append(f"train = read_arff({_literal(program.file.path)}, **reading)")
    for option, name in (("TestSet", "test"), ("PruneSet", "valid")):
        path = program.rows_file(option)
        if path is not None:
            known = "hierarchy=train.hierarchy, **reading" if program.has_labels else "**reading"
            lines.append(f"{name} = read_arff({_literal(str(path))}, {known})")
        elif program.settings.fraction("Data", option) is not None:
            text = program.settings.text("Data", option)
            program.notes.append(f"The rows that {option} = {text} draws are left out.")
    return lines


def _reading_options(program: Program) -> list[str]:
    options: dict[str, Any] = {"index_base": 1, "duplicate_names": "rename"}
    if not program.has_labels:
        return _assigned("reading", {"target": [], "as_frame": True, **options})
    if not program.is_hierarchical:
        names = [program.file.names[at] for at in program.attributes.target]
        return _assigned("reading", {"target": names, **options})
    is_dag = _is_dag(program)
    options |= {
        "separator": "/" if is_dag else program.settings.text("Hierarchical", "HSeparator"),
        "hierarchy_type": "dag" if is_dag else "tree",
        "zero_ends_path": not is_dag,
    }
    lines = _assigned("reading", options)
    definition = program.settings.file("Hierarchical", "DefinitionFile")
    if definition is not None:
        program.use("pathlib", "Path")
        program.use("ramify", "Hierarchy")
        lines += [
            f"text = Path({_literal(str(definition))}).read_text()",
            'edges = [edge.strip() for edge in text.replace("\\n", ",").split(",")]',
            'pairs = [edge.split("/") for edge in edges if edge]',
            'reading["hierarchy"] = Hierarchy.from_edges(pairs, root="root")',
        ]
    return lines


def _is_dag(program: Program) -> bool:
    """Whether CLUS reads a DAG; without Type, if no label has three segments."""
    kind = program.settings.text("Hierarchical", "Type")
    if kind != "Unknown":
        return kind == "DAG"
    separator = program.settings.text("Hierarchical", "HSeparator")
    names = program.file.declared_labels or program.file.label_sets.names
    return not any(name.count(separator) >= 2 for name, _, _ in names)


def _made(program: Program, name: str, parameters: dict[str, Any]) -> list[str]:
    """Return the lines that make the estimator."""
    program.use("ramify", name)
    given = [f"    {key}={_literal(value)}," for key, value in parameters.items()]
    labels = ["    train.hierarchy,"] if program.has_labels else []
    return [f"model = {name}(", *labels, *given, ")"]


def _columns(program: Program) -> tuple[list[str], str, str]:
    """Return lines that define columns, and what follows a table to select features, targets."""
    targets = set(program.attributes.target) if program.has_labels else set()
    cells = [at for at in program.file.cell_positions if at not in targets]
    chosen = [cells.index(at) for at in program.attributes.descriptive]
    if chosen == list(range(len(cells))):
        return [], ".X", ".y"
    program.use("", "numpy as np")
    lines = [f"columns = np.r_[{_slices(chosen)}]"]
    if not program.has_labels:
        chosen = [cells.index(at) for at in program.attributes.target]
        lines.append(f"targets = np.r_[{_slices(chosen)}]")
        return lines, ".X.iloc[:, columns]", ".X.iloc[:, targets]"
    is_frame = any(at in program.file.values for at in cells) and not program.file.is_sparse
    return lines, ".X.iloc[:, columns]" if is_frame else ".X[:, columns]", ".y"


def _slices(columns: Sequence[int]) -> str:
    """Write columns as slices: 0:3, 7."""
    breaks = [at for at, (a, b) in enumerate(pairwise(columns), 1) if b != a + 1]
    ends = zip([0, *breaks], [*breaks, len(columns)], strict=True)
    parts = [(columns[a], columns[b - 1] + 1) for a, b in ends]
    return ", ".join(str(a) if b == a + 1 else f"{a}:{b}" for a, b in parts)


def _fitted(program: Program, features: str, targets: str) -> str:
    """Return the line that fits the model."""
    arguments = [f"train{features}", f"train{targets}", "sample_weight=train.sample_weight"]
    tuned = len(program.settings.numbers("Tree", "FTest")) > 1 and not program.switches.forest
    if tuned and program.has_labels and program.rows_file("PruneSet"):
        arguments.append(f"X_val=valid{features}, y_val=valid{targets}")
    return f"model.fit({', '.join(arguments)})"


def _evaluation(program: Program, features: str, targets: str) -> list[str]:
    """Return the lines that print the model and its measures."""
    has_test = program.rows_file("TestSet") is not None
    tables = '("train", train), ("test", test)' if has_test else '("train", train)'
    loop = f"for name, table in [{tables}]:"
    if not program.has_labels:
        is_numeric = program.kind == "numeric"
        measure = "mean_squared_error" if is_numeric else "accuracy_score"
        program.use("sklearn.metrics", measure)
        text = "" if is_numeric else ".astype(str)"
        return [
            loop,
            f"    truth = table{targets}{text}",
            f"    predicted = model.predict(table{features}){text}",
            "    for i, target in enumerate(truth):",
            f"        print(name, target, {measure}(truth[target], predicted[:, i]))",
        ]
    program.use("ramify.inspection", "export_text")
    program.use("ramify.metrics", *_MEASURES)
    lines, only = ["print(export_text(model))"], ""
    chosen = program.settings.file("Hierarchical", "EvalClasses")
    if chosen is not None and program.is_hierarchical:
        program.use("pathlib", "Path")
        lines.append(f"labels = Path({_literal(str(chosen))}).read_text().split()")
        only = ", hierarchy=train.hierarchy, labels=labels"
    lines += [
        loop,
        f"    scores = model.predict_proba(table{features})",
        f"    for measure in ({', '.join(_MEASURES)}):",
        f"        print(name, measure.__name__, measure(table.y, scores{only}))",
    ]
    percent = program.settings.listed("Hierarchical", "ClassificationThreshold")
    if percent and program.is_hierarchical:
        levels = [level / 100 for level in percent]
        predicted = f"model.predict(table{features}, level)"
        lines.append(f"    label_sets = {{level: {predicted} for level in {levels}}}")
    return lines


def _note_differences(program: Program) -> None:
    if program.switches.xval:
        program.notes.append("The cross-validation of -xval is left out.")
    left_out = _NOT_IN_CODE if program.has_labels else _NOT_IN_CODE[:-1]
    program.notes += [
        f"[{section}] {name} is left out."
        for section, name in left_out
        if program.settings.given(section, name)
    ]


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


def _import_lines(program: Program) -> list[str]:
    plain = [f"import {name}" for name in sorted(program.imports.pop("", ()))]
    named = [
        f"from {module} import {', '.join(sorted(names))}"
        for module, names in sorted(program.imports.items())
    ]
    return [*plain, *named]


# ---- the whole explanation ------------------------------------------------------------------


_WIDTH = 97
_SWITCHES = {
    "forest": "-forest: learn an ensemble, with the options of the section Ensemble",
    "xval": "-xval: cross-validate",
    "fold": "-fold {}: no effect with -xval, which runs all folds",
    "target": "-target {}: predict these columns instead of those of Target",
    "disable": "-disable {}: leave out these columns as well",
}


def explain(settings: Settings, switches: Switches) -> str:
    """Explain what a settings file does."""
    lines = [f"What {settings.path} sets:", ""]
    for (section, name), entry in settings.entries.items():
        option = OPTIONS[section, name]
        meaning = f"[{section}] {name} = {entry.value} (line {entry.line}): {option.meaning}."
        if option.status == "without effect":
            meaning += f" No effect: {option.reason}."
        lines.append(meaning)
    for name, text in _SWITCHES.items():
        value = getattr(switches, name)
        if value not in (None, False):
            lines.append(f"{text.format(value)}.")
    comments = [comment for line in lines for comment in _comment(line)]
    return "\n".join([*comments, "", *python_code(settings, switches)]) + "\n"


def _comment(line: str) -> list[str]:
    wrapped = textwrap.wrap(line, _WIDTH, subsequent_indent="    ", break_long_words=False)
    return [f"# {part}" for part in wrapped] or ["#"]
