"""Rows in a temporary folder that is removed with the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from eckart.aliases import Keywords
from eckart.engine.blocks.source import Block, Metadata, RowSource
from eckart.spool import Spool

Rows = TypeVar("Rows", bound=RowSource)


@dataclass(frozen=True)
class TemporaryRows(Generic[Rows]):
    """Reads rows from a file in a spool folder; the folder belongs to the process that made it."""

    rows: Rows
    spool: Spool | None
    metadata: Metadata

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    @property
    def sparse(self) -> bool:
        return self.rows.sparse

    @property
    def entries(self) -> int:
        return self.rows.entries

    def cuts(self) -> Sequence[int]:
        return self.rows.cuts()

    def read(self, start: int, stop: int) -> Block:
        return self.rows.read(start, stop)

    def __getstate__(self) -> Keywords:
        return {**self.__dict__, "spool": None}
