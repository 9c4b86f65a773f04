"""Readers and writers of data sets."""

from ramify.io.arff import read_arff, write_arff
from ramify.io.files import FormatError
from ramify.io.table import Table

__all__ = ["FormatError", "Table", "read_arff", "write_arff"]
