"""Measured rounding errors are relative to the data, whatever their unit."""

from __future__ import annotations

import numpy as np

import eckart as ek


def test_the_unit_of_float32_data_does_not_change_passes_or_residuals() -> None:
    table = np.random.default_rng(3).standard_normal((900, 300)).astype("f4")
    plain, small = (
        ek.decompose(table * np.float32(unit), k=3, solver="lanczos", tol=1e-4).certificate for unit in (1.0, 2.0**-30)
    )
    assert plain is not None
    assert small is not None
    assert small.passes <= plain.passes + 4
    assert small.residuals.max() < 4.0 * plain.residuals.max()


def test_large_constant_columns_do_not_hide_what_float32_components_explain() -> None:
    table = np.random.default_rng(0).standard_normal((900, 30)).astype("f4")
    table[:, 3] = 3e12
    certificate = ek.decompose(table, explain=0.99, solver="lanczos").certificate
    assert certificate is not None
    assert certificate.proved
    assert certificate.explained[0] > 0.9899
    assert certificate.residuals.max() < 1e-4
