"""project_to, reconstruct_to: a table too large for memory, turned into scores or back, written as it is read."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eckart.api import project, reconstruct
from eckart.arrays import to_numpy
from eckart.engine.blocks.reading import ProgressCallback, Reading, ahead
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import block_bytes, open_matrix
from eckart.errors import InputError, MissingValuesError, NotFiniteError, ParameterError
from eckart.files import own_input
from eckart.fingerprint import paths_of
from eckart.fitted import takes_fitted
from eckart.io.writers import row_writer
from eckart.options import memory_bytes
from eckart.result import Decomposition

Path = str | os.PathLike[str]


@takes_fitted  # type: ignore[arg-type]
def project_to(
    decomposition: Decomposition,
    data: Any,
    path: Path,
    *,
    memory: str | int | None = None,
    overwrite: bool = False,
    callback: ProgressCallback | None = None,
    names: Sequence[str] | None = None,
    **options: Any,
) -> int:
    """Write the scores of the rows of `data` to `path` (.npy, .parquet or .zarr), block by block; gives their number.

    `names` are those of the columns, where the file has room for them; `options` are those of `project`.

    Examples
    --------
    >>> import numpy as np, eckart as ek, tempfile, pathlib
    >>> table = np.arange(12.0).reshape(6, 2) ** 2
    >>> d = ek.decompose(table, k=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "scores.npy"
    ...     rows = ek.project_to(d, table, target)
    ...     bool(np.abs(np.load(target) - ek.project(d, table)).max() < 1e-9)
    True
    """
    names = names or [f"component {i + 1}" for i in range(decomposition.k)]

    def step(block: Any) -> np.ndarray:
        return to_numpy(project(decomposition, block, **options))

    return _write(data, path, step, len(names), names, decomposition, memory, overwrite, callback)


@takes_fitted  # type: ignore[arg-type]
def reconstruct_to(
    decomposition: Decomposition,
    scores: Any,
    path: Path,
    *,
    memory: str | int | None = None,
    overwrite: bool = False,
    callback: ProgressCallback | None = None,
    from_data: bool = False,
    **options: Any,
) -> int:
    """Write the rows that belong to scores (an array or a file) to `path`, block by block; gives their number.

    With `from_data` rows are given instead of scores: the best copy of them on the axes is written.
    """
    d = decomposition
    names = d.column_names or [f"column {i + 1}" for i in range(d.columns)]

    def step(block: Any) -> np.ndarray:
        given = project(d, block, **options) if from_data else block
        return to_numpy(reconstruct(d, given, **options))

    return _write(scores, path, step, d.columns, names, d, memory, overwrite, callback)


def _stepped(step: Callable[[Any], np.ndarray], block: Any, matrix: Any) -> np.ndarray:
    """The step; a gap is named by its row in the whole table, not in the block."""
    try:
        return step(block)
    except (MissingValuesError, NotFiniteError):
        refuse_not_finite(matrix, matrix.source.metadata.column_names)


def _write(
    data: Any, path: Path, step: Callable[[Any], np.ndarray], width: int, names: Any, d: Decomposition,
    memory: str | int | None, overwrite: bool, callback: ProgressCallback | None,
) -> int:  # fmt: skip
    if overwrite and (taken := own_input(path, paths_of(data))):
        raise ParameterError(f"{os.fsdecode(path)} is {taken}, which is read. Name another target.")
    matrix = open_matrix(data, memory=memory_bytes(memory), stream=True).matrix
    source, spans = matrix.source, list(itertools.pairwise(matrix.edges))
    dtype = np.float32 if str(d.values.dtype).endswith("float32") and source.dtype == np.float32 else np.float64
    size = max(1, block_bytes(memory_bytes(memory)) // (8 * width))  # rows that are made at a time
    reading = Reading(callback=callback)
    reading.passes = 1
    with row_writer(path, (matrix.shape[0], width), dtype, names, overwrite=overwrite) as write:
        blocks = ahead(lambda span: source.read(*span), spans)
        for number, (span, block) in enumerate(blocks, start=1):
            for first in range(0, block.shape[0], size):
                written = _stepped(step, block[first : first + size], matrix)
                if not np.isfinite(written).all():
                    raise InputError(
                        f"{source.metadata.name}: rows {span[0]:,} to {span[1]:,} give results that are not finite. "
                        "Fill or remove missing and infinite entries first."
                    )
                write(written)
            reading.tell(number, len(spans), matrix.shape[0])
    return int(matrix.shape[0])
