"""Products with CSR rows on a GPU that read each stored entry once, compiled by CuPy when they first run.

Written in CUDA C++ for CuPy's RawModule, which needs no compiler on the machine, accepts PyTorch tensors without a
copy, and can scatter sums four numbers at a time (red.global.add.v4, Hopper and later). Each row has `width / 4`
threads. Thread t handles columns 4 t .. 4 t + 3 of the dense factor, so threads never wait for each other, and all of
them read the row's indices at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from eckart.arrays import Array
from eckart.engine.backends.cuda.source import source
from eckart.errors import require

if TYPE_CHECKING:
    import cupy as cp

_THREADS = 256


@lru_cache(maxsize=1)
def _module() -> cp.RawModule:
    cupy = require("cupy", purpose="sparse matrices on a GPU")
    names = [
        f"{kernel}<{real}, {index}>"
        for kernel in ("normal", "multiply", "multiply_transposed", "column_sums")
        for real in ("float", "double")
        for index in ("int", "long long")
    ]
    return cupy.RawModule(code=source("csr"), options=("-std=c++17",), name_expressions=names)


def _kernel(name: str, indptr: Array, data: Array) -> cp.RawKernel:
    real = "float" if data.dtype.itemsize == 4 else "double"
    index = "int" if indptr.dtype.itemsize == 4 else "long long"
    return _module().get_function(f"{name}<{real}, {index}>")


def run(name: str, csr: Array, factor: Array, result: Array, start: int, stop: int) -> None:
    """Run normal, multiply or multiply_transposed on the rows start..stop; all arrays are C-ordered CuPy arrays."""
    width = int(result.shape[1])
    rows = max(1, _THREADS // (width // 4))
    blocks = -(-(stop - start) // rows)
    arguments = (csr.indptr, csr.indices, csr.data, factor, result)
    numpy = require("numpy")
    _kernel(name, csr.indptr, csr.data)(
        (blocks,), (_THREADS,), (*arguments, numpy.int64(start), numpy.int64(stop), numpy.int32(width))
    )


def column_sums(csr: Array, roots: Array, result: Array, longest: Array) -> None:
    """Sums, squares and stored weights of the columns, added to `result` (columns x 3, float64).

    `longest` (one float64, zero before) becomes the largest squared length of a row.
    """
    numpy = require("numpy")
    rows = csr.shape[0]
    weighted = numpy.int32(roots is not None)
    place = result if roots is None else roots
    _kernel("column_sums", csr.indptr, csr.data)(
        (-(-rows * 32 // _THREADS),), (_THREADS,),
        (csr.indptr, csr.indices, csr.data, place, weighted, result, longest, numpy.int64(0), numpy.int64(rows)),
    )  # fmt: skip
