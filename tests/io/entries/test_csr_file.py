"""Sorting entries by rows on disk, compared with SciPy: buckets smaller than the matrix, rows larger than a bucket."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.errors import FileError, MemoryBudgetError
from eckart.io.entries import csr_file
from eckart.io.entries.csr_file import write_csr


def blocks_of(entries, size):
    row, column, value = entries
    for start in range(0, len(row), size):
        some = slice(start, start + size)
        yield row[some], column[some], value[some]


@pytest.mark.parametrize("order", ["rows", "columns", "random"])
@pytest.mark.parametrize("bucket", [1, 7, 500, 10**6])
def test_any_order_gives_the_rows_that_scipy_gives(tmp_path, monkeypatch, order, bucket):
    monkeypatch.setattr(csr_file, "_BUCKET", bucket)
    monkeypatch.setattr(csr_file, "_PIECE", 97)
    rng = np.random.default_rng(3)
    row = rng.integers(0, 60, 900)
    row[:300] = 17  # one row with more entries than a bucket
    row[(row > 40) & (row < 50)] = 59  # and empty ones
    column, value = rng.integers(0, 30, 900), rng.standard_normal(900)
    places = {"rows": np.argsort(row, kind="stable"), "columns": np.argsort(column, kind="stable")}
    chosen = places.get(order, np.arange(900))
    entries = row[chosen], column[chosen], value[chosen]
    assert write_csr(tmp_path / "a.npz", (60, 30), lambda: blocks_of(entries, 128), overwrite=False) == 900
    found = sp.load_npz(tmp_path / "a.npz")
    assert found.indices.dtype == np.int32
    np.testing.assert_array_equal(np.diff(found.indptr), np.bincount(row, minlength=60))
    expected = sp.coo_array((entries[2], entries[:2]), shape=(60, 30)).tocsr()
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-13)
    # Entries of one row stay in the order of the file.
    stable = np.argsort(entries[0], kind="stable")
    np.testing.assert_array_equal(found.data, entries[2][stable])
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_no_entries(tmp_path):
    write_csr(tmp_path / "a.npz", (4, 3), lambda: iter(()), overwrite=False)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "a.npz").toarray(), np.zeros((4, 3)))


@pytest.mark.parametrize("second", [[0, 1, 1], [0, 1], [1, 1]])
def test_entries_that_change_between_the_passes_are_refused(tmp_path, monkeypatch, second):
    monkeypatch.setattr(csr_file, "_BUCKET", 1)
    passes = iter([np.array([0, 1, 2]), np.array(second)])

    def blocks():
        rows = next(passes)
        yield rows, rows, rows.astype(float)

    with pytest.raises(FileError, match="changed while Eckart sorted them by row"):
        write_csr(tmp_path / "a.npz", (3, 3), blocks, overwrite=False)
    assert not list(tmp_path.iterdir())


def test_row_pointers_count_against_the_limit(tmp_path):
    with pytest.raises(MemoryBudgetError, match=r"row pointers of 50,000,000 rows takes 800 MB.*limit is 300 MB"):
        write_csr(tmp_path / "a.npz", (50_000_000, 3), lambda: iter(()), overwrite=False, memory=300_000_000)


def test_a_disk_without_room_is_reported_before_the_work(tmp_path):
    """RLIMIT_FSIZE stands for a full disk: both refuse the bytes."""
    code = """
        import resource, signal, sys
        import numpy as np
        from eckart.errors import FileError
        from eckart.io.entries.csr_file import write_csr
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        rows = np.arange(2000)
        try:
            write_csr(sys.argv[1] + "/a.npz", (2000, 2000), lambda: iter([(rows, rows, rows * 1.0)]), overwrite=False)
        except FileError as error:
            print(error)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "Sorting 2,000 entries by row needs 56,000 bytes" in ended.stdout
    assert "ECKART_SPOOL" in ended.stdout
    assert not list(tmp_path.iterdir())


def test_converting_a_short_file_of_very_many_rows_is_refused(tmp_path, monkeypatch):
    """The row pointers of 10^9 rows take 16 GB, however few entries there are."""
    monkeypatch.setattr("eckart.io.convert.free_memory", lambda: 30 * 10**9)
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1000000000 9 1\n1 2 5\n")
    with pytest.raises(
        MemoryBudgetError, match=r"a\.mtx: the list of row pointers .*16 GB.*Number the rows without gaps"
    ):
        ek.convert(tmp_path / "a.mtx", tmp_path / "a.npz")
