"""More families: mixed sizes with offsets, hidden entries, triangles, needles, tables of nearly no rank or no variance.

Where `families` covers spectra and rounding, these aim at single decisions of the code: sampling of sizes and means,
tests for constancy, thresholds for zero, bounds of a nearly empty complement, and singular vectors that random columns
meet badly because they sit in one coordinate.
"""

from __future__ import annotations

import numpy as np

from benchmarks.certificates.families import EXTREME, SPARSE, family, of_spectrum


def _most(dtype: np.dtype) -> int:
    """Powers of ten of which squares are out of range, and their ratios not."""
    return 15 if dtype == np.float32 else 140


@family
def mixed_scales_with_offsets(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Column sizes over the whole range, and offsets of up to 1e6 times the spread in some."""
    digits = 3 if dtype == np.float32 else 12
    offsets = np.where(rng.random(columns) < 0.5, 10.0 ** rng.uniform(0, digits, columns), 0.0)
    sizes = 10.0 ** rng.uniform(-_most(dtype), _most(dtype), columns)
    return (offsets + rng.standard_normal((rows, columns))) * sizes


@family
def mixed_row_scales(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    most = _most(dtype)
    return rng.standard_normal((rows, columns)) * 10.0 ** rng.uniform(-most, most, (rows, 1))


@family
def noise_of_all_sizes(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Nearly constant columns, each of another size: their variation is in the last bits only."""
    base = 10.0 ** rng.uniform(-_most(dtype), _most(dtype), columns)
    unit = np.spacing(base.astype(dtype)).astype(float) * rng.choice([1.0, 3.0, 1e3], columns)
    return base + unit * (rng.random((rows, columns)) < 0.5)


@family
def constant_but_one_entry(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Every column constant, some of them but for one entry, which a sample of rows does not meet."""
    table = np.broadcast_to(rng.choice([0.0, 1.0, 0.1, 1e5], columns), (rows, columns)).copy()
    chosen = np.flatnonzero(rng.random(columns) < 0.6)
    size = 10.0 ** rng.uniform(-6, 6, len(chosen))
    table[rng.integers(rows, size=len(chosen)), chosen] += size
    return table


@family
def hidden_entry(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """One entry so large that its square is out of range, among ordinary ones."""
    table = rng.standard_normal((rows, columns))
    most = 30 if dtype == np.float32 else 250
    table[rng.integers(rows), rng.integers(columns)] *= 10.0 ** rng.uniform(most / 2, most)
    return table


@family
def hidden_row(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """The same with a whole row, or with all others tiny."""
    table = rng.standard_normal((rows, columns)) * rng.choice([1.0, 1e-30 if dtype == np.float32 else 1e-200])
    table[rng.integers(rows)] *= 10.0 ** rng.uniform(8, 18)
    return table


@family
def products_overflow(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Entries near the root of the largest float32: squares just fit or just do not."""
    return of_spectrum(rng, rows, columns, rng.random(min(rows, columns))) * 10.0 ** rng.uniform(17, 20)


@family
def wide_range_of_entries(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Each entry of another size."""
    most = 30 if dtype == np.float32 else 200
    return rng.standard_normal((rows, columns)) * 10.0 ** rng.uniform(-most, 0, (rows, columns))


@family
def kahan(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """diag(s^i) (1 on the diagonal, -c above it): its smallest value is far below its smallest diagonal entry."""
    angle = rng.uniform(0.3, 1.4)
    table = np.eye(rows, columns) - np.cos(angle) * np.triu(np.ones((rows, columns)), 1)
    return np.sin(angle) ** np.arange(rows)[:, None] * table


@family
def triangle(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """1 on the diagonal, -1 above it (Wilkinson): one singular value of about 2^-n."""
    return np.eye(rows, columns) - np.triu(np.ones((rows, columns)), 1)


@family
def jordan(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return np.eye(rows, columns) * 10.0 ** -rng.uniform(0, 8) + np.eye(rows, columns, 1)


@family
def needle(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Singular vectors that are coordinate vectors, values in a geometric series or nearly equal."""
    size = min(rows, columns)
    values = (
        10.0 ** -(rng.uniform(0, 12) ** np.linspace(0, 1, size))
        if rng.random() < 0.5
        else 1.0 + 1e-9 * rng.random(size)
    )
    table = np.zeros((rows, columns))
    table[rng.permutation(rows)[:size], rng.permutation(columns)[:size]] = values
    return table


@family
def nearly_no_complement(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Low rank plus 1e-7 to 1e-15 of it in one more direction, or in all."""
    size = min(rows, columns)
    rank = int(rng.integers(1, max(2, size // 2)))
    values = np.zeros(size)
    values[:rank] = np.sort(rng.uniform(0.5, 1.0, rank))[::-1]
    rest = 10.0 ** -rng.uniform(5, 16)
    values[rank : rank + 1 if rng.random() < 0.5 else size] = rest
    return of_spectrum(rng, rows, columns, values)


@family
def last_bits(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Copies of one column that differ in their last bits."""
    one = rng.standard_normal((rows, 1)).astype(dtype)
    steps = rng.integers(-2, 3, (rows, columns))
    return (one.astype(float) + steps * np.spacing(np.abs(one)).astype(float)) * rng.choice([-1.0, 1.0], columns)


@family
def trend(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Columns that grow steadily: means of a sample of rows are far from the means of all."""
    slopes = 10.0 ** rng.uniform(-3, 3, columns)
    power = rng.choice([1.0, 3.0, 10.0])
    return slopes * np.linspace(0, 1, rows)[:, None] ** power * 1e4 + rng.standard_normal((rows, columns))


@family
def level_shift(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Two halves with levels of opposite sign, or of which one is huge."""
    level = 10.0 ** rng.uniform(1, 6 if dtype == np.float32 else 13)
    half = np.where(np.arange(rows) < rng.integers(rows + 1), level, rng.choice([0.0, -level]))
    return half[:, None] + rng.standard_normal((rows, columns))


@family
def offsets_of_rows(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """A large number for each row: one huge singular value, which centring of columns does not remove."""
    return rng.standard_normal((rows, columns)) + 10.0 ** rng.uniform(1, 10) * rng.standard_normal((rows, 1))


@family
def dense_column(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Few entries, but for columns without a zero, which have an offset."""
    table = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < 0.1)
    full = rng.random(columns) < 0.15
    full[rng.integers(columns)] = True
    offset = 10.0 ** rng.uniform(0, 5 if dtype == np.float32 else 12)
    table[:, full] = offset + rng.standard_normal((rows, int(full.sum())))
    return table


@family
def denormal_entries(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Few entries, some of them below the smallest normal number."""
    table = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < 0.15)
    tiny = float(np.finfo(dtype).tiny)
    return np.where(rng.random((rows, columns)) < 0.5, table, table * tiny * 2.0**-3)


@family
def nothing(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Zeros, or one entry, or one row, or one column, in zeros or in a constant."""
    table = np.full((rows, columns), rng.choice([0.0, 0.0, 1.0, 0.3]))
    row, column, kind = rng.integers(rows), rng.integers(columns), rng.integers(4)
    if kind == 1:
        table[row, column] = 2.5
    elif kind == 2:
        table[row] = rng.standard_normal(columns)
    elif kind == 3:
        table[:, column] = rng.standard_normal(rows)
    return table


@family
def hadamard(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Rows and columns of a Hadamard matrix: orthogonal signs, all values equal, no random combination helps."""
    order = 2 ** int(np.ceil(np.log2(max(rows, columns, 2))))
    i, j = rng.permutation(order)[:rows], rng.permutation(order)[:columns]
    signs = np.bitwise_and.outer(i, j)
    parity = np.zeros_like(signs)
    for bit in range(order.bit_length()):
        parity ^= (signs >> bit) & 1
    return 1.0 - 2.0 * parity


@family
def periodic(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Rows that repeat with a period of a power of two, as strides of a sample do."""
    period = 2 ** int(rng.integers(1, 7))
    few = (
        rng.standard_normal((period, columns))
        * np.where(np.arange(period) == 0, 1.0, 10.0 ** rng.uniform(0, 6))[:, None]
    )
    return few[np.arange(rows) % period]


EXTREME |= {
    "mixed scales with offsets", "mixed row scales", "noise of all sizes", "hidden entry", "hidden row",
    "products overflow", "wide range of entries", "denormal entries", "constant but one entry", "nothing",
}  # fmt: skip
SPARSE |= {"dense column", "denormal entries", "needle", "nothing", "constant but one entry"}
