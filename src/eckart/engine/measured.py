"""B Q and, in the same pass, the squared norms of the rows of the data: sum_j b_ij^2.

B is a `RowBlocks`, possibly centred by l r^T and scaled. Distances of rows from the components need no additional pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eckart.arrays import Array, Matrix, astype, from_numpy, namespace, to_numpy
from eckart.engine.backends.select import backend_of
from eckart.engine.operator import Operator
from eckart.engine.rows import RowBlocks
from eckart.engine.transformed import Centered, Scaled


def product_and_squares(operator: Operator, right: Array, *, across: bool) -> tuple[Array, np.ndarray]:
    """B Q, and the sums of squares of each row of B; with `across` (B is A^T), of each column of B."""
    base, left, row, scale = _unwrapped(operator)
    if base.sparse:
        return operator.matmat(right), _stored_squares(base.matrix, left, row, scale, across=across)
    record = RecordSquares(left, row, scale, across)
    product = _with_base(operator, replace(base, steps=(*base.steps, record))).matmat(right)
    parts = [record.found[start] for start in sorted(record.found)]
    return product, np.sum(parts, axis=0) if across else np.concatenate(parts)


@dataclass(frozen=True)
class RecordSquares:
    """Leaves blocks unchanged and records the squares of (block - l r^T) / scale under the first row."""

    left: Array | None
    right: Array | None
    scale: Array | None
    across: bool
    found: dict[int, np.ndarray] = field(default_factory=dict)

    def apply(self, start: int, block: Array) -> Array:
        xp = namespace(block)
        whole = astype(block, xp.float64)
        if self.left is not None:
            whole = whole - self.left[start : start + block.shape[0], None] * self.right
        if self.scale is not None:
            whole = whole / self.scale
        self.found[start] = to_numpy(xp.sum(whole * whole, axis=0 if self.across else 1))
        return block

    def transposed(self) -> RecordSquares:
        raise TypeError("Squares are recorded last.")


def pack(operator: Operator, right: Array) -> tuple[Array, np.ndarray]:
    """The data behind B = (A - l r^T) diag(1/scale), and Q, r and 1/scale as one factor that can be sent."""
    scale = operator.scale if isinstance(operator, Scaled) else None
    inner: Any = operator.base if isinstance(operator, Scaled) else operator
    centre = to_numpy(inner.right) if isinstance(inner, Centered) else np.zeros(right.shape[0])
    inverse = np.ones(right.shape[0]) if scale is None else 1.0 / to_numpy(scale)
    base = inner.base if isinstance(inner, Centered) else inner
    return base, np.column_stack([to_numpy(right), centre, inverse])


def measured_rows(block: RowBlocks, packed: Array) -> np.ndarray:
    """B Q and, as one more column, the squared norms of the rows of B, for one block of rows of A; `packed` as above.

    Everything is on the device of the block.
    """
    right, centre, scale = packed[:, :-2], packed[:, -2], 1.0 / packed[:, -1]
    count = block.shape[0]
    left = from_numpy(np.ones(count), block.prototype) if block.weight_roots is None else block.weight_roots
    product, squares = product_and_squares(
        Scaled(Centered(block, left, centre, np.zeros(0), float(count)), scale), right, across=False
    )
    return np.column_stack([to_numpy(product), squares])


def _unwrapped(operator: Operator) -> tuple[RowBlocks, Array | None, Array | None, Array | None]:
    """The data, and l, r, scale of B = (A - l r^T) diag(1/scale)."""
    scale = operator.scale if isinstance(operator, Scaled) else None
    inner = operator.base if isinstance(operator, Scaled) else operator
    if isinstance(inner, Centered):
        assert isinstance(inner.base, RowBlocks)
        return inner.base, inner.left, inner.right, scale
    assert isinstance(inner, RowBlocks)
    return inner, None, None, scale


def _with_base(operator: Operator, base: RowBlocks) -> Operator:
    if isinstance(operator, Scaled | Centered):
        inner = base if isinstance(operator.base, RowBlocks) else _with_base(operator.base, base)
        return replace(operator, base=inner)
    return base


def _stored_squares(
    matrix: Matrix, left: Array | None, right: Array | None, scale: Array | None, *, across: bool
) -> np.ndarray:
    """sum (g - l r)^2 / scale^2 over all entries = sum over stored ones of g (g - 2 l r) / scale^2, and l^2 r^2."""
    rows, columns = matrix.shape
    factor = np.ones(columns) if scale is None else 1.0 / to_numpy(scale) ** 2
    left_, right_ = (np.zeros(n) if v is None else to_numpy(v) for v, n in ((left, rows), (right, columns)))
    sums = backend_of(matrix).csr.squares_about(matrix, left_, right_, factor, across=across)
    if across:
        return np.asarray(np.maximum(sums + float(left_ @ left_) * right_**2 * factor, 0.0))
    return np.asarray(np.maximum(sums + left_**2 * float(right_**2 @ factor), 0.0))
