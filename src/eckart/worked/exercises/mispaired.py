"""Eigenvalues that are not asked for, next to vectors that are: `λ1 = 5: (1, 2), λ2 = 1: (2, -1)`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from eckart.worked.exercises.arithmetic import Grid, Typed
from eckart.worked.exercises.compare import Array
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.symbols import normal
from eckart.worked.exercises.targets import Target

_EIGENVALUE = re.compile(r"(?i)lambda|mu\d?$|eigenval|autoval|собственн\w*знач")
_NEAR = 2e-3


@dataclass
class _Block:
    """Some eigenvalues, and the vectors behind them."""

    values: list[Typed] = field(default_factory=list)
    vectors: list[Array] = field(default_factory=list)


def is_mispaired(rows: Sequence[Row], targets: Sequence[Target]) -> bool:
    """Whether a vector stands next to an eigenvalue of its matrix that belongs to another vector."""
    if any("lambda" in target.names for target in targets):
        return False  # the assignment compares them
    matrices = [
        one for target in targets for value in (target.value, *target.also) if (one := _symmetric(value)) is not None
    ]
    return any(
        _belongs_to_other(float(value.value), float(value.error), vector, matrices)
        for block in (_blocks(rows) if matrices else ())
        if len(block.values) == len(block.vectors)
        for value, vector in zip(block.values, block.vectors, strict=True)
    )


def _symmetric(value: object) -> Array | None:
    """A symmetric matrix of numbers as doubles; None for anything else."""
    if not isinstance(value, sp.MatrixBase) or value.rows != value.cols or value.rows < 2:
        return None
    own = np.array(value.evalf().tolist(), dtype=float)
    return own if np.allclose(own, own.T) else None


def _blocks(rows: Sequence[Row]) -> Iterator[_Block]:
    own = _Block()
    for row in rows:
        if _EIGENVALUE.match(normal(row.title)) and not row.is_vectors:
            own.values += row.numbers
        elif row.is_vectors and own.values:
            own.vectors += [_vector(entry) for entry in row.entries if isinstance(entry, Grid) and 1 in entry.shape]
        if len(own.vectors) == len(own.values) > 0:
            yield own
            own = _Block()
    yield own


def _vector(entry: Grid) -> Array:
    return np.array([float(x.value) for row in entry.rows for x in row])


def _belongs_to_other(value: float, error: float, vector: Array, matrices: Sequence[Array]) -> bool:
    """Whether a matrix has the vector with another eigenvalue, and the eigenvalue with another vector."""
    others = False
    for matrix in matrices:
        if len(vector) != len(matrix) or not vector.any():
            continue
        image = matrix @ vector
        own = float(vector @ image) / float(vector @ vector)
        if np.linalg.norm(image - own * vector) > _NEAR * np.linalg.norm(matrix) * np.linalg.norm(vector):
            continue
        if abs(value - own) <= error + _NEAR * abs(own):
            return False
        known = np.linalg.eigvalsh(matrix)
        others = others or bool((np.abs(known - value) <= error + _NEAR * np.abs(known)).any())
    return others
