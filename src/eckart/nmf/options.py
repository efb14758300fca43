"""The checked arguments of NMF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.arrays import Array, is_array, is_host, namespace, to_numpy
from eckart.errors import InputError, ParameterError
from eckart.nmf.problem import Penalties, Penalty
from eckart.nmf.start import FILLED
from eckart.options import check_choice, check_count, is_number

_LARGEST_POWER = 400.0
"""A penalty of 2^400 on data of size 1 leaves only zeros, and products with it stay in range."""
LOSSES = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
STARTS = ("random", "nndsvd", "nndsvda", "nndsvdar", "custom")


@dataclass(frozen=True)
class Settings:
    k: int
    init: str
    solver: str
    beta: float
    tol: float
    max_iter: int
    alpha_W: float
    alpha_H: float
    l1_ratio: float
    missing: str
    n_runs: int

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


def _power_of_two(exponent: float) -> float:
    """2^exponent as a finite factor of penalties: infinity times a penalty of 0 would be NaN."""
    return float(np.exp2(min(exponent, _LARGEST_POWER)))


def check_settings(
    shape: tuple[int, int], *, k: object, init: str | None, solver: str, beta_loss: Any, tol: float, max_iter: int,
    alpha_W: float, alpha_H: float | str, l1_ratio: float, missing: str, n_runs: int,
) -> Settings:  # fmt: skip
    beta = LOSSES.get(beta_loss, beta_loss) if isinstance(beta_loss, str) else beta_loss
    if not is_number(beta) or not np.isfinite(beta):
        check_choice("beta_loss", beta_loss, tuple(LOSSES))
    check_choice("solver", solver, ("auto", "cd", "mu"))
    check_choice("missing", missing, ("error", "mask"))
    if solver == "cd" and beta != 2.0:
        raise ParameterError(
            f"Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = {beta_loss!r}. Leave solver='auto'."
        )
    if solver == "cd" and missing == "mask":
        raise ParameterError("solver='cd' is scikit-learn's and needs every entry; use solver='auto'.")
    for name, value, most in (("tol", tol, None), ("alpha_W", alpha_W, None), ("l1_ratio", l1_ratio, 1.0)):
        _check_not_negative(name, value, most)
    alpha_H = alpha_W if alpha_H == "same" else alpha_H
    _check_not_negative("alpha_H", alpha_H, None)
    k = check_count("k", k, None)
    return Settings(
        k=k,
        init=_check_init(init, k, shape, missing, solver),
        solver=solver,
        beta=float(beta),
        tol=float(tol),
        max_iter=check_count("max_iter", max_iter, None),
        alpha_W=float(alpha_W),
        alpha_H=float(alpha_H),
        l1_ratio=float(l1_ratio),
        missing=missing,
        n_runs=check_count("n_runs", n_runs, None),
    )


def _check_not_negative(name: str, value: float | str, most: float | None) -> None:
    if not is_number(value) or not 0.0 <= float(value) < np.inf or (most is not None and float(value) > most):
        allowed = "a non-negative number" if most is None else f"a number from 0 to {most:g}"
        raise ParameterError(f"{name}={value!r} is not possible: give {allowed}.")


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
                f"components were "
                f"requested, but there are {short} singular vectors. Use init='random'."
            )
        if missing == "mask":
            raise ParameterError(f"init={init!r} needs the singular vectors of a full matrix; use init='random'.")
    return init


def check_factor(name: str, factor: Array | None, shape: tuple[int, int]) -> Array:
    """Check a start given by the user: right shape, finite, non-negative, not all zero."""
    if factor is None:
        raise ParameterError(f"init='custom' needs both W and H; {name} is missing.")
    if is_array(factor) and not is_host(factor):
        array = factor
    else:
        array = np.array(to_numpy(factor) if is_array(factor) else factor, dtype=np.float64)
    if tuple(array.shape) != shape:
        raise InputError(
            f"Array with wrong shape passed to NMF (input {name}). Expected {shape}, but got {tuple(array.shape)}."
        )
    xp = namespace(array)
    if not bool(xp.all(xp.isfinite(array))) or float(xp.min(array)) < 0.0:
        raise InputError(f"Negative values in data passed to NMF (input {name}), or values that are not finite.")
    if float(xp.max(array)) == 0.0:
        raise InputError(f"Array passed to NMF (input {name}) is full of zeros, which the updates cannot change.")
    return array
