"""Fitted estimators wherever a Decomposition is taken."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eckart as ek
from eckart.errors import InputError, ParameterError

mpl.use("agg")
TABLE = ek.datasets.load("usarrests")
X = TABLE.values
ESTIMATORS = {
    "pca": ek.PCA(2, scale=True),
    "svd": ek.TruncatedSVD(2),
    "incremental": ek.IncrementalPCA(2),
    "nmf": ek.NMF(2, random_state=0),
    "cur": ek.CUR(2),
    "kernel": ek.KernelPCA(2, kernel="rbf", gamma=1e-4),
    "isomap": ek.Isomap(n_neighbors=12, n_components=2),
}
NEED_ROWS = ("cos2", "outlier_columns", "outliers", "rotated_scores", "row_contributions", "row_quality", "row_scores",
             "scores")  # fmt: skip


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request):
    return ESTIMATORS[request.param].fit(X)


def same(given, wanted):
    return given.rows == wanted.rows if hasattr(given, "rows") else np.array_equal(given, wanted)


@pytest.mark.parametrize("name", [name for name in ek.tables.__all__ if name not in (*NEED_ROWS, "floats", "varimax")])
def test_tables_of_an_estimator_are_those_of_its_decomposition(name):
    pca = ek.PCA(2, scale=True).fit(X)
    table = getattr(ek.tables, name)
    more = (0,) if name == "describe" else ()
    given, wanted = table(pca, *more), table(pca.decomposition_, *more)
    assert given == wanted if isinstance(wanted, str | bool) else same(given, wanted)


@pytest.mark.parametrize("name", [name for name in NEED_ROWS if name != "outlier_columns"])
def test_tables_of_rows_take_a_model_with_rows(name):
    table = getattr(ek.tables, name)
    with pytest.raises(ParameterError, match="with_rows"):
        table(ek.PCA(2, scale=True).fit(X))
    given = table(ek.with_rows(ek.PCA(2, scale=True).fit(X), X))
    wanted = table(ek.decompose(X, k=2, scale=True, left=True))
    numbers = [[c for c in row[1:] if isinstance(c, float)] for row in getattr(given, "rows", ())] or given
    expected = [[c for c in row[1:] if isinstance(c, float)] for row in getattr(wanted, "rows", ())] or wanted
    np.testing.assert_allclose(numbers, expected, rtol=1e-7, atol=1e-9)


def test_every_method_gives_report_summary_and_file(fitted, tmp_path):
    """One page, one summary and one model file from each estimator, with its rows drawn."""
    page = ek.report(fitted, data=X)
    assert page.startswith("<!DOCTYPE html>")
    assert "50" in ek.summary(fitted)
    ek.save(fitted, tmp_path / "model.eckart")
    again = ek.load(tmp_path / "model.eckart")
    np.testing.assert_allclose(ek.project(again, X), ek.project(fitted, X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["scree", "cumulative", "loadings", "correlation_circle", "contributions"])
def test_plots_take_an_estimator(name):
    assert getattr(ek.plots, name)(ek.PCA(2, scale=True).fit(X)) is not None


def test_names_of_a_frame_reach_the_tables():
    import pandas as pd

    pca = ek.PCA(2).fit(pd.DataFrame(X, columns=TABLE.column_names))
    assert [row[0] for row in ek.tables.loadings(pca).rows] == list(TABLE.column_names)
    later = ek.TruncatedSVD(2).fit(pd.DataFrame(X, columns=TABLE.column_names))
    assert [row[0] for row in ek.tables.loadings(later).rows] == list(TABLE.column_names)


def test_choose_rank_and_bootstrap_take_an_estimator():
    pca = ek.PCA(scale=True).fit(X)
    given = ek.choose_rank(pca, ["variance", "elbow", "kaiser"])
    wanted = ek.choose_rank(X, ["variance", "elbow", "kaiser"], scale=True)
    assert [v.k for v in given.verdicts] == [v.k for v in wanted.verdicts]
    found = ek.bootstrap(ek.PCA(2, scale=True).fit(X), rows=X, count=20)
    same_draws = ek.bootstrap(X, k=2, scale=True, count=20)
    assert np.array_equal(found.explained_variance_ratio, same_draws.explained_variance_ratio)
    with pytest.raises(ParameterError, match="rows=data"):
        ek.bootstrap(pca)


@pytest.mark.parametrize("function", [ek.tables.loadings, ek.plots.scree, ek.summary, ek.report, ek.choose_rank])
def test_objects_that_hold_no_decomposition_are_refused(function):
    for given, message in (
        (ek.PCA(2), "not fitted yet"),
        (ek.CorrelationFilter(n_features=1).fit([[1, 2], [2, 1], [3, 5]], [1, 2, 3]), "it is not a decomposition"),
        (SklearnPCA(2).fit(X), r"another library, .* Use eckart\.PCA instead"),
        (StandardScaler().fit(X), "Use an Eckart estimator, such as eckart.PCA, instead"),
        (GridSearchCV(ek.PCA(), {"n_components": [1, 2]}, cv=2).fit(X), "best_estimator_"),
        (make_pipeline(ek.PCA(2)).fit(X), r"pipeline\['pca'\]"),
    ):
        with pytest.raises(InputError, match=message):
            function(given)
    if function not in (ek.report, ek.choose_rank):
        with pytest.raises(InputError, match="type ndarray"):
            function(X)


def test_rows_of_another_table_or_of_weights_are_refused():
    with pytest.raises(InputError, match="49 rows"):
        ek.with_rows(ek.PCA(2).fit(X), X[:49])
    with pytest.raises(InputError, match="weights"):
        ek.with_rows(ek.PCA(2).fit(X, sample_weight=np.arange(50.0)), X)


def test_report_of_data_with_reading_options(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name;x;y;kind\n" + "".join(f"r{i};{i},5;{(i * i) % 7},25;{'ab'[i % 2]}\n" for i in range(20)))
    page = ek.report(path, delimiter=";", decimal=",", k=2)
    assert "r19" in page
    assert '"kind"' in page


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"n_components": 2}, "k="),
        ({"svd_solver": "full"}, "solver="),
        ({"random_state": 0}, "rng="),
        ({"sep": ";"}, "delimiter="),
        ({"explan": 0.9}, "'explain'"),
    ],
)
def test_options_of_other_libraries_get_a_hint(given, hint):
    with pytest.raises(TypeError, match=hint):
        ek.decompose(X, **given)
    with pytest.raises(TypeError, match=hint.replace("'explain'", "k'|'plain|unexpected")):
        ek.decompose(X, "nmf", **given)


@pytest.mark.parametrize("method", ["pca", "svd", "nmf", "cur", "kernel_pca", "isomap"])
def test_columns_in_another_order_are_refused(method, tmp_path):
    frame = pd.DataFrame(X, columns=TABLE.column_names)
    d = ek.decompose(frame, method, k=2, **({"n_neighbors": 12} if method == "isomap" else {}))
    other = frame[list(TABLE.column_names[::-1])]
    np.testing.assert_allclose(ek.project(d, frame), ek.project(d, X), atol=1e-9)
    other.to_csv(tmp_path / "other.csv", index=False)
    calls = [
        lambda data: ek.project(d, data),
        lambda data: ek.project_to(d, data, tmp_path / "scores.npy"),
        lambda data: ek.with_rows(d, data),
        lambda data: ek.report(d, data=data),
    ]
    if method in ("pca", "svd"):
        calls.append(lambda data: ek.supplementary.rows(d, data))
    for data in (other, other.to_dict("list"), tmp_path / "other.csv"):
        for call in calls:
            with pytest.raises(InputError, match="not in the same order as those of the model: column 1 is 'Rape'"):
                call(data)
    with pytest.raises(InputError, match="not the same as those of the model: column 1 is 'a', but in the model it"):
        ek.project(d, frame.set_axis(list("abcd"), axis=1))


def test_columns_without_names_are_taken_in_order(tmp_path):
    d = ek.decompose(pd.DataFrame(X, columns=TABLE.column_names), k=2)
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", fmt="%.17g")
    np.testing.assert_allclose(ek.project(d, tmp_path / "rows.csv"), ek.project(d, X))
