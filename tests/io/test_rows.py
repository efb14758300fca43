"""Files read by rows: every format gives the same numbers, in any order, also from a pickle of the source."""

from __future__ import annotations

import gzip
import itertools
import pickle

import numpy as np
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp
from pyarrow import feather, parquet

import eckart as ek
from eckart.engine.blocks.edges import edges_for, largest_block
from eckart.errors import FileError, MemoryBudgetError, ParameterError
from eckart.io.convert import convert
from eckart.io.open_rows import open_rows
from eckart.io.read_options import ReadOptions
from eckart.io.rows import PiecedRows

RNG = np.random.default_rng(0)
DENSE = RNG.standard_normal((500, 6)) * np.arange(1, 7)
SPARSE = sp.csr_array(DENSE * (RNG.random(DENSE.shape) < 0.3))
NAMES = [f"c{i}" for i in range(6)]


def arrow_table(data=DENSE):
    return pa.table({name: data[:, i] for i, name in enumerate(NAMES)})


def write_npy(folder):
    np.save(folder / "a.npy", DENSE)
    return folder / "a.npy"


def write_parquet(folder):
    table = arrow_table().append_column("town", pa.array(["x"] * 500))
    parquet.write_table(table, folder / "a.parquet", row_group_size=130)
    return folder / "a.parquet"


def write_folder(folder):
    (folder / "parts").mkdir()
    for i, start in enumerate(range(0, 500, 180)):
        parquet.write_table(arrow_table(DENSE[start : start + 180]), folder / "parts" / f"part-{i}.parquet")
    return folder / "parts"


def write_pattern(folder):
    write_folder(folder)
    return folder / "parts" / "part-*.parquet"


def write_feather(folder):
    feather.write_feather(arrow_table(), folder / "a.feather", chunksize=90)
    return folder / "a.feather"


def write_hdf5(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "a.h5", "w") as file:
        file.create_dataset("matrix", data=DENSE, chunks=(64, 6), compression="gzip")
    return folder / "a.h5"


def write_h5ad(folder, matrix=DENSE):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "a.h5ad", "w") as file:
        if sp.issparse(matrix):
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", matrix.shape
            for part in ("data", "indices", "indptr"):
                group.create_dataset(part, data=getattr(matrix, part))
        else:
            file.create_dataset("X", data=matrix)
        var = file.create_group("var")
        var.attrs["_index"] = "gene"
        var.create_dataset("gene", data=[name.encode() for name in NAMES])
    return folder / "a.h5ad"


def write_zarr(folder, version=3, matrix=DENSE):
    zarr = pytest.importorskip("zarr")
    path = folder / "a.zarr"
    if sp.issparse(matrix):
        root = zarr.open_group(str(path), mode="w", zarr_format=version)
        group = root.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", list(matrix.shape)
        for part in ("data", "indices", "indptr"):
            group.create_array(part, data=getattr(matrix, part))
    else:
        array = zarr.create_array(str(path), shape=matrix.shape, chunks=(70, 6), dtype="f8", zarr_format=version)
        array[:] = matrix
    return path


def write_npz(folder, *, compressed):
    sp.save_npz(folder / "a.npz", SPARSE, compressed=compressed)
    return folder / "a.npz"


def write_csv(folder, *, packed=False):
    lines = [",".join([*NAMES[:2], "town", *NAMES[2:]])]
    for i, row in enumerate(DENSE):
        cells = [repr(float(x)) for x in row]
        lines.append(",".join([*cells[:2], f'"line {i}\n, broken"', *cells[2:]]) + ("\n" if i % 7 == 0 else ""))
    text = "\n".join(lines).encode()
    path = folder / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    return path


FILES = {
    "csv": (write_csv, DENSE),
    "csv packed": (lambda folder: write_csv(folder, packed=True), DENSE),
    "npy": (write_npy, DENSE),
    "parquet": (write_parquet, DENSE),
    "folder": (write_folder, DENSE),
    "pattern": (write_pattern, DENSE),
    "feather": (write_feather, DENSE),
    "hdf5": (write_hdf5, DENSE),
    "h5ad": (write_h5ad, DENSE),
    "h5ad sparse": (lambda folder: write_h5ad(folder, SPARSE), SPARSE),
    "zarr 2": (lambda folder: write_zarr(folder, 2), DENSE),
    "zarr 3": (write_zarr, DENSE),
    "zarr sparse": (lambda folder: write_zarr(folder, matrix=SPARSE), SPARSE),
    "npz": (lambda folder: write_npz(folder, compressed=False), SPARSE),
    "npz packed": (lambda folder: write_npz(folder, compressed=True), SPARSE),
}


@pytest.mark.parametrize("kind", FILES)
def test_rows_in_any_order(tmp_path, kind):
    write, truth = FILES[kind]
    rows = open_rows(write(tmp_path))
    assert rows.shape == truth.shape
    assert rows.sparse == sp.issparse(truth)
    assert rows.entries == (truth.nnz if rows.sparse else truth.size)
    again = pickle.loads(pickle.dumps(rows))
    for source in (rows, again):
        for start, stop in ((100, 260), (0, 500), (499, 500), (3, 4), (0, 70)):
            block = source.read(start, stop)
            found = block.toarray() if rows.sparse else block
            np.testing.assert_array_equal(found, (truth.toarray() if rows.sparse else truth)[start:stop])


@pytest.mark.parametrize("kind", FILES)
def test_decomposed_from_file_as_from_memory(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("eckart.budget._BLOCK_BYTES", (3000, 3000))
    write, truth = FILES[kind]
    path = write(tmp_path)
    whole = ek.decompose(truth, k=2)
    for stream in (True, None):
        np.testing.assert_allclose(ek.decompose(path, k=2, stream=stream).values, whole.values, rtol=1e-9)


def test_a_text_of_many_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("eckart.io.text.index._CHUNK", 3000)
    monkeypatch.setattr("eckart.io.bytes.CHUNK", 1000)
    monkeypatch.setattr("eckart.io.text.rows._HEAD", 3000)
    monkeypatch.setattr("eckart.io.text.rows._HELD", 0)
    rows = open_rows(write_csv(tmp_path))
    assert len(rows.cuts()) > 10
    np.testing.assert_array_equal(rows.read(0, 500), DENSE)
    np.testing.assert_array_equal(rows.read(333, 401), DENSE[333:401])


def test_a_piece_of_a_text_is_parsed_once_for_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("eckart.io.text.rows._HELD", 0)
    rows = open_rows(write_csv(tmp_path))
    parsed = []
    original = type(rows)._piece
    monkeypatch.setattr(
        type(rows), "_piece", lambda self, text, piece: parsed.append(piece) or original(self, text, piece)
    )
    blocks = [rows.read(start, start + 50) for start in range(0, 500, 50)]
    np.testing.assert_array_equal(np.concatenate(blocks), DENSE)
    assert sorted(parsed) == list(range(len(rows.edges) - 1))


def test_a_cell_that_does_not_fit_is_refused_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr("eckart.io.bytes.CHUNK", 1000)
    monkeypatch.setattr("eckart.io.text.rows._HEAD", 3000)
    monkeypatch.setattr("eckart.io.text.rows._HELD", 0)
    path = write_csv(tmp_path)
    text = path.read_text()
    place = text.rindex(",0") if ",0" in text else text.rindex(",")
    path.write_text(text[: place + 1] + "oops" + text[place + 1 :])
    with pytest.raises(FileError, match=r"a.csv', line \d+, column 'c3': the cell 'oops"):
        open_rows(path).read(0, 500)


def test_names_and_what_is_left_out(tmp_path):
    rows = open_rows(write_parquet(tmp_path))
    assert rows.metadata.column_names == tuple(NAMES)
    assert "town" in rows.metadata.notes[-1]
    assert open_rows(write_h5ad(tmp_path)).metadata.column_names == tuple(NAMES)


def test_parts_of_different_columns_are_refused(tmp_path):
    folder = write_folder(tmp_path)
    parquet.write_table(pa.table({"other": [1.0]}), folder / "zzz.parquet")
    with pytest.raises(FileError, match=r"zzz.parquet.*same columns"):
        open_rows(folder)


def test_an_empty_folder(tmp_path):
    with pytest.raises(FileError, match="folder of Parquet files"):
        open_rows(tmp_path)
    with pytest.raises(FileError, match="No file matches"):
        open_rows(tmp_path / "*.parquet")


def test_columns_first_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csc_matrix", (3, 2)
    with pytest.raises(FileError, match="by columns"):
        open_rows(tmp_path / "a.h5ad")


def test_several_arrays_need_a_key(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["one"], file["two"] = DENSE, DENSE[:50]
    with pytest.raises(ParameterError, match=r"'one', 'two'.*key"):
        open_rows(tmp_path / "a.h5")
    assert open_rows(tmp_path / "a.h5", options=ReadOptions(key="two")).shape == (50, 6)


@pytest.mark.parametrize("kind", ["parquet", "npz", "hdf5", "npy"])
def test_a_file_cut_short_is_refused(tmp_path, kind):
    path = FILES[kind][0](tmp_path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileError, match=path.name):
        open_rows(path).read(0, 500)


def write_mtx(folder, symmetry="general"):
    path = folder / "a.mtx"
    scipy.io.mmwrite(path, sp.coo_array(SPARSE.T.tocsr()).T, symmetry=symmetry)
    return path


def write_triplets(folder):
    entries = SPARSE.tocoo()
    order = np.random.default_rng(0).permutation(entries.nnz)
    columns = {"row": entries.row[order], "column": entries.col[order], "value": entries.data[order]}
    parquet.write_table(pa.table(columns), folder / "t.parquet", row_group_size=77)
    return folder / "t.parquet"


@pytest.mark.parametrize("write", [write_mtx, write_triplets])
def test_entries_in_any_order_are_sorted(tmp_path, write):
    rows = open_rows(write(tmp_path))
    np.testing.assert_allclose(rows.read(0, 500).toarray(), SPARSE.toarray(), rtol=1e-12)
    np.testing.assert_allclose(rows.read(100, 170).toarray(), SPARSE.toarray()[100:170], rtol=1e-12)
    assert "sorted" in rows.metadata.parsing_notes[-1]
    d = ek.decompose(tmp_path / write(tmp_path).name, "svd", k=2, stream=True)
    np.testing.assert_allclose(d.values, ek.decompose(SPARSE, "svd", k=2).values, rtol=1e-9)


def test_a_symmetric_market_file(tmp_path):
    square = SPARSE[:6].toarray()
    square = square + square.T
    scipy.io.mmwrite(tmp_path / "s.mtx", sp.coo_array(square), symmetry="symmetric")
    np.testing.assert_allclose(open_rows(tmp_path / "s.mtx").read(0, 6).toarray(), square, rtol=1e-12)


@pytest.mark.parametrize("kind", FILES)
def test_converted_once(tmp_path, kind):
    write, truth = FILES[kind]
    goal = tmp_path / ("out.npz" if sp.issparse(truth) else "out.npy")
    source = write(tmp_path)
    assert "500 rows" in convert(source, goal)
    found = sp.load_npz(goal).toarray() if sp.issparse(truth) else np.load(goal)
    np.testing.assert_array_equal(found, truth.toarray() if sp.issparse(truth) else truth)
    with pytest.raises(FileError, match="already exists"):
        convert(source, goal)
    with pytest.raises(ParameterError, match="is the input"):
        convert(goal, goal)


def test_convert_needs_the_right_suffix(tmp_path):
    with pytest.raises(ParameterError, match=r"\.npy"):
        convert(write_npy(tmp_path), tmp_path / "out.npz")
    with pytest.raises(ParameterError, match="must end"):
        convert(write_npy(tmp_path), tmp_path / "out.csv")


def csr_files(tmp_path, matrix):
    sp.save_npz(tmp_path / "a.npz", matrix)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", matrix.shape
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(matrix, name)
    return [tmp_path / "a.npz", tmp_path / "a.h5ad"]


def test_blocks_of_rows_of_very_different_lengths(tmp_path, monkeypatch):
    """Nearly all entries in a few rows: no block is larger than asked, unless one row is."""
    rng, size = np.random.default_rng(0), 20_000
    lengths = np.where(np.arange(3000) % 1000 < 20, rng.integers(100, 1500, 3000), 1)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([np.sort(rng.choice(2000, n, replace=False)) for n in lengths])
    matrix = sp.csr_array((rng.standard_normal(indptr[-1]), indices, indptr), shape=(3000, 2000))
    monkeypatch.setattr("eckart.io.arrays.npz_rows._SKIP", 700)  # pointers come in pieces
    monkeypatch.setattr("eckart.io.arrays.stored._PIECE", 700)
    edges = set()
    for path in csr_files(tmp_path, matrix):
        rows = open_rows(path)
        edges.add(edges_for(rows, size))
        found = edges_for(rows, size)
        assert (found[0], found[-1]) == (0, 3000)
        sizes = [12 * (indptr[stop] - indptr[start]) + 8 * (stop - start) for start, stop in itertools.pairwise(found)]
        assert all(
            taken <= size or stop - start == 1
            for taken, (start, stop) in zip(sizes, itertools.pairwise(found), strict=True)
        )
        assert max(sizes) <= largest_block(rows, found) <= max(sizes) + 1
        # No block could have taken the next row too.
        assert all(
            12 * (indptr[stop + 1] - indptr[start]) + 8 * (stop + 1 - start) > size
            for start, stop in itertools.pairwise(found[:-1])
        )
        both = sp.vstack([rows.read(start, stop) for start, stop in itertools.pairwise(found)])
        assert abs(both - matrix).nnz == 0
    assert len(edges) == 1


def test_a_chunk_of_a_sparse_matrix_that_exceeds_the_budget(tmp_path):
    h5py = pytest.importorskip("h5py")
    rows, count = 1000, 20_000_000
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (rows, count)
        group.create_dataset("data", shape=count, dtype="f8", chunks=(count,), compression="gzip")[:5] = 1.0
        group.create_dataset("indices", shape=count, dtype="i8", chunks=(count,), compression="gzip")[:5] = 1
        group["indptr"] = np.linspace(0, count, rows + 1).astype(int)
    with pytest.raises(MemoryBudgetError, match="one chunk of 20000000 values takes 320 MB"):
        open_rows(tmp_path / "a.h5ad", memory=100_000_000)


def test_a_text_that_expands_much_is_read_in_blocks(tmp_path):
    """Its size before it is unpacked says little about the memory that it takes."""
    import gzip

    values = np.random.default_rng(0).standard_normal((36_000, 2))
    varied = "".join(f"{x:.5f},{y:.5f}\n" for x, y in values).encode()
    text = b"a,b\n" + varied + b"1.25,2.5\n2.25,1.5\n" * 1_130_000
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(text))
    assert 41 < len(text) / path.stat().st_size < 99
    source = ek.open_data(path, memory="80MB")
    assert hasattr(source, "read")
    last = source.shape[0]
    np.testing.assert_array_equal(source.read(last - 2, last), [[1.25, 2.5], [2.25, 1.5]])


def test_pieces_that_a_range_overlaps():
    class Pieces(PiecedRows):
        edges = (0, 3, 4, 9)

    pieces = np.split(np.arange(9), Pieces.edges[1:-1])
    for start, stop in itertools.combinations(range(10), 2):
        out = np.full(stop - start, -1)
        for piece, rows, inside in Pieces().overlapping(start, stop):
            out[rows] = pieces[piece][inside]
        assert out.tolist() == list(range(start, stop))
