"""Isomap: coordinates whose straight-line distances equal the distances along the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.metrics.pairwise import _VALID_METRICS
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from eckart.arrays import Array, Matrix
from eckart.documentation import document
from eckart.errors import ParameterError
from eckart.estimators import constraints as allowed
from eckart.estimators.template import Estimator
from eckart.estimators.to_sklearn import ToSklearn
from eckart.isomap import fit as method
from eckart.isomap.details import IsomapDetails
from eckart.isomap.export import sklearn_isomap
from eckart.isomap.options import IsomapKeywords, IsomapOptions
from eckart.options import Seed
from eckart.projecting import project
from eckart.result import Decomposition

if TYPE_CHECKING:
    from sklearn import manifold
    from sklearn.decomposition import KernelPCA
    from sklearn.neighbors import NearestNeighbors
    from sklearn.utils import Tags

_ENGINE = {"auto": "auto", "arpack": "lanczos", "dense": "direct"}
_EUCLIDEAN = ("euclidean", "l2")


class FittedIsomap(Estimator):
    """The attributes that `Isomap.fit` sets."""

    decomposition_: Decomposition[IsomapDetails]
    embedding_: Array
    _distances: np.ndarray | None
    _nbrs: Any
    residual_variance_: np.ndarray
    negative_share_: float
    n_connected_components_: int
    landmarks_: np.ndarray | None
    n_features_in_: int
    feature_names_in_: np.ndarray


@document
@dataclass(eq=False, repr=False)
class Isomap(ToSklearn["manifold.Isomap"], FittedIsomap):
    """Isometric mapping: coordinates that preserve distances along a curved surface.

    Isomap builds a graph of neighbours, computes shortest paths in it and applies classical multidimensional scaling.
    It is a drop-in replacement for ``sklearn.manifold.Isomap``, with the same parameters, attributes and signs. For up
    to 4,096 rows, the fit keeps the distances between all rows in memory for `transform`. For more rows, and in saved
    models and pickles, it keeps no (n_samples, n_samples) matrix. `dist_matrix_` is computed when you access it.

    `fit` also accepts a fitted tree or NearestNeighbors object of ``sklearn.neighbors``. `transform` connects each new
    row to its neighbours among the fitted rows.

    Parameters
    ----------
    n_neighbors : int or None, default 5
        Number of neighbours of each row. Must be None if you set `radius`.
    radius : float or None, default None
        All rows within this distance are neighbours.
    n_components : int, default 2
        Number of coordinates.
    eigen_solver : {'auto', 'arpack', 'dense'}, default 'auto'
        'dense' computes all eigenvalues with LAPACK; 'arpack' computes the leading ones with block Lanczos.
    tol : float, default 0
        Tolerance for the eigenvalues, relative to the smallest one requested. 0 means 1e-14.
    max_iter : int or None, default None
        Ignored; accepted for compatibility with scikit-learn.
    path_method : {'auto', 'FW', 'D'}, default 'auto'
        Ignored; accepted for compatibility with scikit-learn. Shortest paths are exact.
    neighbors_algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default 'auto'
        Search algorithm of scikit-learn, which is used for all metrics except the Euclidean one.
    n_jobs : int or None, default None
        Number of jobs for scikit-learn's neighbour search. Everything else uses as many threads as BLAS.
    metric : str or callable, default 'minkowski'
        Distance between rows, as in ``sklearn.neighbors.NearestNeighbors``. With 'precomputed', X contains the
        distances between rows, or a sparse graph of distances, and `transform` takes the distances between new rows and
        fitted rows.
    p : float, default 2
        Exponent of the Minkowski metric.
    metric_params : dict or None, default None
        Keyword arguments of the metric.
    n_landmarks : int or None, default None
        Number of landmarks. Distances are computed only from these rows, which are spread over the data, and all other
        rows are placed by their distances to the landmarks. This stores n_landmarks x n_samples numbers instead of
        n_samples x n_samples.
    memory : str, int or None, default None
        Limit on the working memory, in addition to the data, such as "2GB". None uses the memory of the machine.
    {random_state [start]}

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        Coordinates of the fitted rows.
    residual_variance_ : array of shape (n_components,)
        Residual variance of the first 1, 2, ... coordinates: 1 - r^2, where r is the correlation between distances
        along the graph and distances in the coordinates, on a sample of pairs.
    negative_share_ : float
        Sum of the absolute negative eigenvalues, as a share of the sum of all absolute eigenvalues. It is estimated
        from a sample if there are many rows. It measures how far the distances are from those of a Euclidean space.
    n_connected_components_ : int
        Number of separate parts of the graph before they were connected.
    landmarks_ : array of int or None
        Indices of the landmarks, counted from 0. None if `n_landmarks` is None.
    certificate_ : Certificate or None
        Proved bounds. None with landmarks, because nothing is proved for them.

    See Also
    --------
    KernelPCA : Nonlinear components with an inverse transformation.
    PCA : Linear components.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for nonlinear dimensionality
           reduction", Science 290, 2000.
    .. [2] V. de Silva and J. B. Tenenbaum, "Sparse multidimensional scaling using landmark points", Stanford, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from eckart import Isomap
    >>> angle = np.linspace(0, np.pi, 60)
    >>> horseshoe = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> isomap = Isomap(n_neighbors=2, n_components=1).fit(horseshoe)
    >>> float(np.ptp(isomap.embedding_).round(2))  # the length of half the circle
    3.14
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_neighbors": [allowed.COUNT, None],
        "radius": [Interval(Real, 0, None, closed="both"), None],
        "n_components": [allowed.COUNT],
        "eigen_solver": [StrOptions(set(_ENGINE))],
        "tol": [allowed.NOT_NEGATIVE],
        "max_iter": [allowed.COUNT, None],
        "path_method": [StrOptions({"auto", "FW", "D"})],
        "neighbors_algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree"})],
        "n_jobs": [Integral, None],
        "p": [Interval(Real, 1, None, closed="left")],
        "metric": [StrOptions(set(_VALID_METRICS) | {"precomputed"}), callable],
        "metric_params": [dict, None],
        "n_landmarks": [allowed.COUNT, None],
        "memory": allowed.MEMORY,
        "random_state": allowed.RANDOM_STATE,
    }

    _: KW_ONLY
    n_neighbors: int | None = 5
    radius: float | None = None
    n_components: int = 2
    eigen_solver: Literal["auto", "arpack", "dense"] = "auto"
    tol: float = 0
    max_iter: int | None = None
    path_method: Literal["auto", "FW", "D"] = "auto"
    neighbors_algorithm: Literal["auto", "brute", "kd_tree", "ball_tree"] = "auto"
    n_jobs: int | None = None
    metric: str | Callable[..., float] = "minkowski"
    p: float = 2
    metric_params: Mapping[str, object] | None = None
    n_landmarks: int | None = None
    memory: str | int | None = None
    random_state: Seed = None

    def reconstruction_error(self) -> float:
        """Compute the reconstruction error ||B - Y Y^T||_F / n_samples.

        B is the matrix of centred squared distances, and Y contains the coordinates.

        Returns
        -------
        float
            The error. With landmarks, it is computed for the landmarks only.
        """
        check_is_fitted(self)
        return float(self.decomposition_.details.reconstruction_error)

    @property
    def dist_matrix_(self) -> np.ndarray:
        """Distances along the graph, of shape (n_samples, n_samples); computed on first access and then kept."""
        self._demand("dist_matrix_")
        if self._distances is None:
            dtype = np.float32 if str(self.embedding_.dtype).endswith("float32") else np.float64
            self._distances = method.distance_matrix(self.decomposition_).astype(dtype, copy=False)
        return self._distances

    @property
    def kernel_pca_(self) -> KernelPCA:
        """Fitted ``sklearn.decomposition.KernelPCA`` with the eigenpairs of the precomputed kernel."""
        self._demand("kernel_pca_")
        from eckart.isomap.other_metrics import sklearn_kernel_pca

        return sklearn_kernel_pca(self)

    @property
    def nbrs_(self) -> NearestNeighbors:
        """Fitted ``sklearn.neighbors.NearestNeighbors`` with the rows."""
        self._demand("nbrs_")
        if self._nbrs is None:
            from eckart.isomap.other_metrics import fitted_neighbours

            self._nbrs = fitted_neighbours(self, self.decomposition_.details.points)
        return self._nbrs

    def _sklearn(self) -> manifold.Isomap:
        return sklearn_isomap(self)

    def _fit(self, X: object) -> Matrix:
        if self.n_neighbors is not None and self.radius is not None:
            raise ParameterError(
                f"Both n_neighbors and radius are provided. Use Isomap(radius={self.radius}, n_neighbors=None) if "
                "intended to use radius-based neighbors"
            )
        made_elsewhere = type(X).__module__.startswith("sklearn.neighbors")  # a tree, or a set of neighbours
        self._euclidean = self._straight() and not made_elsewhere
        self._nbrs, self._distances = None, None
        d = self._of_rows(X) if self._euclidean else self._of_distances(X)
        self._publish(d)
        self.embedding_ = d.left * d.values if d.left is not None else d.values
        self.residual_variance_ = d.details.residual_variance
        self.negative_share_ = d.details.negative_share
        self.n_connected_components_ = d.details.connected_components
        self.landmarks_ = d.details.sources if self.n_landmarks is not None else None

    def _scores(self, data: object) -> Array:
        """Scores of new rows, connected to their neighbours among the fitted rows."""
        if self._euclidean:
            return project(self.decomposition_, data)
        from eckart.isomap import other_metrics

        found = other_metrics.seeds(self._nbrs, data, self.radius)
        return method.place(self.decomposition_, found).astype(self.embedding_.dtype)

    def _fitted_scores(self, data: object) -> Array:
        return self.embedding_

    def _take(self, X: object, *, reset: bool) -> Matrix:
        return super()._take(X, reset=reset) if self._euclidean else X

    def _of_rows(self, X: object) -> Decomposition[IsomapDetails]:
        data = self._take(X, reset=True)
        return method.decompose(data, **self._asked(data.shape[0]))

    def _of_distances(self, X: object) -> Decomposition[IsomapDetails]:
        from eckart.isomap import other_metrics

        nbrs = self._nbrs = other_metrics.fitted_neighbours(self, X)
        self.n_features_in_ = int(nbrs._fit_X.shape[1])
        if hasattr(nbrs, "feature_names_in_"):
            self.feature_names_in_ = nbrs.feature_names_in_
        graph, pieces = other_metrics.graph(nbrs, X, self.n_neighbors, self.radius)
        request = method.checked_request(graph.rows, IsomapOptions(**self._asked(graph.rows)))
        given = method.Given(None, self.n_neighbors, self.radius, pieces)
        return method.of_graph(graph, request, columns=self.n_features_in_, given=given, prototype=None)

    def _asked(self, rows: int) -> IsomapKeywords:
        landmarks = None if self.n_landmarks is None else min(self.n_landmarks, rows)
        k = min(self.n_components, rows if landmarks is None else landmarks)
        solver = _ENGINE[self.eigen_solver]
        return {
            "k": k,
            "n_neighbors": self.n_neighbors,
            "radius": self.radius,
            "n_landmarks": landmarks,
            "solver": "direct" if solver == "lanczos" and (10 * k >= rows or rows < 100) else solver,
            "tol": allowed.accuracy(self.tol),
            "rng": self.random_state,
            "memory": self.memory,
        }

    def _straight(self) -> bool:
        """Whether distances are Euclidean, in any notation."""
        plain = self.metric in _EUCLIDEAN or (self.metric == "minkowski" and self.p == 2)
        return isinstance(self.metric, str) and plain and not self.metric_params

    def _demand(self, name: str) -> None:
        if not hasattr(self, "decomposition_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name} before it is fitted. Call fit first.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
