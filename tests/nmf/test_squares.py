"""Least squares with non-negative coefficients for given parts, against active sets."""

import numpy as np
from scipy.optimize import nnls

from eckart.nmf.constants import END_SHARE
from eckart.nmf.problem import Penalty
from eckart.nmf.squares import gram_of, solve_given


def overlapping_parts(rows=60, columns=80, k=10):
    """Broad bumps: each is nearly a combination of its neighbours, and coordinate descent takes hundreds of sweeps."""
    rng = np.random.default_rng(3)
    parts = np.exp(-(((np.linspace(0, 1, columns) - np.linspace(0, 1, k)[:, None]) / 0.15) ** 2))
    weights = rng.exponential(1.0, (rows, k)) * (rng.random((rows, k)) < 0.5)
    return weights @ parts + 0.01 * rng.random((rows, columns)), parts


def test_rows_of_overlapping_parts_are_solved_to_the_end():
    table, parts = overlapping_parts()
    gram, begin = gram_of(parts.T, Penalty()), np.zeros((len(table), len(parts)))
    found = solve_given(table @ parts.T, gram, Penalty(), begin, begin, 0.0, 200, END_SHARE, compiled=False).new
    wanted = np.array([nnls(parts.T, row)[0] for row in table])
    assert np.abs(found - wanted).max() < 1e-6 * wanted.max()


def test_parts_that_are_combinations_of_each_other_leave_a_minimum():
    table, parts = overlapping_parts()
    parts[3] = parts[2]
    gram, begin = gram_of(parts.T, Penalty()), np.zeros((len(table), len(parts)))
    found = solve_given(table @ parts.T, gram, Penalty(), begin, begin, 0.0, 200, END_SHARE, compiled=False).new
    least = np.array([nnls(parts.T, row)[1] for row in table])
    assert (found >= 0.0).all()
    assert np.allclose(np.linalg.norm(table - found @ parts, axis=1), least, rtol=1e-4)
