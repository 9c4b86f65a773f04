"""Argument parsing of the command ``ramify``; the other modules implement the commands."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any

try:
    import typer
    from click import ClickException
    from rich.console import Console
    from rich.markup import escape
except ImportError:  # pragma: no cover - the base installation has no command line
    raise SystemExit("The command line requires: pip install 'ramify[cli]'") from None

from ramify import __version__, load, save
from ramify._named_estimators import MODELS, make_model
from ramify.cli.annotations import AnnotationChoice, annotate
from ramify.cli.cafa import (
    CafaOptions,
    evaluate_cafa,
    figure_lines,
    figures,
    write_cafa_evaluation,
    write_targets,
)
from ramify.cli.describing import (
    evaluation_facts,
    print_evaluation,
    print_training,
    training_facts,
)
from ramify.cli.evaluating import evaluate_model, keep_known_labels, write_evaluation
from ramify.cli.predicting import (
    features_for,
    label_cells,
    label_sets,
    load_classifier,
    nominal_columns,
    write_predictions,
)
from ramify.cli.training import train as train_model
from ramify.cli.training import train_best
from ramify.datasets import fetch, list_datasets
from ramify.inspection import explore as write_page
from ramify.inspection import rules as rules_of
from ramify.io.any_file import DataOptions, TextForm, read_data, split_identifiers
from ramify.io.limits import ReadLimits
from ramify.metrics.reports import aligned
from ramify.studies import StudyResults, list_studies, load_study, run_study, write_reports
from ramify.studies.reports.console import print_study, study_facts

__all__ = ["app", "main"]

app = typer.Typer(
    help="Hierarchical multi-label classification. Start with: ramify demo",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

DATASET_COLUMNS = ("name", "domain", "rows", "features", "labels", "hierarchy", "depth")
TIME_LIMIT = 300.0  # seconds for --model auto
MISTAKE = 2  # exit status for user errors, as for an invalid option
BUG = 70  # exit status for internal errors, as in sysexits.h

DataFile = Annotated[
    Path, typer.Argument(help="ARFF, CSV or parquet file, plain or .gz.", metavar="DATA")
]
ModelFile = Annotated[
    Path, typer.Argument(help="Model file written by `ramify train`.", metavar="MODEL")
]
HierarchyFile = Annotated[
    Path | None,
    typer.Option(
        "--hierarchy",
        "-H",
        help="Label hierarchy, if the data do not define it: .obo, edges (.csv: parent,child), "
        "paths or an outline (.txt), .json, or Mulan's .xml.",
    ),
]
Target = Annotated[
    list[str] | None,
    typer.Option("--target", "-t", help='Label column, e.g. with "A/B;C" (default: labels).'),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help='Delimiter of a CSV file, e.g. ";" (default: a comma).',
        callback=lambda mark: "\t" if mark == "\\t" else mark,  # shells pass \t literally
    ),
]
Decimal = Annotated[str, typer.Option(help='Decimal point of a CSV file, e.g. ",".')]
Encoding = Annotated[str, typer.Option(help="Encoding of a text file, e.g. latin-1.")]
Separator = Annotated[str, typer.Option(help="Separator of the segments of a path.")]
Limit = Annotated[
    list[str] | None,
    typer.Option(help="Limit on data files, e.g. max_bytes=17179869184; repeatable."),
]
LabelSeparator = Annotated[str, typer.Option(help="Separator of the labels of a row.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the traceback of errors.")]
Threshold = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Predict labels with at least this probability."),
]

AnnotationFile = Annotated[
    Path | None,
    typer.Option(
        "--annotations",
        help="Annotations of the rows with terms of --ontology: GAF, GPAD or target and term.",
    ),
]
OntologyFile = Annotated[Path | None, typer.Option("--ontology", help="OBO file, plain or .gz.")]
Namespace = Annotated[
    str | None, typer.Option(help="Namespace of the ontology, e.g. BP (default: all).")
]
Evidence = Annotated[
    list[str] | None,
    typer.Option(
        help="Evidence code or group to use, e.g. experimental, or to leave out, e.g. -IEA; "
        "repeatable."
    ),
]
RowIds = Annotated[
    str, typer.Option(help="What identifies rows in --annotations: object, symbol or database.")
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", help="Column of identifiers (default: the first distinct text column)."),
]


@contextmanager
def plain_errors(verbose: bool) -> Iterator[None]:
    """Print user errors as one message and exit; show the traceback only if verbose.

    Other errors are bugs: they show the traceback, ask for a report and exit with `BUG`.
    """
    try:
        yield
    except (typer.Exit, typer.Abort, ClickException):
        raise
    except MemoryError as error:
        _print_error(f"not enough memory. {str(error) or 'Use fewer rows, trees or threads.'}")
        raise typer.Exit(MISTAKE) from None
    except (ValueError, TypeError, OSError, ImportError, KeyError) as error:
        if verbose:
            traceback.print_exc()
        else:
            text = error.args[0] if isinstance(error, KeyError) and error.args else error
            _print_error(str(text))
        raise typer.Exit(MISTAKE) from None
    except KeyboardInterrupt:
        Console(stderr=True).print("[bold]interrupted[/bold]")
        raise typer.Exit(130) from None
    except Exception as error:
        traceback.print_exc()
        _print_error(
            f"internal error ({type(error).__name__}). This is a bug in ramify {__version__}: "
            "please report it with the command and the traceback above."
        )
        raise typer.Exit(BUG) from None


def _print_error(text: str) -> None:
    Console(stderr=True).print(
        f"[bold red]ramify:[/bold red] {escape(text)}", highlight=False, soft_wrap=True
    )


def _columns(target: list[str] | None) -> tuple[str, ...]:
    return tuple(target or ["labels"])


@app.command()
def train(
    data: DataFile,
    hierarchy: HierarchyFile = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path(
        "model.ramify"
    ),
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help=f"One of: {', '.join(MODELS)}; or auto, which compares a tree, extra trees, a "
            "forest, gradient boosting and a vote, and saves the best.",
        ),
    ] = "forest",
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0.0, help=f"Limit in seconds of --model auto (default: {TIME_LIMIT:.0f})."
        ),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="Parameter, e.g. n_estimators=50; repeatable."),
    ] = None,
    target: Target = None,
    separator: Separator = "/",
    label_separator: LabelSeparator = ";",
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    limit: Limit = None,
    weight: Annotated[str | None, typer.Option(help="Column of sample weights.")] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; repeatable.")
    ] = None,
    annotations: AnnotationFile = None,
    ontology: OntologyFile = None,
    namespace: Namespace = None,
    evidence: Evidence = None,
    row_ids: RowIds = "object",
    id_column: IdColumn = None,
    min_count: Annotated[
        int, typer.Option(min=1, help="Least number of rows of a label of --annotations.")
    ] = 1,
    folds: Annotated[
        int, typer.Option(min=0, help="Number of cross-validation folds; 0 for none.")
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Number of threads; -1 for all cores.")
    ] = -1,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Train, cross-validate and save a model.

    ``ramify train species.csv --target taxon -o species.ramify``
    """
    with plain_errors(verbose):
        _check_folder(out, data, hierarchy)
        form = TextForm(delimiter, decimal, encoding)
        limits = ReadLimits.from_settings(limit or ())
        options = DataOptions(_columns(target), separator, label_separator, weight, form, limits)
        if folds == 1:
            raise ValueError(
                "--folds must be 0 or at least 2, got 1. Pass 0 for no cross-validation."
            )
        _check_auto(model, folds, parameters, time_limit)
        choice = AnnotationChoice(
            annotations,
            ontology,
            namespace,
            tuple(evidence or ()),
            row_ids,
            id_column,
            min_count,
            limits,
        )
        choice.check()
        if annotations is None:
            table = read_data(data, hierarchy, options)
        else:
            unlabelled = read_data(data, None, replace(options, target=()), labelled=False)
            table, lines = annotate(unlabelled, choice)
            typer.echo("\n".join(lines), err=True)
        table, dropped = split_identifiers(table, drop or ())
        progress = sys.stderr.isatty() and not as_json
        if model == "auto":
            seconds = TIME_LIMIT if time_limit is None else time_limit
            summary = train_best(
                table, folds=folds, time_limit=seconds, seed=seed, n_jobs=jobs, progress=progress
            )
        else:
            made = make_model(model, table.hierarchy, parameters or (), seed=seed, n_jobs=jobs)
            summary = train_model(table, made, folds=folds, seed=seed, progress=progress)
        save(summary.model, out)
        if as_json:
            _print_json(training_facts(summary, out, dropped))
        else:
            print_training(Console(), summary, out, dropped)


@app.command()
def predict(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write: .csv, .tsv, .parquet or .arff (default: print)."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Predict labels with at least this probability (default: the model's own rule).",
        ),
    ] = None,
    probabilities: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Write probabilities of at least this value instead of label sets.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help="cafa: write lines of target, term and score to --out."),
    ] = None,
    id_column: IdColumn = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    limit: Limit = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Predict the labels of the rows of a file.

    ``ramify predict species.ramify new.csv -o predicted.csv``
    """
    with plain_errors(verbose):
        if out is not None:
            _check_folder(out, model, data)
        elif probabilities is not None:
            raise ValueError(
                f"--probabilities {probabilities} requires --out. Pass the file to write with "
                "--out."
            )
        if form not in (None, "cafa") or (form and out is None):
            raise ValueError(f"--format must be cafa, with a file in --out, got {form!r}.")
        if form and (threshold is not None or probabilities is not None):
            raise ValueError(
                "--format cafa writes the scores of the best terms. Omit --threshold and "
                "--probabilities."
            )
        fitted = load_classifier(model)
        options = DataOptions(
            target=(),
            form=TextForm(delimiter, decimal, encoding),
            limits=ReadLimits.from_settings(limit or ()),
        )
        table = read_data(data, None, options, labelled=False, texts=nominal_columns(fitted))
        if out is not None:
            n_lines = (
                write_targets(out, fitted, table, id_column)
                if form == "cafa"
                else write_predictions(
                    out, fitted, table, threshold=threshold, least=probabilities
                )
            )
            if as_json:
                _print_json({"file": str(out), "rows": int(table.X.shape[0]), "lines": n_lines})
            else:
                _say_where(f"Wrote {n_lines:,} lines to", out)
            return
        sets = label_sets(fitted, features_for(fitted, table), threshold)
        cells = label_cells(fitted, sets)
        if as_json:
            _print_json([cell.split(";") if cell else [] for cell in cells])
        else:
            typer.echo("\n".join(cells))


@app.command()
def evaluate(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for measures and curves.")
    ] = None,
    target: Target = None,
    separator: Separator = "/",
    label_separator: LabelSeparator = ";",
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    limit: Limit = None,
    threshold: Threshold = 0.5,
    ignore_unknown: Annotated[
        bool, typer.Option(help="Ignore labels that are not known to the model.")
    ] = False,
    cafa: Annotated[
        bool,
        typer.Option(
            "--cafa",
            help="Use CAFA's measures. MODEL is a model, with --annotations, or a file of target, "
            "term and score; then DATA is the true annotations.",
        ),
    ] = False,
    annotations: AnnotationFile = None,
    ontology: OntologyFile = None,
    namespace: Namespace = None,
    evidence: Evidence = None,
    row_ids: RowIds = "object",
    id_column: IdColumn = None,
    information: Annotated[
        Path | None, typer.Option(help="With --cafa: file of terms and their information.")
    ] = None,
    known: Annotated[
        Path | None, typer.Option(help="With --cafa: annotations that were known before.")
    ] = None,
    terms: Annotated[
        Path | None, typer.Option(help="With --cafa: file of the terms to evaluate.")
    ] = None,
    normalization: Annotated[str, typer.Option(help="With --cafa: cafa, gt or pred.")] = "cafa",
    propagation: Annotated[str, typer.Option(help="With --cafa: max or fill.")] = "max",
    step: Annotated[float, typer.Option(help="With --cafa: step between thresholds.")] = 0.01,
    roots: Annotated[
        bool, typer.Option(help="With --cafa: evaluate terms without parents.")
    ] = True,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Evaluate a model on labelled rows.

    ``ramify evaluate species.ramify test.csv --target taxon -o results``
    """
    with plain_errors(verbose):
        if out is not None and out.is_file():
            raise ValueError(f"--out must be a folder, got the file {out}. Pass another name.")
        limits = ReadLimits.from_settings(limit or ())
        if cafa:
            choice = AnnotationChoice(
                annotations,
                ontology,
                namespace,
                tuple(evidence or ()),
                row_ids,
                id_column,
                limits=limits,
            )
            settings = CafaOptions(
                choice, information, known, terms, normalization, propagation, step, roots
            )
            form = TextForm(delimiter, decimal, encoding)
            reading = DataOptions(target=(), form=form, limits=limits)
            _evaluate_cafa(model, data, settings, reading, out=out, as_json=as_json)
            return
        fitted = load_classifier(model)
        form = TextForm(delimiter, decimal, encoding)
        options = DataOptions(_columns(target), separator, label_separator, None, form, limits)
        if ignore_unknown:
            table = read_data(data, None, options, texts=nominal_columns(fitted))
            table, unknown = keep_known_labels(table, fitted.hierarchy_)
            _say(f"Ignored {len(unknown):,} labels that are not known to the model")
        else:
            table = read_data(data, fitted.hierarchy_, options, texts=nominal_columns(fitted))
        summary = evaluate_model(fitted, table, threshold=threshold)
        files = [] if out is None else write_evaluation(out, fitted, summary)
        if as_json:
            _print_json(evaluation_facts(summary, files))
        else:
            print_evaluation(Console(), summary, files)


def _evaluate_cafa(
    model: Path,
    data: Path,
    settings: CafaOptions,
    reading: DataOptions,
    *,
    out: Path | None,
    as_json: bool,
) -> None:
    curves, lines = evaluate_cafa(model, data, settings, reading)
    files = [] if out is None else write_cafa_evaluation(out, curves)
    if as_json:
        _print_json({"figures": figures(curves), "files": [str(file) for file in files]})
        return
    typer.echo("\n".join([*lines, "", *figure_lines(curves)]))
    for file in files:
        _say_where("Wrote", file)


@app.command()
def datasets(
    name: Annotated[str | None, typer.Argument(help="Data set to describe.")] = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """List the public data sets, or describe one."""
    with plain_errors(verbose):
        if name is not None:
            typer.echo(fetch(name).description)
            return
        found = [entry._asdict() for entry in list_datasets()]
        if as_json:
            _print_json(found)
            return
        shown = [[entry[name] for name in DATASET_COLUMNS] for entry in found]
        typer.echo("\n".join(aligned([list(DATASET_COLUMNS), *shown])))


@app.command()
def study(
    name: Annotated[
        str,
        typer.Argument(
            help=f"TOML file, or one of: {', '.join(list_studies())}.", metavar="NAME_OR_TOML"
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output folder (default: results/NAME).")
    ] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", help="Apply a variant of the study.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run the short version.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--datasets", "-d", help="Data set or family of data sets to run; repeatable."
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Only write the reports of the stored results.")
    ] = False,
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", help="Number of cells run in parallel; -1 for all cores."),
    ] = 1,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Compare models on data sets and write a report.

    ``ramify study levatic2015 --quick``. Finished results are stored: after an interruption, the
    same command resumes the study.
    """
    with plain_errors(verbose):
        plan = load_study(name, variant=variant, quick=quick)
        folder = out or Path("results") / (plan.name + "-quick" * quick)
        if report and only:
            raise ValueError(
                f"--datasets {', '.join(only)} cannot be combined with --report, which reports "
                "all stored results. Remove --report: finished results are not computed again."
            )
        if report:
            results = StudyResults.read(folder)
        else:
            shown = sys.stderr.isatty() and not as_json
            results = run_study(plan, folder, only=only or (), n_jobs=jobs, progress=shown)
        files = write_reports(folder)
        if as_json:
            _print_json(study_facts(results, files))
        else:
            print_study(Console(), results, files)
    if results.failures:
        raise typer.Exit(1)


@app.command()
def explore(
    model: ModelFile,
    data: Annotated[Path | None, typer.Argument(help="Data with rows to show.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML page to write.")] = Path(
        "page.html"
    ),
    target: Target = None,
    separator: Separator = "/",
    label_separator: LabelSeparator = ";",
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    limit: Limit = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    trees: Annotated[
        int, typer.Option(min=1, help="Maximum number of trees of a forest to show.")
    ] = 10,
    verbose: Verbose = False,
) -> None:
    """Write an HTML page to explore a model: its trees, labels, rows and features.

    ``ramify explore species.ramify test.csv --target taxon -o species.html``
    """
    with plain_errors(verbose):
        _check_folder(out, model, data)
        fitted = load_classifier(model)
        rows: dict[str, Any] = {}
        if data is not None:
            form = TextForm(delimiter, decimal, encoding)
            limits = ReadLimits.from_settings(limit or ())
            options = DataOptions(_columns(target), separator, label_separator, None, form, limits)
            table = read_data(
                data,
                fitted.hierarchy_,
                options,
                labelled=False,
                texts=nominal_columns(fitted),
            )
            X = features_for(fitted, table)
            # A data frame defines its categories; an array does not.
            categories = None if hasattr(X, "columns") else table.categories
            rows = {"X": X, "y": table.y, "categories": categories}
        write_page(fitted, path=out, title=title, max_trees=trees, **rows)
        _say_where("Wrote the page to", out)


@app.command()
def rules(
    model: ModelFile,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", "-l", help="Only print rules for this label; repeatable."),
    ] = None,
    best: Annotated[
        int, typer.Option("--best", "-n", min=1, help="Number of rules to print.")
    ] = 20,
    threshold: Threshold = 0.5,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Print a model as rules, the most useful first.

    ``ramify rules species.ramify --label taxonomy/bird``
    """
    with plain_errors(verbose):
        found = rules_of(load(model), labels=label or None)
        if as_json:
            typer.echo(found.to_json())
        elif not label:
            typer.echo(found.to_text(threshold=threshold, n_best=best), nl=False)
        for name in [] if as_json else label or []:
            typer.echo(f"{name}: precision, lift, coverage × lift")
            for entry in found.for_label(name, best):
                figures = f"{entry.precision:6.2f}  {entry.lift:6.1f}  {entry.score:6.2f}"
                typer.echo(f"{figures}  IF {entry.rule.to_text()}")


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Report to write.")] = Path(
        "results/demo.md"
    ),
) -> None:
    """Train models on the bundled animals data set and show a report."""
    from ramify.cli.demo import main as run_demo  # noqa: PLC0415 (prints when run)

    with plain_errors(verbose=False):
        if out.is_dir():
            raise ValueError(f"--out must be a file, got the folder {out}. Pass another name.")
        run_demo(["--out", str(out)])


def _check_auto(
    model: str, folds: int, parameters: list[str] | None, time_limit: float | None
) -> None:
    """Refuse options that have no effect with, or only with, --model auto."""
    if model != "auto" and time_limit is not None:
        raise ValueError(f"--time-limit {time_limit:g} requires --model auto, got {model}.")
    if model == "auto" and parameters:
        raise ValueError(
            f"--set {parameters[0]} cannot be combined with --model auto. Name the model to set "
            "parameters, e.g. --model forest."
        )
    if model == "auto" and folds == 0:
        raise ValueError("--folds must be at least 2 with --model auto, got 0.")


def _check_folder(path: Path, *inputs: Path | None) -> None:
    """Check that the output can be written and is not an input, before any work is done."""
    folder = path.resolve().parent
    for given in inputs:
        if given is not None and given.exists() and path.resolve() == given.resolve():
            raise ValueError(f"--out must not be an input file, got {path}. Pass another name.")
    if not folder.is_dir():
        raise ValueError(
            f"--out must be in an existing folder, got {path}. Create the folder {folder} first."
        )
    if path.is_dir():
        raise ValueError(f"--out must be a file, got the folder {path}. Pass another name.")
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError:
        raise ValueError(
            f"--out must be in a writable folder, got {path}. Choose a folder other than {folder}."
        ) from None


def _say(text: str) -> None:
    Console(stderr=True).print(escape(text), highlight=False)


def _say_where(text: str, path: Path) -> None:
    Console().print(f"{text} [bold]{escape(str(path))}[/bold]", highlight=False, soft_wrap=True)


def _print_json(facts: Any) -> None:
    typer.echo(json.dumps(facts, indent=1, ensure_ascii=False, default=str))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ramify {__version__}")
        raise typer.Exit


@app.callback()
def _callback(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Hierarchical multi-label classification."""


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
