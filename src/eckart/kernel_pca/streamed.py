"""Kernel PCA of rows that are read in blocks: pivoted Cholesky, a read a round; only the pivots are kept.

Components are those of F, K ~ F^T F; what is missing is positive semi-definite and its trace known, as in memory.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eckart.arrays import is_sparse
from eckart.engine.backends.symmetric import leading_pairs
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened
from eckart.engine.solution import Solution
from eckart.errors import DataWarning, InputError, ParameterError
from eckart.kernel_pca.approximate import MOST_RANK, certified, through, wanted_axes
from eckart.kernel_pca.cholesky import Factor, FactorAxes
from eckart.kernel_pca.cholesky_streamed import Pivots, Round, streamed_cholesky
from eckart.kernel_pca.kernel_functions import Kernel
from eckart.kernel_pca.options import KernelSettings
from eckart.kernel_pca.result import as_info, assembled, named_parts
from eckart.result import Decomposition, Plan

_ROUNDS = 12
"""Reads that the pivots take as a rule, for the time that is left."""


@dataclass(frozen=True)
class Scored:
    """The last read: largest score of each axis by modulus, sums for the correlations, and scores if they are kept."""

    signs: np.ndarray
    correlations: np.ndarray
    scores: np.ndarray | None


def solve_blocks(opened: Opened, kernel: Kernel, settings: KernelSettings) -> Decomposition:
    """The components of the kernel of all rows, approximated as far as was asked."""
    if settings.solver not in ("auto", "cholesky") or kernel.name in ("precomputed", "function"):
        raise ParameterError(
            "Rows that are read in blocks are compared by pivoted Cholesky: solver='cholesky' (or 'auto') and a kernel "
            "that goes by a name. Allow more memory, so that the rows fit, for the others."
        )
    run = _Run(opened, kernel, settings)
    pivots, last = run.approximation()
    mean, gram = run.covariance(pivots)
    made = Factor(np.empty((len(pivots.places), 0)), np.array(pivots.places), last.trace, last.left, last.lowest)
    values, directions = leading_pairs(gram, min(settings.k or len(gram), len(gram)))
    axes = wanted_axes(FactorAxes(values, directions, mean, float(np.trace(gram))), made, settings)
    scored = run.scores(pivots, axes, keep=settings.left)
    axes = replace(axes, directions=axes.directions * scored.signs)
    return run.result(pivots, made, axes, scored)


class _Run:
    def __init__(self, opened: Opened, kernel: Kernel, settings: KernelSettings) -> None:
        self.opened, self.kernel, self.settings = opened, kernel, settings
        self.matrix = replace(opened.matrix, exponent=0)
        sample = opened.matrix.sample()
        self.shift = None if opened.matrix.sparse or kernel.name != "rbf" else np.mean(sample, axis=0)
        if self.shift is not None and opened.exponent:
            self.shift = np.ldexp(self.shift, -opened.exponent)

    def tile(self, first: Any, second: Any) -> np.ndarray:
        points = self.kernel.points
        return np.asarray(self.kernel.tile(points(first, self.shift), points(second, self.shift)), np.float64)

    def blocks(self) -> Any:
        """One read of the rows as they are stored, with the place of each block told."""
        reading, edges = self.matrix.reading, self.matrix.edges
        reading.reads += 1
        for number, ((start, _), rows) in enumerate(self.matrix.read_all(), start=1):
            values = rows.data if is_sparse(rows) else rows
            if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
                refuse_not_finite(self.matrix, self.opened.about.column_names)
            yield start, rows
            reading.tell(number, len(edges) - 1, self.matrix.shape[0])

    def approximation(self) -> tuple[Pivots, Round]:
        settings = self.settings
        most = min(self.matrix.shape[0], settings.max_rank or MOST_RANK)
        pivots = Pivots(self.tile, _joined)
        self.matrix.reading.expected = _ROUNDS
        last = None
        for last in streamed_cholesky(
            pivots, self.blocks, self.kernel.diagonal, error=settings.approximation_error, least=settings.k or 1,
            most=most, rng=settings.random,
        ):  # fmt: skip
            if not np.isfinite(last.trace):
                raise InputError(f"Overflow in kernel {self.kernel.name!r}: scale the data down.")
            if last.lowest < -1e-6 * last.trace / self.matrix.shape[0]:
                raise InputError(
                    f"The kernel is not positive semi-definite: Cholesky met {last.lowest:.2g} on its diagonal. "
                    "Choose another kernel or other parameters."
                )
        assert last is not None
        if not pivots.places:
            raise InputError("The kernel of these rows is zero everywhere: there is nothing to decompose.")
        return pivots, last

    def covariance(self, pivots: Pivots) -> tuple[np.ndarray, np.ndarray]:
        """Mean of the columns of F, and (F - mean) (F - mean)^T: one read."""
        rank = len(pivots.places)
        total, gram = np.zeros(rank), np.zeros((rank, rank))
        shift = np.asarray(pivots.triangle.mean(axis=0))  # near the mean: squares keep their digits
        for _, rows in self.blocks():
            features = pivots.features(rows) - shift[:, None]
            total += features.sum(axis=1)
            gram += features @ features.T
        away = total / self.matrix.shape[0]
        return shift + away, gram - self.matrix.shape[0] * np.outer(away, away)

    def scores(self, pivots: Pivots, axes: FactorAxes, *, keep: bool) -> Scored:
        """(F - mean)^T U of all rows, seen once."""
        rows_, columns = self.matrix.shape
        k = len(axes.values)
        scores = np.empty((rows_, k)) if keep else None
        largest, cross = np.zeros(k), np.zeros((columns, k))
        sums, squares = np.zeros(columns), np.zeros(columns)
        for start, rows in self.blocks():
            found = (pivots.features(rows) - axes.mean[:, None]).T @ axes.directions
            if scores is not None:
                scores[start : start + len(found)] = found
            extreme = found[np.argmax(np.abs(found), axis=0), np.arange(k)]
            largest = np.where(np.abs(extreme) > np.abs(largest), extreme, largest)
            cross += np.asarray(rows.T @ found, np.float64)
            sums += np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel()
            squares += np.asarray(
                (rows.multiply(rows) if is_sparse(rows) else np.square(rows, dtype=np.float64)).sum(axis=0)
            ).ravel()
        signs = np.where(largest < 0, -1.0, 1.0)
        spread = np.sqrt(np.maximum(squares - sums**2 / rows_, 0.0)[:, None] * np.maximum(axes.values, 0.0))
        correlations = np.divide(
            cross, spread, out=np.zeros_like(cross), where=spread > 1e-12 * spread.max(initial=0.0)
        )
        return Scored(signs, np.clip(correlations, -1, 1) * signs, None if scores is None else scores * signs)

    def result(self, pivots: Pivots, made: Factor, axes: FactorAxes, scored: Scored) -> Decomposition:
        settings, values = self.settings, axes.values
        rank, (rows, columns) = len(pivots.places), self.matrix.shape
        why = (
            f"The rows are read in blocks, once for each round of pivots; {rank} rows stand for the kernel of all. "
            "Nothing but these is kept."
        )
        plan = Plan(
            "kernel_pca", "cholesky", rows, columns, settings.k, self.matrix.reads, 8 * rank * (rank * 3 + columns), why
        )
        solution = Solution(
            solver="cholesky", values=values, vectors=np.empty((rows, 0)), upper=values + made.error,
            lower=np.maximum(values - 1e-6 * float(values.max(initial=0.0)), 0.0),
            residuals=np.full(len(values), made.error), precision="float64",
        )  # fmt: skip
        total = axes.total + made.error
        certificate = replace(certified(solution, made, total, settings), reads=self.matrix.reads)
        parts = {
            **named_parts(self.kernel, pivots.points), **through(pivots.triangle, axes), "shift": self.shift,
            "pivots": made.pivots, "approximation_error": made.error / made.trace if made.trace else 0.0,
            "correlations": scored.correlations,
        }  # fmt: skip
        roots = np.sqrt(values)
        shape = np.empty((rows, 0)) if scored.scores is None else scored.scores
        vectors = shape * np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)[: shape.shape[1]]
        info = as_info(solution, self.matrix.reads, settings, plan)
        like = _Like((rows, columns), np.dtype(self.matrix.dtype))
        d = assembled(like, values, vectors, total, plan, certificate, info, parts, (), None)
        notes = (*self.opened.about.notes, *d.notes)
        left = d.left if settings.left else None
        return replace(d, left=left, column_names=self.opened.about.column_names, notes=notes)


@dataclass(frozen=True)
class _Like:
    shape: tuple[int, int]
    dtype: Any


def _joined(pieces: list[Any]) -> Any:
    if is_sparse(pieces[0]):
        from scipy import sparse

        return sparse.csr_array(sparse.vstack(pieces, format="csr"))
    return np.concatenate(pieces)


def median_rows(opened: Opened) -> Any:
    """The rows that `median_gamma` looks at, at most 500, evenly spaced: one read."""
    rows = opened.matrix.shape[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return opened.matrix.rows(slice(None, None, -(-rows // 500)))
