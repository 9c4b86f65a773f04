"""The command ``ramify study``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ramify.apps.cli.options import AsJson
from ramify.apps.cli.running import command, open_console, print_json, say
from ramify.apps.studies.included import find_study, list_studies


@command
def study(
    name: Annotated[
        str,
        typer.Argument(
            help=f"TOML file, or one of: {', '.join(list_studies())}.", metavar="NAME_OR_TOML"
        ),
    ],
    *,
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
) -> None:
    """Compare models on data sets and write a report.

    ``ramify study levatic2015 --quick``. Finished results are stored: after an interruption, the
    same command resumes the study.
    """
    find_study(name)
    from ramify.apps.studies.reading import load_study
    from ramify.apps.studies.reports.tables import print_study, study_facts
    from ramify.apps.studies.reports.writing import write_reports
    from ramify.apps.studies.results import StudyResults
    from ramify.apps.studies.running import run_study

    plan = load_study(name, variant=variant, quick=quick)
    folder = out or Path("results") / (plan.name + "-quick" * quick)
    if report and only:
        raise ValueError(
            f"--datasets {', '.join(only)} cannot be combined with --report, which reports all "
            "stored results. Remove --report: finished results are not computed again."
        )
    if report:
        results = StudyResults.read(folder)
    else:
        shown = sys.stderr.isatty() and not as_json
        results = run_study(plan, folder, only=only or (), n_jobs=jobs, progress=shown)
    written = write_reports(folder)
    if as_json:
        print_json(study_facts(results, written))
    else:
        print_study(open_console(), results, written)
    if not results.cells and not results.failures:
        say("None of the data sets is there, so nothing was compared.")
    if results.failures or not results.cells:
        raise typer.Exit(1)
