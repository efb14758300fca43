"""A Dask array as rows: its row chunks are the blocks and stay on their workers."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.aliases import JsonObject
from eckart.arrays import unmasked
from eckart.engine.blocks.csr_check import check_sparse
from eckart.engine.blocks.rounded import is_long
from eckart.engine.blocks.source import Block, Metadata, stack_blocks
from eckart.errors import ClusterError, InputError, translated
from eckart.fingerprint import unknown_state

if TYPE_CHECKING:
    from eckart.arrays import Matrix

_ALIGNMENT = 64
_REQUESTS = 3


def is_dask(data: object) -> bool:
    """Whether it is a Dask collection, without importing Dask."""
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(data, "__dask_graph__")


def is_dask_table(data: object) -> bool:
    """Whether a Dask collection is an array or a data frame; bags and delayed values are not."""
    return type(data).__name__ in ("Array", "DataFrame")


@dataclass(frozen=True)
class DaskRows:
    """The rows of a Dask array with a single column of chunks."""

    array: Any
    edges: tuple[int, ...]
    metadata: Metadata = field(default_factory=Metadata)
    sparse: bool = False
    density: float = 1.0
    integers: Sequence[int] = ()
    """Positions of columns whose numbers float64 may round."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.edges[-1], int(self.array.shape[1])

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if self.array.dtype == np.float32 else np.float64)

    @property
    def entries(self) -> int:
        return int(self.shape[0] * self.shape[1] * self.density)

    def cuts(self) -> Sequence[int]:
        return self.edges

    def chunk(self, start: int) -> Any:
        """The chunk that begins at row `start`, as a delayed value."""
        return self.array.blocks[self.edges.index(start), 0].to_delayed()[0, 0]

    def read(self, start: int, stop: int) -> Block:
        first = int(np.searchsorted(self.edges, start, side="right")) - 1
        last = int(np.searchsorted(self.edges, stop, side="left"))
        return stack_blocks([self._part(i, start, stop) for i in range(first, last)])

    def accept(self, rows: Matrix, start: int, stop: int) -> Block:
        """The rows start..stop as Dask computed them, after comparing their shape with the declared one."""
        block, expected = as_block(rows, self.dtype), (stop - start, self.shape[1])
        if block.shape != expected:
            raise InputError(
                f"Rows {start + 1:,} to {stop:,} of the Dask array should have the shape {expected}, but Dask computes "
                f"an array of shape {block.shape}. Correct the shapes that you passed when you created the "
                "array, for example to dask.array.from_delayed."
            )
        self.metadata.rounded.check(block, self.integers, self.metadata.column_names)
        return block

    def _part(self, chunk: int, start: int, stop: int) -> Block:
        """The requested rows of one chunk, cut out on its worker."""
        first, last = self.edges[chunk], self.edges[chunk + 1]
        rows = self.array.blocks[chunk, 0][max(start, first) - first : min(stop, last) - first]
        block = f"block {chunk + 1:,} of {len(self.edges) - 1:,} (rows {first + 1:,} to {last:,})"
        with named_errors(block):
            return self.accept(answer(rows.to_delayed()[0, 0].compute), max(start, first), min(stop, last))

    def fingerprint(self) -> JsonObject:
        # The name of an array does not change if the file it is read from does, and may differ between processes.
        return {"content": {"shape": list(self.shape), "dtype": str(self.dtype)}, "state": unknown_state()}


def answer(request: Callable[[], Any]) -> Any:
    """The answer of Dask; a request that it cancels, as it may on a busy machine, is repeated.

    `distributed.utils.sync` does not catch the CancelledError of its event loop, and then raises UnboundLocalError.
    """
    for _ in range(_REQUESTS):
        try:
            return request()
        except UnboundLocalError as error:
            if not _is_of_dask(error):
                raise
    raise TimeoutError(f"Dask cancelled the request {_REQUESTS} times")


def _is_of_dask(error: Exception) -> bool:
    """Whether `distributed.utils.sync` itself raised an error, and not a function in the graph of an array."""
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return frames[-1].co_name == "sync" and frames[-1].co_filename.replace("\\", "/").endswith("distributed/utils.py")


def named_errors(what: str) -> AbstractContextManager[None]:
    """Turn any error of the graph or of its scheduler into a ClusterError that says what was computed."""
    return translated(
        lambda error: ClusterError(
            f"Dask cannot compute {what}: {type(error).__name__}: {error}. Check that the array can "
            "be computed and that the cluster is running, then repeat the call."
        )
    )


def _in_row_chunks(data: Any) -> Any:
    """The array in chunks of whole rows with known numbers of rows, none of them empty."""
    if any(np.isnan(size) for size in itertools.chain(*data.chunks)):
        with named_errors("the number of rows and columns of each chunk"):
            data = answer(data.compute_chunk_sizes)
    if len(data.chunks[1]) > 1:
        data = data.rechunk({1: -1})
    filled = [number for number, size in enumerate(data.chunks[0]) if size]
    # Chunks without rows, for example of a filtered array
    return data.blocks[filled] if 0 < len(filled) < len(data.chunks[0]) else data


def dask_rows(data: Any) -> DaskRows:
    """A Dask array of numbers as rows."""
    if data.ndim != 2:
        raise InputError(f"Expected 2D array, got {data.ndim}D Dask array of shape {data.shape} instead.")
    if data.dtype.kind not in "fiub":
        raise InputError(
            f"The Dask array has dtype {data.dtype}, but a decomposition needs real numbers. Convert it "
            "with astype(float)."
        )
    data = _in_row_chunks(data)
    edges = tuple(sorted({0, *map(int, itertools.accumulate(data.chunks[0]))}))
    sparse = not isinstance(data._meta, np.ndarray)
    density = _density(data) if sparse else 1.0
    long = range(int(data.shape[1])) if is_long(np.dtype(data.dtype)) else ()
    return DaskRows(data, edges, Metadata(name="dask"), sparse, density, long)


def as_block(chunk: Matrix, dtype: np.dtype) -> Block:
    """A chunk as rows: a NumPy array or a CSR array of floats."""
    if isinstance(chunk, np.ndarray):
        return _aligned(np.ascontiguousarray(unmasked(chunk), dtype=dtype))
    from scipy import sparse

    if not sparse.issparse(chunk) and hasattr(chunk, "to_scipy_sparse"):  # a chunk of the package `sparse`
        chunk = chunk.to_scipy_sparse()
    check_sparse(chunk)
    return sparse.csr_array(chunk, dtype=dtype)


def _aligned(block: np.ndarray) -> np.ndarray:
    """The block aligned to 64 bytes: for misaligned data BLAS uses other code paths and rounds differently."""
    if block.ctypes.data % _ALIGNMENT == 0:
        return block
    room = np.empty(block.nbytes + _ALIGNMENT, np.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    result = room[start : start + block.nbytes].view(block.dtype).reshape(block.shape)
    result[...] = block
    return result


def _density(data: Any) -> float:
    """Share of stored entries, from the first chunk."""
    with named_errors("the first block"):
        chunk = as_block(answer(data.blocks[0, 0].compute), np.dtype(np.float64))
    return float(int(chunk.nnz) / max(int(chunk.shape[0]) * int(chunk.shape[1]), 1))
