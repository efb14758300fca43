"""Sentences of certificates."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.errors import AccuracyWarning


@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
def test_the_smallest_components_do_not_explain_most(solver: str) -> None:
    table = np.random.default_rng(0).standard_normal((50, 8))
    d = ek.decompose(table, k=2, which="smallest", solver=solver)
    assert d.certificate.summary.startswith(
        "The 2 smallest components explain at least 12.6686 % and at most 12.6686 %"
    )
    assert "can explain" not in str(d.certificate)
    assert "no 2 components can explain more than" in ek.decompose(table, k=2, solver=solver).certificate.summary


def test_smallest_values_below_rounding_warn_once_and_name_a_solver_that_finds_them() -> None:
    table = 1.0 / (np.arange(60)[:, None] + np.arange(12) + 1)
    with pytest.warns(AccuracyWarning, match="rounding hides values this small.*solver='direct'") as heard:
        d = ek.decompose(table, "svd", k=1, which="smallest", solver="lanczos")
    assert len(heard) == 1
    assert not d.certificate.proved
    assert ek.decompose(table, "svd", k=1, which="smallest", solver="direct").certificate.proved
