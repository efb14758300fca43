"""Column means, sums of squares about them, and scales, from the sums of one pass; constant columns are exact.

With c a row near the means that float64 represents exactly, D = A - 1 c^T, weights w and W = sum w:

    r_j = sum_i w_i d_ij / W,    q_j = sum_i w_i d_ij^2 (`raw`),    sum_i w_i (a_ij - mean_j)^2 = q_j - W r_j^2,

mean = c + r, kept as two numbers, because their sum would be rounded to the digits of c. The difference q - W r^2 is
off by gamma(n) q, so its relative error is gamma(n) times the *amplification* q / (q - W r^2). A mean that is off by
delta changes the Gram matrix of the centred matrix B only by W delta delta^T, because the columns of B sum to zero:

    (B - u delta^T)^T (B - u delta^T) = B^T B + W delta delta^T.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eckart.engine.exponent import Exponent
from eckart.engine.standardize.rounding import ENTRY, gamma


@dataclass(frozen=True)
class Moments:
    """Column means, sums of squares about them (before scaling), and scales, of the given matrix."""

    mean: np.ndarray | None
    squares: np.ndarray
    scale: np.ndarray | None
    weight: float
    constant: np.ndarray
    """Indices of the columns whose entries are all equal."""
    raw: np.ndarray
    """Sums of squares about c, before scaling: rounding in products with D is relative to these."""
    shift: np.ndarray | None = None
    """c; None if nothing was subtracted."""
    rest: np.ndarray | None = None
    """r = mean - c."""
    additions: int = 0
    """Number of roundings of a term of `squares`."""
    exponent: Exponent = 0
    """All of these are in units of 2^-exponent, with one exponent for all columns or one for each."""
    unit: int = 0
    """B is in units of 2^-unit: 0 if columns are scaled."""
    ddof: int = 1
    """Standard deviations have the divisor W - ddof."""

    def restored(self, numbers: np.ndarray) -> np.ndarray:
        """One number per column, in the units of the data."""
        shifted = self.exponent != 0 if isinstance(self.exponent, int) else self.exponent.any()
        return np.ldexp(numbers, -self.exponent) if shifted else numbers

    @cached_property
    def total(self) -> float:
        """||B||_F^2."""
        return float(np.add.reduce(self.in_units(self.squares)))

    @cached_property
    def raw_total(self) -> float:
        """||D||_F^2 in the units of B."""
        return float(np.add.reduce(self.in_units(self.raw)))

    @cached_property
    def varying_total(self) -> float:
        """||D||_F^2 without constant columns, which add nothing to `total`."""
        if not len(self.constant):
            return self.raw_total
        raw = self.in_units(self.raw)
        return float(np.sum(raw) - np.sum(raw[self.constant])) if len(self.constant) < len(raw) else 0.0

    def in_units(self, squares: np.ndarray) -> np.ndarray:
        """Sums of squares of columns of A as sums of squares of columns of B."""
        return squares if self.scale is None else squares / self.scale / self.scale

    @property
    def amplification(self) -> np.ndarray:
        """q / (q - W r^2) for each column that varies; 1 for those that do not."""
        varying = np.ones(len(self.squares), bool)
        varying[self.constant] = False
        return np.where(varying, self.raw / np.maximum(self.squares, 1e-300), 1.0)

    @property
    def unscaled(self) -> np.ndarray:
        """Indices of the columns with nothing to scale."""
        deviation = np.sqrt(self.squares / divisor(self.weight, self.ddof))
        return np.flatnonzero(_in_last_bit(deviation, 0.0 if self.mean is None else self.mean))

    @property
    def unknown(self) -> np.ndarray:
        """Indices of the columns whose spread is not known to a tenth, so that they cannot be divided by it."""
        error = gamma(self.additions + ENTRY) * self.raw
        lost = self.squares <= 10.0 * error
        lost[self.constant] = False
        deviation = np.sqrt((self.squares + error) / divisor(self.weight, self.ddof))
        return np.flatnonzero(lost & ~_in_last_bit(deviation, 0.0 if self.mean is None else self.mean))

    @property
    def size(self) -> float:
        """Logarithm of the length of the longest column of B in the units of the data."""
        if self.scale is None or not np.any(self.squares > 0.0):
            return 0.0
        varying = self.squares > 0.0
        lengths = 0.5 * np.log2(self.squares[varying]) - np.log2(self.scale[varying])
        return float(np.max(lengths)) - self.unit

    @property
    def scale_error(self) -> float:
        """Bound of the relative error of the scales: half of that of the sums of squares."""
        if self.scale is None:
            return 0.0
        return 0.5 * gamma(self.additions + ENTRY) * float(self.amplification.max(initial=1.0)) + gamma(ENTRY)


def describe(
    *,
    center: bool,
    scale: bool,
    rest: np.ndarray,
    raw: np.ndarray,
    squares: np.ndarray,
    weight: float,
    constant: np.ndarray,
    shift: np.ndarray | None,
    additions: int,
    units: Units,
) -> Moments:
    """Moments from sums about c.

    Constant columns have variance 0 and scale 1, regardless of the rounding of the sums.
    """
    if center:
        squares = np.maximum(squares, 0.0)
        squares[constant] = 0.0
    mean = (rest if shift is None else shift + rest) if center else None
    return Moments(
        mean=mean,
        squares=squares,
        scale=scales(squares, 0.0 if mean is None else mean, weight, units) if scale else None,
        weight=weight,
        constant=constant,
        raw=raw,
        shift=shift,
        rest=rest if center else None,
        additions=additions,
        exponent=units.exponent,
        unit=units.unit,
        ddof=units.ddof,
    )


@dataclass(frozen=True)
class Units:
    """Powers of two that keep squares in range: the columns of A are multiplied by 2^exponent, and B by 2^unit.

    The two differ if columns are scaled. Scaled columns have no unit; the others keep their own.
    """

    exponent: Exponent = 0
    unit: int = 0
    ddof: int = 1
    """A scaled column is in units of its standard deviation, with the divisor W - ddof."""

    def of(self, columns: slice) -> Units:
        """Those of some columns."""
        return self if isinstance(self.exponent, int) else replace(self, exponent=self.exponent[columns])


def divisor(weight: float, ddof: int) -> float:
    """W - 1, at least 1, as in R and pandas; W with ddof=0, as in FactoMineR and prince."""
    return max(weight - 1.0, 1.0) if ddof else weight


def scales(squares: np.ndarray, mean: np.ndarray | float, weight: float, units: Units) -> np.ndarray:
    """Standard deviations, or the unit for columns that vary by no more than the last bit of their mean.

    Such noise keeps its variance and is not scaled up: B is defined by the returned scales. Constant columns are zero
    in B. They are divided by a large number, so that rounding leaves nothing of them.
    """
    deviation = np.sqrt(squares / divisor(weight, units.ddof))
    unscaled = np.ldexp(1.0, np.clip(np.asarray(units.exponent) - units.unit, -1022, 1022))
    kept = np.where(squares > 0.0, unscaled, np.maximum(np.abs(mean), 1.0) * _VANISHING)
    return np.asarray(np.where(_in_last_bit(deviation, mean), kept, np.ldexp(deviation, -units.unit)))


_VANISHING = 2.0**40


def _in_last_bit(deviation: np.ndarray, mean: np.ndarray | float) -> np.ndarray:
    return np.asarray(deviation <= np.finfo(np.float64).eps * np.abs(mean))


_CHUNK = 64


def column_sums(matrix: np.ndarray) -> np.ndarray:
    """Column sums of a small matrix in chunks of rows: at most 64 + rows / 64 roundings."""
    whole = len(matrix) // _CHUNK * _CHUNK
    total = matrix[whole:].sum(axis=0)
    if whole:
        total = total + matrix[:whole].reshape(-1, _CHUNK, matrix.shape[1]).sum(axis=1).sum(axis=0)
    return np.asarray(total)


def column_sum_additions(rows: int) -> int:
    """Roundings in `column_sums`."""
    return min(rows, _CHUNK) + rows // _CHUNK + 1
