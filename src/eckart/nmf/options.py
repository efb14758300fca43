"""The checked arguments of NMF."""

from __future__ import annotations

from dataclasses import dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING, Literal

import numpy as np

from eckart.arrays import Array, is_array, is_host, namespace, to_numpy
from eckart.errors import InputError, ParameterError
from eckart.nmf.constants import LARGEST_POWER
from eckart.nmf.problem import Penalties, Penalty
from eckart.nmf.start import FILLED
from eckart.options import CommonOptions, FitKeywords, check_choice, check_count, is_number
from eckart.wording import assigned

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from eckart.engine.blocks.reading import ProgressCallback

LOSSES = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
STARTS = ("random", "nndsvd", "nndsvda", "nndsvdar", "custom")


@dataclass(frozen=True, kw_only=True)
class NMFOptions(CommonOptions):
    """Options with their defaults, not yet checked; `eckart.NMF` describes them."""

    k: int | None = None
    init: str | None = None
    solver: str = "auto"
    beta_loss: str | float = "frobenius"
    tol: float = 1e-4
    max_iter: int = 200
    alpha_W: float = 0.0
    alpha_H: float | Literal["same"] = "same"
    l1_ratio: float = 0.0
    missing: Literal["error", "mask"] = "error"
    n_runs: int = 1
    W: ArrayLike | None = None
    H: ArrayLike | None = None
    stream: bool | None = None
    checkpoint: str | PathLike[str] | None = None
    callback: ProgressCallback | None = None
    executor: object = None


class NMFKeywords(FitKeywords, total=False):
    """The same as keyword arguments."""

    k: int | None
    init: str | None
    solver: str
    beta_loss: str | float
    tol: float
    max_iter: int
    alpha_W: float
    alpha_H: float | Literal["same"]
    l1_ratio: float
    missing: Literal["error", "mask"]
    n_runs: int
    W: ArrayLike | None
    H: ArrayLike | None
    stream: bool | None
    checkpoint: str | PathLike[str] | None
    callback: ProgressCallback | None
    executor: object


@dataclass(frozen=True)
class CoordinateOptions:
    """Checked options that coordinates of new rows depend on."""

    beta_loss: float
    solver: str
    tol: float
    max_iter: int
    alpha_W: float
    alpha_H: float
    l1_ratio: float
    missing: Literal["error", "mask"]


@dataclass(frozen=True)
class Settings(CoordinateOptions):
    """All checked options of a fit."""

    k: int
    init: str
    n_runs: int

    @property
    def beta(self) -> float:
        return self.beta_loss

    @property
    def for_coordinates(self) -> CoordinateOptions:
        """What a decomposition keeps."""
        return CoordinateOptions(*(getattr(self, field.name) for field in fields(CoordinateOptions)))

    def penalties(self, shape: tuple[int, int], exponent: int = 0, share: float = 0.5) -> Penalties:
        """Penalties scaled by the length of the other side, as in scikit-learn.

        The data are 2^exponent times the given ones; `share` of the exponent goes into W.
        """
        rows, columns = shape
        lasso = _power_of_two(exponent * (self.beta - share)) * self.l1_ratio
        ridge = _power_of_two(exponent * (self.beta - 2.0 * share)) * (1.0 - self.l1_ratio)
        return Penalties(
            Penalty(columns * self.alpha_W * lasso, columns * self.alpha_W * ridge),
            Penalty(rows * self.alpha_H * lasso, rows * self.alpha_H * ridge),
        )

    @property
    def squares(self) -> bool:
        return self.beta == 2.0

    @property
    def accelerated(self) -> bool:
        """Whether the iteration extrapolates, unlike the solvers that follow scikit-learn's."""
        return self.solver == "auto" and self.beta in (1.0, 2.0)


def _power_of_two(exponent: float) -> float:
    """2^exponent as a finite factor of penalties: infinity times a penalty of 0 would be NaN."""
    return float(np.exp2(min(exponent, LARGEST_POWER)))


def check_settings(shape: tuple[int, int], options: NMFOptions) -> Settings:
    """Refuse arguments out of range; without k there are as many parts as columns."""
    beta_loss, solver, missing = options.beta_loss, options.solver, options.missing
    beta = LOSSES.get(beta_loss, beta_loss) if isinstance(beta_loss, str) else beta_loss
    if not is_number(beta) or not np.isfinite(beta):
        check_choice("beta_loss", beta_loss, tuple(LOSSES))
    check_choice("solver", solver, ("auto", "cd", "mu"))
    check_choice("missing", missing, ("error", "mask"))
    if solver == "cd" and beta != 2.0:
        raise ParameterError(
            f"Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = {beta_loss!r}. Use "
            f"{assigned('solver', 'auto')}."
        )
    if solver == "cd" and missing == "mask":
        raise ParameterError(
            f"{assigned('solver', 'cd')} does not support missing entries. Use {assigned('solver', 'auto')}."
        )
    alpha_H = options.alpha_W if options.alpha_H == "same" else options.alpha_H
    _check_not_negative("tol", options.tol, None)
    _check_not_negative("alpha_W", options.alpha_W, None)
    _check_not_negative("l1_ratio", options.l1_ratio, 1.0)
    _check_not_negative("alpha_H", alpha_H, None)
    k = check_count("k", shape[1] if options.k is None else options.k, None)
    return Settings(
        k=k,
        init=_check_init(options.init, k, shape, missing, solver),
        solver=solver,
        beta_loss=float(beta),
        tol=float(options.tol),
        max_iter=check_count("max_iter", options.max_iter, None),
        alpha_W=float(options.alpha_W),
        alpha_H=float(alpha_H),
        l1_ratio=float(options.l1_ratio),
        missing=missing,
        n_runs=check_count("n_runs", options.n_runs, None),
    )


def _check_not_negative(name: str, value: float | str, most: float | None) -> None:
    if not is_number(value) or not 0.0 <= float(value) < np.inf or (most is not None and float(value) > most):
        allowed = "a non-negative number" if most is None else f"a number from 0 to {most:g}"
        raise ParameterError(f"{name}={value!r} is not valid. Use {allowed}.")


def _check_init(init: str | None, k: int, shape: tuple[int, int], missing: str, solver: str) -> str:
    short = min(shape)
    if init is None:
        if k > short or missing == "mask":
            return "random"
        return FILLED if solver == "auto" else "nndsvda"
    check_choice("init", init, STARTS)
    if init.startswith("nndsvd"):
        if k > short:
            raise ParameterError(
                f"init = '{init}' can only be used when n_components <= min(n_samples, n_features): {k} "
                f"components were requested, but there are {short} singular vectors. Use init='random'."
            )
        if missing == "mask":
            raise ParameterError(f"init={init!r} does not support missing entries. Use init='random'.")
    return init


def check_factor(name: str, factor: Array | None, shape: tuple[int, int]) -> Array:
    """Check a start given by the user: right shape, finite, non-negative, not all zero."""
    if factor is None:
        raise ParameterError(f"init='custom' needs both W and H, but {name} is missing.")
    if is_array(factor) and not is_host(factor):
        array = factor
    else:
        array = np.array(to_numpy(factor) if is_array(factor) else factor, dtype=np.float64)
    if tuple(array.shape) != shape:
        raise InputError(
            f"Array with wrong shape passed to NMF (input {name}). Expected {shape}, but got {tuple(array.shape)}."
        )
    xp = namespace(array)
    if not bool(xp.all(xp.isfinite(array))):
        raise InputError(f"Infinite or missing values in data passed to NMF (input {name}). Use finite numbers.")
    if float(xp.min(array)) < 0.0:
        raise InputError(f"Negative values in data passed to NMF (input {name}). Use non-negative numbers.")
    if float(xp.max(array)) == 0.0:
        raise InputError(
            f"Array passed to NMF (input {name}) is full of zeros, which the updates cannot change. Use "
            "positive numbers."
        )
    return array
