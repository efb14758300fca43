"""What a computation will do (`Plan`), and what it did (`SolveInfo`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from eckart.displays import html_facts
from eckart.formatting import counted, wrapped


@dataclass(frozen=True)
class Plan:
    """Plan of a computation: the solver, the passes over the data, the memory, and the reason for the choice.

    Attributes
    ----------
    method : str
        Decomposition method, such as 'pca'.
    solver : str
        Solver: 'direct', 'gram' or 'lanczos' for PCA and SVD.
    rows : int
        Number of rows.
    columns : int
        Number of columns.
    k : int or None
        Number of components. None if it will be determined by a share of the variance or by an error.
    passes : int
        Expected number of passes over the data. Iterative solvers may need fewer.
    peak_bytes : int
        Working memory in addition to the data.
    why : str
        Reason for the choice of the solver.
    settings : dict
        Validated options of the computation.

    See Also
    --------
    plan : Compute the plan before the decomposition.
    Decomposition : Contains the plan that was carried out.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> plan = ek.plan(np.ones((1000, 20)), k=3)
    >>> plan.solver, plan.passes
    ('gram', 1)
    """

    method: str
    solver: str
    rows: int
    columns: int
    k: int | None
    passes: int
    peak_bytes: int
    why: str
    settings: dict[str, object] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        facts = {
            "method": self.method,
            "data": f"{self.rows:,} rows x {self.columns:,} columns",
            "components": "as many as the requested share or error needs" if self.k is None else f"{self.k:,}",
            "solver": self.solver,
            "passes over the data": f"about {self.passes:,}",
            "memory in addition to the data": _bytes(self.peak_bytes),
        }
        return html_facts("Plan", facts.items(), self.why)

    def __str__(self) -> str:
        wanted = (
            "as many components as the requested share or error needs"
            if self.k is None
            else counted(self.k, "component")
        )
        return wrapped(
            f"{self.method} of {self.rows:,} x {self.columns:,}, {wanted}: solver {self.solver!r}, "
            f"about {counted(self.passes, 'pass', 'passes')} over the data, {_bytes(self.peak_bytes)} in "
            f"addition to the data. {self.why}"
        )


@dataclass(frozen=True)
class SolveInfo:
    """Record of a computation: counts, the history of the bounds, and everything needed to repeat it.

    Counts that do not apply to the solver are 0.

    Attributes
    ----------
    solver : str
        Solver that was used.
    passes : int
        Number of passes over the data.
    steps : int
        Number of steps of an iterative solver.
    block : int
        Block size of an iterative solver.
    basis : int
        Largest number of basis vectors.
    restarts : int
        Number of restarts.
    precision : str
        Precision of the products, 'float32' or 'float64'.
    seed : int or None
        Seed for the random start. None if a generator was given.
    threads : int
        Number of threads.
    history : tuple of tuple
        For each convergence check: the number of passes so far, and the certified lower and upper bounds on the
        explained share.

    See Also
    --------
    Decomposition : Contains this object as `info`.

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
    >>> d.info.solver, d.info.precision
    ('gram', 'float64')
    """

    solver: str
    passes: int
    steps: int = 0
    block: int = 0
    basis: int = 0
    restarts: int = 0
    precision: str = "float64"
    seed: int | None = None
    threads: int = 1
    history: tuple[tuple[int, float, float], ...] = ()


def _bytes(count: int) -> str:
    """A byte count for people: 1536 -> '1.5 kB' (powers of 1000)."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
