"""Certificates: computed when they are read, and their sentences."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
import weakref
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.engine.leading import leading
from eckart.errors import AccuracyWarning, NotFiniteError
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


def _schatten4(table: np.ndarray, k: int, *, scale: bool = False, smallest: bool = False) -> float:
    centred = table - table.mean(axis=0)
    values = np.linalg.svd(centred / centred.std(axis=0, ddof=1) if scale else centred, compute_uv=False)
    return float(np.sum((values[:-k] if smallest else values[k:]) ** 4) ** 0.25)


@pytest.mark.parametrize("shape", [(20, 5), (30, 100), (400, 90)])
@pytest.mark.parametrize("unit", [1.0, 2.0**-700, 2.0**400])
def test_the_norm_of_the_residual_is_that_of_the_values_left_out(shape: tuple[int, int], unit: float) -> None:
    random = np.random.default_rng(3)
    table = random.normal(size=shape) * random.uniform(0.3, 3.0, shape[1])
    table[:, 0] *= 1e3  # dominates all sums
    wanted = _schatten4(table, 2)
    for data, options in (
        (table, {}), (table, {"left": True}), (table, {"solver": "direct"}), (table, {"solver": "gram"}),
        (sp.csr_array(table), {}),
    ):  # fmt: skip
        found = ek.decompose(data * unit, k=2, **options).details.residual_schatten4
        assert found / unit == pytest.approx(wanted, rel=1e-9)
    assert ek.decompose(table, k=min(shape)).details.residual_schatten4 < 1e-6 * wanted
    scaled, smallest = ek.decompose(table, k=2, scale=True), ek.decompose(table, k=2, which="smallest")
    assert scaled.details.residual_schatten4 == pytest.approx(_schatten4(table, 2, scale=True), rel=1e-9)
    assert smallest.details.residual_schatten4 == pytest.approx(_schatten4(table, 2, smallest=True), rel=1e-9)
    repeated = ek.decompose(table, k=2, sample_weight=np.full(len(table), 3.0)).details.residual_schatten4
    assert repeated == pytest.approx(3.0**0.5 * wanted, rel=1e-9)


@pytest.mark.parametrize("kind", ["dense", "csr", "float32"])
def test_block_lanczos_estimates_the_norm_of_the_residual(kind: str) -> None:
    """The relative error is about sqrt(2 / (b r)) / 4 for b random vectors and an effective rank r near 100."""
    random = np.random.default_rng(3)
    table = random.normal(size=(600, 200)) * random.uniform(0.3, 3.0, 200)
    table[:, :2] *= 10.0
    data = {"dense": table, "csr": sp.csr_array(table), "float32": table.astype(np.float32)}[kind]
    d = ek.decompose(data, k=2, solver="lanczos")
    assert d.info is not None
    assert d.info.solver == "lanczos"
    assert d.details.residual_schatten4 == pytest.approx(_schatten4(table, 2), rel=0.04)


def test_fewer_components_leave_a_larger_residual(tmp_path: Path) -> None:
    table = np.random.default_rng(4).normal(size=(40, 12))
    wanted = _schatten4(table, 3)
    ek.save(ek.decompose(table, k=3), tmp_path / "model.eckart")
    for d in (
        leading(ek.decompose(table, k=7), 3),
        ek.PCA(0.4).fit(table).decomposition_,
        ek.IncrementalPCA(3).fit(table).decomposition_,
        ek.IncrementalPCA(3).fit(table[:5]).partial_fit(table[5:]).decomposition_,
        ek.load(tmp_path / "model.eckart"),
    ):
        expected = wanted if d.k == 3 else _schatten4(table, d.k)
        assert d.details.residual_schatten4 == pytest.approx(expected, rel=1e-9)
    few = ek.IncrementalPCA(3).fit(table[:8]).decomposition_  # fewer rows than columns
    assert few.details.residual_schatten4 == pytest.approx(_schatten4(table[:8], 3), rel=1e-9)


@pytest.mark.parametrize("storage", ["array", "csr", "stream"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("rows", "columns", "rank", "k"), [(3, 4, 3, 1), (37, 40, 20, 30), (60, 150, 60, 3)])
def test_the_share_of_the_smallest_components_of_wide_tables(
    rows: int, columns: int, rank: int, k: int, dtype: str, storage: str
) -> None:
    """Vectors of zero values come from the null space, or the interval says that they may explain anything."""
    rng = np.random.default_rng([rows, columns])
    data = (rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))).astype(dtype)
    given = sp.csr_array(data) if storage == "csr" else data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        d = ek.decompose(given, "pca", k=k, which="smallest", solver="lanczos", stream=storage == "stream")
    centred = data.astype(float) - data.mean(axis=0, dtype=float)
    basis = np.linalg.qr(d.right.astype(float))[0]
    share = np.sum((centred @ basis) ** 2) / np.sum(centred**2)
    low, high = d.certificate.explained
    assert low - 1e-13 <= share <= high + 1e-13
    if storage != "stream" and dtype == "f8":
        assert high - low < 1e-5


@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
@pytest.mark.parametrize(("dtype", "weight"), [("f4", 1e-100), ("f8", 1e-40)])
def test_singular_values_that_underflow_are_refused(dtype: str, weight: float, solver: str) -> None:
    data = np.random.default_rng(5).standard_normal((50, 6)).astype(dtype)
    data = data * (1e-305 if dtype == "f8" else data.dtype.type(1))
    with pytest.raises(NotFiniteError, match=f"underflow float{8 * data.dtype.itemsize}"):
        ek.decompose(data, k=2, sample_weight=np.full(50, weight), solver=solver)
    assert ek.decompose(data, k=2, solver=solver).values.min() > 0.0
    assert not ek.decompose(0.0 * data, "svd", k=2, solver=solver).values.any()
