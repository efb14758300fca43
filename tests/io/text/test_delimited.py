"""Delimited text through open_source, from real files."""

from __future__ import annotations

import gzip
import io
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eckart as ek
from eckart.engine.blocks.source import Source
from eckart.errors import FileError, NotFiniteError, ParameterError
from eckart.io.open_source import open_source
from eckart.io.read_options import ReadOptions
from eckart.io.text.delimited import WIDE


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def write_and_read(text: str | bytes, name: str = "table.csv", **options: Any) -> Any:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return open_source(path, ReadOptions(**options))

    return write_and_read


def said(source: Source) -> str:
    return " ".join(source.metadata.notes)


def test_plain_table(read: Any) -> None:
    source = read("name,a,b\nx,1,2\ny,3,4.5\n")
    assert isinstance(source, Source)
    assert source.shape == (2, 2)
    assert source.dtype == np.float64
    assert source.matrix.flags.c_contiguous
    assert source.metadata.row_names == ("x", "y")
    assert source.metadata.column_names == ("a", "b")
    assert "'name'" in said(source)
    assert [block.tolist() for block in source.blocks(1)] == [[[1, 2]], [[3, 4.5]]]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", " ", "   "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(read: Any, mark: str, end: str) -> None:
    text = end.join(mark.join(row) for row in (["a", "b", "c"], ["1", "2.5", "3"], ["4", "5", "-6e3"])) + end
    source = read(text)
    assert source.matrix.tolist() == [[1, 2.5, 3], [4, 5, -6000]]
    assert source.metadata.column_names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("latin-1", "Latin-1"),
    ],
)
def test_encodings(read: Any, encoding: str, note: str) -> None:
    source = read("stadt,größe,höhe\nKöln,1,2\nMünchen,3,4\n".encode(encoding))
    assert source.metadata.column_names == ("größe", "höhe")
    assert source.metadata.row_names == ("Köln", "München")
    assert note in said(source)


def test_encoding_may_be_said(read: Any) -> None:
    text = "имя,x\nда,1\nнет,2\n"
    assert read(text.encode("cp1251"), encoding="cp1251").metadata.row_names == ("да", "нет")
    with pytest.raises(FileError, match="line 1: the text is not valid ascii"):
        read(text, encoding="ascii")
    with pytest.raises(ParameterError, match="not supported"):
        read(text, encoding="no-such-thing")


def test_points_between_thousands(read: Any) -> None:
    source = read("u;v\n1.234,56;3,5\n-987,00;12.345.678,9\n2,01;1.234\n")
    assert source.matrix.tolist() == [[1234.56, 3.5], [-987, 12345678.9], [2.01, 1234]]
    assert "points separate thousands" in said(source)
    wide = ";".join(f"c{i}" for i in range(5000)) + "\n" + ";".join(f"{i % 9 + 1}.234,5" for i in range(5000)) + "\n"
    assert (read(wide).matrix == [[1000 * (i % 9 + 1) + 234.5 for i in range(5000)]]).all()
    # Points that may be decimal signs are refused.
    for text in ("u;v\n1,5;1.234\n2,5;2.345\n", "u;v\n1.234,5;3.5\n2,5;4.25\n"):
        with pytest.raises(FileError, match="is not a number"):
            read(text)


def test_decimal_comma(read: Any) -> None:
    source = read("a;b\n1,5;2\n3;-4,25e1\n")
    assert source.matrix.tolist() == [[1.5, 2], [3, -42.5]]
    assert "decimal comma" in said(source)
    assert read("a;b\n1,500;2\n", decimal=",").matrix.tolist() == [[1.5, 2]]
    assert read('a,b\n"1,5",2\n', decimal=",").matrix.tolist() == [[1.5, 2]]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,234.5", "20.25", "-2,345"], [1234.5, 20.25, -2345]),
        (["1,234,567", "999", ""], [1234567, 999, np.nan]),
        (["1'234", "5'678.5", "90"], [1234, 5678.5, 90]),
        (["1 234", "\u22125 678", "90"], [1234, -5678, 90]),
    ],
    ids=["decimals", "millions", "apostrophes", "blanks"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_separators_between_thousands(tmp_path: Path, cells: list[str], expected: list[float], stream: bool) -> None:
    path = tmp_path / "grouped.csv"
    path.write_text("a;b\n" + "".join(f"{cell};{i}.5\n" for i, cell in enumerate(cells)))
    found = ek.open_data(path, stream=stream)
    np.testing.assert_array_equal(found.read(0, 3) if stream else found.matrix, np.c_[expected, [0.5, 1.5, 2.5]])
    assert any(note.code == "thousands_separators" for note in found.metadata.notes)


def test_decimals_of_other_columns_show_that_commas_separate_thousands(read: Any) -> None:
    source = read('a,b\n"3,258",1.5\n"14,022",2.5\n950,3.5\n')
    assert source.matrix.tolist() == [[3258, 1.5], [14022, 2.5], [950, 3.5]]
    assert "contains numbers with thousands separators" in said(source)
    for odd in ('"3,25"', "4022", '"0,123"'):  # decimal commas elsewhere in the column, or thousands without one
        with pytest.raises(FileError, match="is not a number"):
            read(f'a,b\n"3,258",1.5\n{odd},2.5\n950,3.5\n')


def test_thousands_are_never_guessed(read: Any) -> None:
    with pytest.raises(FileError, match="could separate thousands or decimals"):
        read("a;b\n1,234;2\n2,345;3\n")
    assert read("a;b\n1,234;2\n2,5;3\n").matrix[0, 0] == 1.234
    with pytest.raises(FileError, match=r"line 2, column 'a': the cell '1,234'.*thousands"):
        read('a,b\n"1,234",2\n"2,345",3\n')


def test_missing_markers(read: Any) -> None:
    markers = ["", "NA", "N/A", "NaN", "nan", "null", "None", "?", "-", ".", " NA "]
    source = read("a,b\n" + "".join(f"{marker},{row}\n" for row, marker in enumerate(markers)) + "1,5\n")
    assert np.isnan(source.matrix[:-1, 0]).all()
    assert source.matrix[-1].tolist() == [1, 5]
    assert f"{len(markers)} of {2 * len(markers) + 2} values are missing, in 1 of 2 columns" in said(source)
    assert "row 1, column 'a'" in said(source)


def test_whole_row_and_column_missing_are_named(read: Any) -> None:
    source = read("a,b,c\n1,,2\n,,\n3,,4\n")
    assert source.metadata.column_names == ("a", "c")
    assert "'b' contains no values, so it was left out" in said(source)
    assert "1 row contains no values; the first is row 2" in said(source)


def test_labels_dates_truths_and_numbered_rows(read: Any) -> None:
    source = read("id,day,kind,ok,x\n1,2020-01-01,u,true,1\n2,2020-01-02,v,false,2\n3,2020-01-03,u,true,3\n")
    assert source.metadata.column_names == ("id", "ok", "x")
    assert source.matrix[:, 1].tolist() == [1, 0, 1]
    assert source.metadata.labels == {"day": ("2020-01-01", "2020-01-02", "2020-01-03"), "kind": ("u", "v", "u")}
    assert source.metadata.row_names is None
    for words in (
        "'day' contains dates",
        "'kind' contains text",
        "'ok' contains true and false",
        "'id' seems to identify or number the rows",
    ):
        assert words in said(source)


def test_row_names_may_be_said(read: Any) -> None:
    text = "code,x,word\n7,1,a\n8,2,b\n"
    assert read(text, row_names="code").metadata.row_names == ("7", "8")
    source = read(text, row_names=None)
    assert source.metadata.row_names is None
    assert source.metadata.labels == {"word": ("a", "b")}
    with pytest.raises(ParameterError, match="no column 'nope'"):
        read(text, row_names="nope")


def test_tables_as_r_writes_them(read: Any) -> None:
    for text in ('"","a","b"\n"1",1,2\n"2",3,4\n', '"a" "b"\n"1" 1 2\n"2" 3 4\n', '"a","b"\n"1",1,2\n"2",3,4\n'):
        source = read(text)
        assert source.matrix.tolist() == [[1, 2], [3, 4]], text
        assert source.metadata.row_names == ("1", "2")
    assert read("a\tb\nx\t1\t2\ny\t3\t4\n", "t.tsv").metadata.row_names == ("x", "y")


@pytest.mark.parametrize("text", ["a,b\n1,2,3\n4,5,6\n", "a,b\n1,2,\n3,4,\n", "a,b\n1,2,3\n2,5,6\n"])
def test_columns_are_never_shifted(read: Any, text: str) -> None:
    with pytest.raises(FileError, match="line 2 has 3 cells, but the header has 2"):
        read(text)


def curves(scale: list[float], seed: int, rows: int = 12) -> str:
    """Spectra above a scale, as programs of instruments export them."""
    values = np.random.default_rng(seed).normal(0.4, 0.1, (rows, len(scale)))
    return "\n".join(",".join(f"{x:g}" for x in row) for row in [scale, *values.round(4).tolist()]) + "\n"


@pytest.mark.parametrize(
    "scale",
    [
        [1100.0 + 2 * i for i in range(60)],
        [4000 - 3.857 * i for i in range(60)],
        [round(400 + 2.013 * i) for i in range(60)],
        [0.5 * i - 40 for i in range(60)],
    ],
    ids=["steps of 2", "falling", "rounded", "negative"],
)
def test_a_scale_above_curves_is_a_header(read: Any, scale: list[float]) -> None:
    found = read(curves(scale, 3))
    assert found.shape == (12, 60)
    assert found.metadata.column_names[:2] == tuple(f"{x:g}" for x in scale[:2])
    named = "\n".join(f"s{i},{line}" if i else f"sample,{line}" for i, line in enumerate(curves(scale, 3).splitlines()))
    assert read(named).shape == (12, 60)


def test_a_scale_between_names_is_a_header(read: Any) -> None:
    scale = list(range(1100, 1124, 2))
    lines = curves(scale, 5).splitlines()
    text = "\n".join(["sample," + lines[0] + ",moisture", *(f"s{i},{line},1{i}.5" for i, line in enumerate(lines[1:]))])
    found = read(text)
    assert found.metadata.column_names == (*map(str, scale), "moisture")
    assert found.matrix.shape == (len(lines) - 1, len(scale) + 1)


def test_data_in_order_are_not_a_scale(read: Any) -> None:
    """Curves that all rise, a first row within the range of the others, unequal steps: numbers, not names."""
    rng = np.random.default_rng(8)
    rising = np.sort(rng.normal(size=(12, 30)), axis=1) + np.arange(12)[:, None] * 100
    within = np.vstack([np.linspace(-1, 1, 30), 3 * rng.normal(size=(40, 30))])
    uneven = np.vstack([1000 + np.arange(30.0) ** 2, rng.normal(size=(12, 30))])
    for table in (rising, within, uneven):
        text = "\n".join(",".join(f"{x:.4f}" for x in row) for row in table)
        assert read(text).shape == table.shape


def test_header_or_not(read: Any) -> None:
    assert read("1,2\n3,4\n").metadata.column_names == ("column 1", "column 2")
    assert read("0,1,2\n3,4,5\n").shape == (2, 3)
    assert read(",0,1\n0,3,4\n1,4,4\n").metadata.column_names == ("0", "1")
    assert read("0,1\n3.5,4\n1,4\n").metadata.column_names == ("0", "1")
    assert read("land,1990,1991\nF,3,4\nG,3,4\n").metadata.column_names == ("1990", "1991")
    assert read("Ann,1,2\nBob,3,4\n").metadata.row_names == ("Ann", "Bob")
    assert read("a,b\n1,2\n", header=True).shape == (1, 2)
    assert read("1,2\n3,4\n", header=True).metadata.column_names == ("1", "2")
    assert read("5\n6\n").matrix.tolist() == [[5], [6]]
    assert read("x\n5\n6\n").metadata.column_names == ("x",)


TITLES = {
    "other cells": "Fruit\nSource: survey\n\n{}",
    "as many cells": "Fruit,,\n\n,,\n{}",
    "more cells": "Fruit, 2020, all, by region\n{}",
    "one cell less": "Fruit, 2020\n{}",
    "quotes": '"Fruit, ""red"""\n\n# by region\n{}',
    "comments": "# Fruit\n\n{}",
}


@pytest.mark.parametrize("title", TITLES)
def test_lines_above_the_header_are_skipped(read: Any, title: str) -> None:
    text = TITLES[title].format("name,x,y\nu,1,2\nv,3,5\nw,4,4\n")
    source = read(text, header=text[: text.index("name,")].count("\n") + 1)
    assert source.metadata.column_names == ("x", "y")
    assert source.metadata.row_names == ("u", "v", "w")
    assert source.matrix.tolist() == [[1, 2], [3, 5], [4, 4]]
    with pytest.raises(FileError, match=f"line {text.count(chr(10))}, column 'y': the cell 'q'"):
        read(text.replace("4,4", "4,q"), header=text[: text.index("name,")].count("\n") + 1)


@pytest.mark.parametrize("title", ["other cells", "as many cells", "more cells", "one cell less"])
def test_a_title_above_the_header_is_refused_with_the_line_of_the_header(read: Any, title: str) -> None:
    text = TITLES[title].format("name,x,y\nu,1,2\nv,3,5\nw,4,4\n")
    with pytest.raises(FileError) as refused:
        read(text)
    line = int(re.search(r"If line (\d+) contains the column names, use header=\1\.", str(refused.value))[1])
    assert text.splitlines()[line - 1] == "name,x,y"


def test_a_title_above_numbers_with_decimal_commas_is_refused_with_the_option(read: Any) -> None:
    text = (
        "Survey 2023\nof: 01.02.2024\n\nid;age;income\n1;44;4.019,85 €\n2;31;none\n3;52;3.332,02 €\n4;28;2.117,44 €\n"
    )
    with pytest.raises(FileError, match=r"If there is a title above the table, use header=N, where N is the line of"):
        read(text)
    assert read(text.replace("none", ""), header=4).metadata.column_names == ("id", "age", "income")


def test_a_header_below_the_end_of_the_text_is_refused(read: Any) -> None:
    with pytest.raises(FileError, match=r"no table that begins on line 4\. header counts lines from 1"):
        read("a,b\n1,2\n3,4\n", header=4)


def test_comments_and_spreadsheet_marks(read: Any) -> None:
    source = read("# made by hand\n# a,b\n1,2\n3,4\n")
    assert source.metadata.column_names == ("a", "b")
    assert "'#'" in said(source)
    assert read("#\n# x y\n1 2\n").metadata.column_names == ("x", "y")
    assert read("sep=;\na;b\n1;2\n").matrix.tolist() == [[1, 2]]


def test_numpy_savetxt(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((5, 3))
    for name, options in (("a.txt", {}), ("b.csv", {"delimiter": ",", "header": "x,y,z"})):
        np.savetxt(tmp_path / name, values, **options)
        np.testing.assert_array_equal(open_source(tmp_path / name).matrix, values)


def test_names_are_made_unique(read: Any) -> None:
    source = read("a,a,a.2,,a\n1,2,3,4,5\n")
    assert source.metadata.column_names == ("a", "a.3", "a.2", "column 4", "a.4")
    assert "'a' is now 'a.3'" in said(source)
    assert read('"a\n(kg)","b \r\n c"\n1,2\n').metadata.column_names == ("a (kg)", "b c")


def test_quotes_and_lines_inside_them(read: Any) -> None:
    source = read('t,a\n"x, ""1""\ny",1\nz,2\n')
    assert source.metadata.row_names == ('x, "1"\ny', "z")
    with pytest.raises(FileError, match=r"line 5, column 'a': the cell 'q'"):
        read('t,a\n"x\ny",1\n\nz,q\nw,4\nv,5\n')
    with pytest.raises(FileError, match="line 5 has 1 cell, but"):
        read('t,a\n"x\ny",1\nz,2\nw\n')


def test_spoilt_column_far_down(read: Any) -> None:
    lines = ["a,b"] + [f"{i},{i}" for i in range(50_000)]
    lines[40_000] = "7,oops"
    with pytest.raises(FileError, match="line 40001, column 'b': the cell 'oops' is not a number"):
        read("\n".join(lines))
    lines[40_000] = "7"
    with pytest.raises(FileError, match="line 40001 has 1 cell, but"):
        read("\n".join(lines))
    lines[40_000] = "7,-1e400"
    with pytest.raises(NotFiniteError, match="line 40001, column 'b'"):
        read("\n".join(lines))


def test_bad_first_row_is_not_a_header(read: Any) -> None:
    with pytest.raises(FileError, match="line 1, column 'column 3': the cell 'abc'"):
        read("1,2,abc\n4,5,6\n4,5,6\n")
    with pytest.raises(
        FileError, match=r"line 2, column 'a': the cell 'kg' .* use header=2\. If it contains units, remove it\."
    ):
        read("a,b\nkg,cm\n1,2\n3,4\n5,6\n")


def test_signs_blanks_and_identifiers(read: Any) -> None:
    assert read("a, b\n +1 , 2\n-1,  3.\n").matrix.tolist() == [[1, 2], [-1, 3]]
    assert read("k,a\n0x1F,1\n0x20,2\n").metadata.row_names == ("0x1F", "0x20")
    assert "2**53" in said(read("a\n9007199254740993\n1\n"))


def test_gzip_and_streams(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb\n1\t2\n"))
    assert open_source(path).matrix.tolist() == [[1, 2]]
    assert open_source(io.BytesIO(b"a,b\n1,2\n"), ReadOptions("csv")).matrix.tolist() == [[1, 2]]
    assert open_source(io.BytesIO(gzip.compress(b"a,b\n1,2\n"))).matrix.tolist() == [[1, 2]]


def test_wide_text(read: Any) -> None:
    width = 10_050
    names = ",".join(f"g{i}" for i in range(width))
    rows = [",".join(str(i + row) for i in range(width)) for row in range(3)]
    source = read(f"who,{names}\n" + "\n".join(f"s{row},{cells}" for row, cells in enumerate(rows)))
    assert source.shape == (3, width)
    assert source.metadata.row_names == ("s0", "s1", "s2")
    np.testing.assert_array_equal(source.matrix[2], np.arange(width) + 2)
    holes = read(f"{names}\n{rows[0][1:]}\n{rows[1]}\n")
    assert math.isnan(holes.matrix[0, 0])
    with pytest.raises(FileError, match="line 4, column 'g0': the cell 'bad'"):
        read(f"{names}\n{rows[0]}\n{rows[1]}\nbad{rows[2][1:]}\n".replace("bad,", "bad,", 1))


def test_layouts_that_were_read_wrongly_once(read: Any) -> None:
    source = read("Datum;Wert\n01.02.2020;1,5\n02.02.2020;2,5\n")
    assert source.matrix.tolist() == [[1.5], [2.5]]
    assert read("x\n1,5\n2,5\n", decimal=",").matrix.tolist() == [[1.5], [2.5]]
    assert read("a,b\n1,2\n   \n3,4\n").shape == (2, 2)
    assert read("p q r s t\na b c d 1\nb c d e 2\n").metadata.column_names == ("t",)
    with pytest.raises(ParameterError, match="does not contain the delimiter ';'"):
        read("x,y\n1,2\n3,4\n", delimiter=";")
    with pytest.raises(FileError, match="exponent with E"):
        read("1.0e+00 2.0D+00\n3 4\n")
    with pytest.raises(FileError, match="header=3"):
        read("my data\n\na,b\n1,2\n")


def test_an_index_is_no_measurement(read: Any) -> None:
    source = read(",a\n0,5\n1,6\n", row_names=None)
    assert source.metadata.column_names == ("a",)
    assert source.metadata.row_names is None


def test_amounts_are_said_aloud(read: Any) -> None:
    source = read("price,x\n$1.50,1\n$2.50,2\n")
    assert source.metadata.row_names is None
    assert "'price'" in said(source)


def test_large_file(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import csv

    values = np.random.default_rng(0).standard_normal((200_000, 5))
    csv.write_csv(pa.table({f"c{j}": values[:, j] for j in range(5)}), tmp_path / "big.csv")
    source: Any = open_source(tmp_path / "big.csv")
    np.testing.assert_array_equal(source.matrix, values)


finite = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6).map(float)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_round_trip(tmp_path: Path, data: st.DataObject) -> None:
    """Whatever delimiter, decimal sign, line end and encoding: the same numbers come back, to the last bit."""
    rows, columns = data.draw(st.integers(1, 6)), data.draw(st.integers(2, 4))
    values = [[data.draw(finite) for _ in range(columns)] for _ in range(rows)]
    mark = data.draw(st.sampled_from([",", ";", "\t", "|"]))
    decimal = "." if mark == "," else data.draw(st.sampled_from([".", ","]))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    lines = [mark.join(f"c{j}" for j in range(columns))]
    lines += [mark.join(repr(value).replace(".", decimal) for value in row) for row in values]
    path = tmp_path / "t.csv"
    path.write_bytes((end.join(lines) + end).encode(encoding))
    said_decimal = decimal if data.draw(st.booleans()) or decimal == "," else None
    source: Any = open_source(path, ReadOptions(decimal=said_decimal))
    np.testing.assert_array_equal(source.matrix, np.array(values))
    assert source.metadata.column_names == tuple(f"c{j}" for j in range(columns))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet='ab1.,;\t\n"- #é', max_size=60))
def test_any_text_is_read_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    try:
        source = open_source(path)
    except (FileError, NotFiniteError):
        return
    assert min(source.shape) > 0
    assert not np.isinf(next(source.blocks())).any()


def test_blanks_between_numbers_with_a_decimal_comma(read: Any) -> None:
    """Between commas there would be three cells, and the second would be taken for text."""
    np.testing.assert_array_equal(read("1,5 2,25\n-3,5 4\n5,5 7,125\n").matrix, [[1.5, 2.25], [-3.5, 4], [5.5, 7.125]])
    named = read("name size weight\nrow0 190 29233,5\nrow1 553 -0,0625\nrow2 615 24,5\n")
    np.testing.assert_array_equal(named.matrix, [[190, 29233.5], [553, -0.0625], [615, 24.5]])
    assert named.metadata.row_names == ("row0", "row1", "row2")
    short = read("height,weight\nJane Doe,170,60\nJohn Roe,180,75\nJim Poe,175,70\n")  # commas, as R writes them
    np.testing.assert_array_equal(short.matrix, [[170, 60], [180, 75], [175, 70]])
    found = read("1,5 2,5\n3,7 km,4\n5,2 pt,7\n")  # words, so commas separate
    np.testing.assert_array_equal(found.matrix, [[1, 5], [3, 4], [5, 7]])


def test_more_columns_than_a_text_may_have(read: Any) -> None:
    with pytest.raises(FileError, match=r"has 2,100,000 columns.*\.npy"):
        read(b"1,2," * 1_049_999 + b"1,2\n")


def test_many_columns_that_number_the_rows_make_one_note(read: Any) -> None:
    """Without names every column that counts up could be the number of the row."""
    source = read("".join(",".join([str(row)] * 40) + "\n" for row in range(1, 5)))
    (note,) = [note for note in source.metadata.notes if note.code == "numbering_column"]
    assert "'column 8' and 32 more seem to identify or number the rows" in note


def test_blank_headers_name_no_rows(tmp_path: Path) -> None:
    """A first column without a name contains row names only if other columns have names."""
    path = tmp_path / "blank.csv"
    path.write_text(",,\n1.5,2,3\n4,5,6\n")
    found = open_source(path)
    np.testing.assert_array_equal(found.matrix, [[1.5, 2, 3], [4, 5, 6]])
    assert found.metadata.column_names == ("column 1", "column 2", "column 3")


@pytest.mark.parametrize("minus", ["\u2212", "\u2013"])
def test_minus_signs_of_typesetting(read: Any, minus: str) -> None:
    """They begin numbers, not row names; text with a dash stays as it is."""
    rows = (f"{minus}1.5;x {minus} y;{minus}5 %;2e{minus}3", f"2;{minus}z;1,200 %;{minus}.5", "3;w;0 %;4")
    source = read("\n".join(("a;b;c;d", *rows)))
    assert source.metadata.column_names == ("a", "c", "d")
    assert source.matrix.T.tolist() == [[-1.5, 2.0, 3.0], [-5.0, 1200.0, 0.0], [0.002, -0.5, 4.0]]
    assert source.metadata.row_names == (f"x {minus} y", f"{minus}z", "w")


def test_minus_signs_of_typesetting_without_a_header_and_in_wide_tables(read: Any) -> None:
    assert read("\u22121,2\n3,\u22124\n").matrix.tolist() == [[-1.0, 2.0], [3.0, -4.0]]
    cells = [f"\u2212{j}.5" for j in range(WIDE + 1)]
    source = read("\n".join([",".join(cells)] * 3))
    assert source.matrix.tolist() == [[-j - 0.5 for j in range(WIDE + 1)]] * 3


def test_groups_of_two_digits_are_never_read_as_names(read: Any) -> None:
    with pytest.raises(FileError, match=r"'1,23,456'.*thousands separators"):
        read('a,b\n"1,23,456",2\n"5,67,890",3\n"9,01,234",4\n')


def test_only_ascii_digits_are_numbers(read: Any) -> None:
    with pytest.raises(FileError, match="'１２' is not a number") as caught:
        read("a;b\n1;2\n１２;3\n5;4\n6;9\n")
    assert "decimal comma" not in str(caught.value)


@pytest.mark.parametrize("separator", [" ", "\u00a0", "\u2009", "\u202f", "'", "\u2019"])
@pytest.mark.parametrize("decimal", [None, ","])
def test_the_remedy_for_thousands_is_one_that_works(read: Any, separator: str, decimal: str | None) -> None:
    grouped = "a;b\n" + "".join(f"{i}{separator}234,5;{i * i}\n" for i in range(1, 5))
    assert read(grouped, decimal=decimal).matrix[0].tolist() == [1234.5, 1.0]
    text = f"{grouped}5678;7\n"
    with pytest.raises(FileError, match="looks like a number with thousands separators") as caught:
        read(text, decimal=decimal)
    assert "decimal=','" not in str(caught.value)
    assert read(text.replace(separator, ""), decimal=",").matrix[0].tolist() == [1234.5, 1.0]


def test_repeated_row_names_below_a_header_without_their_name(tmp_path: Path) -> None:
    """Such as R writes: each row has a name, the header has none for them, and two rows were joined under one name."""
    path = tmp_path / "towns.csv"
    path.write_text("a,b,c\nRome,1,2.5,3\nOslo,4,5,6.5\nRome,7,8,1\nBonn,2,0,4\n")
    expected = np.array([[1, 2.5, 3], [4, 5, 6.5], [7, 8, 1], [2, 0, 4]])
    for stream in (False, True):
        d = ek.decompose(path, "svd", k=3, left=True, stream=stream)
        assert d.column_names == ("a", "b", "c")
        assert d.row_names is None  # names that repeat are labels
        assert np.allclose(d.left * d.values @ d.right.T, expected)


def test_repeated_numbers_are_not_row_names(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n1,2.5,3\n1,5,6.5\n2,8,1\n")
    with pytest.raises(FileError, match="line 2 has 3 cells, but the header has 2"):
        ek.decompose(path, "svd", k=1)


def test_points_separate_thousands_if_the_user_gives_the_decimal_comma(read: Any) -> None:
    text = "n;u;v\na;1.234;1,5\nb;598.884;2,5\nc;12;3,5\n"
    with pytest.raises(FileError, match=r"If the point separates thousands, use decimal=',' or remove it"):
        read(text)
    assert read(text, decimal=",").matrix.tolist() == [[1234, 1.5], [598884, 2.5], [12, 3.5]]
    assert read("n;u;v\na;1.234.567;1,5\nb;598.884;2,5\nc;12;3\n").matrix[0].tolist() == [1234567, 1.5]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["12,50 €", "2,50 €", "3,99 €"], [12.5, 2.5, 3.99]),
        (["1.234,50 €", "2,50 €", "3,99 €"], [1234.5, 2.5, 3.99]),
        (["71,5 kg", "80,2 kg", "64,0 kg"], [71.5, 80.2, 64]),
    ],
)
def test_decimal_commas_of_amounts(read: Any, cells: list[str], expected: list[float]) -> None:
    source = read("n;u\n" + "".join(f"{name};{cell}\n" for name, cell in zip("abc", cells, strict=True)))
    assert source.matrix[:, 0].tolist() == expected
    assert "decimal comma" in said(source)
    with_points = read("n\tu\tv\n" + "".join(f"a\t{cell}\t1.5\n" for cell in ("$1,234", "$2,345", "$3,456")))
    assert with_points.matrix[0].tolist() == [1234, 1.5]


@pytest.mark.parametrize("cells", ["2XL 3XL 4XL", "12A 13A 101A", "441968101X 123456789X 300000001X", "3b 4b 5b"])
def test_codes_that_end_in_letters_are_labels(read: Any, cells: str) -> None:
    source = read("n,u,v\n" + "".join(f"r{i},{cell},{i}\n" for i, cell in enumerate(cells.split())))
    assert source.metadata.labels["u"] == tuple(cells.split())


@pytest.mark.parametrize("cells", ["220V 110V 9V", "1.5A 2A 16A", "12_A 16_A 20_A", "5min 6min 9min", "1EUR 5EUR 7EUR"])
def test_units_directly_behind_numbers(read: Any, cells: str) -> None:
    cells = cells.replace("_", "\u00a0")
    source = read("n,u,v\n" + "".join(f"r{i},{cell},{i}\n" for i, cell in enumerate(cells.split(" "))))
    assert source.metadata.column_names == ("u", "v")


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    """It takes a third of the time of a command, and nothing of it is needed."""
    line = 'n{0},{1},2024-01-{0:02d},"$1,{0}00.50",{0}.5,{2}'
    rows = [line.format(i, "ab"[i % 2], "true" if i % 3 else "NA") for i in range(1, 10)]
    (tmp_path / "a.csv").write_text("\n".join(["name,group,day,price,x,flag", *rows]), encoding="utf-8")
    code = "import sys, pyarrow.csv; known = 'pandas' in sys.modules; from eckart.io.open_rows import open_table; "
    code += "table = open_table('a.csv'); assert table.matrix.shape == (9, 3); "
    code += "sys.exit('pandas' in sys.modules and not known)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\n<!DOCTYPE html>\n<html><body>Not found</body></html>", "is a web page and not a table"),
        (b'[{"a": 1, "b": 2}]', "a JSON document; read it with pandas.read_json"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n", "git lfs pull"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
    ],
)
def test_other_content_under_the_name_of_a_table_is_named(read: Any, content: bytes, kind: str) -> None:
    with pytest.raises(FileError, match=kind):
        read(content)


@pytest.mark.parametrize(
    ("text", "encoding", "code"),
    [
        ("Область;Рост;Вес\nМосква;1;2\nПермь;3;5\n", "cp1251", "unknown_encoding"),
        ("νομός;ύψος;βάρος\nΑττική;1;2\nΗλεία;3;5\n", "cp1253", "unknown_encoding"),
        ("县;身高;体重\n北京;1;2\n上海;3;5\n", "gb18030", "unknown_encoding"),
        ("Größe;Fläche;Höhe\nMünchen;1;2\nKöln;3;5\n", "cp1252", "latin1"),
        ("préfecture;née;âgé\nSèvres;1;2\nÉpinal;3;5\n", "cp1252", "latin1"),
    ],
)
def test_words_of_other_scripts_are_not_taken_for_accented_letters(
    read: Any, text: str, encoding: str, code: str
) -> None:
    found = read(text.encode(encoding)).metadata
    assert [note.code for note in found.notes if note.code in ("latin1", "unknown_encoding")] == [code]
    assert read(text.encode(encoding), encoding=encoding).metadata.column_names == tuple(text.split()[0].split(";")[1:])


@pytest.mark.parametrize(("lines", "word"), [(1, "If this line is a remark"), (3, "this line and those below it are")])
def test_remarks_below_a_table_are_refused_without_calling_them_a_header(read: Any, lines: int, word: str) -> None:
    with pytest.raises(FileError, match=word) as refused:
        read("a,b,c\n1,2,3\n4,5,7\n2,2,9\n" + "Source: office\n" * lines)
    assert "header=" not in str(refused.value)


@pytest.mark.parametrize("stream", [False, True])
def test_single_quotes_around_all_names_are_removed(tmp_path: Path, stream: bool) -> None:
    path = tmp_path / "quoted.csv"
    path.write_text("'OBS','GPA','it''s'\n1,2.5,3\n2,3.5,4\n3,2.0,9\n")
    found = ek.open_data(path, stream=stream).metadata.column_names
    assert found == ("OBS", "GPA", "it''s")
    path.write_text("'OBS',GPA,x\n1,2.5,3\n2,3.5,4\n3,2.0,9\n")
    assert ek.open_data(path, stream=stream).metadata.column_names == ("'OBS'", "GPA", "x")
