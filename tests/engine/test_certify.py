"""Certificates: computed when they are read, and their sentences."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
import weakref
from dataclasses import fields, replace

import numpy as np
import pytest

import eckart as ek
from eckart.errors import AccuracyWarning
from eckart.result import Certificate, Decomposition


def _fitted(rows: int = 300, columns: int = 8) -> Decomposition:
    return ek.decompose(np.random.default_rng(5).standard_normal((rows, columns)), k=3)


def test_an_unread_certificate_does_not_keep_the_data() -> None:
    data = np.random.default_rng(5).standard_normal((300, 8))
    d, kept = ek.decompose(data, k=3), weakref.ref(data)
    del data
    gc.collect()
    assert kept() is None
    assert d.certificate is not None
    assert d.certificate.proved


@pytest.mark.parametrize(
    "taken",
    [
        lambda d: d,
        lambda d: pickle.loads(pickle.dumps(d)),
        copy.copy,
        copy.deepcopy,
        lambda d: replace(d, weight=d.weight),
        lambda d: Decomposition(**{item.name: getattr(d, item.name) for item in fields(d)}),
    ],
)
def test_every_way_to_take_a_result_reads_its_certificate(taken) -> None:  # type: ignore[no-untyped-def]
    found, second = taken(_fitted()).certificate, _fitted().certificate
    assert type(found) is Certificate
    assert repr(found) == repr(second)
    # Fields with a default would show that default, if they were not read.
    assert (found.tolerance, found.passes) == (1e-9, 1)
    assert found.rounding > 0.0
    assert found.summary


def test_reading_late_issues_no_floating_point_warnings() -> None:
    d = ek.decompose(np.zeros((50, 3)) + np.arange(3.0), "svd", k=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lower, _ = d.certificate.values  # type: ignore[union-attr]
    assert len(lower) == 3


def test_a_saved_decomposition_has_its_certificate(tmp_path) -> None:  # type: ignore[no-untyped-def]
    d = _fitted()
    d.save(tmp_path / "d.eckart")
    assert repr(ek.load(tmp_path / "d.eckart").certificate) == repr(_fitted().certificate)


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
    with pytest.warns(
        AccuracyWarning, match="values this small are below the rounding error.*solver='direct'"
    ) as heard:
        d = ek.decompose(table, "svd", k=1, which="smallest", solver="lanczos")
    assert len(heard) == 1
    assert not d.certificate.proved
    assert ek.decompose(table, "svd", k=1, which="smallest", solver="direct").certificate.proved
