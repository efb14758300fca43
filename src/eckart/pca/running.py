"""The components of a scatter matrix: S = V diag(values^2) V^T, computed on first access."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eckart.api import decompose
from eckart.arrays import Array, astype, from_numpy, is_host, is_numpy, namespace, to_numpy
from eckart.engine.backends.orthogonal import signs_of
from eckart.engine.backends.symmetric import leading_pairs
from eckart.engine.certificate import undetermined_groups
from eckart.engine.exponent import times_power_of_two
from eckart.formatting import certified_share
from eckart.notes import Note
from eckart.pca.null_space import settle
from eckart.pca.scatter import Scatter
from eckart.result import Certificate, Decomposition, Plan, SolveInfo


@dataclass(frozen=True)
class Running:
    """Statistics of the rows seen so far, and the number of components."""

    scatter: Scatter
    k: int
    prototype: Array
    """An empty array that shows library and device."""
    precision: str
    given: Decomposition | None = None
    """The answer, if it was computed from the whole data."""

    @cached_property
    def decomposition(self) -> Decomposition:
        if self.given is not None:
            return self.given
        solve = _from_gram if self.scatter.gram is not None else _from_factor
        return settle(self._finished(solve(self.scatter, self.k)))

    @property
    def mean(self) -> Array:
        return self._outside(times_power_of_two(self.scatter.mean, -self.scatter.exponent))

    @property
    def variances(self) -> Array:
        """Column variances with divisor n."""
        with np.errstate(over="ignore", under="ignore"):
            variances = self.scatter.squares / self.scatter.count
            return self._outside(times_power_of_two(variances, -2 * self.scatter.exponent))

    def _finished(self, d: Decomposition) -> Decomposition:
        """d in the units, the library and the dtype of the data."""
        exponent, c = -self.scatter.exponent, d.certificate
        assert c is not None
        return replace(
            d,
            method="pca",
            values=self._outside(times_power_of_two(d.values, exponent)),
            right=self._outside(d.right),
            rows=round(self.scatter.count),
            weight=float(self.scatter.count),
            norm=float(np.ldexp(self.scatter.total**0.5, exponent)),
            mean=self.mean,
            certificate=replace(c, lower=np.ldexp(c.lower, exponent), upper=np.ldexp(c.upper, exponent)),
            plan=_plan(self.scatter, self.k),
            notes=() if self.scatter.exact else (_note(self.scatter),),
        )

    def _outside(self, array: Array) -> Array:
        result = from_numpy(np.ascontiguousarray(array), self.prototype) if is_numpy(array) else array
        return astype(result, getattr(namespace(self.prototype), self.precision))


def _from_factor(scatter: Scatter, k: int) -> Decomposition:
    """Singular values of F; those of S are larger by at most what was lost."""
    factor = scatter.factor
    assert factor is not None
    if factor.shape[0] < k:
        more = from_numpy(np.zeros((k - factor.shape[0], factor.shape[1])), factor)
        factor = namespace(factor).concat([factor, more])
    d = decompose(factor, "svd", k=k)
    c = d.certificate
    assert c is not None
    if scatter.exact:
        return d
    upper = np.sqrt(c.upper**2 + scatter.lost_norm)
    low = c.explained[0] * d.norm**2 / scatter.total
    high = min(1.0, low + k * scatter.lost_norm / scatter.total, float(np.sum(upper**2)) / scatter.total)
    certificate = replace(
        c,
        upper=upper,
        explained=(low, high),
        residuals=c.residuals + scatter.lost_norm / max(float(upper[0]) ** 2, 1e-300),
        angle=1.0,
        proved=False,
        rounding=c.rounding * d.norm**2 / scatter.total,
        summary=f"{certified_share(k, low, high)} {_note(scatter)}",
    )
    return replace(d, certificate=certificate)


def _from_gram(scatter: Scatter, k: int) -> Decomposition:
    """Eigenpairs of S; eigenvalues within the rounding of S are zero."""
    gram = scatter.gram
    assert gram is not None
    size = int(gram.shape[0])
    squares, vectors = _pairs(gram, min(k + 1, size))
    squares = np.where(squares > scatter.rounding, squares, 0.0)
    right = np.ascontiguousarray(vectors[:, :k]) if is_numpy(vectors) else vectors[:, :k]
    right = right * signs_of(right)
    return Decomposition(
        method="pca",
        values=from_numpy(np.sqrt(squares[:k]), right),
        right=right,
        rows=round(scatter.count),
        columns=size,
        norm=scatter.total**0.5,
        weight=float(scatter.count),
        rank=int(np.sum(squares > 0.0)) if k >= size else None,
        certificate=_certificate(squares, scatter, k),
        info=SolveInfo(solver="gram", passes=1),
    )


def _pairs(gram: Array, count: int) -> tuple[np.ndarray, Array]:
    """Leading eigenvalues, falling, on the host, and their vectors on the device of S; on a GPU by its own library."""
    if is_host(gram):
        values, vectors = leading_pairs(to_numpy(gram), count)
        return values, from_numpy(np.ascontiguousarray(vectors), gram)
    xp, size = namespace(gram), int(gram.shape[0])
    rising, found = xp.linalg.eigh(gram)
    return to_numpy(rising)[::-1][:count].copy(), xp.flip(found[:, size - count :], axis=1)


def _certificate(squares: np.ndarray, scatter: Scatter, k: int) -> Certificate:
    """Each eigenvalue of S is known up to the rounding of S (Weyl)."""
    error, total = scatter.rounding, scatter.total or 1.0
    lower, upper = np.maximum(squares - error, 0.0), squares + error
    low = max(0.0, (float(np.sum(squares[:k])) - error * k**0.5) / total)
    high = min(1.0, float(np.sum(upper[:k])) / total)
    gap = float(lower[k - 1] - upper[k]) if len(squares) > k else float("inf")
    largest = float(squares[0])
    return Certificate(
        explained=(low, high),
        lower=np.sqrt(lower[:k]),
        upper=np.sqrt(upper[:k]),
        residuals=np.full(k, error / largest if largest else 0.0),
        angle=min(1.0, error * k**0.5 / gap) if gap > 0.0 else 1.0,
        undetermined=tuple((i, min(j, k - 1)) for i, j in undetermined_groups(lower, upper, error) if i < k),
        rounding=error / total,
        tolerance=1e-9,
        proved=bool(error <= 1e-9 * float(squares[k - 1])),
        passes=1,
        summary=certified_share(k, low, high),
    )


def _plan(scatter: Scatter, k: int) -> Plan:
    columns = int(scatter.mean.shape[0])
    held = scatter.gram if scatter.gram is not None else scatter.factor
    assert held is not None
    if scatter.gram is not None:
        why = f"The {columns} x {columns} matrix of cross-products was accumulated batch by batch, exactly."
    elif scatter.exact:
        why = "Fewer rows than columns were seen, and all of them are kept."
    else:
        why = _note(scatter)
    solver = "gram" if scatter.gram is not None else "direct"
    return Plan(
        "pca", solver, round(scatter.count), columns, k, 1, 16 * int(held.shape[0]) * columns, why, {"center": True}
    )


def _note(scatter: Scatter) -> Note:
    assert scatter.factor is not None
    return Note(
        "variance_dropped",
        f"Not exact: {scatter.mean.shape[0]:,} columns are too many to keep all cross-products of the batches, and "
        f"{scatter.lost / (scatter.total or 1.0):.3g} of the variance was dropped; the bounds allow for it.",
    )
