"""From entries (row, column, value) in any order to CSR rows on disk, within a fixed amount of memory.

Matrix Market files are usually sorted by columns, and tables of triplets in any order. Rows cannot be read from either
until they are sorted. This is a distribution sort on disk [1] in two passes. The first counts the entries of each row.
The second appends each entry to the bucket of its row: a run of rows with about a million entries, whose position in
the temporary files follows from the counts. Each bucket is then sorted in memory. The sorted matrix is an uncompressed
.npz in the format of scipy.sparse.save_npz.

[1] Knuth, The Art of Computer Programming, volume 3, section 5.4.9.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from eckart.environment import check_piece
from eckart.errors import FileError
from eckart.files import new_file
from eckart.spool import VARIABLE, Spool

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]
_BUCKET = 1 << 20
"""Number of entries sorted in memory."""
_ENTRY_BYTES = 28
"""Row, column and value in temporary files, and column and value in the sorted file."""
_FLOAT64 = np.dtype(np.float64)
_PIECE = 1 << 20
"""Number of values copied at a time."""


def check_rows(rows: int, name: str, memory: int | None = None) -> None:
    """Refuse more rows than there is memory for row pointers, of a matrix in memory or in blocks."""
    what = f"the list of row pointers of {rows:,} rows"
    remedy = "Number the rows without gaps, or use a machine with more memory."
    check_piece((rows + 1) * 8 * 2, name, what, memory, share=1, remedy=remedy)


def write_csr(
    path: str | Path,
    shape: tuple[int, int],
    blocks: Callable[[], Iterator[Entries]],
    *,
    overwrite: bool,
    name: str | None = None,
    memory: int | None = None,
    dtype: np.dtype = _FLOAT64,
) -> int:
    """Sort entries by rows into an .npz file with values of `dtype` and return their number.

    `blocks` is called twice; `name` is for messages.
    """
    name = Path(path).name if name is None else name
    check_rows(shape[0], name, memory)
    counts = np.zeros(shape[0] + 1, np.int64)
    for rows, _, _ in blocks():
        np.add.at(counts, rows + 1, 1)  # in place: this takes only one number per row
    indptr = np.cumsum(counts, out=counts)
    with Spool(Path(path).resolve().parent) as folder:
        buckets = _Buckets(folder, indptr, shape, dtype, name)
        try:
            for block in blocks():
                buckets.append(*block)
            buckets.sort()
            with new_file(path, overwrite=overwrite) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                for member, array in {"shape": np.array(shape), "format": np.array(b"csr"), "indptr": indptr}.items():
                    with archive.open(f"{member}.npy", "w", force_zip64=True) as stream:
                        _write_npy(stream, array.dtype, array.shape, _pieces(array))
                for member, numbers in (("indices", buckets.indices), ("data", buckets.data)):
                    with archive.open(f"{member}.npy", "w", force_zip64=True) as stream:
                        _write_npy(stream, numbers.dtype, (numbers.count,), numbers.pieces())
        finally:
            buckets.close()
    return int(indptr[-1])


class _Buckets:
    """Consecutive runs of rows in three files: row within the run, column and value of each entry."""

    def __init__(self, folder: Path, indptr: np.ndarray, shape: tuple[int, int], dtype: np.dtype, name: str) -> None:
        self.name = name
        self.edges = _edges(indptr)
        self.starts = indptr[self.edges]
        """The first entry of each bucket."""
        self.ends = self.starts[:-1].copy()
        """Position of the next entry of each bucket."""
        total = int(indptr[-1])
        # Column numbers are kept, whatever their size.
        kinds = {"rows": _whole(shape[0]), "indices": _whole(shape[1]), "data": dtype}
        self._files: list[_NumberFile] = []
        try:
            for part, dtype in kinds.items():
                self._files.append(_NumberFile(folder / part, dtype, total))
        except BaseException:
            self.close()
            raise
        self.rows, self.indices, self.data = self._files

    def append(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Add entries to the ends of their buckets, in the order given."""
        if not len(rows):
            return
        number = np.searchsorted(self.edges, rows, side="right") - 1
        if int(number.min()) < int(number.max()):
            # NumPy sorts 16-bit integers by counting.
            order = np.argsort(number.astype(np.uint16) if len(self.edges) < 2**16 else number, kind="stable")
            rows, columns, values, number = rows[order], columns[order], values[order], number[order]
        cuts = np.flatnonzero(np.r_[True, number[1:] != number[:-1], True])
        for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            bucket, some = int(number[first]), slice(first, last)
            place = int(self.ends[bucket])
            if place + last - first > int(self.starts[bucket + 1]):
                self._refuse_change()
            self.rows.write(place, rows[some] - self.edges[bucket])
            self.indices.write(place, columns[some])
            self.data.write(place, values[some])
            self.ends[bucket] = place + last - first

    def sort(self) -> None:
        """Sort each bucket by rows; entries of one row keep their order."""
        if (self.ends != self.starts[1:]).any():
            self._refuse_change()
        for bucket, (first, last) in enumerate(zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)):
            if self.edges[bucket + 1] - self.edges[bucket] == 1:
                continue  # one row, of any length
            rows = self.rows.read(first, last)
            if (rows[1:] >= rows[:-1]).all():
                continue
            order = np.argsort(rows, kind="stable")
            for numbers in (self.indices, self.data):
                numbers.write(first, numbers.read(first, last)[order])

    def close(self) -> None:
        for numbers in self._files:
            numbers.close()

    def _refuse_change(self) -> None:
        raise FileError(
            f"The entries of {self.name} changed while Eckart sorted them by row. Wait until the file "
            "is completely written, then run the analysis again."
        )


class _NumberFile:
    """Numbers in a temporary file. Its space is reserved first, so that a full disk is reported before any work."""

    def __init__(self, path: Path, dtype: np.dtype, count: int) -> None:
        self.path, self.dtype, self.count = path, dtype, count
        size = count * dtype.itemsize
        try:
            self._file = path.open("x+b", buffering=0)
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._file.fileno(), 0, size)
        except OSError as error:
            raise self._refusal(error) from error

    def write(self, place: int, numbers: np.ndarray) -> None:
        view = memoryview(np.ascontiguousarray(numbers, dtype=self.dtype).view(np.uint8).data)
        try:
            self._file.seek(place * self.dtype.itemsize)
            while len(view):
                view = view[self._file.write(view) :]
        except OSError as error:
            raise self._refusal(error) from error

    def read(self, first: int, last: int) -> np.ndarray:
        numbers = np.empty(last - first, self.dtype)
        view = memoryview(numbers.view(np.uint8).data)
        self._file.seek(first * self.dtype.itemsize)
        while len(view):
            got = self._file.readinto(view)
            if not got:
                raise FileError(
                    f"The temporary file {self.path} was truncated while Eckart sorted the entries of the "
                    "matrix by row. Run the analysis again."
                )
            view = view[got:]
        return numbers

    def pieces(self) -> Iterator[np.ndarray]:
        for start in range(0, self.count, _PIECE):
            yield self.read(start, min(start + _PIECE, self.count))

    def close(self) -> None:
        self._file.close()

    def _refusal(self, error: OSError) -> FileError:
        return FileError(
            f"Sorting {self.count:,} entries by row needs {_ENTRY_BYTES * self.count:,} bytes in "
            f"{self.path.parent.parent}: {error.strerror or error}. Free some space, or set the "
            f"environment variable {VARIABLE} to a folder on another disk."
        )


def _whole(size: int) -> np.dtype:
    """The type of indices below `size`."""
    return np.dtype(np.int32 if size <= 2**31 else np.int64)


def _edges(indptr: np.ndarray) -> np.ndarray:
    """First rows of buckets, and the number of rows: at most `_BUCKET` entries in each, or one row."""
    rows, edges = len(indptr) - 1, [0]
    while edges[-1] < rows:
        fitting = int(np.searchsorted(indptr, int(indptr[edges[-1]]) + _BUCKET, side="right")) - 1
        edges.append(min(max(fitting, edges[-1] + 1), rows))
    return np.array(edges)


def _pieces(array: np.ndarray) -> Iterator[np.ndarray]:
    flat = array.reshape(-1)
    for start in range(0, len(flat), _PIECE):
        yield flat[start : start + _PIECE]


def _write_npy(stream: IO[bytes], dtype: np.dtype, shape: tuple[int, ...], pieces: Iterator[np.ndarray]) -> None:
    """In pieces: the array may be larger than memory."""
    head = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, described)
    stream.write(head.getvalue())
    stream.writelines(piece.tobytes() for piece in pieces)
