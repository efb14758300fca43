"""Loops over blocks of dense rows that NumPy and BLAS take several passes for, compiled on first use.

All functions release the GIL. Arrays must be C-contiguous, so that the loops can be vectorised.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit

TILE, ROW_TILE = 4, 12
"""Columns of Q multiplied at a time, and a multiple of the rows: 16 or 24 sums stay in registers, and each number that
is loaded is used several times.
"""
TOGETHER = 120
"""Rows whose products are summed in the precision of Q."""


@njit(nogil=True, cache=True, fastmath={"contract"})
def add_column_moments(block, sums, squares):  # type: ignore[no-untyped-def]
    """Add the sums and the sums of squares of the columns of a block, in float64.

    Four rows are added at a time, because loading and storing the sums takes longer than the additions.
    """
    whole = block.shape[0] - block.shape[0] % 4
    for i in range(0, whole, 4):
        for j in range(block.shape[1]):
            a, b = np.float64(block[i, j]), np.float64(block[i + 1, j])
            c, d = np.float64(block[i + 2, j]), np.float64(block[i + 3, j])
            sums[j] += (a + b) + (c + d)
            squares[j] += (a * a + b * b) + (c * c + d * d)
    for i in range(whole, block.shape[0]):
        for j in range(block.shape[1]):
            a = np.float64(block[i, j])
            sums[j] += a
            squares[j] += a * a


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def _add_normal(block, factor, part):  # type: ignore[no-untyped-def]
    """Add (A^T (A Q))^T to `part`, with A a float32 block and `factor` = Q^T in float64.

    Each entry is converted where it is used, which takes two thirds of the time of a float64 copy and its product by
    BLAS (measured for 8 to 24 columns of Q).
    """
    for i in range(0, block.shape[0], 4):
        b0, b1, b2, b3 = block[i], block[i + 1], block[i + 2], block[i + 3]
        for c in range(0, factor.shape[0], 4):
            q0, q1, q2, q3 = factor[c], factor[c + 1], factor[c + 2], factor[c + 3]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
            for j in range(block.shape[1]):  # A Q
                a0, a1, a2, a3 = np.float64(b0[j]), np.float64(b1[j]), np.float64(b2[j]), np.float64(b3[j])
                s00 += a0 * q0[j]
                s01 += a0 * q1[j]
                s02 += a0 * q2[j]
                s03 += a0 * q3[j]
                s10 += a1 * q0[j]
                s11 += a1 * q1[j]
                s12 += a1 * q2[j]
                s13 += a1 * q3[j]
                s20 += a2 * q0[j]
                s21 += a2 * q1[j]
                s22 += a2 * q2[j]
                s23 += a2 * q3[j]
                s30 += a3 * q0[j]
                s31 += a3 * q1[j]
                s32 += a3 * q2[j]
                s33 += a3 * q3[j]
            t0, t1, t2, t3 = part[c], part[c + 1], part[c + 2], part[c + 3]
            for j in range(block.shape[1]):  # A^T (A Q)
                a0, a1, a2, a3 = np.float64(b0[j]), np.float64(b1[j]), np.float64(b2[j]), np.float64(b3[j])
                t0[j] += (s00 * a0 + s10 * a1) + (s20 * a2 + s30 * a3)
                t1[j] += (s01 * a0 + s11 * a1) + (s21 * a2 + s31 * a3)
                t2[j] += (s02 * a0 + s12 * a1) + (s22 * a2 + s32 * a3)
                t3[j] += (s03 * a0 + s13 * a1) + (s23 * a2 + s33 * a3)


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def images(block, factor, result):  # type: ignore[no-untyped-def]
    """A Q in float64, for a float32 block and `factor` = Q^T, both with a multiple of four rows."""
    for i in range(0, block.shape[0], 4):
        b0, b1, b2, b3 = block[i], block[i + 1], block[i + 2], block[i + 3]
        for c in range(0, factor.shape[0], 4):
            q0, q1, q2, q3 = factor[c], factor[c + 1], factor[c + 2], factor[c + 3]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
            s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
            for j in range(block.shape[1]):
                a0, a1, a2, a3 = np.float64(b0[j]), np.float64(b1[j]), np.float64(b2[j]), np.float64(b3[j])
                s00 += a0 * q0[j]
                s01 += a0 * q1[j]
                s02 += a0 * q2[j]
                s03 += a0 * q3[j]
                s10 += a1 * q0[j]
                s11 += a1 * q1[j]
                s12 += a1 * q2[j]
                s13 += a1 * q3[j]
                s20 += a2 * q0[j]
                s21 += a2 * q1[j]
                s22 += a2 * q2[j]
                s23 += a2 * q3[j]
                s30 += a3 * q0[j]
                s31 += a3 * q1[j]
                s32 += a3 * q2[j]
                s33 += a3 * q3[j]
            result[i, c], result[i, c + 1], result[i, c + 2], result[i, c + 3] = s00, s01, s02, s03
            result[i + 1, c], result[i + 1, c + 1], result[i + 1, c + 2], result[i + 1, c + 3] = s10, s11, s12, s13
            result[i + 2, c], result[i + 2, c + 1], result[i + 2, c + 2], result[i + 2, c + 3] = s20, s21, s22, s23
            result[i + 3, c], result[i + 3, c + 1], result[i + 3, c + 2], result[i + 3, c + 3] = s30, s31, s32, s33


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def _add_normal_single(block, factor, part):  # type: ignore[no-untyped-def]
    """The same in float32.

    With 24 sums in registers it takes .65 to .97 of the time of BLAS for 8 to 64 columns of Q on AMD EPYC (Zen 4; 1,500
    and more columns of A), but more on Intel Xeon.
    """
    zero = np.float32(0.0)
    for i in range(0, block.shape[0], 6):
        b0, b1, b2, b3, b4, b5 = block[i], block[i + 1], block[i + 2], block[i + 3], block[i + 4], block[i + 5]
        for c in range(0, factor.shape[0], 4):
            q0, q1, q2, q3 = factor[c], factor[c + 1], factor[c + 2], factor[c + 3]
            s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = s20 = s21 = s22 = s23 = zero
            s30 = s31 = s32 = s33 = s40 = s41 = s42 = s43 = s50 = s51 = s52 = s53 = zero
            for j in range(block.shape[1]):  # A Q
                a0, a1, a2, a3, a4, a5 = b0[j], b1[j], b2[j], b3[j], b4[j], b5[j]
                s00 += a0 * q0[j]
                s01 += a0 * q1[j]
                s02 += a0 * q2[j]
                s03 += a0 * q3[j]
                s10 += a1 * q0[j]
                s11 += a1 * q1[j]
                s12 += a1 * q2[j]
                s13 += a1 * q3[j]
                s20 += a2 * q0[j]
                s21 += a2 * q1[j]
                s22 += a2 * q2[j]
                s23 += a2 * q3[j]
                s30 += a3 * q0[j]
                s31 += a3 * q1[j]
                s32 += a3 * q2[j]
                s33 += a3 * q3[j]
                s40 += a4 * q0[j]
                s41 += a4 * q1[j]
                s42 += a4 * q2[j]
                s43 += a4 * q3[j]
                s50 += a5 * q0[j]
                s51 += a5 * q1[j]
                s52 += a5 * q2[j]
                s53 += a5 * q3[j]
            t0, t1, t2, t3 = part[c], part[c + 1], part[c + 2], part[c + 3]
            for j in range(block.shape[1]):  # A^T (A Q)
                a0, a1, a2, a3, a4, a5 = b0[j], b1[j], b2[j], b3[j], b4[j], b5[j]
                t0[j] += (s00 * a0 + s10 * a1) + (s20 * a2 + s30 * a3) + (s40 * a4 + s50 * a5)
                t1[j] += (s01 * a0 + s11 * a1) + (s21 * a2 + s31 * a3) + (s41 * a4 + s51 * a5)
                t2[j] += (s02 * a0 + s12 * a1) + (s22 * a2 + s32 * a3) + (s42 * a4 + s52 * a5)
                t3[j] += (s03 * a0 + s13 * a1) + (s23 * a2 + s33 * a3) + (s43 * a4 + s53 * a5)


@njit(nogil=True, cache=True)
def add_normal(block, factor, part, total):  # type: ignore[no-untyped-def]
    """Add (A^T (A Q))^T to the float64 `total`, summed in `part` over a few rows at a time, in the precision of Q.

    `factor` is Q^T. The number of its rows must be a multiple of TILE, that of the block one of ROW_TILE.
    """
    for start in range(0, block.shape[0], TOGETHER):
        part[:] = 0.0
        _add_normal(block[start : start + TOGETHER], factor, part)
        for c in range(total.shape[0]):
            for j in range(total.shape[1]):
                total[c, j] += part[c, j]


@njit(nogil=True, cache=True)
def add_normal_single(block, factor, part, total):  # type: ignore[no-untyped-def]
    """The same in float32."""
    for start in range(0, block.shape[0], TOGETHER):
        part[:] = 0.0
        _add_normal_single(block[start : start + TOGETHER], factor, part)
        for c in range(total.shape[0]):
            for j in range(total.shape[1]):
                total[c, j] += part[c, j]
