"""Bounds of rounding errors of sums and of LAPACK, in units of u = 2^-53.

A sum of n products in any order is off by at most gamma(n) times the sum of their moduli, gamma(n) = n u / (1 - n u)
(Higham 2002, Accuracy and Stability of Numerical Algorithms, 3.1 and 3.5; fused multiply-adds only help). For products
with a matrix D this gives, for any order of summation in BLAS,

    || computed D^T (D q) - D^T D q || <= gamma(n) || |D|^T |D| ||_2 <= gamma(n) ||D||_F^2    for unit q,

where n is the largest number of roundings of a term; `additions` counts them from the block sizes in use.
"""

from __future__ import annotations

import math

import numpy as np

from eckart.arrays import UNIT_ROUNDOFF

UNIT = UNIT_ROUNDOFF
"""Unit roundoff of float64."""
ENTRY = 8
"""Roundings of the entries of diag(u) (A - 1 c^T - 1 r^T) diag(1/scale), and of factors and results, in a product."""

DEVIATIONS = 4.0
"""Number of standard deviations allowed for."""
_UNSHARED = 8192
_SUMMED_APART = 384
"""BLAS sums this many products in registers, and then those sums."""


def gamma(count: float) -> float:
    """n u / (1 - n u); infinite from n u = 1 on."""
    return count * UNIT / (1.0 - count * UNIT) if count * UNIT < 1.0 else math.inf


def normal_product_error(columns: int, frobenius: float, spectral: float, inner: int, outer: int) -> float:
    """Bound of || computed D^T (D M) - D^T D M || for d orthonormal columns, given ||D||_F and ||D||_2.

    With at most `inner` roundings of a term of D M and `outer` of one of D^T times it, it is

        ||D||_2 gamma_1 sqrt(d) ||D||_F + gamma_2 ||D||_F (min(||D||_F, sqrt(d) ||D||_2) + gamma_1 sqrt(d) ||D||_F)

    Proof: fl(D M) = D M + F with ||F||_F <= gamma_1 || |D| |M| ||_F <= gamma_1 ||D||_F ||M||_F, and D^T multiplies F by
    at most ||D||_2. The second product is off by gamma_2 || |D|^T |D M + F| ||_F <= gamma_2 ||D||_F ||D M + F||_F, and
    the columns share what they capture: ||D M||_F <= ||D||_F.

    V^T D^T D V formed as (D V)^T (D V) is off by at most twice as much: 2 ||D V|| ||F|| + ||F||^2 + gamma_2 ||D V +
    F||_F^2, where terms in gamma^2 are below the rounding of gamma itself.
    """
    root = math.sqrt(columns)
    image = gamma(inner) * root * frobenius
    return spectral * image + gamma(outer) * frobenius * (min(frobenius, root * spectral) + image)


def lapack_svd_error(longest_side: int, largest: float) -> float:
    """Bound of the error of each singular value, and of ||B - U S V^T||, for LAPACK's bidiagonal SVD.

    The LAPACK Users' Guide (1999, 4.9) bounds both by p(m, n) eps ||B||_2, p "a modestly growing function", and its
    test programs accept p = 50 max(m, n). The proof sums the errors of min(m, n) Householder reflections (Higham 2002,
    19.3), which grow like the square root if they have zero mean (Higham and Mary 2019, SIAM J. Sci. Comput. 41,
    A2815). p u = 32 sqrt(max(m, n)) u is about three times the largest value ever measured.
    """
    return 32.0 * UNIT * math.sqrt(longest_side) * largest


def lapack_eigenvalue_error(size: int, norm: float) -> float:
    """The same for the eigenvalues of a symmetric matrix, and for ||G - V L V^T|| (LAPACK Users' Guide 4.7)."""
    return 32.0 * UNIT * math.sqrt(size) * norm


def deviation_of_sum(count: int) -> float:
    """c: a sum of this many float32 products has an error of about c units of rounding times the sum.

    An addition is off by .2 units of its result; while a sum grows, that is on average 1 / sqrt(3) of the final one.
    """
    return 0.12 * (math.sqrt(min(count, _SUMMED_APART)) + math.sqrt(count / _SUMMED_APART))


def euclidean(vector: np.ndarray) -> float:
    """Length of a vector or matrix on one thread: BLAS splits vectors of more than 10,000 numbers among threads."""
    short = vector.ndim == 1 and len(vector) <= _UNSHARED
    return math.sqrt(float(vector.dot(vector) if short else (vector * vector).sum()))
