"""The options of each worked solution, named as in the library's functions."""

from __future__ import annotations

from typing import Any

import click

from eckart.cli.options import Decorator


def _numbers(given: object) -> list[int]:
    """Whole numbers separated by commas or spaces."""
    words = str(given).replace(",", " ").split()
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 6 for word in words):
        raise click.BadParameter(f"{given!r} is not a list of whole numbers such as 1,3.")
    return [int(word) for word in words]


def _option(name: str, help: str, **more: Any) -> Decorator:
    return click.option(name, help=help, **more)


def _choice(name: str, choices: str, help: str) -> Decorator:
    words = choices.split()
    return click.option(name, type=click.Choice(words), help=f"{help}  [default: {words[0]}]")


_k = click.option("-k", "k", type=int, metavar="N", help="Number of components to keep.")
_seed = _option(
    "--seed", "Random seed. The same seed gives the same result.  [default: 0]", type=click.IntRange(min=0), metavar="N"
)
_table = (
    click.option("--center/--no-center", default=None, help="Subtract the column means.  [default: yes]"),
    click.option(
        "--scale/--no-scale", default=None, help="Divide each column by its standard deviation.  [default: no]"
    ),
    _choice("--divide", "n-1 n 1", "Divide the cross-products by this number. n is the number of rows."),
)
_share = _option(
    "--share",
    "Share of the variance or energy to explain, such as 0.8.  [default: 0.9]",
    type=float,
    metavar="SHARE",
)

OPTIONS: dict[str, tuple[Decorator, ...]] = {
    "pca": (
        _k, *_table, _share, _choice("--route", "variance reconstruction svd",
        "Derivation to show: by maximum variance, by minimum reconstruction error, or by the SVD."),
        _option("--flip", "Reverse the signs of these components, counted from 1.", type=_numbers, metavar="I,J,..."),
    ),
    "minor-components": (_k, *_table),
    "svd": (_k, _choice("--form", "compact full", "compact keeps only non-zero singular values. full makes U and V "
    "square.")),
    "energy": (_share,),
    "query": (_k,),
    "power-iteration": (
        _option("--start", "Start vector.  [default: all ones]", metavar="VECTOR"),
        _option("--eps", "Stop when the direction of the vector changes by at most this much.  [default: "
        "1e-6]", type=float),
        _option("--most", "Maximum number of iterations.  [default: 200]", type=int, metavar="N"),
    ),
    "deflation": (_choice("--method", "auto hotelling wielandt", "How to remove an eigenpair from the matrix. auto "
    "uses hotelling for symmetric matrices and wielandt for others."),),
    "diagonalize": (_option("--power", "Power of the matrix to compute.  [default: 3]", type=int, metavar="N"),),
    "cur": (
        click.option("-r", "r", type=int, metavar="N", help="Sample this many rows and as many columns.  [default: 2]"),
        _option("--rows", "Use these rows (counted from 1) instead of a random sample.",
        type=_numbers, metavar="I,J,..."),
        _option("--columns", "Use these columns (counted from 1) instead of a random "
        "sample.", type=_numbers, metavar="I,J,..."),
        _seed, _choice("--core", "intersection best", "How to compute U: from the entries where the rows and "
        "columns meet (intersection), or with "
        "the smallest error (best)."),
    ),
    "nmf": (
        _k, _choice("--loss", "euclidean kl", "Loss to minimise: squared error (euclidean) or Kullback-Leibler "
        "divergence (kl)."), _seed,
        _option("--iterations", "Number of iterations.  [default: 50]", type=int, metavar="N"),
        _option("--w", "Initial value of the factor W.", metavar="MATRIX"),
        _option("--h", "Initial value of the factor H.", metavar="MATRIX"),
    ),
    "kernel-pca": (
        _k, _choice("--kernel", "poly linear rbf sigmoid cosine", "Kernel function."),
        _option("--gamma", "Kernel coefficient gamma, such as 1/2.  [default: 1]", metavar="NUMBER"),
        _option("--degree", "Degree of the poly kernel.  [default: 2]", type=int, metavar="N"),
        _option("--coef0", "Constant term of the poly and sigmoid kernels.  [default: 1]", metavar="NUMBER"),
        _option("--new", "A new point to project onto the components.", metavar="VECTOR"),
    ),
    "project": (_k,),
    "bounds": (_k, _option("--other", "Matrix of rank at most k whose error is compared with the smallest "
    "possible error.", metavar="MATRIX")),
    "missing": (_k, _option("--iterations", "Number of iterations.  [default: 100]", type=int, metavar="N")),
    "isomap": (_k, _option("--neighbors", "Number of neighbours of each point.  [default: 2]", type=int, metavar="N")),
    "select": (
        _option("--count", "Number of columns to keep, instead of --threshold.", type=int, metavar="N"),
        _option("--threshold", "Keep columns whose absolute correlation with the target is at least R.  [default: "
        "0.5]", type=float, metavar="R"),
    ),
}  # fmt: skip

SECOND = {"query": "QUERY", "select": "TARGET", "project": "NEW"}
"""Solutions that take a second argument."""

ABOUT = {
    "rank": "Compute the rank by row reduction, with a basis of the row space.",
    "determinant": "Compute a determinant by Chio's condensation.",
    "gram-schmidt": "Compute an orthonormal basis of the column space, and the factorisation A = Q R.",
    "eigen": "Compute eigenvalues and eigenvectors.",
    "power-iteration": "Compute the dominant eigenpair, iteration by iteration.",
    "deflation": "Compute all eigenpairs, one after another.",
    "diagonalize": "Compute the factorisation A = V D V^-1, and powers of A.",
    "svd": "Compute singular values and vectors, and the best approximation of rank k.",
    "pseudo-inverse": "Compute the pseudo-inverse from the SVD.",
    "bounds": "Prove that the truncated SVD is the best approximation of rank k (Eckart-Young).",
    "pca": "Compute principal components, scores, explained variance and errors.",
    "minor-components": "Compute the components with the smallest variance.",
    "project": "Compute the scores of new rows and their distances from the components.",
    "correlation": "Compare PCA of the covariance matrix with PCA of the correlation matrix.",
    "missing": "Impute missing entries by EM, iteration by iteration.",
    "energy": "Count the singular values to keep for a given share of the energy (sum of squares).",
    "query": "Compute the coordinates of a new row in concept space, and reconstruct the row.",
    "cur": "Compute a CUR decomposition from actual columns and rows of the matrix.",
    "nmf": "Compute non-negative factors by multiplicative updates.",
    "kernel-pca": "Compute kernel PCA: kernel matrix, centring, components and scores.",
    "isomap": "Compute an Isomap embedding: neighbours, shortest paths and coordinates.",
    "select": "Select columns by their correlation with a target.",
}
