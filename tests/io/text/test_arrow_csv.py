"""PyArrow's threads do not use the bytes of a text any more when it has been read."""

from __future__ import annotations

import sys

import numpy as np
from pyarrow import csv

import eckart as ek
from eckart.io.text.arrow_csv import read_csv


def test_no_thread_refers_to_the_bytes_afterwards():
    """It did after every third call, and a process that ended at that moment was aborted."""
    for rows in range(2000, 2300):
        data = b"1.5,2.5,3.5\n" * rows
        before = sys.getrefcount(data)
        read = csv.ReadOptions(column_names=["a", "b", "c"], block_size=len(data) + 1)
        table = read_csv(data, read, csv.ParseOptions(), csv.ConvertOptions(), start=12)
        assert sys.getrefcount(data) == before
        assert table.shape == (rows - 1, 3)


def test_every_reader_of_text_waits(tmp_path, monkeypatch):
    """No other module calls PyArrow's parser on bytes of Python."""
    monkeypatch.setattr(csv, "read_csv", _only_from_here(csv.read_csv))
    numbers = np.arange(60.0).reshape(20, 3)
    np.savetxt(tmp_path / "x.csv", numbers, delimiter=",", header="a,b,c", comments="")
    lines = "".join(f"{i + 1} {j + 1} {numbers[i, j]}\n" for i in range(20) for j in range(3))
    (tmp_path / "x.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n20 3 60\n{lines}")
    for name in ("x.csv", "x.mtx"):
        for stream in (False, True):
            source = ek.open_data(tmp_path / name, stream=stream)
            found = source.read(0, 20) if stream else source.matrix
            found = found.toarray() if hasattr(found, "toarray") else found
            np.testing.assert_array_equal(found, numbers)


def _only_from_here(parse):
    def called(*given, **options):
        assert sys._getframe(1).f_globals["__name__"] == "eckart.io.text.arrow_csv"
        return parse(*given, **options)

    return called
