"""Missing chunks inside the shards of a Zarr array, which zarr would replace with the fill value.

A shard ends (or begins) with an index: offset and length of each of its chunks as 64-bit integers, all ones for a
missing chunk, and a checksum [1].

[1] https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

_MISSING = 2**64 - 1


class Shards:
    """The layout of the shards of one array."""

    def __init__(self, array: Any) -> None:
        document = next(codec.to_dict() for codec in array.metadata.codecs if hasattr(codec, "index_location"))
        options = document["configuration"]
        codecs = {codec["name"]: codec.get("configuration", {}) for codec in options["index_codecs"]}
        if others := sorted(set(codecs) - {"bytes", "crc32c"}):
            raise ValueError(f"the index of its shards is encoded with {', '.join(others)}, which Eckart cannot read")
        self._shape, self._chunks = array.shape, array.chunks
        self._per_shard = tuple(size // step for size, step in zip(array.shards, array.chunks, strict=True))
        self._entry = ">u8" if codecs["bytes"].get("endian") == "big" else "<u8"
        self._size = 16 * int(np.prod(self._per_shard))
        self._from_end = options["index_location"] == "end"
        self._checksum = 4 if "crc32c" in codecs else 0

    def chunks(self, file: Path, shard: tuple[int, ...]) -> tuple[list[tuple[int, int]], int]:
        """(offset, length) of the chunks of one shard that lie inside the array, and the number of missing ones."""
        with file.open("rb") as stream:
            if self._from_end:
                stream.seek(-self._size - self._checksum, 2)
            index = stream.read(self._size)
        inside = tuple(
            slice(-(-max(size - place * count * step, 0) // step))
            for place, count, step, size in zip(shard, self._per_shard, self._chunks, self._shape, strict=True)
        )
        entries = np.frombuffer(index, self._entry).reshape(*self._per_shard, 2)[inside].reshape(-1, 2)
        stored = [(offset, length) for offset, length in entries.tolist() if length != _MISSING]
        return stored, len(entries) - len(stored)
