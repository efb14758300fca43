"""CUR and ColumnSelector as scikit-learn knows estimators."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import eckart as ek
from eckart.errors import InputError, ParameterError
from tests.estimators.test_template import CALLED

FEW_INDEPENDENT = pytest.mark.filterwarnings("ignore:.*were asked for; independent ones")
"""Some checks fit fewer independent columns than are asked for, which CUR says."""


@FEW_INDEPENDENT
@parametrize_with_checks(
    [
        ek.CUR(),
        ek.CUR(n_components=1, select="norm", core="intersection"),
        ek.CUR(n_components=2, select="volume"),
        ek.CUR(n_components=0.9, select="leverage"),
        ek.ColumnSelector(),
    ]
)
def test_check(estimator, check):
    check(estimator)


@FEW_INDEPENDENT
@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("kind", [ek.CUR, ek.ColumnSelector])
def test_called_check(kind, name):
    getattr(estimator_checks, name)(kind.__name__, kind())


def table(rows=40, columns=9, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, 4)) @ rng.standard_normal((4, columns)) + 0.1 * rng.standard_normal(
        (rows, columns)
    )


@pytest.mark.parametrize("select", ["pivot", "norm", "leverage", "volume"])
@pytest.mark.parametrize("core", ["best", "intersection"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, lambda x: x.astype(np.float32)])
def test_transform_is_C_and_the_way_back_is_C_U_R(select, core, kind):
    X = table(40, 20)
    X[np.abs(X) < 1.6] = 0.0
    given = kind(X)
    cur = ek.CUR(3, select=select, core=core, random_state=1)
    scores = cur.fit_transform(given)
    tolerance = 1e-4 if scores.dtype == np.float32 else 1e-10
    C = cur.C_.toarray() if sp.issparse(cur.C_) else cur.C_
    np.testing.assert_array_equal(scores, C)
    np.testing.assert_array_equal(scores, cur.transform(given))
    np.testing.assert_allclose(scores, X[:, cur.columns_] * cur.column_scales_, rtol=1e-6)
    product = cur.C_ @ cur.core_ @ cur.R_
    np.testing.assert_allclose(cur.inverse_transform(scores), product, atol=tolerance * np.abs(product).max())
    assert np.linalg.norm(X - product) == pytest.approx(cur.error_, rel=tolerance)
    assert cur.C_.dtype == cur.R_.dtype == scores.dtype


def test_names_of_columns_and_rows_are_kept():
    frame = pd.DataFrame(table(), columns=[f"c{j}" for j in range(9)], index=[f"r{i}" for i in range(40)])
    cur = ek.CUR(2).fit(frame)
    assert cur.get_feature_names_out().tolist() == [f"c{j}" for j in cur.columns_] == list(cur.column_names_)
    assert cur.set_output(transform="pandas").fit_transform(frame).columns.tolist() == list(cur.column_names_)
    selected = cur.as_selector().set_output(transform="pandas").transform(frame)
    assert selected.columns.tolist() == [f"c{j}" for j in sorted(cur.columns_)]
    d = ek.decompose(frame.reset_index(), "cur", k=2)
    assert d.details.chosen_row_names == tuple(f"r{i}" for i in d.details.rows)


def test_the_selector_keeps_columns_as_they_are_and_sparse_data_sparse():
    X = table()
    cur = ek.CUR(4).fit(X)
    fitted = cur.as_selector()
    np.testing.assert_array_equal(fitted.transform(X), X[:, np.sort(cur.columns_)])
    fresh = ek.CUR(4).as_selector()
    np.testing.assert_array_equal(fresh.fit_transform(X), fitted.transform(X))
    np.testing.assert_array_equal(clone(fitted).fit(X).get_support(), fitted.get_support())
    sparse = sp.csr_array(np.where(np.abs(X) > 1.5, X, 0.0))
    kept = ek.CUR(2).as_selector().fit_transform(sparse)
    assert sp.issparse(kept)
    assert kept.shape == (40, 2)


def test_the_selector_works_in_a_pipeline_with_its_parameters():
    X = table()
    model = make_pipeline(ek.CUR(2).as_selector(), LinearRegression()).fit(X, X[:, 0])
    assert model.set_params(columnselector__cur__n_components=4).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9


def test_a_selector_remembers_names_only_of_the_data_it_saw_last():
    frame = pd.DataFrame(table(), columns=[f"c{j}" for j in range(9)])
    selector = ek.CUR(2).as_selector().fit(frame)
    assert selector.get_feature_names_out().tolist() == [f"c{j}" for j in np.flatnonzero(selector.get_support())]
    assert not hasattr(selector.fit(table()), "feature_names_in_")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 10}, "n_features"),
        ({"n_components": 2, "error": 0.1}, "one of"),
        ({"n_columns": 10}, "the matrix has only 9 columns"),
        ({"n_rows": 41}, "the matrix has only 40 rows"),
        ({"select": "longest"}, "select"),
        ({"core": "best", "cutoff": 1.5}, "cutoff"),
        ({"n_components": True}, "n_components"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        ek.CUR(**options).fit(table())


def test_wrong_widths_are_refused_in_our_words():
    cur = ek.CUR(2).fit(table())
    with pytest.raises(ValueError, match="features"):
        cur.transform(table()[:, :5])
    with pytest.raises(InputError, match="for 2 components"):
        cur.inverse_transform(np.ones((3, 5)))
    with pytest.raises(InputError, match="9"):
        ek.project(cur.decomposition_, table()[:, :5])


def test_the_verb_refuses_as_the_estimator_does():
    for options in ({"k": 10}, {"k": 0}, {"k": 2.5}, {"k": 2, "explain": 0.9}, {"select": "pivots"}, {"core": "w"}):
        with pytest.raises(ParameterError):
            ek.decompose(table(), "cur", **options)
    with pytest.raises(ParameterError, match="did you mean 'pivot'"):
        ek.decompose(table(), "cur", k=2, select="pivott")
    for cutoff in (-1, 1.0, "small", True):
        with pytest.raises(ParameterError, match="cutoff"):
            ek.decompose(table(), "cur", k=2, cutoff=cutoff)


def test_transform_has_one_column_for_each_chosen_column():
    table = np.random.default_rng(5).normal(size=(30, 9))
    model = ek.CUR(2, n_columns=5).fit(table)
    scores = model.transform(table)
    assert (model.n_components_, scores.shape) == (2, (30, len(model.get_feature_names_out())))
    np.testing.assert_array_equal(scores, table[:, model.columns_] * model.column_scales_)
    assert "number of chosen columns" in ek.CUR.transform.__doc__
