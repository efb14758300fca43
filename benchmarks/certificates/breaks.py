"""Named cases that had a false certificate with `proved=True` in version 0.1.0: regression tests of the engine.

R1  the largest singular vector is orthogonal to everything that a generator with a known seed draws
R2  float32 sums round systematically on constant and few-valued tables
R3  rounding was estimated from the first and last rows, and these are zero
R4  nearly constant float32 columns were taken for constant
R5  a product of weighted, streamed, wide float32 data was stored in float32
R6  rows were multiplied by the roots of their weights before they were centred
R7  a wide table with an offset, by Lanczos
R8  kernel PCA by a Cholesky factor in float32 that was taken for exact
"""

from __future__ import annotations

import numpy as np

from benchmarks.certificates.families import NAMED, bernoulli, constant, few_valued, two_valued_columns
from benchmarks.certificates.options import Options
from benchmarks.certificates.planted import PLANTED

_START, _DIGEST = PLANTED


def padded(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """R3: 0.1 and 0.7 at random, with zero rows at both ends."""
    table = np.zeros((rows, columns))
    table[rows // 5 : rows - rows // 5] = rng.choice([0.1, 0.7], (rows - 2 * (rows // 5), columns))
    return table


def offset(size: float) -> object:
    """R6 and R7: one large number plus standard normal noise."""

    def make(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
        return size + rng.standard_normal((rows, columns))

    return make


def bits(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """R4: 1e7 plus 0 or 1."""
    return 1e7 + rng.integers(0, 2, (rows, columns))


def tenths(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """R2: 0.1 everywhere."""
    return np.full((rows, columns), 0.1)


def noise(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return rng.standard_normal((rows, columns))


NAMED.update({
    "R2 tenths": tenths, "R2 constant": constant, "R2 few-valued": few_valued, "R2 bits": bernoulli,
    "R2 two-valued": two_valued_columns, "R3": padded, "R4": bits, "R5": noise, "R6": offset(1e8), "R7": offset(1e11),
    "R8": noise,
})  # fmt: skip

SINGLE = {"dtype": "float32"}
LANCZOS = {"solver": "lanczos"}

LARGE: dict[str, tuple[Options, ...]] = {
    "R1": (Options(_START, 0, 6000, 4000, method="svd", k=10), Options(_DIGEST, 1, 6000, 4000, method="svd", k=10)),
    "R2": (
        Options("R2 tenths", 0, 3000, 2000, method="svd", k=1, **SINGLE),
        Options("R2 tenths", 0, 40_000, 100, method="svd", k=1, **SINGLE, **LANCZOS),
    ),
    "R3": tuple(Options("R3", seed, 20_000, 500, method="svd", k=3, **SINGLE) for seed in (0, 1)),
}
"""The sizes of the report: minutes, and some GB."""

SMALL: dict[str, tuple[Options, ...]] = {
    "R1": tuple(
        Options(family, seed, 380, 240, method=method, k=4, rng=rng, **LANCZOS)
        for family in PLANTED
        for seed, (method, rng) in enumerate((("svd", None), ("pca", None), ("svd", 12345)))
    ),
    "R2": tuple(
        Options(f"R2 {kind}", seed, rows, columns, method=method, k=k, **SINGLE, **LANCZOS)
        for kind, seed, rows, columns, method, k in (
            ("tenths", 0, 3000, 60, "svd", 1),
            ("constant", 7, 3000, 60, "svd", 4),
            ("two-valued", 12, 5278, 13, "svd", 1),
            ("two-valued", 51, 18_144, 3, "pca", 1),
            ("two-valued", 63, 11_520, 3, "pca", 2),
            ("two-valued", 198, 19_097, 5, "svd", 1),
            ("few-valued", 2, 19_157, 3, "svd", 1),
            ("few-valued", 242, 3878, 5, "svd", 2),
            ("bits", 148, 5695, 3, "pca", 2),
            ("bits", 277, 12_373, 5, "svd", 2),
        )
    ),
    "R3": (Options("R3", 0, 20_000, 500, method="svd", k=3, solver="gram", **SINGLE),),
    "R4": tuple(Options("R4", 0, 400, 30, k=3, solver=s, **SINGLE) for s in ("auto", "lanczos", "direct", "gram")),
    "R5": tuple(
        Options("R5", seed, *shape, method=method, storage="blocks", k=3, weights="graded", **SINGLE, **LANCZOS)
        for seed, shape in ((0, (40, 80)), (0, (60, 300)), (4, (60, 300)), (27, (40, 80)), (29, (30, 200)))
        for method in ("svd", "pca")
    ),
    "R6": tuple(
        Options("R6", seed, 200, 20, k=3, weights=weights, solver=solver)
        for seed, weights in enumerate(("uniform", "integers", "graded"))
        for solver in ("direct", "gram", "lanczos")
    ),
    "R7": tuple(Options("R7", seed, 40, 80, k=3, solver=s) for seed in (0, 1) for s in ("lanczos", "gram", "direct")),
    "R8": tuple(
        Options("R8", seed, *shape, dtype=dtype, method="kernel_pca", solver="cholesky", k=k, extra="rbf", rng=seed)
        for seed, shape, k in ((19, (100, 2), 60), (21, (60, 4), 20), (24, (60, 8), 50), (27, (60, 2), 50))
        for dtype in ("float64", "float32")
    ),
}
"""The same in sizes that take a second at most, for the tests."""

BREAKS: dict[str, tuple[Options, ...]] = {name: (*found, *LARGE.get(name, ())) for name, found in SMALL.items()}
