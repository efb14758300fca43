"""Tables whose largest singular value is hidden from random numbers that are known in advance.

An iterative method that starts from a block of random columns never meets a singular vector that is orthogonal to all
of them. Whoever knows the seed, or can repeat the draws, can build such a table. The attack uses nothing but the
public interface: decompose a base table, record what `numpy.random.Generator` draws meanwhile, and add a singular pair
that is orthogonal to those draws and to the base. If the second run draws the same numbers, its upper bound is false.

With `hidden`, the second table differs from the first in two rows only. That defeats seeds made from a sample of the
data: a digest must cover every byte.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

import eckart as ek
from benchmarks.certificates.options import Options, keywords, stored

PLANTED = ("planted against the start", "hidden from sampled digests")
_HEIGHT = 1.3
"""Singular value of the hidden pair; the base has 1 at most."""
_HIDDEN = 110
"""Dimensions that the base leaves free for the hidden vector, at least."""
_RANK = 240
"""Rank of the base at most, so that large tables have a cheap reference."""


class _Recorder(np.random.Generator):
    """A generator that keeps what it drew."""

    drawn: list[np.ndarray] = []  # noqa: RUF012 - one list for all generators of a run

    def standard_normal(self, *args: Any, **options: Any) -> Any:
        return self._kept(super().standard_normal(*args, **options))

    def normal(self, *args: Any, **options: Any) -> Any:
        return self._kept(super().normal(*args, **options))

    def bytes(self, length: int) -> bytes:
        found = super().bytes(length)
        self._kept(2.0 * np.unpackbits(np.frombuffer(found, np.uint8)) - 1.0)
        return found

    def _kept(self, numbers: Any) -> Any:
        if isinstance(numbers, np.ndarray):
            self.drawn.append(np.array(numbers, dtype=float))
        return numbers


@contextmanager
def recorded() -> Iterator[list[np.ndarray]]:
    """Everything that generators made within the block draw, in order."""
    _Recorder.drawn = []

    def default_rng(seed: Any = None) -> np.random.Generator:
        return seed if isinstance(seed, np.random.Generator) else _Recorder(np.random.PCG64(seed))

    with mock.patch("numpy.random.Generator", _Recorder), mock.patch("numpy.random.default_rng", default_rng):
        yield _Recorder.drawn


def as_columns(drawn: list[np.ndarray], size: int) -> np.ndarray:
    """Draws as columns of the given length; streams of numbers in row and in column order."""
    columns = [np.zeros((size, 0))]
    for numbers in drawn:
        if numbers.ndim == 2 and size in numbers.shape:
            columns.append(numbers if numbers.shape[0] == size else numbers.T)
        elif numbers.ndim == 1 and size <= numbers.size <= 80 * size:
            flat = numbers[: numbers.size // size * size]
            columns += [flat.reshape(size, -1), flat.reshape(-1, size).T]
    return np.hstack(columns)


def planted_table(options: Options) -> np.ndarray:
    """A table with a hidden singular pair; wide tables hide it in their rows' space, the shorter side."""
    rng = np.random.default_rng([options.seed, 3])
    wide = options.columns > options.rows
    long, short = max(options.rows, options.columns), min(options.rows, options.columns)
    rank = max(1, min(short - _HIDDEN, _RANK))
    pair = rng.choice(np.arange(1, long - 1), 2, replace=False)
    hidden = options.family == PLANTED[1]
    base = rng.standard_normal((long, rank))
    base[pair] = 0.0
    base = np.linalg.qr(base)[0] * _spectrum(rank, options.k)
    right = np.linalg.qr(rng.standard_normal((short, rank)))[0]
    start = table = base @ right.T
    left = np.zeros(long)
    left[pair] = np.array([1.0, -1.0]) / 2**0.5
    if not hidden:
        left = rng.standard_normal(long)
        left -= left.mean()
        left -= (both := np.linalg.qr(np.column_stack([np.ones(long), base]))[0]) @ (both.T @ left)
        left /= np.linalg.norm(left)
    drawn: list[np.ndarray] = []
    for _ in range(2):  # once with the base, once with what was planted: a run may draw more than it did before
        fresh = _draws(table.T if wide else table, options)
        drawn += [numbers for numbers in fresh if not any(np.array_equal(numbers, old) for old in drawn)]
        known = np.linalg.qr(np.column_stack([right, as_columns(drawn, short)])[:, : short - 8])[0]
        vector = rng.standard_normal(short)
        for _ in range(3):
            vector -= known @ (known.T @ vector)
            vector /= np.linalg.norm(vector)
        table = start + _HEIGHT * np.outer(left, vector)
    return np.ascontiguousarray(table.T if wide else table)


def _spectrum(rank: int, k: int) -> np.ndarray:
    """The wanted values stand out, so that few steps find them; the tail does not end.

    Rounding leaves about 1e-16 of the hidden vector in every block. Many steps, or a block that runs out of
    directions, would amplify it until it is found.
    """
    values = 0.3 * np.linspace(1.0, 0.3, rank)
    lead = min(k + 3, rank)
    values[:lead] = np.linspace(1.0, 0.85, lead)
    return values


def _draws(table: np.ndarray, options: Options) -> list[np.ndarray]:
    data = stored(table.astype(options.dtype), options.storage)
    with warnings.catch_warnings(), recorded() as drawn:
        warnings.simplefilter("ignore")
        ek.decompose(data, options.method, **keywords(options))
    return drawn


def draw(family: str, seed: int) -> Options:
    """Options for a planted table: iterative, large enough for a subspace that no draw meets."""
    rng = np.random.default_rng([seed, 4])
    rows, columns = int(rng.integers(200, 320)), int(rng.integers(150, 200))
    wide = rng.random() < 0.25
    return Options(
        family, seed, *((columns, rows) if wide else (rows, columns)),
        dtype="float32" if rng.random() < 0.1 else "float64",
        method="svd" if wide else str(rng.choice(["pca", "svd"])),
        storage=str(rng.choice(["array", "blocks"])),
        solver="lanczos", k=int(rng.integers(1, 9)),
        rng=int(rng.integers(2**31)) if rng.random() < 0.5 else None,
    )  # fmt: skip
