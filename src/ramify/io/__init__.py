"""Readers and writers of data sets and ontologies."""

from ramify.io.arff import read_arff, write_arff
from ramify.io.files import FormatError
from ramify.io.mulan import read_mulan
from ramify.io.obo import read_obo
from ramify.io.table import Table
from ramify.io.tables import read_table, write_table

__all__ = [
    "FormatError",
    "Table",
    "read_arff",
    "read_mulan",
    "read_obo",
    "read_table",
    "write_arff",
    "write_table",
]
