"""choose_rank: the front of the rules, on every kind of data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import eckart as ek
from eckart import datasets
from eckart.errors import MissingValuesError, ParameterError
from eckart.rank.choose import QUICK, RULES


def planted(rows=120, columns=24, rank=3, strength=2.5, seed=0):
    rng = np.random.default_rng(seed)
    left, _ = np.linalg.qr(rng.standard_normal((rows, rank)))
    right, _ = np.linalg.qr(rng.standard_normal((columns, rank)))
    edge = rows**0.5 + columns**0.5
    return (left * edge * np.linspace(1.0, 1.6, rank) * strength) @ right.T + rng.standard_normal((rows, columns)) + 5.0


def test_all_rules_that_look_for_signal_find_it():
    choice = ek.choose_rank(planted(), noise=1.0)
    wrong = {verdict.rule: verdict.k for verdict in choice.verdicts if verdict.counts and verdict.k != 3}
    assert not wrong
    assert choice.k == 3
    assert [verdict.rule for verdict in choice.verdicts] == list(RULES)
    assert choice.word == "10 of 10 rules that tell signal from noise say 3 axes."
    assert set(choice.agreement[3]) >= {verdict.rule for verdict in choice.verdicts if verdict.counts}


def test_pure_noise_has_no_axes():
    rng = np.random.default_rng(1)
    hits = dict.fromkeys(("permutation", "sign_flip", "deterministic", "screenot", "bicross", "cells"), 0)
    for _ in range(8):
        choice = ek.choose_rank(rng.standard_normal((60, 15)), list(hits), repeats=40)
        for verdict in choice.verdicts:
            hits[verdict.rule] += verdict.k == 0
    assert min(hits.values()) >= 6, hits


def test_verdicts_are_sentences():
    for verdict in ek.choose_rank(planted()).verdicts:
        assert verdict.reason.endswith(".")
        assert verdict.assumes.endswith(".")
        assert verdict.title


def test_usarrests():
    choice = ek.choose_rank(datasets.load("usarrests").values, scale=True)
    assert {rule: choice[rule].k for rule in ("variance", "kaiser", "broken_stick", "elbow")} == {
        "variance": 3, "kaiser": 1, "broken_stick": 1, "elbow": 1,
    }  # fmt: skip
    assert choice.shares == pytest.approx([0.62006, 0.24744, 0.08914, 0.04336], abs=1e-5)


def test_same_answers_from_a_whole_decomposition():
    table = planted()
    whole = ek.decompose(table, "pca")
    for scale in (False, True):
        d = ek.decompose(table, "pca", scale=scale)
        a, b = ek.choose_rank(table, "quick", scale=scale), ek.choose_rank(d, "quick")
        assert [v.k for v in a.verdicts] == [v.k for v in b.verdicts]
    silent = [verdict for verdict in ek.choose_rank(whole).verdicts if verdict.k is None]
    assert {verdict.rule for verdict in silent} == set(RULES) - set(QUICK)
    assert all("Needs the data" in verdict.reason for verdict in silent)


def test_a_truncated_decomposition_says_what_it_cannot_know():
    choice = ek.choose_rank(ek.decompose(planted(), "pca", k=5))
    assert choice["kaiser"].k == choice["unknown_noise"].k == 3
    assert "estimated" in choice["unknown_noise"].reason
    for rule in ("linear_energy", "screenot", "minka"):
        assert choice[rule].k is None
    few = ek.choose_rank(ek.decompose(planted(), "pca", k=2))
    assert few["kaiser"].k is None
    assert "may be more" in few["kaiser"].reason


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 100), st.sampled_from([1e-9, 1e-3, 1e5, 1e150]))
def test_units_rows_and_columns_in_another_order_do_not_matter(seed, factor):
    table = planted(rows=40, columns=10, rank=2, seed=seed)
    rng = np.random.default_rng(seed)
    other = table[rng.permutation(40)][:, rng.permutation(10)] * factor
    a, b = ek.choose_rank(table, "quick"), ek.choose_rank(other, "quick")
    assert [verdict.k for verdict in a.verdicts] == [verdict.k for verdict in b.verdicts]


def test_seeds():
    table = planted(rows=40, columns=10, strength=1.2)
    assert ek.choose_rank(table, rng=3) == ek.choose_rank(table, rng=3)
    alone = ek.choose_rank(table, ["bicross"], rng=3)["bicross"]
    assert alone == ek.choose_rank(table, rng=3)["bicross"]


def test_sparse_gives_what_dense_gives():
    rng = np.random.default_rng(4)
    blocks = np.kron(np.eye(3), np.ones((60, 10)))
    dense = np.where(rng.random(blocks.shape) < 0.3 * blocks + 0.02, rng.poisson(4, blocks.shape) + 1.0, 0.0)
    a, b = (ek.choose_rank(data, repeats=20) for data in (sparse.csr_array(dense), dense))
    for rule in QUICK:
        if rule != "known_noise":
            assert a[rule].k == b[rule].k, rule
    assert a["bicross"].k == b["bicross"].k
    assert a["permutation"].k == b["permutation"].k == 2  # three groups about their mean: two axes
    assert a["cells"].k is None
    assert a["stability"].k == b["stability"].k


def test_wide_float32_and_svd():
    wide = planted(rows=30, columns=200, rank=2).astype(np.float32)
    choice = ek.choose_rank(wide)
    assert choice.k == 2
    assert choice["minka"].k is None
    assert ek.choose_rank(planted() - 5.0, method="svd").k == 3


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_spectrum_too_long_to_compute_is_estimated_and_said(monkeypatch, kind):
    data = planted(rows=300, columns=150, rank=4) - 5.0
    if kind == "sparse":
        data = sparse.csr_array(np.where(np.abs(data) < 1.5, 0.0, data))
    exact = ek.choose_rank(data, "quick", most=10)
    monkeypatch.setattr("eckart.rank.evidence.WHOLE", 100)
    monkeypatch.setattr("eckart.rank.evidence._EXACT", 50)
    choice = ek.choose_rank(data, "quick", most=10)
    for rule in ("unknown_noise", "screenot", "deterministic", "broken_stick", "elbow"):
        assert choice[rule].k == exact[rule].k, rule
    for rule in ("variance", "energy", "linear_energy", "kaiser"):
        assert choice[rule].k == pytest.approx(exact[rule].k, abs=3), rule
    assert "(Values after the first 21 are estimated.)" in choice["screenot"].reason
    assert choice["minka"].k is None


def test_the_whole_spectrum_by_cross_products(monkeypatch):
    table = planted(rows=300, columns=80, rank=4)
    a = ek.choose_rank(table, "quick")
    monkeypatch.setattr("eckart.rank.evidence._EXACT", 50)
    b = ek.choose_rank(table, "quick", most=20)
    assert {v.rule: v.k for v in a.verdicts if v.counts} == {v.rule: v.k for v in b.verdicts if v.counts}


def test_degenerate_tables():
    with pytest.warns(ek.errors.DataWarning):
        flat = ek.choose_rank(np.ones((6, 3)))
    assert flat.k == 0
    for shape in ((2, 2), (3, 1), (1, 4), (5, 2)):
        table = np.random.default_rng(0).standard_normal(shape)
        choice = ek.choose_rank(table, method="svd" if shape[0] == 1 else "pca")
        assert all(verdict.k is None or 0 <= verdict.k <= min(shape) for verdict in choice.verdicts)
    exact = np.outer(np.arange(20.0), np.arange(1.0, 7.0))
    assert ek.choose_rank(exact)["variance"].k == 1


def test_missing_values():
    table = planted()
    table[np.random.default_rng(0).random(table.shape) < 0.05] = np.nan
    with pytest.raises(MissingValuesError):
        ek.choose_rank(table)
    choice = ek.choose_rank(table, "quick", missing="em")
    assert choice["deterministic"].k == 3
    assert "filled by EM" in choice.notes[0]


def test_wrong_arguments():
    table = planted(rows=20, columns=5, rank=1)
    for options, match in (
        ({"rules": "minkas"}, "did you mean 'minka'"),
        ({"rules": []}, "No rule was named"),
        ({"share": 1.5}, "share"),
        ({"noise": -1.0}, "standard deviation"),
        ({"most": 0}, "most"),
        ({"repeats": 0}, "repeats"),
        ({"rng": -1}, "not a seed"),
        ({"method": "pcs"}, "did you mean 'pca'"),
        ({"missing": "men"}, "did you mean 'mean'"),
    ):
        with pytest.raises(ParameterError, match=match):
            ek.choose_rank(table, **options)
    with pytest.raises(ParameterError, match="smallest"):
        ek.choose_rank(ek.decompose(table, "pca", k=2, which="smallest"))


def test_as_values():
    choice = ek.choose_rank(planted(rows=40, columns=12), "quick")
    assert json.loads(json.dumps(choice.to_dict()))["k"] == choice.k
    frame = choice.to_pandas()
    assert frame.loc["minka", "k"] == choice["minka"].k
    assert choice.word in str(choice)


def test_minka_of_the_estimator_is_the_same_rule():
    table = planted()
    assert ek.PCA("mle").fit(table).n_components_ == ek.choose_rank(table, ["minka"]).k


def test_parts_of_a_non_negative_table():
    rng = np.random.default_rng(3)
    whole = rng.gamma(0.5, 1.0, (60, 3)) @ rng.gamma(0.5, 1.0, (3, 24)) * rng.uniform(0.95, 1.05, (60, 24))
    for table in (whole, sparse.csr_array(np.where(whole < 1e-3, 0.0, whole))):
        choice = ek.choose_rank(table, method="nmf", most=4)
        assert choice.k == 3
        assert "only bi-cross-validation" in choice.notes[0]
    with pytest.raises(ParameterError, match="give the data"):
        ek.choose_rank(ek.decompose(whole, "nmf", k=2))


def test_cur_is_asked_like_svd_and_kernels_by_their_decomposition():
    table = planted(rows=50, columns=12, rank=2) - 5.0
    a, b = ek.choose_rank(table, "quick", method="cur"), ek.choose_rank(table, "quick", method="svd")
    assert [verdict.k for verdict in a.verdicts] == [verdict.k for verdict in b.verdicts]
    assert "SVD" in a.notes[0]
    with pytest.raises(ParameterError, match="decompose first"):
        ek.choose_rank(table, method="kernel_pca")
    d = ek.decompose(table, "kernel_pca", kernel="linear", k=12)
    choice = ek.choose_rank(d)
    assert [verdict.rule for verdict in choice.verdicts] == ["variance", "elbow", "broken_stick"]
    assert choice["variance"].k == ek.choose_rank(table, ["variance"])["variance"].k
    assert "left out" in choice.notes[0]
