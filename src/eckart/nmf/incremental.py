"""Parts of a stream of rows: sums that summarise every row seen, in memory of the size of the parts.

Squared error: H minimises 1/2 tr(H^T B H) - <C, H> with B = sum of W^T W and C = sum of W^T X over all blocks seen.
Kullback-Leibler: H <- N / D with N = sum of H * (W^T (X / W H)) and D = sum of the columns of W (Neal and Hinton's
incremental EM).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.nmf.details import NMFDetails
from eckart.nmf.statistics import SufficientStatistics, check_squares, statistics_of, updated_parts
from eckart.result import Decomposition


class Stream:
    """The running sums of one estimator."""

    parts: np.ndarray

    def __init__(self, beta: float, parts: np.ndarray) -> None:
        self.beta = beta
        self.parts = np.asarray(parts, dtype=np.float64)
        self.seen: SufficientStatistics | None = None

    def take(self, data: object, rows: np.ndarray) -> np.ndarray:
        """Parts (k x columns) after adding the rows of `data`, whose coordinates are `rows`."""
        new = statistics_of(data, np.asarray(rows, dtype=np.float64), self.parts, self.beta)
        self.seen = new if self.seen is None else self.seen + new
        check_squares(self.seen.norm, zeros=not np.any(rows))
        self.parts = updated_parts(self.seen, self.parts, self.beta)
        return self.parts.astype(rows.dtype)

    def decomposition(self, d: Decomposition[NMFDetails], parts: np.ndarray) -> Decomposition[NMFDetails]:
        """The decomposition with the new parts; bounds of earlier rows do not hold for all."""
        assert self.seen is not None
        lengths = np.linalg.norm(parts, axis=1)
        widths = np.sqrt(self.seen.squares)
        loss = max(self.seen.loss(self.parts, self.beta), 0.0)
        details = replace(
            d.details, lengths=lengths, sums=self.seen.sums, error=float(np.sqrt(2.0 * loss)), error_rounding=None
        )
        return replace(
            d,
            values=(lengths * widths).astype(parts.dtype),
            right=np.ascontiguousarray((parts / np.where(lengths > 0, lengths, 1)[:, None]).T),
            rows=self.seen.rows,
            weight=float(self.seen.rows),
            norm=float(np.sqrt(self.seen.norm)),
            left=None,
            row_names=None,
            certificate=None,
            details=details,
        )
