from ramify.io.annotations import (
    EVIDENCE_GROUPS,
    AnnotationReport,
    Annotations,
    read_annotations,
)
from ramify.io.arff.mulan import read_mulan
from ramify.io.arff.reader import read_arff, write_arff
from ramify.io.cafa import (
    CafaPredictions,
    read_cafa,
    read_information,
    write_cafa,
    write_information,
)
from ramify.io.errors import FormatError
from ramify.io.limits import ReadLimits
from ramify.io.obo import read_obo
from ramify.io.parquet_matrix import parquet_to_npy
from ramify.io.tables.reading import read_table
from ramify.io.tables.table import Table, write_table

__all__ = [
    "EVIDENCE_GROUPS",
    "AnnotationReport",
    "Annotations",
    "CafaPredictions",
    "FormatError",
    "ReadLimits",
    "Table",
    "parquet_to_npy",
    "read_annotations",
    "read_arff",
    "read_cafa",
    "read_information",
    "read_mulan",
    "read_obo",
    "read_table",
    "write_arff",
    "write_cafa",
    "write_information",
    "write_table",
]
