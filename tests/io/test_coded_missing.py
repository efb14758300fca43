"""Codes for missing values that the user states, in every kind of data."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy import sparse

import eckart as ek
from eckart.cli import main
from eckart.errors import InputError, ParameterError

FRAME = pd.DataFrame(
    {
        "id": [1, 2, 3, 4, 5, 99],
        "age": [31.5, -999, 25, 44, 99, 23],
        "answer": [1, 2, 99, 4, -999, 5],
        "group": ["u", "v", "-999", "v", "u", "u"],
    }
)
"""99 is a row in `id`, and missing in the other columns."""
CODES = [-999, 99]
EXPECTED = FRAME[["age", "answer"]].replace(CODES, np.nan).to_numpy(float)


def _csv(folder, text=None):
    path = folder / "x.csv"
    path.write_text(FRAME.to_csv(index=False) if text is None else text)
    return path


def _parquet(folder):
    FRAME.to_parquet(folder / "x.parquet")
    return folder / "x.parquet"


KINDS = {
    "csv": _csv,
    "parquet": _parquet,
    "pandas": lambda _: FRAME,
    "polars": lambda _: pl.from_pandas(FRAME),
    "arrow": lambda _: pa.Table.from_pandas(FRAME),
    "reader": lambda _: pa.Table.from_pandas(FRAME).to_reader(),
    "dict": lambda _: FRAME.to_dict("list"),
    "records": lambda _: FRAME.to_dict("records"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stream", [None, True])
def test_numbers_are_missing_in_every_kind_of_data(kind, stream, tmp_path):
    found = ek.open_data(KINDS[kind](tmp_path), missing_values=CODES, columns=["age", "answer"], stream=stream)
    values = found.matrix if hasattr(found, "matrix") else found.read(0, len(FRAME))
    np.testing.assert_array_equal(values, EXPECTED)


@pytest.mark.parametrize("kind", KINDS)
def test_identifiers_keep_their_numbers_and_labels_lose_the_codes(kind, tmp_path):
    found = ek.open_data(KINDS[kind](tmp_path), missing_values=CODES)
    np.testing.assert_array_equal(found.matrix[:, 0], FRAME["id"])
    assert found.metadata.labels["group"] == ("u", "v", "", "v", "u", "u")
    codes = [note.code for note in found.metadata.notes]
    assert "missing_values" in codes
    assert "missing_code" not in codes


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_arrays(dtype):
    table = np.array([[1, -999], [99, 3], [4, 5]], dtype)
    found = ek.open_data(table, missing_values=CODES)
    np.testing.assert_array_equal(found, [[1, np.nan], [np.nan, 3], [4, 5]])
    assert found.dtype == (np.float64 if dtype == np.int16 else dtype)
    assert table[0, 1] == -999


TEXTS = {
    "plain": "name,h,w\nu,171.5,unknown\nv,refused,2\nw, unknown ,3\nx,180,4\ny,190,5\nz,160,6\n",
    "quoted": '"name","h","w"\n"u, unknown",171.5,"unknown"\n"v","refused",2\n'
    '"w","unknown",3\n"x",180,4\n"y",190,5\n"z",160,6\n',
    "decimal comma": "name;h;w\nu;171,5;unknown\nv;refused;2\nw;unknown;3\nx;180;4\ny;190;5\nz;160;6\n",
    "unit": "name,h,w\nu,171.5 cm,unknown\nv,refused,2\nw,unknown,3\nx,180 cm,4\ny,190 cm,5\nz,160 cm,6\n",
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_in_columns_of_numbers_are_missing(text, tmp_path):
    found = ek.open_data(_csv(tmp_path, TEXTS[text]), missing_values=["unknown", "refused"])
    np.testing.assert_array_equal(
        found.matrix, [[171.5, np.nan], [np.nan, 2], [np.nan, 3], [180, 4], [190, 5], [160, 6]]
    )
    assert found.metadata.row_names == ("u, unknown" if text == "quoted" else "u", "v", "w", "x", "y", "z")


@pytest.mark.parametrize("quote", ["", '"'])
def test_texts_are_missing_in_files_read_in_blocks(quote, tmp_path, monkeypatch):
    monkeypatch.setattr("eckart.io.text.rows._HELD", 1000)
    rng = np.random.default_rng(5)
    table = rng.integers(0, 90, (500, 3)).astype(float)
    cells = [[f"{quote}unknown{quote}" if value < 9 else "-999.0" if value < 18 else f"{value:g}" for value in row]
             for row in table]  # fmt: skip
    text = "A title\n\na,b,c\n" + "\n".join(map(",".join, cells)) + "\n"
    options = {"header": 3, "missing_values": ["unknown", -999]}
    path = _csv(tmp_path, text)
    rows = ek.open_data(path, stream=True, **options)
    assert not hasattr(rows, "matrix")
    np.testing.assert_array_equal(rows.read(0, 500), np.where(table < 18, np.nan, table))
    whole = ek.open_data(path, stream=False, **options)
    np.testing.assert_array_equal(whole.matrix, rows.read(0, 500))
    other = ek.open_data(path, stream=True, header=3, missing_values=["unknown"])
    assert rows.fingerprint()["content"] != other.fingerprint()["content"]


def test_the_command_reads_codes_and_titles(tmp_path):
    path = _csv(tmp_path, "Ages, of all\n" + FRAME.to_csv(index=False).replace("31.5", "unknown"))
    options = ["--header", "2", "--missing-values", "unknown,-999", "--missing-values=99"]
    said = CliRunner().invoke(main, ["rank", str(path), *options])
    assert said.exit_code == 2
    assert "5 of 12 values are missing, in 2 of 2 columns" in said.output
    found = CliRunner().invoke(main, ["rank", str(path), *options, "--missing", "mean"])
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("-999", r"takes a list, such as missing_values=\['-999'\]"),
        (-999, r"takes a list, such as missing_values=\[-999\]"),
        ([None], "contains None, which is neither a number nor a text"),
        ([True], "contains True, which is neither a number nor a text"),
    ],
)
def test_what_is_not_a_list_of_codes_is_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        ek.open_data(FRAME, missing_values=given)


def test_codes_of_sparse_data_are_refused():
    with pytest.raises(InputError, match="missing_values= applies to tables that store every value"):
        ek.open_data(sparse.eye_array(4, format="csr"), missing_values=[1])


@pytest.mark.parametrize("stream", [False, True])
def test_a_sparse_file_is_named_in_the_error(tmp_path, stream):
    path = tmp_path / "counts.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 -999\n2 2 1\n")
    with pytest.raises(InputError, match=r"missing_values= .*, but counts\.mtx is sparse\. Replace the codes"):
        ek.open_data(path, missing_values=[-999], stream=stream)
