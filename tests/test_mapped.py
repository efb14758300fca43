"""Arrays that map a file which becomes shorter: reading them ends a process (SIGBUS), so a process of its own does."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse

import eckart as ek

_ROWS, _COLUMNS = 4000, 6
_SCRIPT = """
    import os, sys
    import numpy as np, eckart as ek
    import pandas as pd
    from scipy import sparse
    mapped = np.load(sys.argv[1], mmap_mode="r")
    fitted = ek.PCA(2).fit(np.random.default_rng(0).standard_normal((20, 6)))
    os.truncate(sys.argv[1], 50_000)
    for call in sys.argv[2:]:
        print(call, flush=True)
        try:
            eval(call)
        except ek.errors.FileError as error:
            print(error, flush=True)
"""
_CALLS = (
    "ek.decompose(mapped, k=2)",
    "ek.decompose(np.asarray(mapped)[::-1, 1:], k=2)",
    "ek.decompose(mapped.view(np.int64), k=2)",
    "ek.decompose(mapped, k=2, stream=True)",
    "ek.PCA(2).fit(mapped)",
    "ek.PCA(2).fit(mapped[5:])",
    "ek.NMF(2).fit(np.asarray(mapped))",
    "fitted.transform(np.asarray(mapped))",
    "fitted.inverse_transform(np.asarray(mapped)[:, :2])",
    "ek.project(fitted.decomposition_, mapped)",
    "ek.open_data(mapped)",
    "ek.decompose([mapped[:100], mapped[100:]], k=2)",
    "ek.decompose({'a': mapped[:, 0], 'b': mapped[:, 1]}, k=2)",
    "ek.decompose(pd.DataFrame(mapped, copy=False), k=2)",
    "ek.decompose(pd.DataFrame({'a': mapped[:, 0], 'b': mapped[:, 1]}, copy=False), k=2)",
    "ek.decompose(pd.DataFrame({'a': mapped[:, 0], 'b': mapped[:, 1], 'c': 'x'}, copy=False), k=2)",
    "ek.decompose(sparse.coo_array((mapped[:, 0], (np.arange(4000), np.arange(4000) % 6))), k=2)",
    "ek.decompose(np.ma.MaskedArray(mapped), k=2)",
    "ek.decompose(np.ones((4000, 2)), k=1, sample_weight=mapped[:, 0])",
    "ek.reconstruct(fitted, mapped[:, :2])",
    "ek.CorrelationFilter(n_features=2).fit(mapped, np.arange(4000))",
)
_DURING = """
    import os, sys, tempfile
    import numpy as np, eckart as ek
    path, folder = sys.argv[1], tempfile.mkdtemp()
    fitted = ek.PCA(2).fit(np.random.default_rng(0).standard_normal((20, 6)))
    whole = open(path, "rb").read()

    def truncate(progress):
        if progress.block == 2:
            os.truncate(path, len(whole) // 2)

    for call in sys.argv[2:]:
        open(path, "wb").write(whole)
        mapped = np.load(path, mmap_mode="r")
        print(call, flush=True)
        try:
            eval(call)
        except ek.errors.FileError as error:
            print(error, flush=True)
"""
_CALLS_DURING = (
    "ek.decompose(mapped, k=2, stream=True, memory='1MB', callback=truncate)",
    "ek.decompose(np.asarray(mapped)[::-1], 'svd', k=2, stream=True, memory='1MB', callback=truncate)",
    "ek.decompose(mapped, k=2, memory='1MB', callback=truncate, left=True)",
    "ek.project_to(fitted, mapped, folder + '/scores.npy', memory='1MB', callback=truncate)",
    "ek.reconstruct_to(fitted, mapped[:, :2], folder + '/rows.npy', memory='1MB', callback=truncate)",
    "ek.decompose(mapped, k=2, checkpoint=folder + '/run', memory='1MB', callback=truncate)",
)


@pytest.fixture
def table():
    return np.random.default_rng(0).standard_normal((_ROWS, _COLUMNS))


@pytest.fixture
def path(tmp_path, table):
    np.save(tmp_path / "table.npy", table)
    return tmp_path / "table.npy"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not truncate a mapped file")
def test_a_map_of_a_truncated_file_is_refused(path):
    command = [sys.executable, "-c", textwrap.dedent(_SCRIPT), str(path), *_CALLS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[::2] == list(_CALLS)
    for call, message in zip(lines[::2], lines[1::2], strict=True):
        assert f"{path} was truncated after it was mapped" in message, call
        assert "the file has 50,000" in message, call


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not truncate a mapped file")
def test_a_file_that_is_truncated_during_a_pass_is_refused(path, table):
    np.save(path, np.tile(table, (20, 1)))
    command = [sys.executable, "-c", textwrap.dedent(_DURING), str(path), *_CALLS_DURING]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[::2] == list(_CALLS_DURING)
    assert all("was truncated after it was mapped" in message for message in lines[1::2]), lines


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not truncate a mapped file")
def test_results_in_memory_do_not_depend_on_a_file_that_is_truncated_later(path, table):
    """Everything is copied before it is used."""
    mapped = np.load(path, mmap_mode="r")
    source = ek.open_data(mapped)
    os.truncate(path, 1000)
    np.testing.assert_array_equal(ek.decompose(source, k=2).values, ek.decompose(table, k=2).values)


def test_maps_larger_than_the_memory_limit_are_read_in_blocks(path, table):
    table = np.tile(table, (20, 1))
    np.save(path, table)
    mapped = np.load(path, mmap_mode="r")
    blocks = []
    found = ek.decompose(mapped, k=2, memory="1MB", callback=lambda progress: blocks.append(progress.blocks))
    np.testing.assert_allclose(found.values, ek.decompose(table, k=2).values, rtol=1e-12)
    assert blocks[0] > 1


@pytest.mark.parametrize("dtype", [np.int64, np.int16, ">f4", bool])
@pytest.mark.parametrize("stream", [True, False])
def test_maps_of_other_numbers_give_the_results_of_arrays(tmp_path, table, dtype, stream):
    numbers = table > 0.5 if dtype is bool else (table * 9).astype(dtype)
    np.save(tmp_path / "numbers.npy", numbers)
    for view in (slice(None), slice(None, None, -3)):
        mapped = np.load(tmp_path / "numbers.npy", mmap_mode="r")[view, 1:]
        expected = ek.decompose(numbers[view, 1:], k=2, stream=stream).values
        np.testing.assert_array_equal(ek.decompose(mapped, k=2, stream=stream).values, expected)


_OTHERS = """
    import os, sys
    import eckart as ek
    path = sys.argv[1]
    if sys.argv[2] != "torch":
        import numpy as np, pyarrow as pa
        columns = {f"c{j}": np.arange(40_000.0) % (j + 2) for j in range(4)}
        columns["name"] = [f"a long name {i % 99}" if i % 7 else None for i in range(40_000)]
        table = pa.table(columns | {"truth": np.arange(40_000) % 3 == 0})
        table = table.append_column("code", table["name"].dictionary_encode())
        table = table.append_column("pair", pa.FixedSizeListArray.from_arrays(np.arange(80_000.0) % 7, 2))
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        data = pa.ipc.open_file(pa.memory_map(path)).read_all().slice(13)
        whole = table.slice(13)
    if sys.argv[2] == "reader":
        data = data.to_reader()
    elif sys.argv[2] == "torch":
        import torch
        data = torch.from_file(path, size=20_000, dtype=torch.float64).reshape(-1, 5)
    if sys.argv[2] == "torch":
        ek.decompose(data, k=2)
    elif sys.argv[2] != "reader":
        found = ek.decompose(data, k=2)
        np.testing.assert_array_equal(found.values, ek.decompose(whole, k=2).values)
    os.truncate(path, 50_000)
    try:
        ek.decompose(data, k=2)
    except ek.errors.FileError as error:
        print(error, flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists the mapped files of a process")
@pytest.mark.parametrize("kind", ["arrow", "reader", "torch"])
@pytest.mark.parametrize("name", ["table.npy", "table.sorted", "a b (deleted)"])
def test_tables_and_tensors_in_a_truncated_file_are_refused(path, kind, name):
    if kind == "torch":
        pytest.importorskip("torch")
    path = path.rename(path.with_name(name))
    command = [sys.executable, "-c", textwrap.dedent(_OTHERS), str(path), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "was truncated after it was mapped" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not truncate a mapped file")
def test_bytes_lost_within_the_last_page_are_not_read_as_zeros(path):
    mapped = np.load(path, mmap_mode="r")
    os.truncate(path, path.stat().st_size - 8)
    with pytest.raises(ek.errors.FileError, match="truncated after it was mapped"):
        ek.decompose(mapped, k=2)
    assert ek.decompose(mapped[:-1], k=2).rows == _ROWS - 1  # the other rows are complete


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not remove a mapped file")
def test_maps_of_removed_and_replaced_files_are_read(path, tmp_path, table):
    """The map keeps the old file, whatever has its name."""
    expected = ek.decompose(table, k=2).values
    mapped = np.load(path, mmap_mode="r")
    np.save(tmp_path / "other.npy", np.ones((2, 2)))
    (tmp_path / "other.npy").replace(path)
    np.testing.assert_array_equal(ek.decompose(mapped, k=2).values, expected)
    path.unlink()
    np.testing.assert_array_equal(ek.decompose(mapped, k=2).values, expected)


def test_copies_of_a_map_and_views_of_them_are_read(path, table):
    """They are np.memmap without a file: a slice of one led to TypeError."""
    mapped = np.load(path, mmap_mode="r")
    for view in (mapped.copy()[10:], mapped[[5, 9, 1, 7]][:3], mapped[mapped[:, 0] > 0][:, 1:], (mapped * 2)[::-1]):
        np.testing.assert_array_equal(ek.decompose(view, k=2).values, ek.decompose(np.array(view), k=2).values)
    with pytest.raises(ek.errors.InputError):
        ek.decompose(mapped[_ROWS:], k=2)


def test_maps_with_an_offset_and_parts_of_them_are_read(tmp_path, table):
    place = tmp_path / "raw"
    place.write_bytes(b"\0" * 9000 + table.tobytes())
    mapped = np.memmap(place, np.float64, "c", offset=9000, shape=table.shape)
    for view in (mapped, mapped[::-1], mapped[100:, ::2], np.asarray(mapped).T[:, :50]):
        np.testing.assert_array_equal(ek.decompose(view, k=2).values, ek.decompose(np.array(view), k=2).values)
    rows = sparse.csr_array(mapped)
    assert ek.decompose(rows, k=2).rows == _ROWS


@pytest.mark.parametrize("method", ["pca", "svd"])
@pytest.mark.parametrize("rows", [60, 20_000])
@pytest.mark.parametrize("part", [np.s_[:], np.s_[::-1], np.s_[::2], np.s_[:, ::-1]], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_scores_of_mapped_rows_have_the_bits_of_rows_in_memory(tmp_path, method, rows, part, order):
    table = np.asarray(np.random.default_rng(0).standard_normal((rows, 8)) + 1, order=order)
    np.save(tmp_path / "x.npy", table)
    d = ek.decompose(table[:50], method, k=3)
    for mode in ("r", "c"):
        mapped = np.load(tmp_path / "x.npy", mmap_mode=mode)
        if mode == "c":
            mapped[3, 2] = table[3, 2] = 17.0  # only in memory
        for given in (mapped[part], np.asarray(mapped)[part]):
            assert (ek.project(d, given) == ek.project(d, table[part])).all()


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("method", ["pca", "svd"])
def test_small_sparse_matrices_over_maps_have_the_bits_of_those_in_memory(tmp_path, kind, method):
    table = kind(sparse.random(60, 8, 0.4, random_state=0))
    mapped = table.copy()
    for name in ("data", "indices", "indptr", "row", "col"):
        if hasattr(table, name):
            np.save(tmp_path / f"{name}.npy", getattr(table, name))
            setattr(mapped, name, np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    expected, found = ek.decompose(table, method, k=2), ek.decompose(mapped, method, k=2)
    assert (found.values == expected.values).all()
    assert (found.right == expected.right).all()
    assert (ek.project(expected, mapped) == ek.project(expected, table)).all()
