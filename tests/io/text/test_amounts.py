"""Numbers with one currency or percent sign per column are numbers, in texts read whole and in blocks."""

import numpy as np
import pytest

import eckart as ek
from eckart.errors import FileError
from tests.io.text.test_rows import shrink

SALES = """id,sales,profit,discount,date
a,"$1,234.50",($5.00),12%,01/31/2024
b,$20,$7.25,3.5 %,02/29/2024
c,,-$1,0%,12/01/2024
d,$ 3,+$2.50,100%,11/11/2024
"""
WANTED = np.array([[1234.5, -5, 12], [20, 7.25, 3.5], [np.nan, -1, 0], [3, 2.5, 100]])


def test_amounts_are_numbers_with_a_note(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text(SALES)
    found = ek.open_data(path)
    assert found.metadata.column_names == ("sales", "profit", "discount")
    np.testing.assert_array_equal(found.matrix, WANTED)
    notes = {note.code: str(note) for note in found.metadata.notes}
    assert notes["signs_removed"].endswith("without the symbol: 'sales' ($), 'profit' ($), 'discount' (%).")
    assert "'date'" in notes["dates_set_aside"]
    assert found.metadata.row_names == tuple("abcd")


def test_decimal_commas(tmp_path):
    path = tmp_path / "umsatz.csv"
    path.write_text("Umsatz;Rabatt;Menge\n1.234,50 €;12,5 %;1,5\n-20,00\u00a0€;3 %;2,5\n0,10 €;0 %;3,5\n")
    found = ek.open_data(path)
    np.testing.assert_array_equal(found.matrix, [[1234.5, 12.5, 1.5], [-20, 3, 2.5], [0.1, 0, 3.5]])


def test_different_signs_stay_labels(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("price,x\n$5,1\n€6,2\n$7,3\n")
    found = ek.open_data(path)
    assert found.metadata.column_names == ("x",)
    assert any(note.code == "amounts_set_aside" for note in found.metadata.notes)


@pytest.mark.parametrize("tail", ["", "e,5,$1,1%,01/01/2024\n", "e,€5,$1,1%,01/01/2024\n", "e,$x,$1,1%,01/01/2024\n"])
def test_blocks_have_the_same_numbers_and_refuse_other_signs(tmp_path, monkeypatch, tail):
    shrink(monkeypatch, 300)
    path = tmp_path / "many.csv"
    header, _, body = SALES.partition("\n")
    path.write_text(header + "\n" + body * 20 + tail)
    found = ek.open_data(path, stream=True)
    assert not hasattr(found, "matrix")
    assert found.metadata.column_names == ("sales", "profit", "discount")
    np.testing.assert_array_equal(found.read(0, 60), np.tile(WANTED, (15, 1)))
    if tail:
        with pytest.raises(FileError, match=r"not a number with the symbol '\$'"):
            found.read(60, 81)
    else:
        np.testing.assert_array_equal(found.read(60, 80), np.tile(WANTED, (5, 1)))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('name,a,b\nx,(1.5),2\ny,3.25,4\nz,"(1,234.50)",7\n', [-1.5, 3.25, -1234.5]),
        ("(1.5),2\n3,4\n(5),6\n", [-1.5, 3, -5]),
        ("a,b\n(1.5),2\n(2.5),4\n(3),7\n", [-1.5, -2.5, -3]),
        ("a;b\n(1,5);2,5\n3,25;4\n(1.234,5);7\n", [-1.5, 3.25, -1234.5]),
        ("a,b\n(3),2\nNA,4\n7,6\n", [-3, np.nan, 7]),
    ],
    ids=["thousands", "no header", "all", "comma", "missing"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_numbers_in_parentheses_are_negative(tmp_path, text, first, stream):
    path = tmp_path / "accounts.csv"
    path.write_text(text)
    found = ek.open_data(path, stream=stream)
    np.testing.assert_array_equal(found.read(0, 3)[:, 0] if stream else found.matrix[:, 0], first)
    assert any(note.code == "accounting_negatives" for note in found.metadata.notes)


def test_numbers_in_parentheses_that_count_are_labels(tmp_path):
    path = tmp_path / "numbered.csv"
    path.write_text("k,b\n(1),2\n(2),4\n(3),7\n")
    assert ek.open_data(path).metadata.row_names == ("(1)", "(2)", "(3)")


def test_words_among_numbers_in_parentheses_are_refused(tmp_path):
    path = tmp_path / "damaged.csv"
    path.write_text("k,b\n(1.5),2\n(abc),4\n(3.5),7\n")
    with pytest.raises(FileError, match=r"line 2, column 'k'.*with a minus sign instead of parentheses"):
        ek.open_data(path)


def test_blocks_with_numbers_in_parentheses(tmp_path, monkeypatch):
    """A column without any at the beginning has none later: such a cell may be a label, and no note could report it."""
    shrink(monkeypatch, 300)
    path = tmp_path / "many.csv"
    path.write_text("a,b\n" + "(1.5),2\n2,3\n" * 200 + "7,(3)\n")
    found = ek.open_data(path, stream=True)
    np.testing.assert_array_equal(found.read(0, 300), np.tile([[-1.5, 2], [2, 3]], (150, 1)))
    assert any(note.code == "accounting_negatives" for note in found.metadata.notes)
    with pytest.raises(FileError, match=r"'\(3\)' is not a number"):
        found.read(400, 401)


@pytest.mark.parametrize("stream", [None, True])
@pytest.mark.parametrize("cells", [("5 %", "6 %", "bad", "7 %"), ("$5", "$6", "bad", "$7")])
def test_one_bad_cell_among_amounts_is_refused_by_its_line(tmp_path, cells, stream):
    path = tmp_path / "a.csv"
    path.write_text("a,p\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    with pytest.raises(FileError, match="line 4, column 'p': the cell 'bad' is not a number"):
        ek.open_data(path, stream=stream)


@pytest.mark.parametrize("stream", [None, True])
def test_numbers_with_a_bad_cell_that_are_left_out_do_not_name_the_rows(tmp_path, stream):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,2,1\n2,4,2\n3,3,x\n4,2,4\n")
    assert ek.open_data(path, columns=["a", "b"], stream=stream).metadata.row_names is None


UNITS = """who,height,dose,ph,kind
a,171.5 cm,1000mg,7.1,5 A
b,168 cm,-20mg,7.2,6 B
c,,5mg,7.3,7 A
d,180.25 cm,0.5mg,7.4,8 A
"""


@pytest.mark.parametrize("stream", [False, True])
def test_numbers_with_the_same_unit_are_numbers_with_a_note(tmp_path, stream):
    path = tmp_path / "units.csv"
    path.write_text(UNITS)
    found = ek.open_data(path, stream=stream)
    assert found.metadata.column_names == ("height", "dose", "ph")
    expected = [[171.5, 1000, 7.1], [168, -20, 7.2], [np.nan, 5, 7.3], [180.25, 0.5, 7.4]]
    np.testing.assert_array_equal(found.read(0, 4) if stream else found.matrix, expected)
    notes = {note.code: str(note) for note in found.metadata.notes}
    assert notes["signs_removed"] == "Read as numbers, without the symbol: 'height' (cm), 'dose' (mg)."


@pytest.mark.parametrize(
    "cells",
    [
        "001A/002A/003A",
        "5 cm/6 m/7 cm",
        "1 a/2/3 a",
        "a/b/c",
        "1st/2st/3st",
        "1 Jan/2 Jan/9 Jan",
        "6pm/12pm/7pm",
        "5 AM/11 AM/9 AM",
        "5 mg/5 mg/placebo/5 mg",
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_other_text_stays_text(tmp_path, cells, stream):
    path = tmp_path / "text.csv"
    path.write_text("v,x\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells.split("/"))))
    assert ek.open_data(path, stream=stream).metadata.column_names == ("v",)


def test_a_first_column_of_different_amounts_names_the_rows(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("time,v\n10 min,1\n20 min,2\n30 min,3\n")
    assert ek.open_data(path).metadata.row_names == ("10 min", "20 min", "30 min")


@pytest.mark.parametrize("cell", ["4 m", "tall", "1.2.3 cm"])
def test_another_unit_after_the_first_records_is_refused_by_its_line(tmp_path, monkeypatch, cell):
    path = tmp_path / "many.csv"
    path.write_text("a,h\n" + "1,2.5 cm\n2,3 cm\n" * 100 + f"3,{cell}\n")
    refusal = f"line 202, column 'h': the cell '{cell}' is not a number with the symbol 'cm'"
    with pytest.raises(FileError, match=refusal):
        ek.open_data(path, stream=False)
    shrink(monkeypatch, 300)
    found = ek.open_data(path, stream=True)
    np.testing.assert_array_equal(found.read(0, 150), np.tile([[1, 2.5], [2, 3]], (75, 1)))
    with pytest.raises(FileError, match=refusal):
        found.read(200, 201)


@pytest.mark.parametrize(
    ("usual", "late"),
    [
        ("$2.50", "2.50"),
        ("$2.50", "€2.50"),
        ("5%", "5 pct"),
        ("1'234", "1234.5"),
        ("1 234", "1'234"),
        ("(1.50)", "(1.50"),
        ("1.50", "(1.50)"),
    ],
)
def test_later_cells_in_another_form_are_refused_in_the_same_words(tmp_path, monkeypatch, usual, late):
    path = tmp_path / "late.csv"
    path.write_text("a,h\n" + f"1.5,{usual}\n2.5,{usual}\n" * 110 + f"3.5,{late}\n")
    with pytest.raises(FileError, match="line 222, column 'h'") as whole:
        ek.open_data(path, stream=False)
    shrink(monkeypatch, 300)
    found = ek.open_data(path, stream=True)
    with pytest.raises(FileError) as streamed:
        found.read(0, 221)
    assert str(whole.value) == str(streamed.value)
