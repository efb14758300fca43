"""Concepts: what is recommended, alike, explained and proved, against the whole matrix and LAPACK."""

from __future__ import annotations

import math
import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from threadpoolctl import threadpool_limits

import eckart as ek
from eckart import datasets
from eckart.concept_space import best as best_module
from eckart.concept_space import stored_rows
from eckart.concept_space.best import best
from eckart.concept_space.names import Names
from eckart.concept_space.ranking import ranked
from eckart.engine.blocks.source import MemoryRows, Metadata
from eckart.engine.matrix import open_blocks
from eckart.errors import DataWarning, InputError, MissingValuesError, NotFiniteError, ParameterError
from eckart.result import Details

RATINGS = datasets.load("ratings")
MIXED = datasets.load("ratings_mixed")
MED = Path(__file__).parents[3] / "shared" / "data" / "med"

seeds = st.integers(0, 2**32 - 1)


def films(k: int = 2, name: str = "ratings") -> ek.concept_space.Concepts:
    path = datasets.path(name)
    return ek.concepts(ek.decompose(path, "svd", k=k), rows=path)


def table(seed: int, rows: int = 30, columns: int = 12) -> np.ndarray:
    """A few strong directions, noise, an offset, and zeros."""
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((rows, 4)) @ rng.standard_normal((4, columns)) * 3 + rng.standard_normal(
        (rows, columns)
    )
    return (whole + rng.uniform(0, 3, columns)) * (rng.random((rows, columns)) < 0.7)


SETTINGS = [("svd", {}), ("pca", {}), ("pca", {"scale": True}), ("svd", {"scale": True})]


def standard(d: ek.Decomposition, rows: np.ndarray) -> np.ndarray:
    rows = rows if d.mean is None else rows - d.mean
    return rows if d.scale is None else rows / d.scale


def seen(d: ek.Decomposition, rows: np.ndarray) -> np.ndarray:
    """The rows made from the coordinates, by the definition."""
    made = standard(d, rows) @ d.right @ d.right.T
    made = made if d.scale is None else made * d.scale
    return made if d.mean is None else made + d.mean


class TestFilms:
    """The film ratings of the courses."""

    def test_a_new_user(self) -> None:
        query = films().query([4, 0, 0, 0, 0])
        assert query.coordinates == pytest.approx([4 / math.sqrt(3), 0], abs=1e-14)
        assert query.unseen == pytest.approx(2 / 3)

    def test_recommends_the_other_two_of_the_kind(self) -> None:
        found = films().recommend({"Star Harbour": 4}, 2)
        assert set(found.names) == {"The Ninth Orbit", "Robot Winter"}
        assert found.scores == pytest.approx([4 / 3, 4 / 3])

    def test_users_alike_are_at_distance_zero(self) -> None:
        space = films()
        first, second = space.query([4, 0, 0, 0, 0]), space.query([3, 0, 0, 0, 0])
        assert first.coordinates[0] == pytest.approx(2.31, abs=0.005)
        assert second.coordinates[0] == pytest.approx(1.73, abs=0.005)
        found = space.similar_rows(first, 7)
        assert found.scores == pytest.approx([1, 1, 1, 1, 0, 0, 0], abs=1e-14)
        assert set(found.names[:4]) == {"Ada", "Bruno", "Chiara", "Dmitri"}

    def test_concepts_are_named_by_their_films(self) -> None:
        space = films()
        assert set(space.top_columns(0).names) == {"Star Harbour", "The Ninth Orbit", "Robot Winter"}
        assert space.top_columns(0).scores == pytest.approx([1 / math.sqrt(3)] * 3)
        assert [hit.name for hit in space.top_rows(1, 2)] == ["Fatima", "Elena"]

    def test_against_exact_arithmetic(self) -> None:
        from eckart import worked

        space = films(3, "ratings_mixed")
        q = [4, 0, 0, 1, 0]
        exact = worked.query(MIXED.values.astype(int).tolist(), q)
        back = [float(value.evalf(30)) for value in exact["back"]]
        assert space.recommend(q, 5, exclude_known=False).scores == pytest.approx(sorted(back, reverse=True), abs=1e-13)
        cosines = [float(value.evalf(30)) for value in exact["cosines"]]
        found = space.similar_rows(q, 7)
        assert found.scores == pytest.approx([cosines[place] for place in found.indices], abs=1e-13)

    def test_mixed_ratings(self) -> None:
        found = films(2, "ratings_mixed").query([0, 0, 0, 0, 1])
        assert found.coordinates[0] == pytest.approx(0.0901, abs=5e-5)

    def test_by_row_of_the_table(self) -> None:
        found = films(1, "ratings_mixed").recommend("Elena")
        assert set(found.names) == {"Star Harbour", "Robot Winter"}
        everything = films(1, "ratings_mixed").recommend("Elena", exclude_known=False)
        assert len(everything) == 5
        assert everything[0].place == 1

    def test_explained(self) -> None:
        found = films().explain({"Star Harbour": 3, "Two Summers": 2}, "Robot Winter")
        assert found.score == pytest.approx(1.0)
        assert found.entries[0].name == "Star Harbour"
        assert [part.adds for part in found.entries] == pytest.approx([1.0, 0.0], abs=1e-14)
        assert found.concepts[0].name == "concept 1"  # people count from 1
        assert "Star Harbour" in repr(found)


class TestBest:
    """The n best of every row, by tiles and by sorting, are the n best."""

    @given(seeds, st.integers(1, 40), st.integers(1, 60), st.integers(1, 12), st.booleans(), st.booleans())
    def test_equals_sorting(self, seed: int, rows: int, columns: int, n: int, hide: bool, tiles: bool) -> None:
        rng = np.random.default_rng(seed)
        queries, candidates = rng.integers(-2, 3, (rows, 3)) * 1.0, rng.integers(-2, 3, (columns, 3)) * 1.0
        out = sparse.csr_array(rng.random((rows, columns)) < 0.3) if hide else None

        def hidden(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            part = out[start:stop]
            part.sort_indices()
            return part.indptr.astype(np.int64), part.indices

        with pytest.MonkeyPatch.context() as patch:
            if tiles:  # many small tiles, with edges everywhere
                patch.setattr(best_module, "_SMALL", 0)
                patch.setattr(best_module, "_TILE_BYTES", 8 * 7 * 5)
                patch.setattr(best_module, "_WIDTH", 7)
            found = best(queries, candidates, n, hidden if hide else None)
        whole = queries @ candidates.T
        if hide:
            whole[out.toarray()] = -np.inf
        order = np.argsort(-whole, axis=1, kind="stable")[:, :n]
        expected = np.take_along_axis(whole, order, 1)
        there = np.isfinite(expected)
        assert np.array_equal(found.indices, np.where(there, order, -1))
        assert np.array_equal(found.scores, np.where(there, expected, np.nan), equal_nan=True)

    def test_same_bits_for_any_number_of_threads(self) -> None:
        rng = np.random.default_rng(0)
        queries, candidates = rng.standard_normal((1500, 20)), rng.standard_normal((3000, 20))
        with threadpool_limits(2, user_api="blas"):
            two = best(queries, candidates, 10)
        with threadpool_limits(1, user_api="blas"):
            one = best(queries, candidates, 10)
        assert np.array_equal(one.indices, two.indices)
        assert np.array_equal(one.scores, two.scores)

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_memory_is_bounded_by_a_tile(self, dtype: str) -> None:
        rng = np.random.default_rng(0)
        ratings = sparse.random_array((2000, 20_000), density=1e-3, rng=rng, format="csr", dtype=np.dtype(dtype))
        d = ek.decompose(ratings[:, :50], "svd", k=5)
        right = rng.standard_normal((20_000, 5)).astype(dtype)
        d = replace(d, right=right, columns=20_000, column_names=None, details=Details())
        space = ek.concepts(d, rows=ratings)
        space.recommend_many(n=10)
        tracemalloc.start()
        space.recommend_many(n=10)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 12e6  # all scores together take 160 MB or more

    @given(st.lists(st.integers(-3, 3) | st.just(np.nan), min_size=1, max_size=30), st.integers(1, 40), st.data())
    def test_one_ranking_equals_sorting(self, scores: list[float], n: int, data: st.DataObject) -> None:
        hidden = data.draw(st.lists(st.integers(0, len(scores) - 1), unique=True))
        found = ranked("", np.array(scores, float), n, Names("row", len(scores)), hidden=np.array(hidden, int))
        left = [i for i in range(len(scores)) if i not in hidden and not math.isnan(scores[i])]
        assert found.indices.tolist() == sorted(left, key=lambda i: (-scores[i], i))[:n]


class TestRecommend:
    @pytest.mark.parametrize(("method", "options"), SETTINGS)
    @given(seed=seeds)
    def test_orders_the_row_made_from_the_coordinates(self, method: str, options: dict, seed: int) -> None:
        whole = table(seed)
        d = ek.decompose(whole, method, k=3, **options)
        space = ek.concepts(d, rows=whole)
        expected = seen(d, whole)[5]
        found = space.recommend(5, 12, exclude_known=False)
        assert found.scores == pytest.approx(expected[found.indices], rel=1e-9, abs=1e-9)
        assert sorted(found.indices.tolist()) == list(range(12))
        assert np.all(np.diff(found.scores) <= 0)
        new = space.recommend(5, 12)
        assert sorted(new.indices.tolist()) == np.flatnonzero(whole[5] == 0).tolist()

    @pytest.mark.parametrize(("method", "options"), SETTINGS)
    @pytest.mark.parametrize("kind", ["dense", "sparse", "explicit zeros"])
    def test_many_are_as_one_by_one(self, method: str, options: dict, kind: str) -> None:
        whole = table(1)
        whole[:, 6:] = np.where(np.random.default_rng(0).random((30, 6)) < 0.1, whole[:, 6:], 0)
        whole[4] = 0
        data = {"dense": whole, "sparse": sparse.csr_array(whole)}.get(kind)
        if data is None:
            data = sparse.csr_array(whole)
            data.data[::7] = 0
            whole = data.toarray()
        d = ek.decompose(whole, method, k=3, **options)
        space = ek.concepts(d, rows=data)
        many = space.recommend_many(n=4)
        for i in range(30):
            one = space.recommend(i, 4)
            assert many[i].names == one.names
            assert many[i].scores == pytest.approx(one.scores, rel=1e-9, abs=1e-9)
        cold = np.flatnonzero(~whole.any(axis=1)).tolist() if d.mean is None else []
        assert many.cold.tolist() == cold
        assert repr(many).startswith("<Rankings: the best 4 columns for each of 30 rows")

    def test_a_dict_says_what_is_known_even_if_zero(self) -> None:
        found = films().recommend({"Star Harbour": 4, "Robot Winter": 0})
        assert "Robot Winter" not in found.names

    def test_without_data_the_model_does_not_know_what_a_row_has(self) -> None:
        d = ek.decompose(datasets.path("ratings"), "svd", k=2, left=True)
        space = ek.concepts(d)
        with pytest.raises(InputError, match="exclude_known=False"):
            space.recommend("Ada")
        with pytest.raises(InputError, match="rows="):
            space.recommend_many()
        assert space.recommend("Ada", 3, exclude_known=False).scores == pytest.approx([1, 1, 1])

    @given(seeds)
    def test_follows_a_permutation_of_the_columns(self, seed: int) -> None:
        whole = table(seed)
        order = np.random.default_rng(seed).permutation(12)
        names = [f"c{j}" for j in range(12)]
        first = ek.concepts(ek.decompose(whole, "svd", k=3), columns=names)
        turned = ek.concepts(ek.decompose(whole[:, order], "svd", k=3), columns=[names[j] for j in order])
        row = {"c3": 2.0, "c8": -1.0}
        one, two = first.recommend(row, 12), turned.recommend(row, 12)
        scores = dict(zip(two.names, two.scores, strict=True))
        assert one.scores == pytest.approx([scores[name] for name in one.names], rel=1e-6, abs=1e-8)


class TestAlike:
    @pytest.mark.parametrize(("method", "options"), SETTINGS)
    @pytest.mark.parametrize("by", ["cosine", "dot"])
    @given(seed=seeds)
    def test_bounds_hold_and_proved_places_are_those_of_the_whole_rows(
        self, method: str, options: dict, by: str, seed: int
    ) -> None:
        whole = table(seed)
        rng = np.random.default_rng(seed)
        d = ek.decompose(whole, method, k=int(rng.integers(1, 12)), **options)
        space = ek.concepts(d, rows=whole)
        full = standard(d, whole)
        likeness = full @ full.T
        if by == "cosine":
            lengths = np.linalg.norm(full, axis=1)
            likeness /= np.outer(lengths, lengths)
        found = space.similar_rows(7, 29, by=by, proof=True)
        self.check(found, likeness[7], 7)

    @pytest.mark.parametrize(("method", "options"), SETTINGS)
    @pytest.mark.parametrize("by", ["cosine", "dot"])
    @given(seed=seeds)
    def test_the_same_for_columns(self, method: str, options: dict, by: str, seed: int) -> None:
        whole = table(seed)
        rng = np.random.default_rng(seed)
        d = ek.decompose(whole, method, k=int(rng.integers(1, 12)), **options)
        full = standard(d, whole)
        likeness = full.T @ full
        if by == "cosine":
            lengths = np.linalg.norm(full, axis=0)
            likeness /= np.outer(lengths, lengths)
        found = ek.concepts(d).similar_columns(2, 11, by=by, proof=True)
        self.check(found, likeness[2], 2)

    def check(self, found: ek.concept_space.Ranking, likeness: np.ndarray, own: int) -> None:
        true = likeness[found.indices]
        assert np.all(found.lower <= true)
        assert np.all(true <= found.upper)
        order = np.argsort(-likeness, kind="stable")
        order = order[order != own]
        assert np.array_equal(order[: found.proved], found.indices[: found.proved])

    def test_a_proof_succeeds_where_little_is_dropped(self) -> None:
        rng = np.random.default_rng(0)
        whole = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 9)) + 1e-6 * rng.standard_normal((40, 9))
        space = ek.concepts(ek.decompose(whole, "svd", k=3, left=True))
        found = space.similar_rows(0, 10, proof=True)
        assert found.proved == 10
        assert found.set_proved
        assert "order of the results is proved" in repr(found)

    def test_ties_are_settled_as_a_set(self) -> None:
        found = films().similar_rows("Ada", 3, proof=True)
        assert (found.proved, found.set_proved) == (0, True)
        assert "no other candidate is better (proved)" in repr(found)

    def test_against_lapack(self) -> None:
        whole = table(3)
        _, _, vt = np.linalg.svd(whole, full_matrices=False)
        scores = whole @ vt[:3].T
        lengths = np.linalg.norm(scores, axis=1)
        cosines = scores @ scores[4] / lengths / lengths[4]
        found = ek.concepts(ek.decompose(whole, "svd", k=3), rows=whole).similar_rows(4, 29)
        assert found.scores == pytest.approx(cosines[found.indices], abs=1e-12)
        assert 4 not in found.indices

    def test_the_length_of_a_row_does_not_matter_to_the_cosine(self) -> None:
        space = films(2, "ratings_mixed")
        one, two = space.similar_rows(MIXED.values[4]), space.similar_rows(1e-9 * MIXED.values[4])
        assert one.names[0] == two.names[0] == "Elena"
        assert one.scores == pytest.approx(two.scores, abs=1e-14)

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_rows_of_the_model_and_rows_given_agree(self, dtype: str) -> None:
        whole = table(5).astype(dtype)
        weights = np.random.default_rng(5).integers(1, 4, 30)
        d = ek.decompose(whole, "svd", k=3, left=True, sample_weight=weights)
        unit = 1e-12 if dtype == "float64" else 1e-4
        for by in ("cosine", "dot"):
            kept, fresh = (
                ek.concepts(d).similar_rows(0, 29, by=by),
                ek.concepts(d, rows=whole).similar_rows(0, 29, by=by),
            )
            at = {place: score for _, score, place in fresh}
            assert kept.scores == pytest.approx([at[place] for _, _, place in kept], rel=unit, abs=unit)

    def test_float32_bounds(self) -> None:
        whole = table(8).astype(np.float32)
        space = ek.concepts(ek.decompose(whole, "svd", k=4), rows=whole)
        full = whole.astype(float)
        lengths = np.linalg.norm(full, axis=1)
        found = space.similar_rows(2, 29, proof=True)
        self.check(found, full @ full[2] / lengths / lengths[2], 2)

    def test_a_row_that_the_concepts_do_not_see(self) -> None:
        space = films()
        found = space.similar_rows([1, -1, 0, 0, 0])
        assert len(found) == 0
        assert "orthogonal to all" in found.notes[0]
        assert len(space.recommend([1, -1, 0, 0, 0])) == 0
        many = space.recommend_many([[1, -1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], n=2)
        assert many.cold.tolist() == [0, 2]
        assert len(many[0]) == 0
        assert len(many[1]) == 2

    def test_a_row_at_hand_of_zeros_is_like_none(self) -> None:
        whole = np.vstack([RATINGS.values, np.zeros(5)])
        found = ek.concepts(ek.decompose(whole, "svd", k=2), rows=whole).similar_rows(0, 8)
        assert np.isfinite(found.scores).all()
        assert dict(zip(found.indices.tolist(), found.scores, strict=True))[7] == 0.0


class TestExplain:
    @pytest.mark.parametrize(("method", "options"), SETTINGS)
    @given(seed=seeds)
    def test_both_sums_are_the_score(self, method: str, options: dict, seed: int) -> None:
        whole = table(seed)
        d = ek.decompose(whole, method, k=4, **options)
        found = ek.concepts(d, rows=whole).explain(3, 8)
        assert found.score == pytest.approx(seen(d, whole)[3, 8], rel=1e-10, abs=1e-10)
        by_concepts = found.mean + math.fsum(part.adds for part in found.concepts)
        by_entries = found.mean + math.fsum(part.adds for part in found.entries) + found.others
        assert by_concepts == pytest.approx(found.score, rel=1e-13, abs=1e-13)
        assert by_entries == pytest.approx(found.score, rel=1e-11, abs=1e-11)
        assert {part.name for part in found.entries} == {f"x{j + 1}" for j in np.flatnonzero(whole[3])}

    def test_to_dict(self) -> None:
        made = films().explain("Ada", "Robot Winter").to_dict()
        assert made["column"] == "Robot Winter"
        assert sum(part["adds"] for part in made["entries"]) == pytest.approx(1.0)

    def test_rows_of_a_model_without_entries(self) -> None:
        d = ek.decompose(datasets.path("ratings"), "svd", k=2, left=True)
        found = ek.concepts(d).explain("Ada", "Robot Winter")
        assert found.score == pytest.approx(1.0)
        assert not found.entries
        assert "rows=" in found.notes[0]


class TestOtherMethods:
    """The same questions, whatever made the concepts; compared with `project` and `reconstruct`."""

    LINEAR = (
        ("nmf", {}),
        ("nmf", {"beta_loss": "kullback-leibler"}),
        ("cur", {}),
        ("cur", {"select": "norm", "rng": 0}),
    )

    @pytest.mark.parametrize(("method", "options"), LINEAR)
    @pytest.mark.parametrize("left", [False, True])
    def test_linear_ones(self, method: str, options: dict, left: bool) -> None:
        whole = np.abs(table(2))
        d = ek.decompose(whole, method, k=3, left=left, **options)
        space = ek.concepts(d, rows=None if left else whole)
        coordinates = ek.project(d, whole)
        made = ek.reconstruct(d, coordinates)
        near = 1e-3 if method == "nmf" else 1e-9  # NMF projects until it is near enough
        found = space.recommend(6, 12, exclude_known=False)
        assert found.scores == pytest.approx(made[6][found.indices], rel=near, abs=near * made.max())
        lengths = np.linalg.norm(made, axis=1)
        rows = space.similar_rows(6, 29)
        assert rows.scores == pytest.approx((made @ made[6] / lengths / lengths[6])[rows.indices], abs=near)
        sides = np.linalg.norm(made, axis=0)
        columns = space.similar_columns(4, 11)
        assert columns.scores == pytest.approx((made.T @ made[:, 4] / sides / sides[4])[columns.indices], abs=near)
        with pytest.raises(InputError, match="orthogonal concepts"):
            space.similar_rows(6, proof=True)

    @pytest.mark.parametrize(("method", "options"), LINEAR)
    def test_explained_and_folded_in(self, method: str, options: dict) -> None:
        whole = np.abs(table(2))
        d = ek.decompose(whole, method, k=3, **options)
        space = ek.concepts(d, rows=whole)
        made = ek.reconstruct(d, ek.project(d, whole))
        found = space.explain(6, 1)
        assert math.fsum(part.adds for part in found.concepts) == pytest.approx(found.score, rel=1e-12)
        if found.entries:
            assert math.fsum(part.adds for part in found.entries) == pytest.approx(found.score, rel=1e-4)
        assert bool(found.entries) != bool(found.notes)
        assert bool(found.entries) == (options.get("beta_loss") is None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            folded = space.fold_in(sparse.csr_array(whole[:5]))
        expected = ((whole - made) ** 2).sum(axis=1)[:5] / (whole**2).sum(axis=1)[:5]
        assert folded.unseen == pytest.approx(expected, rel=1e-3, abs=1e-9)

    @pytest.mark.parametrize(
        ("method", "options"), [("kernel_pca", {"kernel": "rbf"}), ("isomap", {"n_neighbors": 10})]
    )
    @pytest.mark.parametrize("left", [False, True])
    def test_those_without_a_linear_way_back(self, method: str, options: dict, left: bool) -> None:
        whole = table(2)
        d = ek.decompose(whole, method, k=3, left=left, **options)
        space = ek.concepts(d, rows=None if left else whole)
        coordinates = ek.project(d, whole)
        lengths = np.linalg.norm(coordinates, axis=1)
        rows = space.similar_rows(6, 29)
        cosines = coordinates @ coordinates[6] / lengths / lengths[6]
        assert rows.scores == pytest.approx(cosines[rows.indices], abs=1e-6)
        assert space.query(whole[6]).coordinates == pytest.approx(coordinates[6], abs=1e-9)
        assert np.abs(space.top_rows(0, 1).scores[0]) == pytest.approx(np.abs(coordinates[:, 0]).max())
        for ask in (space.recommend_many, lambda: space.similar_columns(0), lambda: space.explain(0, 0)):
            with pytest.raises(InputError, match="does not have"):
                ask()
        with pytest.raises(InputError, match=r"eckart\.project"):
            space.fold_in(whole)


class TestFoldIn:
    @pytest.mark.parametrize(("method", "options"), SETTINGS)
    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    def test_unseen_share_against_the_definition(self, method: str, options: dict, kind: type) -> None:
        fitted, new = table(0), table(1)[:9]
        new[:, 5:] = 0
        d = ek.decompose(fitted, method, k=3, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            found = ek.concepts(d, rows=fitted).fold_in(kind(new))
        rest = standard(d, new) - standard(d, new) @ d.right @ d.right.T
        expected = (rest**2).sum(axis=1) / (standard(d, new) ** 2).sum(axis=1)
        assert found.unseen == pytest.approx(expected, rel=1e-9)
        assert found.coordinates == pytest.approx(standard(d, new) @ d.right, rel=1e-9)
        assert found.space.rows is not None
        assert found.space.rows.names.count == 39

    def test_more_of_the_same_needs_no_new_fit(self) -> None:
        rng = np.random.default_rng(0)
        axes = rng.standard_normal((3, 10))
        fitted = rng.standard_normal((100, 3)) @ axes + 0.1 * rng.standard_normal((100, 10))
        space = ek.concepts(ek.decompose(fitted, "svd", k=3))
        new = rng.standard_normal((20, 3)) @ axes + 0.1 * rng.standard_normal((20, 10))
        assert space.fold_in(new).refit == ""

    def test_it_adds_up_until_a_new_concept_may_be_there(self) -> None:
        space = films()
        weakest = 90.0
        turned = np.array([[1.0, -1.0, 0, 0, 0]])  # nothing of it is seen: 2 is lost with each
        for count in range(1, 45):
            space = space.fold_in(turned).space
            assert 2 * count < weakest
        with pytest.warns(DataWarning, match="Fit the model again"):
            found = space.fold_in(turned)
        assert "of 45 new rows" in found.refit
        assert found.unseen == pytest.approx([1.0])

    def test_cold_rows_are_said(self) -> None:
        found = films().fold_in([[0, 0, 0, 0, 0], [1, 1, 1, 0, 0]])
        assert found.cold.tolist() == [0]
        assert np.isnan(found.unseen[0])
        assert found.unseen[1] == pytest.approx(0, abs=1e-14)
        assert found.to_dict()["unseen"][0] is None
        assert "1 without any entry" in repr(found)

    def test_new_rows_can_be_asked_for(self) -> None:
        space = films().fold_in([[2, 0, 0, 0, 0]], row_names=["Hana"]).space
        assert set(space.recommend("Hana", 2).names) == {"The Ninth Orbit", "Robot Winter"}
        assert "Hana" in space.similar_rows("Ada", 7).names
        assert len(space.recommend_many(n=2)) == 8


class TestWords:
    SPACE_COLUMNS = ("lens", "eye", "blood", "oxygen")

    def space(self) -> ek.concept_space.Concepts:
        counts = np.array([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 2.0]])
        return ek.concepts(ek.decompose(counts, "svd", k=2), rows=counts, columns=self.SPACE_COLUMNS)

    def test_a_text_finds_rows_without_its_words(self) -> None:
        space = self.space()
        found = space.similar_rows(space.query("The eye, the EYE!"), 2)
        assert set(found.indices.tolist()) == {0, 1}

    def test_words_are_counted(self) -> None:
        space = self.space()
        one, two = space.query(["eye", "eye", "lens"]), space.query({"eye": 2, "lens": 1})
        assert np.array_equal(one.coordinates, two.coordinates)

    @pytest.mark.parametrize("text", ["", "   ", "\0", "nothing here", "(a+)+$" * 10_000, "x" * 10_000_000])
    def test_hostile_texts_give_an_empty_answer_with_a_reason(self, text: str) -> None:
        space = self.space()
        query = space.query(text)
        assert query.cold
        found = space.similar_rows(query)
        assert len(found) == 0
        assert found.notes
        assert max(map(len, found.notes)) < 1000

    def test_unknown_words_are_noted_or_refused(self) -> None:
        space = self.space()
        assert "'cornea'" in space.query("eye cornea").notes[0]
        with pytest.raises(InputError, match="'cornea'"):
            space.query("eye cornea", unknown="error")

    def test_a_vectorizer(self) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = ["lens and eye", "eye and eye and lens", "blood oxygen", "oxygen in blood and blood"]
        vectorizer = TfidfVectorizer()
        matrix = vectorizer.fit_transform(texts)
        space = ek.concepts(ek.decompose(matrix, "svd", k=2), rows=matrix, vectorizer=vectorizer)
        query = space.query("the oxygen")
        assert query.coordinates == pytest.approx((vectorizer.transform(["the oxygen"]) @ space.d.right)[0])
        assert "'the'" in query.notes[0]
        assert set(space.similar_rows(query, 2).indices.tolist()) == {2, 3}

    @pytest.mark.skipif(not MED.is_dir(), reason="the MEDLARS collection is not here")
    def test_medlars(self) -> None:
        benchmark = pytest.importorskip("benchmarks.concepts", reason="run from the root of the repository")
        plain, concepts = benchmark.retrieval(MED, 100, {"sublinear_tf": True})
        assert plain == pytest.approx(0.507, abs=0.005)
        assert concepts >= 0.64


class TestInput:
    def test_an_unknown_film_is_named_with_near_matches(self) -> None:
        with pytest.raises(InputError, match=r"The model has no column 'Star Harbor'. Did you mean 'Star Harbour'\?"):
            films().recommend({"Star Harbor": 4})
        with pytest.raises(InputError, match="Did you mean 'Robot Winter'"):
            films().similar_columns("robot winter")
        with pytest.raises(InputError, match=r"The names of the columns are 'Star Harbour'.*5 in total"):
            films().explain("Ada", "zzz")

    def test_columns_of_rows_in_another_order(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(RATINGS.values, RATINGS.row_names, RATINGS.column_names)
        with pytest.raises(InputError, match=r"column 1 is 'Two Summers', but in the model it is 'Star Harbour'"):
            ek.concepts(ek.decompose(frame, "svd", k=2), rows=frame[frame.columns[::-1]])

    def test_what_is_not_said_counts_as_the_mean_where_means_were_subtracted(self) -> None:
        whole = table(4)
        d = ek.decompose(whole, "pca", k=3, scale=True)
        space = ek.concepts(d)
        query = space.query({"x2": 0.0, "x7": 5.0})
        entries = (np.array([0.0, 5.0]) - d.mean[[1, 6]]) / d.scale[[1, 6]]
        assert query.coordinates == pytest.approx(entries @ d.right[[1, 6]])
        assert not query.cold
        found = space.explain(query, "x3")
        assert found.mean + sum(part.adds for part in found.entries) == pytest.approx(found.score)
        assert found.others == 0.0
        nothing = space.query({})
        assert nothing.cold
        assert nothing.coordinates == pytest.approx([0, 0, 0], abs=1e-14)
        assert space.recommend({}, 12).scores == pytest.approx(np.sort(d.mean)[::-1])
        assert not space.query(np.zeros(12)).cold

    def test_or_ignored(self) -> None:
        found = films().recommend({"Nope": 1, "Star Harbour": 4}, 1, unknown="ignore")
        assert len(found) == 1
        assert "'Nope'" in found.notes[0]

    def test_an_unknown_row(self) -> None:
        with pytest.raises(InputError, match=r"no row 'Ad'. Did you mean 'Ada'"):
            films().similar_rows("Ad")
        with pytest.raises(InputError, match="index from 0 to 6"):
            films().similar_rows(7)
        with pytest.raises(InputError, match="left=True"):
            ek.concepts(ek.decompose(RATINGS.values, "svd", k=2)).similar_rows(0)

    def test_two_rows_of_one_name(self) -> None:
        space = ek.concepts(ek.decompose(RATINGS.values, "svd", k=2), RATINGS.values, row_names=["a", "a", *"bcdef"])
        with pytest.raises(InputError, match="Several rows"):
            space.similar_rows("a")
        assert len(space.similar_rows("b")) == 6

    def test_two_columns_of_one_name(self) -> None:
        with pytest.raises(InputError, match="more than once: 'a'"):
            ek.concepts(ek.decompose(RATINGS.values, "svd", k=2), columns=list("aabcd"))
        with pytest.raises(InputError, match=r"number of names \(4\)"):
            ek.concepts(ek.decompose(RATINGS.values, "svd", k=2), columns=list("abcd"))

    @pytest.mark.parametrize(
        ("row", "error", "word"),
        [
            ([1, 2], InputError, "5 columns"),
            (RATINGS.values, InputError, "Expected one row"),
            ([1, 2, np.nan, 0, 0], MissingValuesError, "Robot Winter"),
            ({"Robot Winter": np.inf}, NotFiniteError, "Robot Winter"),
            ({"Robot Winter": "good"}, InputError, "'good'"),
            (object(), InputError, "does not describe a row"),
            (True, InputError, "5 columns"),
        ],
    )
    def test_rows_that_are_none(self, row: object, error: type[Exception], word: str) -> None:
        with pytest.raises(error, match=word):
            films().query(row)

    @pytest.mark.parametrize("n", [0, -1, 2.5, "3", True])
    def test_counts(self, n: object) -> None:
        with pytest.raises(ParameterError, match="n="):
            films().recommend("Ada", n)  # type: ignore[arg-type]

    def test_other_arguments(self) -> None:
        with pytest.raises(ParameterError, match="did you mean 'cosine'"):
            films().similar_rows("Ada", by="cosin")  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="from 0 to 1"):
            films().top_columns(2)
        with pytest.raises(InputError, match="not fitted yet"):
            ek.concepts(ek.PCA(2))
        with pytest.raises(InputError, match="of type ndarray"):
            ek.concepts(RATINGS.values)

    def test_cold_rows_are_said_and_not_nan(self) -> None:
        space = films()
        for row in ([0] * 5, {}, {"Robot Winter": 0}):
            query = space.query(row)
            assert query.cold
            assert np.array_equal(query.coordinates, [0, 0])
            assert "nothing to compare" in query.notes[0]
            assert len(space.recommend(row)) == 0
            assert "nothing to compare" in space.recommend(row).notes[0]
            assert len(space.similar_rows(row)) == 0

    def test_estimators_and_frames(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(RATINGS.values, RATINGS.row_names, RATINGS.column_names)
        for estimator in (ek.TruncatedSVD(2), ek.PCA(2), ek.PCA(2, whiten=True)):
            space = ek.concepts(estimator.fit(frame), rows=frame)
            same = ek.concepts(ek.decompose(frame, space.d.method, k=2), rows=frame)
            assert space.similar_rows("Ada", 6).names == same.similar_rows("Ada", 6).names
            assert space.similar_columns("Two Summers", 1).names == ("A Letter from Rome",)
        assert np.array_equal(
            space.query(frame.loc["Ada"]).coordinates, space.query(frame.loc["Ada"].to_dict()).coordinates
        )

    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    def test_rows_that_are_read_in_blocks(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = table(0, 200, 30) * (np.random.default_rng(1).random((200, 30)) < 0.4)
        d = ek.decompose(whole, "svd", k=3)
        data = whole if kind == "dense" else sparse.csr_array(whole)
        memory = ek.concepts(d, rows=data)
        monkeypatch.setattr(stored_rows, "open_matrix", lambda data: open_blocks(MemoryRows(data, Metadata("data"))))
        blocks = ek.concepts(d, rows=data)
        assert blocks.rows is not None
        assert not blocks.rows.parts[0].opened.matrix.resident
        assert blocks.recommend(150, 5).names == memory.recommend(150, 5).names
        assert blocks.similar_rows(150, 5, proof=True).to_dict() == memory.similar_rows(150, 5, proof=True).to_dict()
        assert np.array_equal(blocks.recommend_many(n=4).indices, memory.recommend_many(n=4).indices)

    @pytest.mark.parametrize("factor", [1e-200, 1e200])
    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
    def test_tiny_and_huge_numbers(self, factor: float, kind: type) -> None:
        whole = table(0) * (np.random.default_rng(1).random((30, 12)) < 0.4)
        usual = ek.concepts(ek.decompose(kind(whole), "svd", k=3), rows=kind(whole))
        other = ek.concepts(ek.decompose(kind(factor * whole), "svd", k=3), rows=kind(factor * whole))
        assert other.similar_rows(4, 5).names == usual.similar_rows(4, 5).names
        assert other.similar_rows(4, 5, by="dot").names == usual.similar_rows(4, 5, by="dot").names
        assert other.similar_columns(4, 5, proof=True).proved == usual.similar_columns(4, 5, proof=True).proved
        assert other.similar_rows(4, 5, proof=True).proved == usual.similar_rows(4, 5, proof=True).proved
        score = usual.explain(4, 2).score
        assert math.fsum(part.adds for part in other.explain(4, 2).entries) / factor == pytest.approx(score)
        assert other.fold_in(kind(factor * whole[:4])).unseen == pytest.approx(usual.fold_in(kind(whole[:4])).unseen)
        assert other.recommend(4, 5).names == usual.recommend(4, 5).names
        assert other.recommend_many(n=3).indices.tolist() == usual.recommend_many(n=3).indices.tolist()
        assert other.query(factor * whole[4]).unseen == pytest.approx(usual.query(whole[4]).unseen)

    def test_a_saved_model_gives_the_same(self, tmp_path: Path) -> None:
        d = ek.decompose(datasets.path("ratings_mixed"), "pca", k=2, left=True, scale=True)
        d.save(tmp_path / "m.eckart")
        one, two = (
            ek.concepts(model).similar_rows("Elena", 6, proof=True) for model in (d, ek.load(tmp_path / "m.eckart"))
        )
        assert one.to_dict() == two.to_dict()

    def test_values_print(self) -> None:
        space = films()
        assert repr(space) == "<Concepts: 2 concepts of 5 columns (svd), 7 rows stored>"
        assert (
            repr(space.query([4, 0, 0, 0, 0]))
            == "<Query the given row: [2.309, 0.000], 66.7 % outside the concept space>"
        )
        assert repr(space.similar_columns("Two Summers", 1)) == (
            "<Columns similar to Two Summers\n  A Letter from Rome  1.000>"
        )
        assert [hit["name"] for hit in space.similar_columns("Two Summers", 1).to_dict()["hits"]] == [
            "A Letter from Rome"
        ]


class TestOtherLibraries:
    """Factors and coordinates stay in the library of the data; answers are on the host and the same."""

    @staticmethod
    def table() -> np.ndarray:
        rng = np.random.default_rng(5)
        return np.where(rng.random((70, 25)) < 0.4, np.round(5 * rng.random((70, 25)), 2), 0.0)

    @pytest.fixture(params=["svd", "pca", "scaled", "cur"])
    def both(self, request: pytest.FixtureRequest) -> tuple[ek.concept_space.Concepts, ek.concept_space.Concepts]:
        torch = pytest.importorskip("torch")
        A = self.table()
        method, options = ("pca", {"scale": True}) if request.param == "scaled" else (request.param, {})
        there, here = torch.asarray(A), A
        models = (ek.decompose(X, method, k=4, **options) for X in (there, here))
        return tuple(ek.concepts(d, rows=X) for d, X in zip(models, (there, here), strict=True))  # type: ignore[return-value]

    @staticmethod
    def assert_same(a: ek.concept_space.results.Ranking, b: ek.concept_space.results.Ranking) -> None:
        assert isinstance(a.scores, np.ndarray)
        if (
            len(b) and np.diff(b.scores).max(initial=-1.0) < -1e-9
        ):  # the order of equal scores is that of their rounding
            np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-8, atol=1e-10)
        assert (a.notes, a.proved, a.set_proved) == (b.notes, b.proved, b.set_proved)

    @pytest.mark.parametrize("row", [3, "numbers", {"x1": 3.0, "x5": 2.0}, ["x1", "x2"], np.zeros(25)])
    def test_questions_of_a_row(self, both, row) -> None:
        a, b = both
        row = self.table()[8] if isinstance(row, str) else row
        self.assert_same(a.recommend(row, 5), b.recommend(row, 5))
        self.assert_same(a.recommend(row, 5, exclude_known=False), b.recommend(row, 5, exclude_known=False))
        for by in ("cosine", "dot"):
            self.assert_same(a.similar_rows(row, 5, by=by), b.similar_rows(row, 5, by=by))
            if a.geometry.orthonormal:
                self.assert_same(a.similar_rows(row, 5, by=by, proof=True), b.similar_rows(row, 5, by=by, proof=True))
        np.testing.assert_allclose(a.query(row).coordinates, b.query(row).coordinates, atol=1e-9)
        assert a.query(row).unseen == pytest.approx(b.query(row).unseen, abs=1e-9, nan_ok=True)
        first, second = a.explain(row, 7), b.explain(row, 7)
        assert first.score == pytest.approx(second.score, abs=1e-9)
        assert {part.name: part.adds for part in first.entries} == pytest.approx(
            {part.name: part.adds for part in second.entries}, abs=1e-9
        )

    def test_questions_of_columns_and_concepts(self, both) -> None:
        a, b = both
        for by in ("cosine", "dot"):
            self.assert_same(a.similar_columns(4, 5, by=by), b.similar_columns(4, 5, by=by))
        if a.geometry.orthonormal:
            self.assert_same(a.similar_columns(4, 5, proof=True), b.similar_columns(4, 5, proof=True))
        self.assert_same(a.top_columns(1, 5), b.top_columns(1, 5))
        self.assert_same(a.top_rows(1, 5), b.top_rows(1, 5))

    @pytest.mark.parametrize("exclude", [True, False])
    def test_many_at_once_in_tiles(self, both, exclude, monkeypatch) -> None:
        monkeypatch.setattr(best_module, "_DEVICE_SCORES", 400)
        a, b = (space.recommend_many(n=6, exclude_known=exclude) for space in both)
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_allclose(a.scores, b.scores, atol=1e-9)
        np.testing.assert_array_equal(a.cold, b.cold)

    def test_rows_folded_in(self, both) -> None:
        torch = pytest.importorskip("torch")
        new = np.concatenate([self.table()[:6], np.zeros((1, 25))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a, b = both[0].fold_in(torch.asarray(new)), both[1].fold_in(new)
        assert isinstance(a.coordinates, torch.Tensor)
        np.testing.assert_allclose(a.unseen, b.unseen, atol=1e-9)
        np.testing.assert_array_equal(a.cold, b.cold)
        self.assert_same(a.space.similar_rows(72, 4), b.space.similar_rows(72, 4))

    def test_nothing_of_the_size_of_a_factor_leaves(self, both, monkeypatch) -> None:
        torch = pytest.importorskip("torch")
        a, _ = both
        a.recommend(3, 5), a.similar_rows(3, 5)  # what is computed once
        left: list[int] = []
        numpy = torch.Tensor.numpy

        def counted(tensor, *args, **kwargs):
            left.append(tensor.numel())
            return numpy(tensor, *args, **kwargs)

        monkeypatch.setattr(torch.Tensor, "numpy", counted)
        a.recommend(5, 5), a.similar_rows(5, 5), a.similar_columns(2, 5), a.query({"x1": 1.0}), a.explain(3, 2)
        assert left
        assert max(left) <= 70  # a number for each row, and no more

    def test_the_rows_that_the_model_kept(self) -> None:
        torch = pytest.importorskip("torch")
        A, weights = self.table(), np.arange(70) % 3 + 1.0
        models = [ek.decompose(X, "pca", k=3, left=True, sample_weight=weights) for X in (torch.asarray(A), A)]
        a, b = map(ek.concepts, models)
        self.assert_same(a.similar_rows(4, 5), b.similar_rows(4, 5))

    def test_rows_of_another_library_are_refused(self) -> None:
        torch = pytest.importorskip("torch")
        A = self.table()
        with pytest.raises(InputError, match="The model was fitted on torch"):
            ek.concepts(ek.decompose(torch.asarray(A), "svd", k=3), rows=A)
