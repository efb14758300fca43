"""Every method on rows that are read in blocks: the same answers as in memory, within what is stated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import InputError, MissingValuesError, ParameterError


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("eckart.budget._BLOCK_BYTES", (20_000, 20_000))


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A table of four parts and a little noise."""
    rng = np.random.default_rng(1)
    left, right = rng.gamma(0.5, 1.0, (900, 4)), rng.gamma(0.4, 1.0, (4, 25))
    table = left @ right + 0.02 * rng.random((900, 25))
    path = tmp_path_factory.mktemp("parts") / "parts.npy"
    np.save(path, table)
    return path, table


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    rng = np.random.default_rng(2)
    turn = rng.random(1500) * 6
    table = np.c_[np.cos(turn), np.sin(turn), turn / 3, 0.1 * rng.standard_normal((1500, 3))]
    path = tmp_path_factory.mktemp("ring") / "ring.npy"
    np.save(path, table)
    return path, table


def loss(d, table):
    return float(np.linalg.norm(table - ek.reconstruct(d, ek.project(d, table))))


class TestNmf:
    def test_same_loss_and_parts(self, parts):
        path, table = parts
        options = {"k": 4, "tol": 1e-7, "max_iter": 500}
        inside = ek.decompose(table, "nmf", **options)
        blocks = ek.decompose(path, "nmf", stream=True, **options)
        assert blocks.plan.why.startswith("Each iteration reads all rows once, in blocks")
        assert blocks.left is None
        assert blocks.details.error == pytest.approx(inside.details.error, rel=1e-4)
        assert blocks.details.error == pytest.approx(loss(blocks, table), rel=1e-6)
        cosines = (np.asarray(inside.right).T @ np.asarray(blocks.right)).max(axis=1)
        assert cosines.min() > 0.999

    def test_one_read_per_iteration(self, parts):
        path, _ = parts
        told = []
        d = ek.decompose(path, "nmf", k=4, stream=True, init="random", beta_loss="kullback-leibler",
                         callback=told.append, max_iter=15, tol=0.0)  # fmt: skip
        assert d.info.passes == d.details.iterations + 1
        assert {progress.current_pass for progress in told} == set(range(1, d.info.passes + 1))

    def test_coordinates_when_asked_for(self, parts):
        path, table = parts
        d = ek.decompose(path, "nmf", k=4, stream=True, left=True)
        rows = np.asarray(d.left) * np.asarray(d.values)
        assert rows.min() >= 0
        np.testing.assert_allclose(np.linalg.norm(table - rows @ d.right.T), d.details.error, rtol=1e-6)

    def test_loss_never_rises_and_is_no_better_than_the_bound(self, parts):
        path, _ = parts
        d = ek.decompose(path, "nmf", k=3, stream=True)
        assert all(after <= before for before, after in itertools.pairwise(d.details.history))
        low, high = d.certificate.explained
        exact = ek.decompose(path, "svd", k=3).explained_variance_ratio.sum()
        assert low <= exact <= high + 1e-9

    def test_divergence(self, parts):
        path, table = parts
        options = {"k": 4, "beta_loss": "kullback-leibler", "tol": 1e-8, "max_iter": 2000}
        inside = ek.decompose(table, "nmf", **options)
        blocks = ek.decompose(path, "nmf", stream=True, **options)
        assert blocks.details.error == pytest.approx(inside.details.error, rel=1e-4)
        cosines = (np.asarray(inside.right).T @ np.asarray(blocks.right)).max(axis=1)
        assert cosines.min() > 0.999
        assert all(after <= before for before, after in itertools.pairwise(blocks.details.history))

    def test_divergence_with_penalties(self, parts):
        """The objective is what it is said to be, and no higher than the one found in memory."""
        path, table = parts
        options = {
            "k": 3,
            "beta_loss": "kullback-leibler",
            "tol": 1e-6,
            "max_iter": 2000,
            "alpha_W": 1e-3,
            "l1_ratio": 0.3,
        }
        inside = ek.decompose(table, "nmf", **options)
        d = ek.decompose(path, "nmf", stream=True, left=True, **options)
        right = np.asarray(d.right) * d.details.lengths
        left = np.asarray(d.left) * np.asarray(d.values) / d.details.lengths
        model = left @ right.T
        divergence = np.sum(table * np.log(table / model) - table + model)
        sizes = ((left, table.shape[1]), (right, table.shape[0]))
        penalties = sum(1e-3 * n * (0.3 * np.abs(f).sum() + 0.35 * np.sum(f * f)) for f, n in sizes)
        assert d.details.history[-1] == pytest.approx(divergence + penalties, rel=1e-6)
        assert d.details.history[-1] <= inside.details.history[-1] * (1 + 1e-3)

    @pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
    def test_squares_with_penalties(self, parts, l1_ratio):
        path, table = parts
        options = {"k": 3, "tol": 1e-7, "max_iter": 500, "alpha_W": 1e-3, "l1_ratio": l1_ratio}
        inside = ek.decompose(table, "nmf", **options)
        blocks = ek.decompose(path, "nmf", stream=True, **options)
        assert blocks.details.history[-1] == pytest.approx(inside.details.history[-1], rel=1e-3)

    def test_sparse(self, tmp_path):
        table = sparse.random_array((900, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
        sparse.save_npz(tmp_path / "s.npz", table)
        options = {"k": 3, "tol": 1e-6, "max_iter": 400}
        inside = ek.decompose(table, "nmf", **options)
        blocks = ek.decompose(tmp_path / "s.npz", "nmf", stream=True, **options)
        assert blocks.details.error == pytest.approx(inside.details.error, rel=1e-3)

    def test_goes_on_to_the_same_bits(self, parts, tmp_path):
        path, _ = parts
        straight = ek.decompose(path, "nmf", k=3, stream=True)
        count = itertools.count()

        def stop(_progress):
            if next(count) == 90:
                raise RuntimeError("broken off")

        with pytest.raises(RuntimeError, match="broken off"):
            ek.decompose(path, "nmf", k=3, checkpoint=tmp_path / "c", callback=stop)
        assert (tmp_path / "c" / "read-000000").exists()
        again = ek.decompose(path, "nmf", k=3, checkpoint=tmp_path / "c")
        np.testing.assert_array_equal(again.right, straight.right)
        assert not (tmp_path / "c").exists()

    def test_saved_and_opened(self, parts, tmp_path):
        d = ek.decompose(parts[0], "nmf", k=2, stream=True)
        d.save(tmp_path / "m.eckart")
        assert ek.load(tmp_path / "m.eckart").certificate.summary == d.certificate.summary

    def test_negative_entries_are_named(self, tmp_path):
        table = np.ones((2000, 25))
        table[1500, 7] = -2.0
        np.save(tmp_path / "n.npy", table)
        with pytest.raises(InputError, match=r"n.npy, in the block of rows 1,\d+ to 1,\d+: .* is -2, .*column 8"):
            ek.decompose(tmp_path / "n.npy", "nmf", k=2, stream=True, init="random", beta_loss="kullback-leibler")

    def test_what_needs_the_table(self, parts):
        with pytest.raises(ParameterError, match="read in blocks"):
            ek.decompose(parts[0], "nmf", k=2, stream=True, solver="mu")


class TestKernelPca:
    @pytest.mark.parametrize(("kernel", "gamma"), [("rbf", 0.2), ("rbf", "median"), ("poly", None), ("linear", None)])
    def test_same_components(self, ring, kernel, gamma):
        path, table = ring
        exact = ek.decompose(table, "kernel_pca", k=3, kernel=kernel, gamma=gamma, left=True)
        options = {"k": 3, "kernel": kernel, "gamma": gamma, "approximation_error": 1e-7}
        d = ek.decompose(path, "kernel_pca", stream=True, left=True, **options)
        np.testing.assert_allclose(d.values, exact.values, rtol=1e-5)
        assert np.all(d.certificate.lower <= exact.values * (1 + 1e-9))
        assert np.all(exact.values <= d.certificate.upper * (1 + 1e-9))
        scores = exact.left * exact.values
        np.testing.assert_allclose(d.left * d.values, scores, atol=1e-4 * np.abs(scores).max())
        np.testing.assert_allclose(ek.project(d, table[:20]), (d.left * d.values)[:20], atol=1e-8)
        np.testing.assert_allclose(d.details.correlations, exact.details.correlations, atol=1e-5)

    def test_few_reads_and_few_points(self, ring):
        d = ek.decompose(ring[0], "kernel_pca", k=2, gamma=0.2, stream=True, approximation_error=0.01)
        assert len(d.details.pivots) < 100
        assert d.info.passes <= 8
        assert d.details.approximation_error <= 0.01
        assert d.certificate.proved
        assert d.left is None
        np.testing.assert_array_equal(d.details.support, ring[1][d.details.pivots])

    def test_share(self, ring):
        d = ek.decompose(ring[0], "kernel_pca", explain=0.6, gamma=0.2, stream=True)
        assert d.certificate.explained[0] >= 0.6

    def test_sparse(self, tmp_path):
        table = sparse.random_array((800, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
        sparse.save_npz(tmp_path / "s.npz", table)
        exact = ek.decompose(table.toarray(), "kernel_pca", k=2, kernel="poly", degree=2)
        d = ek.decompose(tmp_path / "s.npz", "kernel_pca", k=2, kernel="poly", degree=2, stream=True,
                         approximation_error=1e-6)  # fmt: skip
        np.testing.assert_allclose(d.values, exact.values, rtol=1e-4)

    def test_gaps_are_named(self, ring, tmp_path):
        table = ring[1].copy()
        table[1400, 2] = np.nan
        np.save(tmp_path / "n.npy", table)
        with pytest.raises(MissingValuesError, match=r"Input n\.npy contains NaN.*row 1401, column 3"):
            ek.decompose(tmp_path / "n.npy", "kernel_pca", k=2, stream=True)

    def test_what_needs_the_table(self, ring):
        with pytest.raises(ParameterError, match="read in blocks"):
            ek.decompose(ring[0], "kernel_pca", k=2, stream=True, solver="direct")


class TestOthers:
    def test_cur(self, parts):
        path, table = parts
        inside, blocks = ek.decompose(table, "cur", k=4), ek.decompose(path, "cur", k=4, stream=True)
        np.testing.assert_array_equal(inside.details.columns, blocks.details.columns)
        np.testing.assert_array_equal(inside.details.rows, blocks.details.rows)
        np.testing.assert_allclose(inside.details.error, blocks.details.error, rtol=1e-6)

    @pytest.mark.parametrize("method", ["pca", "svd"])
    @pytest.mark.parametrize("scale", [False, True])
    def test_rank_in_one_read(self, parts, method, scale, monkeypatch):
        path, table = parts
        rules = ["variance", "elbow", "kaiser", "broken_stick", "deterministic", "unknown_noise", "screenot", "minka"]
        inside = ek.choose_rank(table, rules, method=method, scale=scale)
        monkeypatch.setattr("eckart.io.open_matrix.too_large", lambda *_: True)
        monkeypatch.setattr("eckart.io.open_rows.too_large", lambda *_: True)
        blocks = ek.choose_rank(path, rules, method=method, scale=scale, memory="1MB")
        assert [v.k for v in blocks.verdicts] == [v.k for v in inside.verdicts]
        np.testing.assert_allclose(
            blocks.explained_variance_ratio, inside.explained_variance_ratio, rtol=1e-6, atol=1e-12
        )

    def test_rules_that_need_the_table_say_so(self, parts, monkeypatch):
        monkeypatch.setattr("eckart.io.open_rows.too_large", lambda *_: True)
        monkeypatch.setattr("eckart.io.open_matrix.too_large", lambda *_: True)
        choice = ek.choose_rank(parts[0], ["permutation", "variance"])
        assert choice.verdicts[0].k is None
        assert "read in blocks" in choice.verdicts[0].reason

    @pytest.mark.parametrize("method", ["pca", "svd", "nmf", "cur", "kernel_pca"])
    def test_report_and_model(self, parts, tmp_path, method):
        d = ek.decompose(parts[0], method, k=2, stream=True)
        ek.report(d, tmp_path / "page.html")
        assert (tmp_path / "page.html").stat().st_size > 10_000
        d.save(tmp_path / "m.eckart")
        again = ek.load(tmp_path / "m.eckart")
        rows = ek.project_to(again, parts[0], tmp_path / "scores.npy")
        assert rows == 900
        np.testing.assert_allclose(np.load(tmp_path / "scores.npy"), ek.project(d, parts[1]), atol=1e-8)


class TestTogether:
    """Blocks that a worker adds up before their sum travels."""

    def stack(self, rows, columns):
        from eckart.io.open_matrix import open_matrix

        return open_matrix(np.random.default_rng(0).standard_normal((rows, columns)), stream=True).matrix

    def test_from_the_shape_alone(self):
        from eckart.engine.blocks.cluster import _together
        from eckart.engine.blocks.task import Task

        narrow, wide = self.stack(70_000, 8), self.stack(9_000, 100)
        assert _together(narrow, Task("gram"), len(narrow.edges) - 1) == 1
        blocks = len(wide.edges) - 1
        assert _together(wide, Task("gram"), blocks) == blocks // 64 > 1
        assert _together(wide, Task("normal", np.ones((100, 2))), blocks) == 1
        assert _together(wide, Task("gram"), 20) == 1


@pytest.mark.parametrize("shape", [(30, 5), (8, 5), (12, 30)])
@pytest.mark.parametrize("k", [None, 2])
def test_rows_of_weight_zero_do_not_count(shape, k):
    """Neither in memory nor in blocks, where they are read with the others."""
    rng = np.random.default_rng(0)
    data, weights = rng.standard_normal(shape), np.where(np.arange(shape[0]) % 2, 0.0, rng.uniform(1, 3, shape[0]))
    whole, found = (ek.decompose(data, k=k, sample_weight=weights, left=True, stream=part) for part in (False, True))
    assert (found.k, found.rows, found.row_names) == (whole.k, whole.rows, whole.row_names)
    assert [note.code for note in found.notes] == [note.code for note in whole.notes]
    np.testing.assert_allclose(found.values, whole.values, atol=1e-9)
    if shape[0] > shape[1]:
        np.testing.assert_allclose(found.details.row_norms, whole.details.row_norms, rtol=1e-9)
    if k is not None:
        np.testing.assert_allclose(found.left, whole.left, atol=1e-7)
    if k is not None and shape[0] > shape[1]:
        first = whole.row_names[0]
        got, wanted = (ek.concepts(d).similar_rows(first, 3, proof=True) for d in (found, whole))
        assert (got.names, got.proved) == (wanted.names, wanted.proved)


def test_smallest_values_of_fewer_weighted_rows_than_columns_are_refused_in_blocks():
    data = np.random.default_rng(0).standard_normal((12, 6))
    with pytest.raises(InputError, match="only 4 rows have a weight above 0"):
        ek.decompose(data, k=2, which="smallest", sample_weight=np.arange(12) % 3 == 0, stream=True)
    found = ek.decompose(data, k=2, which="smallest", sample_weight=np.arange(12) % 3 > 0, stream=True)
    assert found.rows == 8
