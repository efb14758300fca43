"""Some columns of rows that are read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.engine.blocks.source import About, Block, RowSource


@dataclass(frozen=True)
class ChosenColumns:
    """The columns `places` of another source, in this order."""

    source: RowSource
    places: tuple[int, ...]
    about: About

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.shape[0], len(self.places)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.source.dtype

    @property
    def sparse(self) -> bool:
        return self.source.sparse

    @property
    def entries(self) -> int:
        """Of sparse rows the share that belongs to so many columns; to count them would take a read."""
        return -(-self.source.entries * len(self.places) // self.source.shape[1])

    def cuts(self) -> Sequence[int]:
        return self.source.cuts()

    def read(self, start: int, stop: int) -> Block:
        block = self.source.read(start, stop)[:, list(self.places)]
        return block if self.sparse else np.ascontiguousarray(block)

    def fingerprint(self) -> dict[str, Any]:
        found = self.source.fingerprint()
        return {**found, "content": {**found["content"], "columns": list(self.places)}}
