"""Damaged files are read or refused with a message. `make fuzz` tries more."""

import pytest

from tests.robustness.fuzz_readers import fuzz_readers, read
from tests.support.text_damage import BINARIES, DOCUMENTS


@pytest.mark.parametrize("name", [*DOCUMENTS, *BINARIES])
def test_the_documents_are_valid(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(BINARIES[name] if name in BINARIES else DOCUMENTS[name].encode())
    assert read(name, path) == ("read", "")


def test_damaged_documents_do_no_harm():
    found = fuzz_readers(600, seed=5)
    assert not found.findings, found.write()
    assert found.count("refused") > 150, found.write()
    assert found.count("read") > 50, found.write()
