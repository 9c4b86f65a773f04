from ramify.apps.studies.included import list_studies
from ramify.apps.studies.plan import Study
from ramify.apps.studies.reading import load_study, make_study
from ramify.apps.studies.reports.writing import write_reports
from ramify.apps.studies.results import StudyResults
from ramify.apps.studies.running import run_study

__all__ = [
    "Study",
    "StudyResults",
    "list_studies",
    "load_study",
    "make_study",
    "run_study",
    "write_reports",
]
