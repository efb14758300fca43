"""Suggestions for options that other libraries spell differently."""

from __future__ import annotations

import difflib

import click

from eckart.cli.tuning import TAKEN

_ELSEWHERE = {
    "n-components": "-k", "n-comps": "-k", "components": "-k", "ncomp": "-k", "ncp": "-k", "n-concepts": "-k",
    "k": "-k", "n": "-n", "random-state": "--seed", "rng": "--seed", "standardize": "--scale", "scaled": "--scale",
    "with-std": "--scale", "normalize": "--scale", "max-iter": "--iterations", "n-neighbors": "--neighbors",
    "beta-loss": "--loss", "n-runs": "--runs", "alpha-w": "--regularize", "svd-solver": "--solver",
    "eigen-solver": "--solver", "n-features-to-select": "-k", "sep": "--delimiter", "usecols": "--columns",
    "index-col": "--row-names", "out": "--output", "variance": "--explain",
}  # fmt: skip
"""Names in other libraries, with hyphens -> options here."""


def _owners(option: str) -> str:
    """The commands of methods that have an option, such as 'eckart nmf'; empty if there are none."""
    methods = [method for method, taken in TAKEN.items() if option.replace("-", "_") in taken]
    return " and ".join(f"'eckart {method.replace('_', '-')}'" for method in methods)


def with_suggestions(error: click.NoSuchOption) -> click.NoSuchOption:
    """The error with the option of this command that the user most likely means, if there is one."""
    if error.ctx is None:
        return error
    options = [name for param in error.ctx.command.get_params(error.ctx) for name in param.opts if name[0] == "-"]
    given = error.option_name.lstrip("-").replace("_", "-").casefold()
    likely = _same_option(given, options)
    if not likely and (owners := _owners(given)):
        hint = f" It is an option of {owners}."
    else:
        likely = likely or sorted(difflib.get_close_matches(f"--{given}", options, cutoff=0.7))
        hint = f" Did you mean {' or '.join(map(repr, likely))}?" if likely else ""
    return click.NoSuchOption(error.option_name, message=f"No such option {error.option_name!r}.{hint}", ctx=error.ctx)


def _same_option(given: str, options: list[str]) -> list[str]:
    """The option of a command that has this name, or another name for it; empty if there is none."""
    known = _ELSEWHERE.get(given, "")
    columns = "--keep" if known == "-k" else ""  # columns to select, not components
    return [name for name in (f"--{given}", known, columns) if name in options][:1]
