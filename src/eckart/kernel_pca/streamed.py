"""Kernel PCA of rows read in blocks: pivoted Cholesky, one pass per round; only the pivots are kept.

The components are those of F, K ~ F^T F. The missing part is positive semi-definite and its trace is known, as in
memory.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eckart.arrays import Array, DType, Matrix, is_sparse
from eckart.engine.backends.symmetric import leading_pairs
from eckart.engine.digest import ArrayDigest
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened
from eckart.engine.solution import Solution
from eckart.errors import DataWarning, InputError, ParameterError
from eckart.kernel_pca.approximate import certified, rounded, through, wanted_components
from eckart.kernel_pca.cholesky import Factor, FactorComponents
from eckart.kernel_pca.cholesky_streamed import Pivots, Round, streamed_cholesky
from eckart.kernel_pca.constants import EXPECTED_ROUNDS, MEASURED_SUMS, MOST_RANK, TRACE_SHARE
from eckart.kernel_pca.details import KernelPCADetails, kernel_details
from eckart.kernel_pca.factor_bounds import Evidence, FactorError, factor_error, ritz_bounds, seen
from eckart.kernel_pca.kernel_functions import Kernel
from eckart.kernel_pca.options import KernelSettings
from eckart.kernel_pca.result import as_info, assembled
from eckart.kernel_pca.rounding import UNIT, Lengths, error_for, lengths_of
from eckart.result import Decomposition, Plan
from eckart.wording import MEMORY, assigned


@dataclass(frozen=True)
class Scored:
    """The last pass: largest absolute score of each component, sums for the correlations, and scores if kept."""

    signs: np.ndarray
    correlations: np.ndarray
    scores: np.ndarray | None
    gram: np.ndarray
    """Cross-products of the scores about their mean."""


def solve_blocks(opened: Opened, kernel: Kernel, settings: KernelSettings) -> Decomposition[KernelPCADetails]:
    """The components of the kernel of all rows, approximated to the requested error."""
    if settings.solver not in ("auto", "cholesky") or kernel.name in ("precomputed", "function"):
        raise ParameterError(
            f"When rows are read in blocks, kernel PCA needs {assigned('solver', 'cholesky')} (or "
            "'auto') and a kernel given by its name. For other solvers and kernels, allow enough "
            f"memory for all rows with {MEMORY}."
        )
    run = _Run(opened, kernel, settings)
    pivots, last = run.approximation()
    sums = run.covariance(pivots)
    block = run.tile(pivots.points, pivots.points)
    made = Factor(np.empty((len(pivots.indices), 0)), np.array(pivots.indices), last.trace, last.left, last.lowest)
    values, directions = leading_pairs(sums.gram, min(settings.k or len(sums.gram), len(sums.gram)))
    components = FactorComponents(values, directions, sums.mean, float(np.trace(sums.gram)), sums.gram)
    components = wanted_components(components, made, settings)
    scored = run.scores(pivots, components, keep=settings.left)
    components = replace(components, directions=components.directions * scored.signs)
    error = error_for(kernel, sums.lengths, opened.matrix.shape[1])
    found = factor_error(
        sums.evidence, np.zeros((len(block), MEASURED_SUMS)), block, pivots.features(pivots.points),
        np.zeros_like(block), made.error, made.trace, opened.matrix.shape[0], error,
    )  # fmt: skip
    # Sums of F F^T about a shift in float64, with as many terms as rows.
    grams = 2.0 * (opened.matrix.shape[0] + 8) * UNIT * sums.squares
    found = replace(found, grams=grams)
    return run.result(pivots, made, components, scored, _Proof(found, block, error))


@dataclass(frozen=True)
class _Sums:
    """Result of one pass: mean of F, its Gram matrix about the mean, and sums for the bounds of rounding."""

    mean: np.ndarray
    gram: np.ndarray
    evidence: Evidence
    lengths: Lengths
    squares: float
    """||F||^2 about the shift that was subtracted while summing."""


@dataclass(frozen=True)
class _Proof:
    """Known errors: of F, of K on the pivots, and of the kernel itself."""

    found: FactorError
    block: np.ndarray
    kernel_error: float


class _Run:
    def __init__(self, opened: Opened, kernel: Kernel, settings: KernelSettings) -> None:
        self.opened, self.kernel, self.settings = opened, kernel, settings
        self.matrix = replace(opened.matrix, exponent=0)
        self.digest, self.first_pass = ArrayDigest(), self.matrix.reading.passes + 1
        sample = opened.matrix.sample()
        self.shift = None if opened.matrix.sparse or kernel.name != "rbf" else np.mean(sample, axis=0)
        if self.shift is not None and opened.exponent:
            self.shift = np.ldexp(self.shift, -opened.exponent)

    def tile(self, first: object, second: object) -> np.ndarray:
        points = self.kernel.points
        return np.asarray(self.kernel.tile(points(first, self.shift), points(second, self.shift)), np.float64)

    def blocks(self) -> Any:
        """One pass over the stored rows, with the position of each block in error messages."""
        reading, edges = self.matrix.reading, self.matrix.edges
        reading.passes += 1
        first = reading.passes == self.first_pass
        for number, ((start, _), rows) in enumerate(self.matrix.read_all(), start=1):
            if first:
                self.digest.add(rows)
            values = rows.data if is_sparse(rows) else rows
            if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
                refuse_not_finite(self.matrix, self.opened.metadata)
            yield start, rows
            reading.tell(number, len(edges) - 1, self.matrix.shape[0])

    def approximation(self) -> tuple[Pivots, Round]:
        settings = self.settings
        most = min(self.matrix.shape[0], settings.max_rank or MOST_RANK)
        pivots = Pivots(self.tile, _joined)
        self.matrix.reading.expected = EXPECTED_ROUNDS
        last = None
        for last in streamed_cholesky(
            pivots, self.blocks, self.kernel.diagonal, error=TRACE_SHARE * settings.approximation_error,
            least=settings.k or 1, most=most, rng=settings.random,
        ):  # fmt: skip
            if not np.isfinite(last.trace):
                raise InputError(
                    f"Overflow in kernel {self.kernel.name!r}: its values exceed the range of float64. "
                    "Divide the data by a large number first."
                )
            if last.lowest < -1e-6 * last.trace / self.matrix.shape[0]:
                raise InputError(
                    "The kernel is not positive semi-definite: pivoted Cholesky found "
                    f"{last.lowest:.2g} on its diagonal. Use another kernel or other kernel "
                    "parameters."
                )
        assert last is not None
        if not pivots.indices:
            raise InputError("The kernel of these rows is zero everywhere, so there is nothing to decompose.")
        return pivots, last

    def covariance(self, pivots: Pivots) -> _Sums:
        """Mean of the columns of F, and (F - mean) (F - mean)^T: one pass."""
        rank = len(pivots.indices)
        total, gram = np.zeros(rank), np.zeros((rank, rank))
        shift = np.asarray(pivots.triangle.mean(axis=0))  # near the mean, so that squares keep their digits
        random = self.digest.generator(self.settings.probe_seed, "kernel PCA of blocks")
        evidence, lengths = None, None
        nothing = np.zeros((rank, MEASURED_SUMS))
        for _, rows in self.blocks():
            kernel = self.tile(pivots.points, rows)
            whole = pivots.solved(kernel)
            now = seen(kernel, whole, shift, random.standard_normal((rows.shape[0], MEASURED_SUMS)), nothing)
            evidence = now if evidence is None else evidence.joined(now)
            measured = lengths_of(self.kernel, rows, self.shift)
            lengths = measured if lengths is None else lengths.joined(measured)
            features = whole - shift[:, None]
            total += features.sum(axis=1)
            gram += features @ features.T
        assert evidence is not None
        assert lengths is not None
        rows_, away = self.matrix.shape[0], total / self.matrix.shape[0]
        centred = replace(evidence, total=evidence.total - rows_ * float(away @ away))
        return _Sums(shift + away, gram - rows_ * np.outer(away, away), centred, lengths, evidence.total)

    def scores(self, pivots: Pivots, components: FactorComponents, *, keep: bool) -> Scored:
        """(F - mean)^T U of all rows, in one pass."""
        rows_, columns = self.matrix.shape
        k = len(components.values)
        scores = np.empty((rows_, k)) if keep else None
        largest, cross, gram, total = np.zeros(k), np.zeros((columns, k)), np.zeros((k, k)), np.zeros(k)
        sums, squares = np.zeros(columns), np.zeros(columns)
        for start, rows in self.blocks():
            found = (pivots.features(rows) - components.mean[:, None]).T @ components.directions
            if scores is not None:
                scores[start : start + len(found)] = found
            gram += found.T @ found
            total += found.sum(axis=0)
            extreme = found[np.argmax(np.abs(found), axis=0), np.arange(k)]
            largest = np.where(np.abs(extreme) > np.abs(largest), extreme, largest)
            cross += np.asarray(rows.T @ found, np.float64)
            sums += np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel()
            squares += np.asarray(
                (rows.multiply(rows) if is_sparse(rows) else np.square(rows, dtype=np.float64)).sum(axis=0)
            ).ravel()
        signs = np.where(largest < 0, -1.0, 1.0)
        spread = np.sqrt(np.maximum(squares - sums**2 / rows_, 0.0)[:, None] * np.maximum(components.values, 0.0))
        correlations = np.divide(
            cross, spread, out=np.zeros_like(cross), where=spread > 1e-12 * spread.max(initial=0.0)
        )
        gram = (gram - np.outer(total, total) / rows_) * signs * signs[:, None]
        kept = None if scores is None else scores * signs
        return Scored(signs, np.clip(correlations, -1, 1) * signs, kept, gram)

    def result(
        self, pivots: Pivots, made: Factor, components: FactorComponents, scored: Scored, proof: _Proof
    ) -> Decomposition[KernelPCADetails]:  # fmt: skip
        settings, values = self.settings, rounded(components.values, self.settings)
        rank, (rows, columns) = len(pivots.indices), self.matrix.shape
        coefficients = through(pivots.triangle, components)
        why = (
            f"The rows are read in blocks, once for each round of pivots. The model keeps only {rank} "
            "rows, which represent the kernel."
        )
        plan = Plan(
            "kernel_pca",
            "cholesky",
            rows,
            columns,
            settings.k,
            self.matrix.passes,
            8 * rank * (rank * 3 + columns),
            why,
        )
        solution, found = self.proved(made, components, scored, values, coefficients["dual"], proof)
        total = found.total + made.error
        certificate = certified(solution, found, components, made, settings, str(np.dtype(self.matrix.dtype)))
        certificate = replace(certificate, passes=self.matrix.passes)
        details = kernel_details(
            self.kernel, pivots.points, **coefficients | {"shift": self.shift}, pivots=made.pivots,
            approximation_error=found.missing / made.trace if made.trace else 0.0, correlations=scored.correlations,
        )  # fmt: skip
        roots = np.sqrt(values)
        shape = np.empty((rows, 0)) if scored.scores is None else scored.scores
        vectors = shape * np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)[: shape.shape[1]]
        info = as_info(solution, self.matrix.passes, settings, plan)
        prototype = _Like((rows, columns), np.dtype(self.matrix.dtype))
        d = assembled(prototype, values, vectors, total, plan, certificate, info, details, (), None)
        notes = (*self.opened.metadata.all_notes, *d.notes)
        left = d.left if settings.left else None
        return replace(d, left=left, column_names=self.opened.metadata.column_names, notes=notes)

    def proved(
        self,
        made: Factor,
        components: FactorComponents,
        scored: Scored,
        values: np.ndarray,
        dual: np.ndarray,
        proof: _Proof,
    ) -> tuple[Solution, FactorError]:
        """The values with their bounds; for a kernel that may be indefinite, nothing is known without all of it."""
        found, rows = proof.found, self.matrix.shape[0]
        if self.kernel.positive:
            lower = ritz_bounds(scored.gram, proof.block, dual, made.trace, rows, proof.kernel_error)
        else:
            found, lower = found.indefinite(np.inf, rows), np.zeros(len(values))
        # H F^T (F H H F^T u - l u) / sqrt(l)
        rest = (
            np.linalg.norm(components.gram @ components.directions - components.directions * components.values, axis=0)
            + found.grams
        )
        first = float(components.values.max(initial=0.0)) + found.grams
        ratio = np.sqrt(first / np.maximum(components.values, np.finfo(np.float64).tiny))
        upper = components.values + found.excess
        solution = Solution(
            solver="cholesky", values=values, vectors=np.empty((rows, 0)), upper=upper, lower=np.minimum(lower, upper),
            residuals=ratio * rest + found.apart, precision="float64", failure_probability=found.failure_probability,
        )  # fmt: skip
        return solution, found


@dataclass(frozen=True)
class _Like:
    shape: tuple[int, int]
    dtype: DType


def _joined(pieces: list[Matrix]) -> Array:
    if is_sparse(pieces[0]):
        from scipy import sparse

        return sparse.csr_array(sparse.vstack(pieces, format="csr"))
    return np.concatenate(pieces)


def median_rows(opened: Opened) -> Array:
    """The rows that `median_gamma` uses, at most 500 and evenly spaced: one pass."""
    rows = opened.matrix.shape[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return opened.matrix.rows(slice(None, None, -(-rows // 500)))
