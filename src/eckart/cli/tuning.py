"""Options of single methods, such as --kernel, --neighbors, --loss and --select, and the arguments they become."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields

import click

from eckart.aliases import Keywords
from eckart.cli import numbers
from eckart.cli.options import Command, gathered

TAKEN = {
    "pca": {"weights": "sample_weight", "solver": "solver"},
    "svd": {"weights": "sample_weight", "solver": "solver"},
    "nmf": {
        "loss": "beta_loss",
        "solver": "solver",
        "runs": "n_runs",
        "regularize": "alpha_W",
        "iterations": "max_iter",
    },
    "cur": {"select": "select", "core": "core", "columns_count": "n_columns", "rows_count": "n_rows"},
    "kernel_pca": {"kernel": "kernel", "gamma": "gamma", "degree": "degree", "scan": "scan", "solver": "solver"},
    "isomap": {"neighbors": "n_neighbors", "radius": "radius", "landmarks": "n_landmarks", "solver": "solver"},
}
"""Method -> option -> argument of the library."""
SOLVERS = {
    "pca": ("auto", "direct", "gram", "lanczos"),
    "svd": ("auto", "direct", "gram", "lanczos"),
    "nmf": ("auto", "cd", "mu"),
    "kernel_pca": ("auto", "direct", "lanczos", "cholesky"),
    "isomap": ("auto", "direct", "lanczos"),
}
_KERNELS = ("linear", "poly", "rbf", "sigmoid", "cosine", "laplacian")
_LOSSES = ("frobenius", "kullback-leibler", "itakura-saito")


@dataclass(frozen=True)
class Tuning:
    """Options of some methods only; None if not given."""

    weights: str | None = None
    solver: str | None = None
    kernel: str | None = None
    gamma: float | str | None = None
    degree: float | None = None
    scan: bool | None = None
    neighbors: int | None = None
    radius: float | None = None
    landmarks: int | None = None
    loss: str | None = None
    runs: int | None = None
    iterations: int | None = None
    regularize: float | None = None
    select: str | None = None
    core: str | None = None
    columns_count: int | None = None
    rows_count: int | None = None

    def arguments(self, method: str) -> Keywords:
        """The arguments of decompose; options that do not apply to the method are refused."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        taken = TAKEN.get(method, {})
        _refuse_meaningless([name for name in given if name not in taken], method)
        _check_solver(given.get("solver"), method)
        if "neighbors" in given and "radius" in given:
            raise click.UsageError(
                "--neighbors and --radius each determine the neighbours of a row. Use only one of them."
            )
        found = {taken[name]: value for name, value in given.items()}
        if "radius" in found:
            found["n_neighbors"] = None
        return found

    def typed(self) -> str:
        """The options as typed, for the next command."""
        given = {f.name.replace("_", "-"): getattr(self, f.name) for f in fields(self)}
        words = [f" --{name}" + ("" if value is True else f" {shlex.quote(str(value))}")
                 for name, value in given.items() if value is not None]  # fmt: skip
        return "".join(words)


def _check_solver(solver: str | None, method: str) -> None:
    known = SOLVERS.get(method, ())
    if solver is not None and solver not in known:
        raise click.UsageError(
            f"--solver {solver} is not available for --method {method.replace('_', '-')}. Use one of "
            f"{', '.join(known)}."
        )


def _refuse_meaningless(names: list[str], method: str) -> None:
    for name in names:
        owners = " or ".join(f"--method {owner.replace('_', '-')}" for owner, known in TAKEN.items() if name in known)
        option = f"--{name.replace('_', '-')}"
        raise click.UsageError(
            f"{option} does not apply to --method {method.replace('_', '-')}, only to {owners}. Leave it out."
        )


def _width(given: object) -> float | str:
    text = str(given).strip()
    if text in ("auto", "median", "local"):
        return text
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise click.BadParameter(
            f"{text!r} is not a valid gamma. Use a non-negative number, 'auto', 'local' or 'median'."
        )
    return value


def tuning(f: Command) -> Command:
    """The options of single methods."""
    option, choice, whole = click.option, click.Choice, click.IntRange(min=1)
    return gathered("tuning", Tuning, [
        option("--weights", metavar="COLUMN", help="pca, svd: use this column as row weights, not as data."),
        option("--solver", metavar="NAME", help="Numerical solver, such as direct, gram or lanczos.  [default: "
        "chosen automatically]"),
        option("--kernel", type=choice(_KERNELS), help="kernel-pca: kernel function.  [default: rbf]"),
        option("--gamma", type=_width, metavar="GAMMA", help=("kernel-pca: kernel coefficient. A number, 'auto' "
        "(to separate groups of rows), or 'local' or "
        "'median' (from the distances between rows).  [default: auto]")),
        option("--degree", type=float, metavar="N", help="kernel-pca: degree of the poly kernel.  [default: 3]"),
        option("--scan", is_flag=True, default=None, help="kernel-pca: try several kernels and values of gamma, and "
        "use the best combination."),
        option("--neighbors", type=whole, metavar="N", help="isomap: number of nearest neighbours of each row.  "
        "[default: 5]"),
        option("--radius", type=float, metavar="R", help="isomap: connect each row to all rows within this "
        "distance, instead of using --neighbors."),
        option("--landmarks", type=whole, metavar="N", help=("isomap: compute distances only to this many landmark "
        "rows, to save memory.  [default: all "
        "rows]")),
        option("--loss", type=choice(_LOSSES), help="nmf: loss function.  [default: frobenius]"),
        option("--runs", type=whole, metavar="N", help="nmf: number of random starts. Eckart keeps the best result. "
        " [default: 1]"),
        option("--iterations", type=whole, metavar="N", help="nmf: maximum number of iterations.  [default: 200]"),
        option("--regularize", type=click.FloatRange(min=0), metavar="X", help="nmf: weight of the penalty on the "
        "squared entries of the factors.  [default: 0]"),
        option("--select", type=choice(["pivot", "norm", "leverage", "volume"]), help=("cur: choose columns and "
        "rows by QR pivots (pivot), or at random by norm, leverage score or "
        "volume.  [default: pivot]")),
        option("--core", type=choice(["best", "intersection"]), help=("cur: compute the middle matrix for the "
        "smallest error (best), or from the entries where "
        "rows and columns meet (intersection).  [default: best]")),
        option("--columns-count", type=numbers.count, metavar="N", help="cur: number of columns to choose.  "
        "[default: -k, or 4 times as many if --select is norm or leverage]"),
        option("--rows-count", type=numbers.count, metavar="N", help="cur: number of rows to choose.  [default: the "
        "same as for columns; more with --core intersection]"),
    ])(f)  # fmt: skip
