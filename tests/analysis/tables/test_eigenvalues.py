"""Tables of eigenvalues: bounds of the reconstruction error."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek


@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
@pytest.mark.parametrize("seed", range(4))
def test_the_upper_bound_holds_for_components_rounded_to_float32(seed: int) -> None:
    table = np.random.default_rng(seed).standard_normal((200, 120)).astype("f4")
    d = ek.decompose(table, k=4, solver="lanczos", max_passes=3)
    centred = table.astype(np.longdouble) - table.astype(np.longdouble).mean(axis=0)
    basis = np.linalg.qr(d.right.astype(float))[0].astype(np.longdouble)
    lost = 1.0 - float(np.sum((centred @ basis) ** 2) / np.sum(centred**2))
    rows = ek.tables.reconstruction_error(d).rows
    assert rows[0][3:] == (1.0, 1.0)
    assert float(rows[-1][4]) ** 2 >= lost - 1e-14
