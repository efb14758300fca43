"""Isomap on scikit-learn's neighbours: other metrics, precomputed distances, trees; and conversion to its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.graph import _fix_connected_components

from eckart.errors import InputError
from eckart.isomap import geodesic
from eckart.isomap.fit import warn_of_pieces
from eckart.isomap.geodesic import Graph
from eckart.isomap.neighbors import Neighbours, edges

if TYPE_CHECKING:
    from eckart.arrays import Matrix


def fitted_neighbours(isomap: Any, X: object) -> NearestNeighbors:
    return NearestNeighbors(
        n_neighbors=isomap.n_neighbors if isomap.n_neighbors is not None else 5,
        radius=isomap.radius if isomap.radius is not None else 1.0,
        algorithm=isomap.neighbors_algorithm,
        metric=isomap.metric,
        p=isomap.p,
        metric_params=isomap.metric_params,
        n_jobs=isomap.n_jobs,
    ).fit(X)


def graph(nbrs: NearestNeighbors, X: object, n_neighbors: int | None, radius: float | None) -> tuple[Graph, int]:
    """The connected graph of the rows, and its number of components before they were joined."""
    if radius is None:
        found = nbrs.kneighbors_graph(n_neighbors=n_neighbors, mode="distance")
    else:
        found = nbrs.radius_neighbors_graph(radius=radius, mode="distance")
    made = _joined(found)
    pieces, labels = geodesic.components(made)
    if pieces == 1:
        return made, 1
    if nbrs.metric == "precomputed" and sparse.issparse(X):
        raise InputError(
            f"The number of connected components of the neighbors graph is {pieces} > 1, and a sparse "
            "graph does not contain the distances between the components. Use more neighbors, or "
            "pass all distances."
        )
    warn_of_pieces(pieces)
    metric, more = nbrs.effective_metric_, nbrs.effective_metric_params_
    whole = _fix_connected_components(nbrs._fit_X, found.tolil(), pieces, labels, "distance", metric, **more)
    return _joined(whole), pieces


def seeds(nbrs: NearestNeighbors, X: object, radius: float | None) -> Neighbours:
    """The neighbours of new rows among the fitted ones."""
    if radius is None:
        distances, indices = nbrs.kneighbors(X)
        first = np.arange(len(indices) + 1, dtype=np.int64) * indices.shape[1]
        return Neighbours(first, indices.ravel().astype(np.int32), distances.ravel().astype(np.float64))
    distances, indices = nbrs.radius_neighbors(X, sort_results=True)
    counts = np.array([len(row) for row in indices])
    index, distance = (np.concatenate([np.asarray(row) for row in part]) for part in (indices, distances))
    return Neighbours(edges(counts), index.astype(np.int32), distance.astype(np.float64))


def sklearn_kernel_pca(isomap: Any) -> KernelPCA:
    """Eigenpairs, centring and kernel as scikit-learn stores them."""
    d = isomap.decomposition_
    kernel = -0.5 * isomap.dist_matrix_**2
    result = KernelPCA(
        n_components=isomap.n_components, kernel="precomputed", eigen_solver=isomap.eigen_solver, tol=isomap.tol,
        max_iter=isomap.max_iter, n_jobs=isomap.n_jobs,
    ).set_output(transform="default")  # fmt: skip
    result.X_fit_ = kernel
    result.gamma_ = None
    result.n_features_in_ = kernel.shape[1]
    result._centerer = KernelCenterer().set_output(transform="default").fit(kernel)
    result.eigenvalues_ = np.asarray(d.values) ** 2
    result.eigenvectors_ = np.asarray(d.left)
    return result


def _joined(found: Matrix) -> Graph:
    entries = found.tocoo()
    return geodesic.join(entries.row, entries.col, entries.data, found.shape[0])
