"""Textbook multiplicative updates W <- W * (numerator / denominator)^gamma: no sign changes, and the loss never rises.

For the beta-divergence the numerator is ((W H)^(beta-2) * A) H^T and the denominator (W H)^(beta-1) H^T; beta 2 is
half the squared error, 1 Kullback-Leibler, 0 Itakura-Saito. gamma makes the step short enough outside 1 <= beta <= 2.
"""

from __future__ import annotations

import operator

import numpy as np

from eckart.arrays import Array, Matrix, astype, namespace
from eckart.engine.parallel import fold
from eckart.nmf.constants import DIVERGENCE_TILE_BYTES, KEPT_SHARE, LEAST_PAIRS, STILL_SHARE, UPDATE_TILE_BYTES
from eckart.nmf.entries import Entries, entry_blocks, of_data_alone, of_the_mean, pieces_of, transposed
from eckart.nmf.options import Settings
from eckart.nmf.problem import FactorUpdate, Penalties, Penalty, Problem, dot, length, segments
from eckart.nmf.squares import Product, gram_of
from eckart.nmf.table import NonnegativeTable
from eckart.nmf.tiles import DenseTile

_LEAST = float(np.finfo(np.float32).eps)
"""Replaces zeros of W H, relative to the mean entry."""


class MultiplicativeSquares:
    """beta = 2: W <- W (A H^T) / (W H H^T)."""

    constant: float
    penalties: Penalties
    rounding: float

    def __init__(self, matmat: Product, rmatmat: Product, squared_norm: float, penalties: Penalties) -> None:
        self.constant = self.reference = 0.5 * squared_norm
        self.penalties = penalties
        self.rounding = 4.0 * float(np.finfo(np.float64).eps) * squared_norm
        self._matmat, self._rmatmat = matmat, rmatmat

    def rows(
        self, begin: Array, other: Array, old: Array, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        return self._step(self._matmat(other), self.penalties.rows, begin, other)

    def columns(self, begin: Array, other: Array, old: Array, extrapolation: float) -> FactorUpdate:
        return self._step(self._rmatmat(other), self.penalties.columns, begin, other)

    def _step(self, products: Array, penalty: Penalty, begin: Array, other: Array) -> FactorUpdate:
        image = begin @ astype(gram_of(other, Penalty()), begin.dtype)
        value = 0.5 * dot(image, begin) - dot(products, begin) + penalty.of(begin)
        new = multiplied(begin, products, image, penalty, 1.0)
        return FactorUpdate(new, new, value, np.inf)


class MultiplicativeEntries(Entries):
    """beta = 1, stored entries only: W <- W ((A / W H) H^T) / (sums of H)."""

    def _step(
        self, matrix: object, penalty: Penalty, begin: np.ndarray, other: np.ndarray, old: np.ndarray,
        extrapolation: float, *, score: bool, sweeps: int | None = None,
    ) -> FactorUpdate:  # fmt: skip
        from eckart.nmf import compiled_entries as nmf_entries

        new, sums = np.empty_like(begin), other.sum(axis=0)

        def step(piece: tuple[int, int]) -> float:
            values = [
                nmf_entries.multiplicative_rows(
                    self.observed, *block[:3], other, begin, sums, penalty.lasso, penalty.ridge, self.floor, score,
                    *block[3:], new,
                )
                for block in entry_blocks(matrix, piece, observed=self.observed)
            ]  # fmt: skip
            return float(sum(values))

        value = fold(step, pieces_of(matrix), operator.add)
        return FactorUpdate(new, new, value, np.inf)


class MultiplicativeDivergence:
    """beta = 1, dense and complete: W <- W ((A / W H) H^T) / (sums of H), as matrix products of tiles.

    The columns keep their tiles too, so that each step takes two products per tile and compiles nothing.
    """

    penalties: Penalties
    floor: float
    constant: float
    reference: float
    rounding: float

    def __init__(self, matrix: np.ndarray, penalties: Penalties) -> None:
        self.penalties = penalties
        self.floor, self.constant, total = of_data_alone(matrix)
        self.reference = of_the_mean(self.constant, total, matrix.size)
        self.rounding = 16.0 * float(np.finfo(np.float64).eps) * abs(self.constant)
        height = max(1, DIVERGENCE_TILE_BYTES // (8 * matrix.shape[1]))
        pieces = segments(matrix.shape[0], -(-matrix.shape[0] // height))
        self._tiles = [(slice(*piece), DenseTile(matrix[slice(*piece)], self.floor)) for piece in pieces]
        # Pages of a new array of this size are often new too, and cost more than the product in them.
        self._places = np.empty((2, *matrix.shape)) if len(pieces) == 1 else (None, None)
        self._sums: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def rows(
        self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        new, right, penalty = np.empty_like(begin), other.T, self.penalties.rows
        sums = self._sums_of(other)

        def step(place: tuple[slice, DenseTile]) -> float:
            part, tile = place
            model = tile.model(begin[part], right, self._places[0])
            numerator = tile.ratio(model, self._places[1]).dot(other)
            new[part] = multiplied(begin[part], numerator, sums, penalty, 1.0)
            return -tile.logarithms(model)

        value = fold(step, self._tiles, operator.add) + float(self._sums_of(begin).dot(sums))
        return FactorUpdate(new, new, value + penalty.of(begin), np.inf)

    def columns(self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, extrapolation: float) -> FactorUpdate:
        right = begin.T

        def step(place: tuple[slice, DenseTile]) -> np.ndarray:
            part, tile = place
            model = tile.model(other[part], right, self._places[0])
            return np.asarray(other[part].T.dot(tile.ratio(model, self._places[1])))

        numerator = fold(step, self._tiles, np.add).T
        new = multiplied(begin, numerator, self._sums_of(other), self.penalties.columns, 1.0)
        return FactorUpdate(new, new, 0.0, np.inf)

    def _sums_of(self, factor: np.ndarray) -> np.ndarray:
        """Of each column; W and H are summed once, and not in each of two steps."""
        width = len(factor)
        known = self._sums.get(width)
        if known is None or known[0] is not factor:
            known = self._sums[width] = factor, np.ones(width).dot(factor)
        return known[1]


class MultiplicativeBeta:
    """Any beta: W H is formed tile by tile, because all of its entries count, stored or not."""

    penalties: Penalties
    beta: float
    observed: bool
    constant: float
    matrix: Matrix
    transposed: Matrix
    rounding: float
    least: float
    gamma: float

    def __init__(self, matrix: object, penalties: Penalties, beta: float, mean: float, *, observed: bool) -> None:
        self.penalties, self.beta, self.observed = penalties, beta, observed
        self.constant = self.reference = 0.0
        self.matrix, self.transposed = matrix, transposed(matrix)
        self.rounding = 0.0
        self.least = _LEAST * (mean or 1.0)
        self.gamma = 1.0 / (2.0 - beta) if beta < 1.0 else 1.0 / (beta - 1.0) if beta > 2.0 else 1.0

    def rows(
        self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        return self._step(self.matrix, self.penalties.rows, begin, other, score=True)

    def columns(self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, extrapolation: float) -> FactorUpdate:
        return self._step(self.transposed, self.penalties.columns, begin, other, score=False)

    def _step(
        self, matrix: Matrix, penalty: Penalty, begin: np.ndarray, other: np.ndarray, *, score: bool
    ) -> FactorUpdate:
        new = np.empty_like(begin)
        height = max(1, UPDATE_TILE_BYTES // (8 * matrix.shape[1]))

        def step(piece: tuple[int, int]) -> float:
            tile, known = self._tile(matrix, piece)
            own = begin[piece[0] : piece[1]]
            model = own @ other.T
            value = beta_divergence(tile[known], model[known], self.beta, self.least) if score else 0.0
            model = np.maximum(model, self.least)
            powers = np.where(known, model ** (self.beta - 1.0), 0.0)
            numerator = (np.where(known, tile, 0.0) * powers / model) @ other
            new[piece[0] : piece[1]] = multiplied(own, numerator, powers @ other, penalty, self.gamma)
            return value

        pieces = segments(matrix.shape[0], max(16, -(-matrix.shape[0] // height)))
        value = fold(step, pieces, operator.add)
        return FactorUpdate(new, new, value + penalty.of(begin), np.inf)

    def _tile(self, matrix: Array, piece: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        rows = matrix[piece[0] : piece[1]]
        if isinstance(matrix, np.ndarray):
            tile = rows.astype(np.float64)
            return tile, ~np.isnan(tile)
        known = np.ones(rows.shape, bool)
        if self.observed:
            known[...] = False
            known[rows.tocoo().coords] = True
        return rows.toarray().astype(np.float64), known


def multiplied(begin: Array, numerator: Array, denominator: Array, penalty: Penalty, gamma: float) -> Array:
    """begin (numerator / denominator)^gamma; a zero denominator means a zero gradient."""
    if penalty.lasso or penalty.ridge:
        denominator = denominator + penalty.lasso + penalty.ridge * begin
    xp = namespace(begin)
    if gamma == 1.0 and float(xp.min(denominator)) > 0.0:
        return astype(begin * (numerator / denominator), begin.dtype)
    some = denominator > 0.0
    ratio = xp.where(some, numerator / xp.where(some, denominator, 1.0), 0.0)
    return astype(begin * (ratio if gamma == 1.0 else ratio**gamma), begin.dtype)


def beta_divergence(x: np.ndarray, model: np.ndarray, beta: float, least: float) -> float:
    """sum of d_beta(x, model); beta = 2 is half the squared error, 1 Kullback-Leibler, 0 Itakura-Saito.

    `least` replaces smaller entries of the model in logarithms and negative powers.
    """
    if beta == 2.0:
        return float(0.5 * np.sum((x - model) ** 2))
    safe = np.maximum(model, least)
    if beta == 1.0:
        logs = np.log(np.divide(x, safe, out=np.ones_like(x), where=x > 0))
        return float(np.sum(x * logs - x + model))
    if beta == 0.0:
        ratio = x / safe
        return float(np.sum(ratio - np.log(ratio) - 1.0))
    own = np.power(x, beta, where=x > 0, out=np.zeros_like(x))
    whole = (model if beta > 0.0 else safe) ** beta
    return float(np.sum(own + (beta - 1.0) * whole - beta * x * safe ** (beta - 1.0)) / (beta * (beta - 1.0)))


def rows_by_updates(problem: Problem, table: NonnegativeTable, settings: Settings, right: np.ndarray) -> np.ndarray:
    """W for a given H, by pairs of updates and an extrapolation of each row (SQUAREM; Varadhan and Roland, 2008).

    Plain updates may gain a hundredth of the remaining error each, so a small move does not mean a small error. With r
    the move of the first update and v its change in the second, w - 2 a r + a^2 v with a = -|r| / |v| is close to the
    limit of the row. An extrapolation that raises the objective is dropped.
    """
    shape = (table.matrix.shape[0], right.shape[1])
    left = plain = np.full(shape, np.sqrt(table.mean / shape[1]))
    lowest = np.inf
    for _ in range(max(settings.max_iter, LEAST_PAIRS)):
        first = problem.rows(left, right, left, 0.0)
        if first.value > lowest and left is not plain:
            left = plain
            first = problem.rows(left, right, left, 0.0)
        second = problem.rows(first.new, right, first.new, 0.0)
        move, lowest, plain = first.new - left, min(lowest, second.value), second.new
        if length(move) <= STILL_SHARE * settings.tol * length(plain):
            break
        left = _extrapolated(left, move, plain - first.new - move, plain)
    return plain


def _extrapolated(begin: np.ndarray, move: np.ndarray, change: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """w - 2 a r + a^2 v for each row, with a <= -1.

    Entries stay above a share of the plain update, because updates never leave zero.
    """
    sizes = np.sqrt(np.einsum("ij,ij->i", change, change))
    along = np.sqrt(np.einsum("ij,ij->i", move, move))
    factor = np.minimum(-along / np.where(sizes > 0.0, sizes, np.inf), -1.0)[:, None]
    return np.asarray(np.maximum(begin - 2.0 * factor * move + factor**2 * change, KEPT_SHARE * plain))
