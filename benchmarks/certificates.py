"""python -m benchmarks.certificates [seconds] [first seed]: looks for a certificate that is false.

Random tables of many spectra, shapes and kinds, decomposed by block Lanczos; every bound against a float64 SVD. What is
found is printed with its seed, and `example(seed)` makes the table again. The tests hold a few hundred of these.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

ROUNDING = 5e-15
"""Of the reference, relative to the largest squared singular value."""


@dataclass(frozen=True)
class Example:
    data: Any
    dense: np.ndarray
    center: bool
    k: int
    about: str


def spectrum(kind: int, size: int, rng: np.random.Generator) -> np.ndarray:
    i, rank, tail = np.arange(1, size + 1), int(rng.integers(2, 40)), 10.0 ** rng.uniform(-8, -1)
    values = (
        i ** -rng.uniform(0.2, 2.5),
        np.where(i <= rank, i ** -rng.uniform(0, 1), 0.0),
        np.where(i <= rank, 1.0, tail * rng.random(size)),
        rng.uniform(0.5, 0.97) ** i,
        np.where(i <= rank, 1.0 + 0.01 * rng.random(size), tail),
        rng.random(size),
        np.where(i <= rank, rng.uniform(0.7, 0.99) ** i, tail / i),
    )[kind]
    return np.sort(values)[::-1]


def example(seed: int) -> Example:
    """A table of 100 to 900 rows and 40 to 500 columns, dense or CSR, in float32 or float64."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(100, 900)), int(rng.integers(40, 500))
    kind, size = int(rng.integers(7)), min(rows, columns)
    left, right = (np.linalg.qr(rng.standard_normal((side, size)))[0] for side in (rows, columns))
    dense = (left * spectrum(kind, size, rng)) @ right.T
    center = bool(rng.integers(2))
    if center:
        dense = dense + rng.choice([0.0, 0.01, 1.0, 30.0]) * rng.standard_normal(columns) / rows**0.5
    dense = dense.astype(rng.choice(["f4", "f4", "f8"]))
    thin = rng.random() < 1 / 3
    if thin:
        dense = dense * (rng.random(dense.shape) < 0.3)
    k = int(rng.integers(1, min(30, size - 1)))
    about = f"{rows} x {columns}, spectrum {kind}, {dense.dtype}, {'sparse' if thin else 'dense'}, k={k}"
    return Example(sparse.csr_array(dense) if thin else dense, dense, center, k, about)


def false_statements(given: Example, certificate: Any) -> list[str]:
    exact = given.dense.astype(np.longdouble)
    exact = exact - exact.mean(axis=0) if given.center else exact
    values = np.linalg.svd(exact.astype(float), compute_uv=False)
    squares, largest = values[: given.k] ** 2, values[0] ** 2
    best = float(np.sum(squares) / np.sum(exact * exact))
    excess = {
        "lower share": (certificate.explained[0] - best) / max(best, 1e-300),
        "upper share": (best - certificate.explained[1]) / max(best, 1e-300),
        "lower value": float(np.max(certificate.lower**2 - squares) / largest),
        "upper value": float(np.max(squares - certificate.upper**2) / largest),
    }
    return [f"{name} by {size:.1e}" for name, size in excess.items() if not size <= 20 * ROUNDING]


def main(seconds: float, first: int) -> None:
    import eckart as ek

    warnings.simplefilter("ignore")
    end, seed, false, proved, reads = time.monotonic() + seconds, first, 0, 0, []
    while time.monotonic() < end:
        given = example(seed)
        d = ek.decompose(given.data, "pca" if given.center else "svd", k=given.k, solver="lanczos", rng=seed)
        found = false_statements(given, d.certificate)
        if found:
            false += 1
            print(f"seed {seed}, {given.about}: {'; '.join(found)}", flush=True)
        proved += bool(d.certificate and d.certificate.proved)
        reads.append(d.info.reads if d.info else 0)
        seed += 1
    cases = max(seed - first, 1)
    print(
        f"{cases} cases, {false} false, {proved / cases:.0%} proved, {np.mean(reads):.1f} reads, at most {max(reads)}"
    )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
