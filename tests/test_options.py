"""Keywords that are not known: the error names the one to use."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import eckart as ek
from eckart.errors import ParameterError

X = ek.datasets.load("usarrests").values
D = ek.decompose(X, k=2, scale=True, left=True)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: ek.PCA(k=2), "PCA() got an unexpected keyword argument 'k'. Use n_components=..."),
        (lambda: ek.NMF(rank=2), "Use n_components=..."),
        (lambda: ek.PCA(2, seed=0), "Use random_state=..."),
        (lambda: ek.PCA(2, standardize=True), "Use scale=True."),
        (lambda: ek.PCA(2, n_jobs=2), "Leave it out: Eckart uses all cores"),
        (lambda: ek.CorrelationFilter(k=2), "Use n_features=..."),
        (
            lambda: ek.PCA(2).fit(X, weights=[1] * 50),
            "PCA.fit() got an unexpected keyword argument 'weights'. Use ",
        ),
        (lambda: ek.Isomap(n_neighbours=3), "did you mean 'n_neighbors'?"),
        (lambda: ek.Ratings(random_state=0), "Use rng=..."),
        (lambda: ek.choose_rank(X, n_components=2), "Use most=... to limit the number."),
        (lambda: ek.choose_rank(X, random_state=2), "Use rng=..."),
        (
            lambda: ek.choose_rank("runs.h5", key="x"),
            "unexpected keyword argument 'key'. Open the data first: choose_rank(eckart.open_data(data, key=...)).",
        ),
        (lambda: ek.fill_missing(X, n_components=2), "unexpected keyword argument 'n_components'. Use k=..."),
        (lambda: ek.tables.varimax(D, n_components=2), "Use k=..."),
        (lambda: ek.tables.loadings(D, n=2), "Use limit=..."),
        (lambda: ek.plots.scores(D, hue=["a"] * 50), "Use by=..."),
        (lambda: ek.summary(D, title="x"), "It accepts model, width."),
        (lambda: ek.save(D, filename="x"), "Use path=..."),
        (lambda: ek.open_data(X, usecols=["a"]), "Use columns=[...]."),
        (lambda: ek.decompose(X, ncp=2), "Use k=..."),
        (lambda: ek.decompose(X, row_w=[1] * 50), "Use sample_weight=..."),
        (lambda: ek.decompose(X, gpu=True), "Use device='cuda'."),
        (lambda: ek.decompose(X, na_action="omit"), "Use missing='mean' or missing='em'."),
        (lambda: ek.decompose(X, use_highly_variable=True), "Use mask=..."),
        (lambda: ek.decompose(X, quanti_sup=[1]), "use eckart.supplementary.columns."),
        (lambda: ek.bootstrap(X, k=2, n_boot=10), "Use eckart.bootstrap(..., count=...)."),
        (lambda: ek.report(X, "x.html", force=True), "use eckart.report(..., overwrite=True)."),
        (lambda: ek.plots.scores(D, habillage=["a"] * 50), "Use by=..."),
        (lambda: ek.decompose(X, full_matrices=False), "Leave it out: Eckart computes k components"),
        (lambda: ek.PCA(2, rescale_with_std=True), "Use scale=..."),
        (lambda: ek.TextConcepts(num_topics=3), "Use n_components=..."),
        (lambda: ek.decompose(X, svd_solver="full"), "'svd_solver'. Leave it out, or use solver=..."),
    ],
)
def test_unknown_keywords_are_refused_with_the_right_one(call, hint: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert hint in str(caught.value)


def test_functions_and_estimators_stay_picklable() -> None:
    for function in (ek.choose_rank, ek.tables.loadings, ek.fill_missing):
        assert pickle.loads(pickle.dumps(function)) is function
    assert pickle.loads(pickle.dumps(ek.PCA(2))).n_components == 2


def test_a_subclass_may_accept_any_parameter() -> None:
    class Logged(ek.PCA):
        def __init__(self, n_components=None, **others):
            super().__init__(n_components)
            self.others = others

    assert Logged(2, k=3).others == {"k": 3}


def test_components_in_the_wrong_argument_are_refused_with_the_right_one() -> None:
    with pytest.raises(
        ek.errors.ParameterError, match=r"method=2 is not one of .*To set the number of components, use k=2\."
    ):
        ek.decompose(X, 2)
    with pytest.raises(ek.errors.ParameterError, match=r"k=0\.95 is not a whole number.* use explain=\.\.\."):
        ek.decompose(X, k=0.95)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("components_", "Use right.T."), ("sdev", "Use explained_variance ** 0.5."), ("transform", "Use eckart.project(")],
)
def test_attributes_of_other_libraries_are_refused_with_the_right_one(name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(D, name)
    assert f"'Decomposition' object has no attribute {name!r}. {hint}" in str(caught.value)
    with pytest.raises(AttributeError, match=r"no attribute 'valuess'$"):
        D.valuess  # noqa: B018
    assert copy.deepcopy(D).k == pickle.loads(pickle.dumps(D)).k == 2


@pytest.mark.parametrize(
    ("name", "hint"),
    [("SVD", ". Use eckart.TruncatedSVD, or"), ("KPCA", ". Use eckart.KernelPCA."), ("decomposes", "'decompose'?")],
)
def test_names_of_other_libraries_are_refused_with_the_right_one(name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(ek, name)
    assert hint in str(caught.value)
    assert not hasattr(ek, "__wrapped__")


@pytest.mark.parametrize(("make", "what"), [(ek.CUR, "independent column"), (ek.TruncatedSVD, "singular value")])
def test_too_many_components_are_counted_in_the_refusal(make, what: str) -> None:
    with pytest.raises(ek.errors.ParameterError, match=f"has at most 4 {what}s\\."):
        make(9).fit(X)
    with pytest.raises(ek.errors.ParameterError, match=f"has at most 1 {what}\\."):
        make(9).fit(X[:1])


@pytest.mark.parametrize("given", [0, -1, True, 1.5, "0MB", "0.1B", "x", "1e9", "9" * 400 + "GB", np.float64(5.0)])
def test_amounts_of_memory_that_are_none_are_refused(given):
    with pytest.raises(ek.errors.ParameterError, match="is not an amount of memory"):
        ek.decompose(np.eye(4), k=1, stream=True, memory=given)


@pytest.mark.parametrize("given", [10**8, np.int64(10**8), np.uint32(10**8), "100MB", " 95.4 MiB ", ".1gb"])
def test_amounts_of_memory(given):
    assert ek.plan(np.random.default_rng(0).random((40, 3)), k=1, memory=given).solver in ("gram", "direct")


@pytest.mark.parametrize(
    ("rows", "columns", "fault"),
    [
        (["a"], None, "has 4 rows, but the number of names is 1"),
        ("abcde", None, "has 4 rows, but the number of names is 5"),
        (None, iter("ab"), "has 3 columns, but the number of names is 2"),
        ("abc", "abcd", "Give one name for each row"),
    ],
)
def test_names_that_do_not_match_the_rows_or_columns_are_refused(rows, columns, fault):
    d = ek.decompose(np.arange(12.0).reshape(4, 3) ** 2, k=1)
    with pytest.raises(ek.errors.ParameterError, match=fault):
        d.named(rows, columns)


def test_flags_are_not_guessed_from_texts() -> None:
    for name in ("scale", "center"):
        with pytest.raises(ParameterError, match=f"{name}='no' is neither True nor False"):
            ek.decompose(X, k=1, **{name: "no"})
    np.testing.assert_array_equal(ek.decompose(X, k=1, scale=np.True_).values, ek.decompose(X, k=1, scale=True).values)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), True, "0.5"])
@pytest.mark.parametrize("name", ["explain", "error"])
def test_shares_are_between_0_and_1(name, share):
    with pytest.raises(ParameterError, match=f"{name}=.* is not a share") as caught:
        ek.decompose(X, **{name: share})
    assert caught.value.argument == name


def test_a_share_determines_the_number_of_components():
    d = ek.decompose(X, explain=0.9, scale=True)
    values = np.linalg.svd((X - X.mean(axis=0)) / X.std(axis=0), compute_uv=False) ** 2
    assert d.k == int(np.searchsorted(np.cumsum(values) / values.sum(), 0.9)) + 1
