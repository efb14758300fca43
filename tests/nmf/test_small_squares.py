"""The lean steps for small data are those of the general code."""

from __future__ import annotations

import numpy as np
import pytest

from eckart.nmf.problem import Penalties, Penalty
from eckart.nmf.small_squares import SmallSquares
from eckart.nmf.squares import Squares


@pytest.mark.parametrize("extrapolation", [0.0, 0.4])
@pytest.mark.parametrize("penalty", [Penalty(), Penalty(0.3, 0.2)])
@pytest.mark.parametrize("sweeps", [None, 50])
def test_steps_equal_those_of_the_general_code(extrapolation: float, penalty: Penalty, sweeps: int | None) -> None:
    rng = np.random.default_rng(1)
    data, left, right = rng.random((60, 9)), rng.random((60, 3)), rng.random((9, 3))
    products = (lambda other: data @ other), (lambda other: data.T @ other)
    penalties, norm = Penalties(penalty, penalty), float(np.vdot(data, data))
    lean = SmallSquares(*products, norm, penalties, sweeps=2, end=1e-14)
    plain = Squares(*products, norm, penalties, sweeps=2, compiled=False)
    pairs = [(p.rows(left, right, 0.5 * left, extrapolation, sweeps=sweeps)) for p in (lean, plain)]
    pairs += [p.columns(right, left, 0.5 * right, extrapolation) for p in (lean, plain)]
    for found, expected in zip(pairs[::2], pairs[1::2], strict=True):
        np.testing.assert_allclose(found.new, expected.new, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.ahead, expected.ahead, rtol=1e-12, atol=1e-14)
        assert found.value == pytest.approx(expected.value, rel=1e-12)
        assert found.violation == pytest.approx(expected.violation, rel=1e-12)
