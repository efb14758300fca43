"""The published tables of USArrests and of FactoMineR's decathlon, to the digits in print."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.errors import ParameterError
from eckart.text import Table

DECATHLON = Path(__file__).parents[3] / "shared" / "data" / "decathlon.csv"
EVENTS = (
    "100m",
    "Long.jump",
    "Shot.put",
    "High.jump",
    "400m",
    "110m.hurdle",
    "Discus",
    "Pole.vault",
    "Javeline",
    "1500m",
)
needs_data = pytest.mark.skipif(
    not DECATHLON.exists(), reason="decathlon.csv lies beside the project, and is not there"
)


def numbers(table: Table, *columns: str) -> np.ndarray:
    indices = [table.columns.index(c) for c in columns] if columns else range(1, len(table.columns))
    return np.array([[row[i] for i in indices] for row in table.rows], dtype=float)


def decathlon() -> tuple[np.ndarray, dict[str, np.ndarray], list[str], tuple[str, ...]]:
    """Ten events, rank and points, competition, athletes."""
    with DECATHLON.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    table = {name: [line[i] for line in lines] for i, name in enumerate(header)}
    data = np.array([[float(x) for x in table[event]] for event in EVENTS]).T
    more = {name: np.array(table[name], dtype=float) for name in ("Rank", "Points")}
    return data, more, table["Competition"], tuple(table[""])


def decathlon_axes(k: int | None = None) -> ek.Decomposition:
    data, _, _, names = decathlon()
    return ek.decompose(data, scale=True, left=True, k=k).named(names, EVENTS)


def published(signs: Any, *columns: list[float]) -> np.ndarray:
    """Columns in print, with the signs of ours: ours has the largest entry of each axis positive."""
    return np.array(columns).T * signs


def test_usarrests_loadings_and_shares() -> None:
    table = ek.datasets.load("usarrests")
    d = ek.decompose(table.values, scale=True, left=True).named(table.row_names, table.column_names)
    loadings = numbers(ek.tables.loadings(d), "PC1", "PC2")
    np.testing.assert_allclose(loadings[:, 0], [0.5358995, 0.5831836, 0.2781909, 0.5434321], atol=5e-8)
    np.testing.assert_allclose(loadings[:, 1], [-0.4181809, -0.1879856, 0.8728062, 0.1673186], atol=5e-8)
    shares = numbers(ek.tables.eigenvalues(d), "share", "lower", "upper")
    np.testing.assert_allclose(shares[:, 0], [0.62006, 0.24744, 0.08914, 0.04336], atol=5e-6)
    assert (shares[:, 1] <= shares[:, 0]).all()
    assert (shares[:, 0] <= shares[:, 2]).all()
    assert (shares[:, 2] - shares[:, 1]).max() < 1e-9


@needs_data
def test_decathlon_eigenvalues() -> None:
    expected = [3.2719, 1.7371, 1.4049, 1.0568, 0.6848, 0.5993, 0.4512, 0.3969, 0.2148, 0.1822]
    found = numbers(ek.tables.eigenvalues(decathlon_axes()), "variance")[:, 0]
    # The fourth is 1.05685 and in print with its last digit cut, not rounded.
    np.testing.assert_allclose(found, expected, atol=6e-5)


@needs_data
@pytest.mark.parametrize("k", [3, None])
def test_decathlon_columns(k: int | None) -> None:
    d = decathlon_axes(k)
    components = ("PC1", "PC2", "PC3")
    signs = [-1, 1, 1]
    correlations = published(
        signs,
        [-0.775, 0.742, 0.623, 0.572, -0.680, -0.746, 0.552, 0.050, 0.277, -0.058],
        [0.187, -0.345, 0.598, 0.350, 0.569, 0.229, 0.606, -0.180, 0.317, 0.474],
        [-0.184, 0.182, -0.023, -0.260, 0.131, -0.093, 0.043, 0.692, -0.390, 0.782],
    )
    contributions = published(
        1,
        [18.344, 16.822, 11.844, 9.998, 14.116, 17.020, 9.328, 0.077, 2.347, 0.103],
        [2.016, 6.869, 20.607, 7.064, 18.666, 3.013, 21.162, 1.873, 5.784, 12.946],
        [2.420, 2.363, 0.039, 4.794, 1.230, 0.611, 0.131, 34.061, 10.807, 43.543],
    )
    cos2 = published(
        1,
        [0.600, 0.550, 0.388, 0.327, 0.462, 0.557, 0.305, 0.003, 0.077, 0.003],
        [0.035, 0.119, 0.358, 0.123, 0.324, 0.052, 0.368, 0.033, 0.100, 0.225],
        [0.034, 0.033, 0.001, 0.067, 0.017, 0.009, 0.002, 0.479, 0.152, 0.612],
    )
    np.testing.assert_allclose(numbers(ek.tables.correlations(d), *components), correlations, atol=6e-4)
    np.testing.assert_allclose(numbers(ek.tables.contributions(d), *components), contributions, atol=6e-4)
    np.testing.assert_allclose(numbers(ek.tables.column_cos2(d), *components), cos2, atol=6e-4)
    np.testing.assert_allclose(numbers(ek.tables.contributions(d)).sum(axis=0), 100)


@needs_data
@pytest.mark.parametrize("k", [3, None])
def test_decathlon_rows(k: int | None) -> None:
    """FactoMineR divides by n where we divide by n - 1: its coordinates are sqrt(41/40) times ours."""
    d = decathlon_axes(k)
    components, unit = ("PC1", "PC2", "PC3"), (41 / 40) ** 0.5
    scores = published(
        [-1, 1, 1], [0.792, 1.235, 1.358, -0.610], [0.772, 0.575, 0.484, -0.875], [0.827, 2.141, 1.956, 0.890]
    )
    parts = published(1, [0.467, 1.137, 1.375, 0.277], [0.836, 0.464, 0.329, 1.074], [1.187, 7.960, 6.644, 1.375])
    cos2 = published(1, [0.112, 0.124, 0.160, 0.049], [0.106, 0.027, 0.020, 0.100], [0.122, 0.373, 0.332, 0.104])
    np.testing.assert_allclose(unit * numbers(ek.tables.scores(d), *components)[:4], scores, atol=6e-4)
    np.testing.assert_allclose(numbers(ek.tables.row_contributions(d), *components)[:4], parts, atol=6e-4)
    np.testing.assert_allclose(numbers(ek.tables.cos2(d), *components)[:4], cos2, atol=6e-4)
    distances = numbers(ek.tables.row_quality(d), "distance")[:4, 0]
    np.testing.assert_allclose(unit * distances, [2.369, 3.507, 3.396, 2.763], atol=6e-4)


@needs_data
def test_decathlon_supplementary_columns_are_correlations() -> None:
    _, more, competition, _ = decathlon()
    d, components = decathlon_axes(3), ("PC1", "PC2", "PC3")
    found = numbers(ek.supplementary.columns(d, more), *components)
    np.testing.assert_allclose(
        found, np.array([[-0.671, 0.051, -0.058], [0.956, -0.017, -0.066]]) * [-1, 1, 1], atol=6e-4
    )
    table = ek.supplementary.categories(decathlon_axes(), competition)
    assert [row[0] for row in table.rows] == ["Decastar", "OlympicG"]
    assert numbers(table, "rows")[:, 0].tolist() == [13, 28]
    unit = (41 / 40) ** 0.5
    np.testing.assert_allclose(
        unit * numbers(table, *components),
        np.array([[-0.600, -0.038, 0.289], [0.279, 0.017, -0.134]]) * [-1, 1, 1],
        atol=6e-4,
    )
    tests = numbers(table, *(f"v-test {axis}" for axis in components))
    np.testing.assert_allclose(
        tests, np.array([[-1.430, -0.123, 1.050], [1.430, 0.123, -1.050]]) * [-1, 1, 1], atol=6e-4
    )
    np.testing.assert_allclose(unit * numbers(table, "distance")[:, 0], [0.946, 0.439], atol=6e-4)
    cosines = numbers(ek.supplementary.category_cos2(decathlon_axes(), competition), *components)
    np.testing.assert_allclose(cosines, [[0.403, 0.002, 0.093]] * 2, atol=6e-4)
    with pytest.raises(ParameterError, match="Decompose again with all components"):
        ek.supplementary.category_cos2(d, competition)


@needs_data
def test_decathlon_columns_of_the_third_axis() -> None:
    """FactoMineR's dimdesc: these three, in this order, with these correlations."""
    table = ek.tables.component_columns(decathlon_axes(3), 2, threshold=0.38)
    assert [row[0] for row in table.rows] == ["1500m", "Pole.vault", "Javeline"]
    np.testing.assert_allclose(numbers(table, "correlation")[:, 0], [0.7821428, 0.6917567, -0.3896554], atol=6e-8)
