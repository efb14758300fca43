"""Dask arrays: chunks without rows, chunks of another shape than declared, and numbers that change."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.errors import InputError, MissingValuesError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
VALUES = np.random.default_rng(3).random((40, 4))


def delayed(rows: list[np.ndarray], shapes: list[tuple[int, int]]) -> Any:
    parts = [dask.delayed(np.copy)(some) for some in rows]
    return da.concatenate(
        [da.from_delayed(part, shape=shape, dtype=float) for part, shape in zip(parts, shapes, strict=True)]
    )


@pytest.mark.parametrize("empty", [[0], [1], [1, 2], [3]])
@pytest.mark.parametrize("method", ["pca", "svd", "nmf"])
def test_chunks_without_rows_are_left_out(method: str, empty: list[int]) -> None:
    """Filtering an array leaves such chunks."""
    values = VALUES.copy()
    values[[row for chunk in empty for row in range(10 * chunk, 10 * chunk + 10)], 0] = -1.0
    array = da.from_array(values, chunks=(10, 4))
    expected = values[values[:, 0] >= 0.0]
    found = ek.decompose(array[array[:, 0] >= 0.0], method, k=2)
    centred = expected - expected.mean(axis=0) if method == "pca" else expected
    if method == "nmf":
        np.testing.assert_allclose(found.values, ek.decompose(expected, "nmf", k=2, stream=True).values, rtol=1e-6)
    else:
        np.testing.assert_allclose(found.values, np.linalg.svd(centred, compute_uv=False)[:2], rtol=1e-10)


@pytest.mark.parametrize("method", ["pca", "nmf"])
@pytest.mark.parametrize("shape", [(8, 4), (12, 4), (10, 3), (10, 5)])
def test_chunks_of_another_shape_are_refused(method: str, shape: tuple[int, int]) -> None:
    shapes = [(shape[0], 4), (10, 4)]
    rows = [np.resize(VALUES, (10, shape[1])), VALUES[10:20]]
    with pytest.raises(InputError, match="Dask computes an array of shape"):
        ek.decompose(delayed(rows, shapes), method, k=2)


def test_numbers_that_change_between_passes_are_refused() -> None:
    counter = itertools.count()

    def changing(rows: np.ndarray) -> np.ndarray:
        return rows + 1e-3 * next(counter)

    parts = [da.from_delayed(dask.delayed(changing)(VALUES[i : i + 10]), (10, 4), float) for i in range(0, 40, 10)]
    with pytest.raises(InputError, match=r"differ between two passes .*persist"):
        ek.decompose(da.concatenate(parts), "nmf", k=2)
    persisted = da.concatenate(parts).persist(scheduler="synchronous")
    assert ek.decompose(persisted, "nmf", k=2).k == 2


def test_integers_that_are_rounded_are_noted() -> None:
    values = np.arange(40).reshape(20, 2) ** 2
    assert not any("2**53" in note for note in ek.decompose(da.from_array(values, chunks=(5, 2)), k=1).notes)
    values[7, 1] = 2**60 + 1
    assert any("2**53" in note for note in ek.decompose(da.from_array(values, chunks=(5, 2)), k=1).notes)


@pytest.mark.parametrize("stream", [None, False, True])
def test_masked_values_are_missing(stream: bool | None) -> None:
    array = da.from_array(VALUES, chunks=(10, 4))
    with pytest.raises(MissingValuesError, match="missing value"):
        ek.decompose(da.ma.masked_less(array, 0.1), "svd", k=1, stream=stream)
    found = ek.decompose(da.ma.masked_less(array, -1.0), "svd", k=1, stream=stream)
    assert found.values[0] == pytest.approx(np.linalg.norm(VALUES, 2))


def test_chunks_of_unknown_columns() -> None:
    chosen = np.array([True, False, True, True])
    array = da.from_array(VALUES, chunks=(7, 2))[:, da.from_array(chosen, chunks=2)]
    found = ek.decompose(array, "svd", k=1)
    assert found.values[0] == pytest.approx(np.linalg.norm(VALUES[:, chosen], 2))
