"""Reading and writing files: gzip, zip, encodings, atomic writes."""

import contextlib
import gzip
import io
import random
import zipfile

import pytest

from ramify.io import FormatError, read_arff
from ramify.io.files import read_chunks, replacing, writing_text


@pytest.fixture
def arff(tmp_path):
    """Write bytes or text to a file and return its path."""

    def write(text, name="data.arff"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def zipped(text, *names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("data.arff",):
            archive.writestr(name, text)
    return buffer.getvalue()


class TestFiles:
    TEXT = "@relation r\n@attribute 'größe' numeric\n@data\n1\n"

    def test_gzip_by_content(self, arff):
        packed = gzip.compress(self.TEXT.encode())
        for name in ("data.arff.gz", "data.arff"):
            assert read_arff(arff(packed, name)).feature_names == ("größe",)

    def test_truncated_gzip(self, arff):
        text = self.TEXT + "".join(f"{i}\n" for i in range(50000))
        path = arff(gzip.compress(text.encode())[:-2000], "data.arff.gz")
        with pytest.raises(
            FormatError, match=r"data.arff.gz: the gzip file is truncated: .*; copy or"
        ):
            read_arff(path)

    def test_damaged_gzip(self, arff):
        packed = bytearray(gzip.compress(self.TEXT.encode() * 100))
        packed[20] ^= 0xFF
        with pytest.raises(FormatError, match="the gzip file is corrupt after"):
            read_arff(arff(bytes(packed)))
        with pytest.raises(FormatError, match="the gzip file is corrupt"):
            read_arff(arff(b"\x1f\x8bnot gzip at all"))

    def test_zip_by_content(self, arff):
        for name in ("data.arff.zip", "data.arff"):
            assert read_arff(arff(zipped(self.TEXT), name)).feature_names == ("größe",)

    def test_zip_with_several_files(self, arff):
        path = arff(zipped(self.TEXT, "a.arff", "b.arff"))
        with pytest.raises(FormatError, match="a zip file with a single file, found 2; unpack it"):
            read_arff(path)

    def test_damaged_zip(self, arff):
        whole = zipped(self.TEXT * 100)
        with pytest.raises(FormatError, match=r"data.arff: the zip file cannot be read \("):
            read_arff(arff(whole[:-30]))
        rng = random.Random(0)
        for _ in range(150):
            packed = bytearray(whole)
            packed[rng.randrange(4, len(packed))] ^= 1 << rng.randrange(8)
            with contextlib.suppress(FormatError):  # and no other error
                read_arff(arff(bytes(packed)))

    @pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8-sig", "UTF8"])
    def test_encodings(self, arff, encoding):
        path = arff(self.TEXT.encode(encoding))
        assert read_arff(path, encoding=encoding).feature_names == ("größe",)

    def test_wrong_encoding_names_byte_and_offset(self, arff):
        path = arff(self.TEXT.encode("latin-1"))
        offset = self.TEXT.index("ö")
        message = (
            r"line 2, column 15: expected text in utf-8, found byte 0xF6 at offset "
            rf"{offset}; pass encoding="
        )
        with pytest.raises(FormatError, match=message):
            read_arff(path)
        with pytest.raises(
            FormatError, match=rf"text in ascii, found byte 0xF6 at offset {offset}"
        ):
            read_arff(path, encoding="ascii")
        marked = arff(b"\xef\xbb\xbf" + self.TEXT.encode("latin-1"))
        with pytest.raises(FormatError, match=f"at offset {offset + 3};"):
            read_arff(marked)

    @pytest.mark.parametrize(
        "junk", [b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"]
    )
    def test_ill_formed_utf8(self, arff, junk):
        with pytest.raises(FormatError, match="expected text in utf-8"):
            read_arff(arff(b"@attribute x" + junk + b" numeric\n@data\n"))

    @pytest.mark.parametrize("encoding", ["klingon", "base64"])
    def test_unknown_encoding(self, arff, encoding):
        with pytest.raises(
            ValueError, match=rf"encoding must be a text encoding .*, got '{encoding}'"
        ):
            read_arff(arff(self.TEXT), encoding=encoding)

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            read_arff(tmp_path / "none.arff")

    def test_string_paths(self, arff):
        assert read_arff(str(arff(self.TEXT))).X.shape == (1, 1)


def test_characters_across_chunks(tmp_path):
    path = tmp_path / "text"
    text = "a" + "é" * (1 << 20)
    for encoding in ("utf-16-le", "shift-jis"):
        sample = text if encoding == "utf-16-le" else text.replace("é", "字")
        path.write_bytes(sample.encode(encoding))
        assert b"".join(read_chunks(path, encoding)).decode() == sample
    path.write_bytes(b"\x41\x00" * (1 << 20) + b"\x00\xd8\x41\x00")
    with pytest.raises(FormatError, match=rf"byte 0x00 at offset {1 << 21}\."):
        list(read_chunks(path, "utf-16-le"))
    path.write_bytes(b"\x41\x00\x41")
    with pytest.raises(FormatError, match=r"byte 0x41 at offset 2\."):
        list(read_chunks(path, "utf-16-le"))


def half_a_text(path):
    with writing_text(path) as file:
        file.write("new")
        raise RuntimeError("stop")


def half_a_file(path):
    with replacing(path) as temporary:
        temporary.write_text("new")
        raise RuntimeError("stop")


@pytest.mark.parametrize("write", [half_a_text, half_a_file])
@pytest.mark.parametrize("name", ["t.txt", "t.gz"])
def test_failed_writing_leaves_the_old_file(tmp_path, write, name):
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(RuntimeError, match="stop"):
        write(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_the_usual_ones(tmp_path):
    (tmp_path / "usual").write_text("")
    with writing_text(tmp_path / "ours") as file:
        file.write("")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode
