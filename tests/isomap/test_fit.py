"""Isomap against scikit-learn's, SciPy's shortest paths and figures that are known exactly."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold
from sklearn.base import clone
from sklearn.datasets import make_swiss_roll
from sklearn.neighbors import KDTree, NearestNeighbors, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import eckart as ek
from eckart.errors import DataWarning, InputError, MemoryBudgetError, MissingValuesError, ParameterError
from eckart.isomap import geodesic
from eckart.isomap import neighbors as neighbours

CALLED = (
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_dataframe_column_names_consistency",
    "check_param_validation",
)
IN_PIECES = pytest.mark.filterwarnings("ignore:The number of connected components")


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(620, random_state=0)[0]


@pytest.fixture(scope="module")
def new():
    return make_swiss_roll(700, random_state=0)[0][620:]


def same(found, wanted, tolerance):
    assert found.shape == wanted.shape
    assert np.abs(np.asarray(found) - wanted).max() <= tolerance * np.abs(wanted).max()


@IN_PIECES
@parametrize_with_checks([ek.Isomap(), ek.Isomap(n_landmarks=8)])
def test_check(estimator, check):
    check(estimator)


@IN_PIECES
@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
@pytest.mark.parametrize("name", CALLED)
def test_called_check(name):
    getattr(estimator_checks, name)("Isomap", ek.Isomap())


@pytest.mark.parametrize("solver", ["auto", "arpack", "dense"])
@pytest.mark.parametrize("settings", [{"n_neighbors": 8}, {"n_neighbors": None, "radius": 5.0}])
def test_equals_scikit_learn(roll, new, solver, settings):
    peer = manifold.Isomap(**settings, n_components=3).fit(roll)
    mine = ek.Isomap(**settings, n_components=3, eigen_solver=solver).fit(roll)
    same(mine.embedding_, peer.embedding_, 1e-6)
    same(mine.transform(new), peer.transform(new), 1e-6)
    same(mine.transform(roll), mine.embedding_, 1e-6)
    assert mine.reconstruction_error() == pytest.approx(peer.reconstruction_error(), rel=1e-6)
    np.testing.assert_allclose(mine.dist_matrix_, peer.dist_matrix_, rtol=1e-13)


def test_the_parts_of_scikit_learn(roll, new):
    peer, mine = manifold.Isomap().fit(roll), ek.Isomap().fit(roll)
    same(mine.kernel_pca_.eigenvalues_, peer.kernel_pca_.eigenvalues_, 1e-8)
    kernel = -0.5 * mine.dist_matrix_[:5] ** 2
    same(mine.kernel_pca_.transform(kernel), peer.embedding_[:5], 1e-6)
    assert mine.nbrs_.kneighbors(new)[1].tolist() == peer.nbrs_.kneighbors(new)[1].tolist()
    assert mine.get_feature_names_out().tolist() == ["isomap0", "isomap1"]
    with pytest.raises(AttributeError, match="before it is fitted"):
        _ = ek.Isomap().dist_matrix_


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "precomputed", "function"])
def test_other_metrics(roll, new, metric):
    data, more = roll[:300], new[:20]
    settings = {"n_neighbors": 7, "metric": metric}
    if metric == "precomputed":
        data, more = squareform(pdist(roll[:300])), np.linalg.norm(more[:, None] - roll[:300], axis=2)
    elif metric == "function":
        settings["metric"] = lambda a, b: float(np.abs(a - b).sum())
    peer, mine = manifold.Isomap(**settings).fit(data), ek.Isomap(**settings).fit(data)
    same(mine.embedding_, peer.embedding_, 1e-7)
    same(mine.transform(more), peer.transform(more), 1e-7)


def test_trees_and_neighbours_of_scikit_learn(roll, new):
    plain = ek.Isomap(n_neighbors=7).fit(roll[:300])
    for made in (KDTree(roll[:300]), NearestNeighbors(n_neighbors=3).fit(roll[:300])):
        other = ek.Isomap(n_neighbors=7).fit(made)
        same(other.embedding_, plain.embedding_, 1e-12)
        same(other.transform(new), plain.transform(new), 1e-12)


def test_sparse_rows_and_many_columns():
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 60))
    dense[np.abs(dense) < 2.0] = 0.0
    peer = manifold.Isomap(n_neighbors=9).fit(dense)
    for data in (dense, sparse.csr_array(dense), sparse.csc_matrix(dense)):
        mine = ek.Isomap(n_neighbors=9).fit(data)
        same(mine.embedding_, peer.embedding_, 1e-7)
        same(mine.transform(data[:40]), peer.embedding_[:40], 1e-7)


def test_rows_far_from_zero_keep_their_neighbours():
    rng = np.random.default_rng(1)
    data = np.round(rng.standard_normal((200, 30)), 3)
    plain, far = ek.Isomap().fit(data), ek.Isomap().fit(data + 2.0**26)
    same(far.embedding_, plain.embedding_, 1e-6)


@IN_PIECES
@pytest.mark.filterwarnings("ignore:Changing the sparsity structure")
def test_a_graph_in_pieces_is_joined_and_said(roll):
    data = np.vstack([roll[:200], roll[200:400] + 200.0, roll[400:500] - 300.0])
    with pytest.warns(UserWarning, match="Completing the graph"):
        peer = manifold.Isomap(n_neighbors=6).fit(data)
    with pytest.warns(DataWarning, match="number of connected components of the neighbors graph is 3 > 1"):
        mine = ek.Isomap(n_neighbors=6).fit(data)
    same(mine.embedding_, peer.embedding_, 1e-7)
    assert mine.n_connected_components_ == 3
    assert "3 connected components" in mine.decomposition_.notes[0]
    assert ek.Isomap(n_neighbors=6, metric="manhattan").fit(data).n_connected_components_ == 3


def test_a_sparse_graph_in_pieces_cannot_be_joined(roll):
    data = np.vstack([roll[:100], roll[100:200] + 200.0])
    graph = kneighbors_graph(data, 5, mode="distance")
    with pytest.raises(InputError, match="components"):
        ek.Isomap(n_neighbors=4, metric="precomputed").fit(graph)


@IN_PIECES
@given(st.integers(0, 10**6), st.integers(2, 120), st.integers(1, 6), st.booleans())
@settings(max_examples=40)
def test_distances_are_those_of_scipy(seed, rows, count, rounded):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((rows, int(rng.integers(1, 20))))
    if rounded:
        points = np.round(points)  # ties and equal rows
    count = min(count, rows - 1)
    found = neighbours.nearest(points, points, count + 1).without_self(count)
    graph = geodesic.join(found.owner, found.index, found.distance, rows)
    matrix = sparse.csr_matrix((graph.weight, graph.index, graph.first), shape=(rows, rows))
    wanted = shortest_path(matrix, method="D", directed=False)
    result = np.full((rows, rows), np.nan)

    def keep(chosen, tile):
        result[chosen] = tile

    geodesic.each_distance(graph, geodesic.rows_as_sources(np.arange(rows)), keep)
    assert (result == wanted).all()  # the same sums in the same order: bit for bit
    few = np.full((1, rows), np.nan)
    geodesic.each_distance(graph, geodesic.rows_as_sources(np.array([rows - 1])), few.__setitem__)
    assert (few[0] == wanted[-1]).all()


@given(st.integers(0, 10**6), st.integers(2, 90), st.integers(1, 30), st.booleans())
@settings(max_examples=40)
def test_neighbours_are_the_nearest(seed, rows, columns, as_sparse):
    rng = np.random.default_rng(seed)
    points, queries = rng.standard_normal((rows, columns)), rng.standard_normal((7, columns))
    wanted = np.linalg.norm(queries[:, None] - points, axis=2)
    count = int(rng.integers(1, rows + 1))
    kind = sparse.csr_array if as_sparse else np.asarray
    found = neighbours.nearest(kind(queries), kind(points), count)
    np.testing.assert_allclose(found.distance.reshape(7, count), np.sort(wanted, axis=1)[:, :count], rtol=1e-9)
    radius = float(np.median(wanted))
    inside = neighbours.within(kind(queries), kind(points), radius)
    assert np.abs(np.diff(inside.first) - (wanted <= radius).sum(axis=1)).sum() <= 1  # the median itself may round


def test_landmarks_are_the_farthest_from_those_before(roll):
    found = neighbours.nearest(roll, roll, 9).without_self(8)
    graph = geodesic.join(found.owner, found.index, found.distance, len(roll))
    ways = shortest_path(kneighbors_graph(roll, 8, mode="distance"), directed=False)
    chosen = [int(np.argmax(ways[0]))]
    while len(chosen) < 40:
        chosen.append(int(np.argmax(ways[chosen].min(axis=0))))
    assert geodesic.spread_out(graph, 40).tolist() == sorted(chosen)


def test_landmarks(roll, new):
    whole, few = ek.Isomap(n_neighbors=8).fit(roll), ek.Isomap(n_neighbors=8, n_landmarks=120).fit(roll)
    assert len(few.landmarks_) == 120
    for j in range(2):
        assert abs(np.corrcoef(whole.embedding_[:, j], few.embedding_[:, j])[0, 1]) > 0.99
    same(few.transform(roll), few.embedding_, 1e-6)  # from the landmarks
    same(few.transform(new)[:30], few.transform(new[:30]), 1e-9)  # from the points
    assert few.residual_variance_[1] < 2 * whole.residual_variance_[1] + 1e-3
    assert few.certificate_ is None
    scores = few.embedding_.T @ few.embedding_
    assert abs(scores[0, 1]) < 1e-6 * scores[0, 0]


def test_all_rows_as_landmarks_are_the_whole(roll):
    data = roll[:300]
    same(ek.Isomap(n_landmarks=300).fit(data).embedding_, ek.Isomap().fit(data).embedding_, 1e-7)


def test_figures_are_what_they_say(roll):
    isomap = ek.Isomap(n_neighbors=8, n_components=2).fit(roll[:500])
    ways = squareform(isomap.dist_matrix_, checks=False)
    for j in (1, 2):
        straight = pdist(isomap.embedding_[:, :j])
        assert isomap.residual_variance_[j - 1] == pytest.approx(1 - np.corrcoef(ways, straight)[0, 1] ** 2, rel=1e-6)
    squares = isomap.dist_matrix_**2
    centring = np.eye(500) - 1 / 500
    spectrum = np.linalg.eigvalsh(-0.5 * centring @ squares @ centring)
    assert isomap.negative_share_ == pytest.approx(-spectrum[spectrum < 0].sum() / np.abs(spectrum).sum(), rel=1e-6)
    assert isomap.decomposition_.norm**2 == pytest.approx(spectrum.sum(), rel=1e-9)
    straight, along = pdist(isomap.embedding_), squareform(isomap.dist_matrix_, checks=False)
    assert isomap.decomposition_.explained_variance_ratio.sum() == pytest.approx(
        (straight**2).sum() / (along**2).sum(), rel=1e-9
    )


@pytest.mark.parametrize("rows", [400, 600])
def test_the_certificate_is_true(roll, rows):
    isomap = ek.Isomap(n_neighbors=8, n_components=3).fit(roll[:rows])
    c = isomap.certificate_
    centring = np.eye(rows) - 1 / rows
    spectrum = np.linalg.eigvalsh(-0.5 * centring @ isomap.dist_matrix_**2 @ centring)[::-1]
    true = np.sqrt(spectrum[:3])
    assert (c.lower <= true * (1 + 1e-12)).all()
    assert (true <= c.upper * (1 + 1e-12)).all()
    assert c.explained[0] - 1e-12 <= min(spectrum[:3].sum() / spectrum.sum(), 1.0) <= c.explained[1] + 1e-12
    assert c.proved
    assert c.angle < 1e-3


def test_a_horseshoe_is_a_line():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    line = squareform(np.array([1.0, 2.0, 3.0, 1.0, 2.0, 1.0]))
    d = ek.Isomap(n_components=1, n_neighbors=3, metric="precomputed").fit(line)
    assert sorted(np.abs(d.embedding_[:, 0]).round(12)) == [0.5, 0.5, 1.5, 1.5]
    assert d.negative_share_ == 0.0
    assert ek.Isomap(n_neighbors=2).fit(corners).embedding_.shape == (4, 2)


@pytest.mark.parametrize("factor", [1e200, 1e-200, 1e-310])
def test_extreme_units(roll, new, factor):
    plain, scaled = ek.Isomap(n_neighbors=8).fit(roll), ek.Isomap(n_neighbors=8).fit(roll * factor)
    same(scaled.embedding_ / factor, plain.embedding_, 1e-7)
    same(scaled.transform(new * factor) / factor, plain.transform(new), 1e-7)


@IN_PIECES
def test_equal_rows_have_equal_coordinates():
    rng = np.random.default_rng(0)
    data = np.repeat(rng.standard_normal((40, 3)), 4, axis=0)
    found = ek.Isomap(n_neighbors=6).fit(data).embedding_
    assert np.abs(found.reshape(40, 4, 2) - found[::4, None]).max() < 1e-9
    nowhere = ek.Isomap(n_neighbors=3).fit(np.ones((700, 2)))
    assert (nowhere.embedding_ == 0.0).all()
    assert "are zero, because" in nowhere.decomposition_.notes[0]


def test_verbs_and_model_file(roll, new, tmp_path):
    table = pd.DataFrame(roll, columns=["x", "y", "z"])
    d = ek.decompose(table, "isomap", k=2, n_neighbors=8)
    same(d.left * d.values, ek.Isomap(n_neighbors=8).fit(roll).embedding_, 1e-12)
    assert d.column_names == ("x", "y", "z")
    assert d.right.shape == (3, 0)
    d.save(tmp_path / "roll.eckart")
    same(ek.project(ek.load(tmp_path / "roll.eckart"), new), ek.project(d, new), 1e-15)
    with pytest.raises(InputError, match="has no inverse"):
        ek.reconstruct(d, d.left)
    with pytest.raises(InputError, match="columns"):
        ek.project(d, new[:, :2])


def test_float32_stays_float32(roll):
    single = ek.Isomap(n_neighbors=8).fit(roll.astype(np.float32))
    assert single.embedding_.dtype == np.float32
    assert single.transform(roll[:5].astype(np.float32)).dtype == np.float32
    same(single.embedding_, ek.Isomap(n_neighbors=8).fit(roll).embedding_, 1e-4)


def test_pipeline_and_clone(roll):
    steps = make_pipeline(StandardScaler(), ek.Isomap(n_neighbors=8))
    assert clone(steps).fit_transform(roll[:200]).shape == (200, 2)


def test_refusals(roll):
    with pytest.raises(ParameterError, match="Both n_neighbors and radius"):
        ek.Isomap(radius=1.0).fit(roll)
    with pytest.raises(InputError, match="n_neighbors < n_samples_fit"):
        ek.Isomap(n_neighbors=10).fit(roll[:10])
    with pytest.raises(MemoryBudgetError, match="n_landmarks=50"):
        ek.Isomap(memory="1MB").fit(roll)
    with pytest.raises(MissingValuesError, match="row 4, column 2"):
        ek.Isomap().fit(np.where(np.indices(roll.shape).sum(axis=0) == 4, np.nan, roll)[:, :2])
    with pytest.raises(ParameterError, match="n_neighbors and radius each determine"):
        ek.decompose(roll, "isomap", n_neighbors=None)
    with pytest.raises(InputError, match="no fitted row within the radius"):
        ek.Isomap(n_neighbors=None, radius=5.0).fit(roll).transform(roll[:1] + 1000.0)
    with pytest.raises(ParameterError, match="k=0"):
        ek.decompose(roll, "isomap", k=0)


def test_sparse_rows_on_the_axes_of_dense_ones():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 8)) * (rng.random((60, 8)) < 0.3)
    d = ek.decompose(rows, "isomap", k=2, n_neighbors=8)
    np.testing.assert_allclose(ek.project(d, sparse.csr_array(rows)), ek.project(d, rows), atol=1e-9)


def test_new_rows_have_the_same_coordinates_with_and_without_the_distances_of_the_fit(roll):
    fitted, new = roll[:220], roll[220:260]
    model = ek.Isomap(n_neighbors=8).fit(fitted)
    copied = pickle.loads(pickle.dumps(model))  # a pickle has the graph only
    np.testing.assert_allclose(model.transform(new), copied.transform(new), rtol=1e-9, atol=1e-9)
    peer = manifold.Isomap(n_neighbors=8).fit(fitted)
    signs = np.sign(np.sum(model.embedding_ * peer.embedding_, axis=0))
    np.testing.assert_allclose(model.transform(new), peer.transform(new) * signs, rtol=1e-6, atol=1e-6)


def test_bounds_include_eigenvalues_that_are_returned_as_zero() -> None:
    """Distances of very different sizes: the later eigenvalues are below the rounding of the first."""
    rows = np.random.default_rng(4).standard_normal((12, 6))
    rows[3] *= 1e7
    found = ek.decompose(rows, "isomap", k=4, n_neighbors=5)
    certificate, distances = found.certificate, ek.Isomap(n_neighbors=5, n_components=4).fit(rows).dist_matrix_
    assert certificate is not None
    assert not found.values.all()
    centred = -0.5 * distances.astype(np.longdouble) ** 2
    for axis in (0, 1):
        centred = centred - centred.mean(axis=axis, keepdims=True)
    left, values = found.left.astype(np.longdouble), found.values.astype(np.longdouble)
    largest = np.abs(np.linalg.eigvalsh(centred.astype(float))).max()
    residuals = np.sqrt(np.sum((centred @ left - left * values**2) ** 2, axis=0)).astype(float) / largest
    assert np.all(residuals <= certificate.residuals + 5e-14)
    assert np.all(certificate.lower <= found.values)


def test_shares_above_one_are_explained() -> None:
    """Classical scaling of geodesics with negative eigenvalues: positive ones may add up to more than the trace."""
    points = np.random.default_rng(3).normal(size=(21, 2))
    d = ek.decompose(np.abs(points[:, None] - points).sum(axis=2), "isomap", k=10)
    share = float(np.sum(d.values**2)) / d.norm**2
    assert share > 1.1
    note = next(note for note in d.notes if note.code == "above_all")
    assert f"{100 * share:.1f} %" in note
    assert d.certificate.explained == (1.0, 1.0)
    assert f"add up to {100 * share:.4f} %" in d.certificate.summary
    few = ek.decompose(np.abs(points[:, None] - points).sum(axis=2), "isomap", k=2)
    assert "above_all" not in [note.code for note in few.notes]
