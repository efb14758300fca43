"""Proved bounds of the difference between the kernel computed in float64 and the exact one: ||K^ - K||_2.

u = 2^-53. A dot product of d terms errs by at most d u |x| |y|, in any order of summation (Higham, 2002, section 3.1).
The exponent -g |x - y|^2 of an rbf, formed from products, therefore errs by at most c g (|x| + |y|)^2, c = (2 d + 16)
u. Then

    |K^ - K|_ij <= 2 c g (|x_i|^2 + |x_j|^2),           a matrix of rank 2 whose norm is known, and
    |K^ - K|_ij <= K_ij (exp(4 c g max |x|^2) - 1),     whose norm is at most n times the factor (Perron).

For (g x.y + b)^p and tanh(g x.y + b), Cauchy-Schwarz gives |K^ - K|_ij <= e sqrt(D_i D_j), whose norm is e sum(D), with
D_i = (g |x_i|^2 + |b|)^p (p = 1 for tanh). A given kernel errs by u |K| if its symmetric part was used; a kernel
function is exact by definition. The bounds also hold for Frobenius norms, and three times as much bounds the error of
the trace of H K H.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import UNIT_ROUNDOFF, Array, Matrix, is_sparse, namespace, to_numpy
from eckart.kernel_pca.constants import FAILURE_PROBABILITY, MEASURED_SUMS
from eckart.kernel_pca.kernel_functions import squared_lengths

if TYPE_CHECKING:
    from eckart.kernel_pca.kernel_functions import Kernel

UNIT = UNIT_ROUNDOFF


@lru_cache(maxsize=4)
def shortfall(columns: int = MEASURED_SUMS, probability: float = FAILURE_PROBABILITY) -> float:
    """c with ||E||_2 <= ||E||_F <= ||E Z||_F / c, except with the given probability, for any E and a standard normal Z.

    ||E Z||_F^2 is a mean of chi-squared numbers, weighted by the squared singular values of E; it is small with the
    largest probability where there is only one.
    """
    from scipy.special import gammaincinv

    return math.sqrt(2.0 * gammaincinv(columns / 2.0, probability))  # the quantile of chi-squared numbers


def measured(error: np.ndarray) -> float:
    """Bound of ||E||_F from E Z."""
    return float(np.linalg.norm(error)) / shortfall(error.shape[1])


@dataclass(frozen=True)
class Lengths:
    """Sums over rows x that determine the bound: of |x|^2, |x|^4, D, and the largest |x|^2."""

    count: int
    total: float
    fourth: float
    largest: float
    products: float

    def joined(self, other: Lengths) -> Lengths:
        return Lengths(
            self.count + other.count, self.total + other.total, self.fourth + other.fourth,
            max(self.largest, other.largest), self.products + other.products,
        )  # fmt: skip


def lengths_of(kernel: Kernel, data: Matrix, shift: Array | None = None) -> Lengths:
    """The sums over the rows of `data`, minus `shift`."""
    rows = data if is_sparse(data) or shift is None else data - shift
    squares = np.asarray(to_numpy(squared_lengths(rows)), np.float64)
    with np.errstate(over="ignore"):
        sums = kernel.gamma * squares + abs(kernel.coef0)
        products = float(np.sum(sums**kernel.degree if kernel.name == "poly" else sums))
        fourth = float(squares @ squares)
    return Lengths(len(squares), float(squares.sum()), fourth, float(squares.max(initial=0.0)), products)


def kernel_error(kernel: Kernel, data: Matrix, shift: Array | None = None) -> float:
    """Bound of ||K^ - K||_2 for the kernel of all rows of `data`, minus `shift`, computed in float64."""
    if kernel.name == "function":
        return 0.0
    if kernel.name == "precomputed":
        xp = namespace(data)
        return UNIT * float(xp.sqrt(xp.sum(data * data, dtype=xp.float64)))
    return error_for(kernel, lengths_of(kernel, data, shift), int(data.shape[1]))


def error_for(kernel: Kernel, lengths: Lengths, columns: int) -> float:
    """The same from sums over the rows."""
    size = lengths.count
    if kernel.name == "laplacian":
        # Relative error (d + 4) u of a sum of differences a, and a exp(-a) <= 1 / e.
        return size * UNIT * (0.37 * (columns + 4) + 4)
    if kernel.name == "rbf":
        slope = (2 * columns + 16) * UNIT * kernel.gamma
        by_rank = 2.0 * (float(np.sqrt(size * lengths.fourth)) + lengths.total)
        by_size = size * float(np.expm1(min(4.0 * slope * lengths.largest, 0.7)))
        largest = min(float(size), kernel.gamma * by_rank) if kernel.lowered else float(size)
        return min(slope * by_rank, by_size, float(size)) + 4 * UNIT * largest
    if kernel.name == "sigmoid":
        return (columns + 16) * UNIT * lengths.products
    if kernel.name == "poly":
        known = kernel.degree >= 1 or kernel.degree == 0
        return 1.1 * (kernel.degree + 1) * (columns + 8) * UNIT * lengths.products if known else float("inf")
    return (columns + 16) * UNIT * (lengths.total if kernel.name == "linear" else size)
