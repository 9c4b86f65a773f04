from ramify.studies.included import list_studies
from ramify.studies.plan import Study
from ramify.studies.reading import load_study, make_study
from ramify.studies.reports.writing import write_reports
from ramify.studies.results import StudyResults
from ramify.studies.running import run_study

__all__ = [
    "Study",
    "StudyResults",
    "list_studies",
    "load_study",
    "make_study",
    "run_study",
    "write_reports",
]
