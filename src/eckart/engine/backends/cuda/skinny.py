"""Products of a large float32 matrix with few columns on a GPU, at memory bandwidth: S Q and S^T Y.

Libraries form such products in float32 on the ordinary units, which are slower than the memory. Here each float is the
sum of two TF32 numbers of 11 bits each, a = a' + a'', and a b = a'' b' + a' b'' + a' b' up to 2^-22 |a b|. A float32
product thus takes three products of the matrix units. These truncate sums instead of rounding them, so a sum over 8 of
the long index starts from zero and is added to the total by an ordinary, rounded addition. Totals over at most `PIECE`
of the long index are added in float64.

S is stored by rows and a multiple of four columns wide. `shift` is subtracted from its rows on the fly. S Q can also
give the squared lengths of the rows of S - 1 shift^T, and S^T Y the sums and sums of squares of its columns (eight
entries in float32, then float64), because they read each entry once.
"""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array, dtype_name, empty_rows
from eckart.engine.backends.cuda.arrays import element_strides, pointer
from eckart.engine.backends.cuda.source import source
from eckart.errors import require

if TYPE_CHECKING:
    import cupy as cp

WIDTHS = (32, 64)
"""Number of columns of a factor per launch."""
PIECE = 2048
_TILE = 256
_THREADS = 256
_SHARED = {"multiply": 256 * 36, "multiply_transposed": 32 * 264}
"""Number of floats of a block of S in shared memory, padded to avoid bank conflicts."""


@lru_cache(maxsize=4)
def _module(width: int, approximate: bool = False) -> cp.RawModule:
    """The kernels for factors of this width, compiled for Hopper instructions that CuPy does not enable by default."""
    cupy = require("cupy", purpose="products on a GPU")
    nvrtc = cupy.cuda.nvrtc
    program = nvrtc.createProgram(source("skinny"), "skinny.cu", (), ())
    try:
        variant = ("-DROUGH",) if approximate else ()
        nvrtc.compileProgram(program, ("-std=c++17", "-arch=sm_90a", f"-DWIDTH={width}", *variant))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "skinny.cubin"
            path.write_bytes(nvrtc.getCUBIN(program))
            module = cupy.RawModule(path=str(path))
            module.get_function("multiply")  # loads the file
        return module
    except nvrtc.NVRTCError as error:
        raise RuntimeError(nvrtc.getProgramLog(program)) from error
    finally:
        nvrtc.destroyProgram(program)


def width_of(columns: int) -> int:
    """Width of the launch for this many columns."""
    return next(width for width in WIDTHS if width >= columns)


def arrange(factor: Array) -> Array:
    """A factor in the layout of the kernels, in float32, padded with zero columns to the width of a launch."""
    rows, columns = factor.shape
    width = width_of(columns)
    sizes = (*(np.int64(step) for step in element_strides(factor)), np.int32(columns))
    return _arranged(f"arrange_{dtype_name(factor)}", pointer(factor), rows, width, sizes)


def arrange_pieces(pieces: Array) -> Array:
    """The same for a factor in pieces that are added together."""
    count, rows, width = pieces.shape
    return _arranged("arrange_pieces", pieces, rows, width, (np.int32(count),))


def _arranged(name: str, factor: Array, rows: int, width: int, sizes: tuple[object, ...]) -> Array:
    import cupy

    padded = -(-rows // 32) * 32
    result = cupy.empty((padded, 2, width), cupy.float32)
    arguments = (factor, result, np.int64(rows), np.int64(padded), *sizes)
    _kernel(name, width)((-(-padded * width // 256),), (256,), arguments)
    return result


def multiply(
    stored: Array, shift: Array, arranged: Array, *, sums: bool = False, approximate: bool = False
) -> tuple[Array, Array]:
    """(S - 1 shift^T) Q in float32 (`approximate`: to 11 bits), in pieces to be added; all arrays are CuPy's.

    With `sums`, also the squared lengths of the rows, in pieces.
    """
    import cupy

    rows, columns = stored.shape
    pieces = _room(columns, rows, arranged)
    found = cupy.empty((len(pieces), rows), cupy.float32) if sums else None
    _launch("multiply_sums" if sums else "multiply", stored, shift, arranged, (pieces, found), approximate=approximate)
    return pieces, found


def multiply_transposed(
    stored: Array, shift: Array, arranged: Array, *, sums: bool = False, approximate: bool = False
) -> tuple[Array, Array]:
    """(S - 1 shift^T)^T Y in pieces, and with `sums` the sums and sums of squares of the columns (2 x columns)."""
    import cupy

    rows, columns = stored.shape
    pieces = _room(rows, columns, arranged)
    found = cupy.empty((len(pieces), 2, columns)) if sums else None
    name = "multiply_transposed_sums" if sums else "multiply_transposed"
    _launch(name, stored, shift, arranged, (pieces, found), approximate=approximate)
    return pieces, None if found is None else found.sum(axis=0)


def longest_row(squares: Array) -> Array:
    """The largest squared length of a row, as an array of one float64, given the squares of `multiply`."""
    import cupy

    result = cupy.zeros(1)
    count, rows = squares.shape
    arguments = (squares, result, np.int64(rows), np.int32(count))
    _kernel("longest_row", WIDTHS[-1])((-(-rows // 256),), (256,), arguments)
    return result


def added(pieces: Array, columns: int, prototype: Array) -> Array:
    """The first columns of the pieces, summed in float64, in the library of `prototype`."""
    count, rows, width = pieces.shape
    total = empty_rows(rows, columns, prototype)
    arguments = (pieces, pointer(total), np.int64(rows), np.int32(columns), np.int32(count))
    _kernel("add_pieces", width)((-(-rows * columns // 256),), (256,), arguments)
    return total


def _room(length: int, rows: int, arranged: Array) -> Array:
    """An array for the product over each piece of the long index."""
    import cupy

    return cupy.empty((-(-length // PIECE), rows, arranged.shape[2]), cupy.float32)


def _launch(
    name: str, stored: Array, shift: Array, arranged: Array, results: tuple[Array, ...], *, approximate: bool
) -> None:
    width = arranged.shape[2]
    shared = 2 * 4 * (_SHARED[name.removesuffix("_sums")] + 32 * 2 * width)
    kernel = _kernel(name, width, approximate, shared)
    rows, columns = stored.shape
    count, length = results[0].shape[:2]
    indices = [np.uint64(0) if array is None else array for array in (stored, shift, arranged, *results)]
    sizes = (np.int64(rows), np.int64(columns), np.int64(stored.strides[0] // 4), np.int32(PIECE))
    kernel((-(-length // _TILE), count), (_THREADS,), (*indices, *sizes), shared_mem=shared)


@lru_cache(maxsize=64)
def _kernel(name: str, width: int, approximate: bool = False, shared: int = 0) -> cp.RawKernel:
    kernel = _module(width, approximate).get_function(name)
    if shared:
        kernel.max_dynamic_shared_size_bytes = shared
    return kernel
