"""Rows in a temporary folder that is removed with the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from eckart.aliases import Keywords
from eckart.engine.blocks.source import Block, Metadata, OfSource, RowSource
from eckart.spool import Spool

Rows = TypeVar("Rows", bound=RowSource)


@dataclass(frozen=True)
class TemporaryRows(OfSource, Generic[Rows]):
    """Reads rows from a file in a spool folder; the folder belongs to the process that made it."""

    source: Rows
    spool: Spool | None
    metadata: Metadata

    def read(self, start: int, stop: int) -> Block:
        return self.source.read(start, stop)

    def __getstate__(self) -> Keywords:
        return {**self.__dict__, "spool": None}
