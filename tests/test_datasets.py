import numpy as np
import pytest

import eckart as ek
from eckart import datasets
from eckart.errors import ParameterError


def test_usarrests_has_the_published_variances():
    table = datasets.load("usarrests")
    variances = dict(zip(table.column_names, table.values.var(axis=0, ddof=1), strict=True))
    expected = {"Murder": 18.97, "Assault": 6945.17, "UrbanPop": 209.52, "Rape": 87.73}
    assert variances == pytest.approx(expected, abs=0.005)
    assert len(set(table.row_names)) == 50


def test_usarrests_has_the_published_shares():
    values = datasets.load("usarrests").values
    shares = np.linalg.eigvalsh(np.corrcoef(values, rowvar=False))[::-1] / 4
    assert shares == pytest.approx([0.62006, 0.24744, 0.08914, 0.04336], abs=5e-6)


@pytest.mark.parametrize(
    ("name", "expected"), [("ratings", [12.369, 9.487]), ("ratings_mixed", [12.481, 9.509, 1.346])]
)
def test_ratings_have_the_known_singular_values(name, expected):
    values = np.linalg.svd(datasets.load(name).values, compute_uv=False)
    rank = len(expected)
    assert values[:rank] == pytest.approx(expected, abs=5e-4)
    assert values[rank:] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", datasets.names())
def test_each_table_has_a_name_for_every_row_and_column(name):
    table = datasets.load(name)
    assert table.values.shape == (len(table.row_names), len(table.column_names))
    assert np.isfinite(table.values).all() == (name != "films")
    assert datasets.path(name).is_file()


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"'iris'.*films, ratings, ratings_mixed, usarrests"):
        datasets.load("iris")


def test_unknown_ratings_of_films_are_nan_and_can_be_recommended():
    table = datasets.load("films")
    assert np.isnan(table.values).mean() == pytest.approx(0.35, abs=0.01)
    ratings = ek.Ratings(3).fit(datasets.path("films"))
    unseen = {film for film, value in zip(table.column_names, table.values[0], strict=True) if np.isnan(value)}
    assert set(ratings.recommend("Ada").names) == unseen
    score = ratings.evaluate(datasets.path("films"))
    assert score.rmse < 0.7 * score.rmse_of_mean


def test_tables_are_data_with_names():
    table = datasets.load("usarrests")
    d = ek.decompose(table, k=2)
    assert (d.row_names, d.column_names) == (table.row_names, table.column_names)
    np.testing.assert_allclose(d.values, ek.decompose(table.values, k=2).values)
    assert tuple(ek.PCA(2).fit(table).feature_names_in_) == table.column_names
