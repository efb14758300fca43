"""Texts that are read in blocks mean what they mean when they are read whole, or are refused."""

from __future__ import annotations

import gzip
import subprocess

import numpy as np
import pytest

import eckart as ek
from eckart.errors import FileError, NotFiniteError, ParameterError
from eckart.io.text import rows as text_rows


def shrink(monkeypatch, size):
    monkeypatch.setattr(text_rows, "_HELD", 0)
    for place in ("eckart.io.text.rows._HEAD", "eckart.io.text.index._CHUNK", "eckart.io.bytes.CHUNK"):
        monkeypatch.setattr(place, size)


@pytest.fixture
def small_pieces(monkeypatch):
    """The layout is found in the first lines, and a piece is a few lines."""
    shrink(monkeypatch, 300)


def both(tmp_path, text, **options):
    """The matrix read whole and in blocks; what is refused as its message."""
    path = tmp_path / "a.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = []
    for stream in (False, True):
        try:
            source = ek.open_data(path, stream=stream, **options)
            found.append(source.read(0, source.shape[0]) if stream else source.matrix)
        except FileError as error:
            found.append(str(error))
    return found


def lines(column, count=300):
    return "a,b,c\n" + "".join(f"{i * 0.5},{column(i)},{-i}\n" for i in range(count))


@pytest.mark.parametrize("word", ["0x1F", "0X1f", "true", "2020-01-01", "1_000", "1e", "12:30"])
@pytest.mark.usefixtures("small_pieces")
def test_a_word_far_down_among_numbers_is_refused_in_both(tmp_path, word):
    """Arrow reads 0x1F as 31 if all other cells of the column are integers."""
    whole, blocks = both(tmp_path, lines(lambda i: word if i == 250 else i % 7))
    assert f"line 252, column 'b': the cell '{word}' is not a number" in whole
    assert blocks == whole


@pytest.mark.usefixtures("small_pieces")
def test_identifiers_in_hexadecimal_are_labels(tmp_path):
    whole, blocks = both(tmp_path, lines(lambda i: f"0x{i % 9:02}"))
    assert whole.shape == (300, 2)
    np.testing.assert_array_equal(whole, blocks)


@pytest.mark.parametrize("first", ["ok", "2020-01-01", "12:30"])
@pytest.mark.usefixtures("small_pieces")
def test_text_at_the_beginning_of_a_column_of_numbers(tmp_path, first):
    whole, blocks = both(tmp_path, lines(lambda i: first if i < 80 else i % 7))
    assert f"the cell '{first}' is not a number" in whole
    assert "220 of its 300 cells are numbers" in blocks
    whole, blocks = both(tmp_path, lines(lambda i: "ok" if i < 200 else i % 7))
    assert whole.shape == (300, 2)
    np.testing.assert_array_equal(whole, blocks)


BODY = "".join(f"t{i};{i},5;{-i}\r\n" for i in range(200))
VALUES = np.array([[i + 0.5, -i] for i in range(200)])


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffsep=;\r\nname;a;b\r\n" + BODY,  # as a spreadsheet writes it
        "# made by a program\r\n\r\nname;a;b\r\n" + BODY,
        "name;a;b\r\n" + BODY.replace("\r\n", "\r\n  \r\n", 50) + "\x1a",
        "name;a;b\n" + BODY.replace("\r\n", "\n").replace(";", ";\u00a0"),
        f"{'n' * 3000};a;b\n{BODY}",  # the names alone are longer than the beginning that is looked at
        "name;a;b\n" + BODY.replace("\r\n", "\r"),
    ],
    ids=["spreadsheet", "comment", "blank-lines", "no-break-spaces", "long-names", "carriage-returns"],
)
@pytest.mark.usefixtures("small_pieces")
def test_lines_mean_the_same_in_blocks(tmp_path, text):
    for found in both(tmp_path, text):
        np.testing.assert_array_equal(found, VALUES)


@pytest.mark.usefixtures("small_pieces")
def test_a_byte_that_is_not_utf8_far_down(tmp_path):
    """It is in a column that is not analysed; a text that says it is UTF-8 is refused whole as well."""
    text = b"\xef\xbb\xbfname,a,b\n" + b"".join(b"t%d,%d,2\n" % (i, i) for i in range(200))
    whole, blocks = both(tmp_path, text.replace(b"t190", b"t\xe9"))
    assert "line 192: the text is not valid utf-8" in whole
    assert "line 192: the text is not UTF-8" in blocks


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf_8", "utf-8-sig"])
@pytest.mark.usefixtures("small_pieces")
def test_every_name_of_utf8_is_known(tmp_path, encoding):
    text = "name,a,b\n" + "".join(f"t{i},{i},2\n" for i in range(200))
    for mark in (b"", b"\xef\xbb\xbf"):
        whole, blocks = both(tmp_path, mark + text.encode(), encoding=encoding)
        np.testing.assert_array_equal(whole, blocks)
    for wrong in ("t5", "t190"):
        whole, blocks = both(tmp_path, text.replace(wrong, "t\xe9").encode("latin-1"), encoding=encoding)
        assert f"the text is not valid {encoding}. Set the right encoding" in whole
        assert whole == blocks


WIDTH = 1600


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("quoted", [False, True])
def test_many_columns(tmp_path, monkeypatch, labelled, quoted):
    shrink(monkeypatch, 40_000)
    values = np.round(np.random.default_rng(4).standard_normal((12, WIDTH)), 3)
    values[7, 5] = np.nan
    names = ",".join(f"c{j}" for j in range(WIDTH))
    cells = [
        [("" if np.isnan(x) else f'"{x}"' if quoted and j == 3 else f" {x}") for j, x in enumerate(row)]
        for row in values
    ]
    text = "\n".join([names, *map(",".join, cells)])
    if labelled:
        text = "\n".join(f"{f't{i}' if i else 'town'},{line}" for i, line in enumerate(text.split("\n")))
    whole, blocks = both(tmp_path, text.replace("\n", "\r\n") + "\r\n")
    np.testing.assert_array_equal(whole, values)
    np.testing.assert_array_equal(blocks, values)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("x", "line 19, column 'c0': the cell 'x' is not a number"),
        ("1,2", "line 19 has 1,601 cells, but the header has 1600"),
        ("1e999", "line 19, column 'c0': the value is infinite"),
        ("1\x1f2", "line 19, column 'c0': the cell '1.x1f2' is not a number"),
    ],
)
def test_many_columns_with_a_wrong_cell(tmp_path, monkeypatch, wrong, message):
    shrink(monkeypatch, 30_000)
    rows = [",".join(["0.5"] * WIDTH) for _ in range(20)]
    rows[17] = rows[17].replace("0.5", wrong, 1)
    (tmp_path / "a.csv").write_text(",".join(f"c{j}" for j in range(WIDTH)) + "\n" + "\n".join(rows) + "\n")
    with pytest.raises((FileError, NotFiniteError), match=message):
        ek.open_data(tmp_path / "a.csv", stream=True).read(0, 20)


@pytest.mark.parametrize("start", [0, 1])
def test_a_header_without_a_name_for_numbered_rows(tmp_path, start):
    """R (quote=FALSE) and pandas number the rows and leave the name above the numbers out."""
    path = tmp_path / "table.txt"
    path.write_text("mpg cyl\n" + "".join(f"{start + i} {20 + i}.5 {i % 3}\n" for i in range(6)))
    found = ek.open_data(path)
    assert found.metadata.column_names == ("mpg", "cyl")
    assert found.metadata.row_names == tuple(str(start + i) for i in range(6))
    path.write_text("mpg cyl\n4 20.5 1\n9 21.5 2\n5 22.5 0\n")
    with pytest.raises(FileError, match="put quotes around cells that contain tabs or spaces"):
        ek.open_data(path)


@pytest.mark.parametrize("minus", ["\u2212", "\u2013"])
def test_minus_signs_of_typesetting_in_later_pieces(tmp_path, small_pieces, minus):
    whole, blocks = both(tmp_path, lines(lambda i: f"{minus}{i}" if i > 200 else i + 1))
    assert np.array_equal(whole, blocks)
    assert whole[250, 1] == -250.0


def test_a_packed_text_is_unpacked_once_in_a_pass(tmp_path, small_pieces, monkeypatch):
    """The blocks share one open file and never go back, however small they are."""
    places = []

    class Recorded(gzip.GzipFile):
        def seek(self, place, *options):
            places.append(place)
            return super().seek(place, *options)

    monkeypatch.setattr(gzip, "open", Recorded)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(lines(lambda i: i % 7).encode()))
    source = ek.open_data(path, stream=True)
    blocks = [source.read(start, start + 5) for start in range(0, 300, 5)]
    assert len(places) > 3
    assert places == sorted(set(places))
    assert np.array_equal(np.concatenate(blocks), source.read(0, 300))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize(
    "wrong",
    [
        "1,x,2", "1,2", "1,2,3,4", "a,b,c", "# note", "1,5%,2", "1,$5,2", "1,(x),2", "1,true,2", "1,1e400,2",
        "1,1 234,2", "1,2,\x00", "\ufeff1,2,3", '1,"2\n",x',
    ],
)  # fmt: skip
@pytest.mark.usefixtures("small_pieces")
def test_both_ways_name_the_same_line_and_cell(tmp_path, wrong, labelled, end):
    rows = [f"{i * 0.5},{i % 7 + 0.25},{-i}" for i in range(300)]
    rows[250] = wrong
    rows = ["a,b,c", *rows]
    if labelled:
        rows = [f"{'town' if i == 0 else f't{i}'},{row}" for i, row in enumerate(rows)]
    path = tmp_path / "a.csv"
    path.write_bytes(end.join(rows).encode())
    said = []
    for stream in (False, True):
        with pytest.raises((FileError, NotFiniteError), match="line 252") as caught:
            ek.decompose(path, k=1, stream=stream)
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("cell", "wrong", "said"),
    [
        (lambda i: f"${i}.5", "7.5", "is not a number with the symbol '$'"),
        (lambda i: "true" if i % 2 else "false", "maybe", "is neither true nor false"),
        (lambda i: f"{i}.5", "(5)", "with a minus sign instead of parentheses"),
        (lambda _i: "", "5", "it is empty at the beginning"),
    ],
    ids=["dollars", "truths", "parentheses", "empty"],
)
@pytest.mark.usefixtures("small_pieces")
def test_cells_unlike_the_beginning_are_named(tmp_path, cell, wrong, said):
    _, blocks = both(tmp_path, lines(lambda i: wrong if i == 250 else cell(i)))
    assert "line 252" in blocks
    assert said in blocks


@pytest.mark.parametrize("cell", [lambda i: i, lambda i: f"${i}.5", lambda i: "true" if i % 2 else "false"])
@pytest.mark.usefixtures("small_pieces")
def test_a_wrong_cell_in_a_column_that_is_left_out(tmp_path, cell):
    whole, blocks = both(tmp_path, lines(lambda i: "x" if i == 250 else cell(i)), columns=["a", "c"])
    np.testing.assert_array_equal(whole, blocks)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "koi8-r", "iso8859-15", "mac-roman"])
@pytest.mark.usefixtures("small_pieces")
def test_texts_with_one_byte_per_character_are_read_in_blocks(tmp_path, encoding, packed):
    name, blank = ("\u0431\u0430", "\u00a0") if encoding == "koi8-r" else ("d\u00e9j\u00e0", "\u00a0")
    text = f"{name},b\n" + "".join(f"{i}.5,{blank}{i % 7}\n" for i in range(200))
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text.encode(encoding)) if packed else text.encode(encoding))
    source = ek.open_data(path, stream=True, encoding=encoding)
    assert source.metadata.column_names == (name, "b")
    np.testing.assert_array_equal(source.read(0, 200), [[i + 0.5, i % 7] for i in range(200)])


@pytest.mark.parametrize("encoding", ["ascii", "cp1253"])
@pytest.mark.usefixtures("small_pieces")
def test_a_byte_outside_the_stated_encoding_is_named_with_its_line(tmp_path, encoding):
    plain = lines(lambda i: i % 7).encode()
    np.testing.assert_array_equal(*both(tmp_path, plain, encoding=encoding))
    whole, blocks = both(tmp_path, plain.replace(b"-250", b"\xaa250"), encoding=encoding)
    assert f"line 252: the text is not valid {encoding}" in whole
    assert blocks == whole


@pytest.mark.parametrize("encoding", ["gbk", "cp037", "utf-16-le"])
@pytest.mark.usefixtures("small_pieces")
def test_texts_that_cannot_be_decoded_in_parts_are_refused(tmp_path, encoding):
    whole, blocks = both(tmp_path, lines(lambda i: i % 7).encode(encoding), encoding=encoding)
    assert whole.shape == (300, 3)
    assert f"iconv -f {encoding}" in blocks


@pytest.mark.usefixtures("small_pieces")
def test_the_encoding_is_part_of_the_fingerprint(tmp_path):
    (tmp_path / "a.csv").write_text(lines(lambda i: i))
    latin, other, again = (
        ek.open_data(tmp_path / "a.csv", stream=True, encoding=encoding).fingerprint()
        for encoding in ("latin-1", "koi8-r", "latin-1")
    )
    assert latin == again
    assert latin != other


@pytest.mark.usefixtures("small_pieces")
def test_unknown_encodings_are_refused_in_blocks(tmp_path):
    (tmp_path / "a.csv").write_text(lines(lambda i: i))
    with pytest.raises(ParameterError, match="'klingon' is not supported"):
        ek.open_data(tmp_path / "a.csv", stream=True, encoding="klingon")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.usefixtures("small_pieces")
def test_the_command_that_converts_to_utf8_works(tmp_path, packed):
    text = "town,a,b\n" + "".join(f"Orl\u00e9ans {i},{i},{i % 3}\n" for i in range(200))
    path = tmp_path / ("a b.csv.gz" if packed else "a b.csv")
    path.write_bytes(gzip.compress(text.encode("latin-1")) if packed else text.encode("latin-1"))
    with pytest.raises(FileError, match=r"\(probably windows-1252\), or convert the file first: .*iconv") as caught:
        ek.open_data(path, stream=True)
    subprocess.run(["sh", "-c", str(caught.value).partition("first: ")[2]], check=True)
    converted = ek.open_data(tmp_path / path.name.replace("a b", "a b-utf8"), stream=True)
    np.testing.assert_array_equal(converted.read(0, 200), [[i, i % 3] for i in range(200)])


@pytest.mark.usefixtures("small_pieces")
def test_one_note_per_column_that_is_left_out(tmp_path):
    """Nothing labels the rows of a text read in blocks, so no note may say so."""
    (tmp_path / "a.csv").write_text(
        "day,kind,none,a,b\n" + "".join(f"2020-01-{i % 28 + 1:02},k{i % 3},,{i},{i % 7}\n" for i in range(300))
    )
    source = ek.open_data(tmp_path / "a.csv", stream=True)
    assert not source.metadata.labels
    empty, others = sorted(source.metadata.notes)
    assert empty == "The column 'none' contains no values, so it was left out."
    assert others.startswith("The columns 'day', 'kind' are not numeric, so they were left out: labels")
