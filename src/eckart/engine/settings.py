"""The checked arguments of `decompose`: the request, the rows, and the seed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from itertools import compress
from typing import cast

import numpy as np

from eckart.arrays import is_array, to_numpy
from eckart.engine.matrix import Opened
from eckart.engine.svd_options import SVDOptions
from eckart.errors import InputError, ParameterError
from eckart.mapped import any_in_memory
from eckart.notes import Note
from eckart.options import (
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    check_tolerance,
    is_number,
    memory_bytes,
)
from eckart.result import Which
from eckart.wording import SMALLEST, K, assigned, either

METHODS = ("pca", "svd")
SOLVERS = ("auto", "direct", "gram", "lanczos", "exact")
_TOLERANCE = {"float32": 1e-5, "float64": 1e-9}
_TOLERANCE_OF_MOST = 1e-6
"""The default for most components, which include the last ones: one float64 Gram matrix is seldom more accurate
relative to these.
"""
_FLAT_TOLERANCE = {"float32": 1e-6, "float64": 1e-9}
"""The default if convergence is slow: values are then close to each other, and a few more steps cost little."""


@dataclass(frozen=True)
class Settings:
    """Checked arguments of `decompose`."""

    method: str
    k: int | None
    target_ratio: float | None
    center: bool
    scale: bool
    which: Which
    solver: str
    tolerance: float | None
    memory: int | None
    max_passes: int
    ddof: int = 1

    def accuracy(self, precision: str, short: int) -> float:
        """The requested tolerance, or the default: 1e-9, 1e-6 for half of all components, 1e-5 in float32."""
        if self.tolerance:
            return self.tolerance
        most = self.k is not None and 2 * self.k >= short and self.solver in ("auto", "gram")
        return max(_TOLERANCE[precision], _TOLERANCE_OF_MOST) if most else _TOLERANCE[precision]

    def accuracy_if_flat(self, precision: str) -> float:
        """The requested tolerance, or the default for slow convergence."""
        return self.tolerance or _FLAT_TOLERANCE[precision]

    def at_most(self, short: int) -> Settings:
        """The same with at most as many components as the shorter side."""
        return replace(self, k=None if self.k is None else min(self.k, short))


def _check_components(k: object, short: int) -> int:
    """The number of components; a share, which scikit-learn allows there, has an option of its own."""
    if is_number(k) and 0.0 < float(cast("float", k)) < 1.0:
        raise ParameterError(
            f"{assigned('k', k)} is not a whole number. To explain a share of the variance, use "
            f"{either('explain=...', '--explain')} instead of {K}.",
            argument="k", value=k,
        )  # fmt: skip
    return check_count("k", k, short)


def check_settings(short: int, method: str, options: SVDOptions) -> Settings:
    """Refuse arguments out of range; `short` is the shorter side of the matrix."""
    check_choice("method", method, METHODS)
    check_choice("which", options.which, ("largest", "smallest"))
    check_choice("solver", options.solver, SOLVERS)
    k, ddof = options.k, options.ddof
    target_ratio = _check_target(k, options.explain, options.error)
    if target_ratio is not None and options.which == "smallest":
        raise ParameterError(
            f"A share of the variance can be requested only for the largest components. With {SMALLEST}, specify {K}."
        )
    check_count("max_passes", options.max_passes, None)
    if ddof not in (0, 1):
        raise ParameterError(
            f"ddof={ddof!r} is not valid. Use 1 to compute variances with the divisor n - 1, or 0 for the divisor n."
        )
    everything = None if target_ratio is not None else short
    return Settings(
        method=method,
        k=everything if k is None else _check_components(k, short),
        target_ratio=target_ratio,
        center=method == "pca" if options.center is None else check_flag("center", options.center),
        scale=check_flag("scale", options.scale),
        which=options.which,
        solver=options.solver,
        tolerance=check_tolerance(options.tol),
        memory=memory_bytes(options.memory),
        max_passes=options.max_passes,
        ddof=int(ddof),
    )


def _check_target(k: int | None, explain: float | None, error: float | None) -> float | None:
    """The share of the variance to explain, if that determines the number of components."""
    if sum(option is not None for option in (k, explain, error)) > 1:
        raise ParameterError("k, explain and error each determine the number of components. Use only one of them.")
    if explain is not None:
        return check_fraction("explain", explain)
    return None if error is None else 1.0 - check_fraction("error", error) ** 2


_LEAST_WEIGHT, _LARGEST_WEIGHT = 1e-140, 1e140
_OVERSTATED = 2.0
"""Sum of weights that are not counts, relative to their effective number of rows, beyond which a note warns."""


def check_weights(sample_weight: object, rows: int) -> np.ndarray | None:
    if sample_weight is None:
        return None
    sample_weight = any_in_memory(sample_weight)
    weights = np.asarray(to_numpy(sample_weight) if is_array(sample_weight) else sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.shape != (rows,):
        raise InputError(
            f"sample_weight has shape {weights.shape}, but it must have one weight per row, that is, shape ({rows},)."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError(
            "sample_weight contains negative, missing or infinite values. Weights must be zero or positive."
        )
    if weights.sum() == 0.0:
        raise InputError("Sample weights are all zero, but at least one must be positive.")
    counted = weights[weights > 0.0]
    if counted.min() < _LEAST_WEIGHT or counted.max() > _LARGEST_WEIGHT:
        raise InputError(
            f"sample_weight contains weights from {counted.min():.3g} to {counted.max():.3g}. The "
            f"squares of weights outside {_LEAST_WEIGHT:g} to {_LARGEST_WEIGHT:g} overflow or "
            "underflow float64. Multiply all weights by the same number, which does not change the "
            "components or the explained shares."
        )
    return weights


def notes_on_weights(weights: np.ndarray | None, settings: Settings) -> tuple[Note, ...]:
    """A note if the sum of the weights cannot be the number of observations that limits and intervals assume."""
    if weights is None:
        return ()
    weight, rows = float(np.sum(weights)), int(np.count_nonzero(weights))
    if weight < rows and weight - settings.center <= (settings.k or 1):
        text = (
            f"The weights sum to {weight:.4g}. A weight of 2 counts as two rows, so these weights stand for too few "
            "rows to compute limits for outliers. If each row is one observation, multiply the weights by "
            f"{rows / weight:.4g}, so that they sum to the number of rows."
        )
        return (Note("few_weights", text),)
    # Kish (1965): a weighted mean varies like that of (sum w)^2 / sum w^2 rows. Whole weights can be counts of rows.
    shares = weights / weight
    effective = 1.0 / float(np.sum(shares**2))
    if weight <= _OVERSTATED * effective or np.all(weights == np.floor(weights)):
        return ()
    text = (
        f"The weights sum to {weight:.4g}, but their effective number of rows is {effective:.4g}. A weight of 2 counts "
        f"as two rows, so limits for outliers and bootstrap intervals assume {weight:.4g} rows. If the weights are not "
        f"counts, this is too many. For limits that suit the effective number, multiply the weights by "
        f"{effective / weight:.4g}."
    )
    return (Note("uneven_weights", text),)


def without_zero_weights(opened: Opened, weights: np.ndarray, *, number: bool) -> tuple[Opened, np.ndarray]:
    """Leave out rows of weight zero, also from the shape.

    `number` names the rows without names by their numbers in the data, counted from 1, so that tables name the right
    rows.
    """
    kept = weights > 0
    if kept.all() or not opened.matrix.resident:
        return opened, weights
    indices, given, backend = np.flatnonzero(kept), opened.matrix.given, opened.matrix.backend
    matrix = replace(
        opened.matrix,
        matrix=backend.take_rows(opened.matrix.matrix, indices),
        given=None if given is None else backend.take_rows(given, indices),
    )
    names = opened.metadata.row_names
    if names is not None:
        names = tuple(compress(names, kept))
    elif number:
        names = tuple(str(index + 1) for index in indices.tolist())
    metadata = replace(opened.metadata, row_names=names)
    return replace(opened, matrix=matrix, metadata=metadata), weights[kept]


def probe_seed(seed: int | None, rng: np.random.Generator) -> int:
    """The user's part of the seed of probes: the seed itself, or a number drawn from the given generator."""
    return int(rng.integers(2**62)) if seed is None else seed


def generator(rng: object) -> tuple[int | None, np.random.Generator]:
    """A counter-based generator: the same numbers on every machine, for any number of workers.

    rng="entropy" takes a seed from the operating system, which cannot be predicted.
    """
    if isinstance(rng, str) and rng == "entropy":
        rng = secrets.randbits(62)
    if rng is None or (isinstance(rng, int | np.integer) and not isinstance(rng, bool)):
        seed = 0 if rng is None else int(rng)
        if seed < 0:
            raise ParameterError(f"rng={rng!r} is not a seed. Use a non-negative integer or a numpy.random.Generator.")
        return seed, np.random.Generator(np.random.Philox(seed))
    if isinstance(rng, np.random.Generator):
        return None, rng
    if isinstance(rng, np.random.RandomState):
        return None, np.random.Generator(np.random.Philox(rng.randint(2**31 - 1)))
    raise ParameterError(f"rng={rng!r} is not a seed. Use a non-negative integer or a numpy.random.Generator.")
