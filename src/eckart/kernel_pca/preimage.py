"""Pre-images: rows z whose images phi(z) are close to a point in feature space, P = sum_i gamma_i phi(x_i).

A point with scores y is P = sum_k y_k v_k + mean = sum_i (dual y + base)_i phi(x_i). Usually no row has exactly that
image. Three methods find a close one: "ridge" (regression from scores to rows), "fixed_point" (Mika's iteration) and
"neighbours" (Kwok and Tsang: distances to the nearest points of the support). ||phi(z) - P|| measures how close.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import Array, astype, device, from_numpy, is_array, is_host, is_numpy, namespace, to_numpy
from eckart.documentation import document
from eckart.engine.parallel import fold
from eckart.errors import ParameterError
from eckart.kernel_pca.constants import PREIMAGE_ENTRIES, PREIMAGE_ROWS
from eckart.kernel_pca.kernel_functions import Kernel
from eckart.kernel_pca.preimage_ridge import Ridge, learn
from eckart.options import check_choice

HOW = ("ridge", "fixed_point", "neighbours")


@dataclass(frozen=True)
class Expansion:
    """Points in feature space by their scores; `kernel` has `points`, `tile` and `diagonal`."""

    kernel: Kernel
    support: Array
    shift: Array | None
    support_scores: Array
    dual: Array | None
    base: Array
    means: Array
    """<phi(x_i), mean>."""
    grand: float
    """<mean, mean>."""
    offset: Array
    """<v_k, mean>."""

    def on_host(self) -> Expansion:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays: Keywords = {name: to_numpy(value) for name, value in values.items() if is_array(value)}
        return replace(self, **arrays)

    @property
    def exact(self) -> bool:
        """Whether points are known as combinations of the support."""
        return self.dual is not None

    def weights(self, scores: Array) -> Array:
        """gamma, one row per point."""
        return scores @ self.dual.T + self.base  # type: ignore[union-attr]

    def products(self, scores: Array) -> Array:
        """<P, phi(x_i)> for every point of the support without the kernel: K dual = scores of the support + offset."""
        return scores @ self.support_scores.T + (scores @ self.offset)[:, None] + self.means

    def squares(self, scores: Array) -> Array:
        """<P, P>."""
        return _products_of_rows(scores, scores) + 2.0 * scores @ self.offset + self.grand

    def compared(self, rows: Array, kernel: Kernel | None = None) -> Array:
        """k(z, x_i) for rows z, with this or another kernel."""
        kernel = kernel or self.kernel
        if hasattr(self.support, "tocsr"):
            rows = type(self.support)(rows)
        return kernel.tile(kernel.points(rows, self.shift), kernel.points(self.support, self.shift))

    def distances(self, rows: Array, scores: Array, weights: Array | None = None) -> Array:
        """||phi(z) - P|| of every row."""
        weights = self.weights(scores) if weights is None else weights
        cross = _products_of_rows(self.compared(rows), weights)
        squares = self.kernel.diagonal(rows) - 2.0 * cross + self.squares(scores)
        xp = namespace(squares)
        return xp.sqrt(xp.where(squares > 0.0, squares, xp.zeros_like(squares)))


def _products_of_rows(first: Array, second: Array) -> Array:
    """x_i.y_i for every row."""
    if is_numpy(first):
        return np.einsum("ij,ij->i", first, second)
    return namespace(first).sum(first * second, axis=1)


@document
@dataclass(frozen=True)
class Preimages:
    """Pre-images of kernel PCA and their distances in feature space.

    Attributes
    ----------
    rows : array of shape (n_samples, n_features)
        Pre-images.
    distances : array of shape (n_samples,)
        Distance ||phi(z) - P||, where phi(z) is the image of the pre-image z and P is the point with the given scores.
    lengths : array of shape (n_samples,)
        Distance of the point P from the mean, for comparison with `distances`.

    {See Also: eckart.KernelPCA.preimages}

    Examples
    --------
    >>> import eckart as ek
    >>> X = [[1.0, 3.0], [0.0, 2.0], [0.0, 0.0], [3.0, 3.0]]
    >>> model = ek.KernelPCA(2).fit(X)
    >>> model.preimages(model.transform(X)).rows.round(9) + 0
    array([[1., 3.],
           [0., 2.],
           [0., 0.],
           [3., 3.]])
    """

    rows: Array
    distances: Array
    lengths: Array


def preimages(
    expansion: Expansion,
    scores: Array,
    *,
    how: str = "ridge",
    alpha: float | str = "auto",
    ridge: Ridge | None = None,
    measure: bool = True,
) -> Preimages:
    """A row for every row of scores, with its distance in feature space (NaN if the kernel gives none).

    Distances take as long as the rows; without `measure` they are NaN. The ridge regression is fitted on the host, from
    a sample; its rows are computed on the device of the scores.
    """
    check_choice("preimage", how, HOW)
    xp = namespace(scores)
    scores = astype(scores, xp.float64)
    find: Callable[[Array], Array]
    if how == "ridge":
        ridge = ridge or learn(expansion.support_scores, expansion.support, alpha, expansion.kernel)
        find = ridge.on_device_of(scores).predict
    else:
        _refuse_other_kernels(expansion, how)
        if how == "fixed_point":
            from eckart.kernel_pca.preimage_fixed_point import iterate as search
        else:
            from eckart.kernel_pca.preimage_neighbors import locate as search
        find = partial(_found_on_host, search, expansion.on_host())
    size = _piece(expansion, scores)
    pieces = [scores[start : start + size, :] for start in range(0, scores.shape[0], size)]
    # A user's kernel function may not be thread-safe; the ridge does not call it.
    workers = None if how == "ridge" and is_numpy(scores) else 1
    found = fold(lambda piece: [find(piece)], pieces, lambda some, more: some + more, workers=workers)
    distances = xp.full(scores.shape[0], float("nan"), dtype=xp.float64, device=device(scores))
    if expansion.exact and measure:
        distances = xp.concat([expansion.distances(rows, piece) for rows, piece in zip(found, pieces, strict=True)])
    return Preimages(xp.concat(found, axis=0), distances, row_lengths(scores))


def _found_on_host(search: Callable[..., np.ndarray], expansion: Expansion, scores: Array) -> Array:
    """Compute on the host: searches with a separate step for every row gain nothing on a GPU."""
    return from_numpy(search(expansion, to_numpy(scores)), scores)


def _piece(expansion: Expansion, scores: Array) -> int:
    if is_host(scores):
        return PREIMAGE_ROWS
    return max(PREIMAGE_ROWS, PREIMAGE_ENTRIES // max(1, int(expansion.support.shape[0])))


def row_lengths(rows: Array) -> Array:
    if is_numpy(rows):
        return np.asarray(np.linalg.norm(rows, axis=1))
    return namespace(rows).sqrt(_products_of_rows(rows, rows))


def _refuse_other_kernels(expansion: Expansion, how: str) -> None:
    allowed = ("rbf", "poly", "sigmoid")
    if expansion.kernel.name not in allowed:
        raise ParameterError(
            f"preimage={how!r} needs a kernel with a known derivative ({', '.join(allowed)}), but the "
            f"kernel is {expansion.kernel.name!r}. Use preimage='ridge'."
        )
