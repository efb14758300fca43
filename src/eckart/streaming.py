"""project_to, reconstruct_to: scores or rows of a table too large for memory, written as it is read."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.arrays import to_numpy
from eckart.budget import block_bytes
from eckart.engine.blocks.reading import ProgressCallback, Reading, ahead
from eckart.engine.finite import refuse_not_finite
from eckart.errors import InputError, MissingValuesError, NotFiniteError, ParameterError
from eckart.files import input_conflict
from eckart.fingerprint import paths_of
from eckart.fitted import takes_fitted
from eckart.io.columns import compare_names
from eckart.io.open_matrix import open_matrix
from eckart.io.writers import row_writer
from eckart.options import memory_bytes
from eckart.projecting import project, reconstruct
from eckart.result import Decomposition

if TYPE_CHECKING:
    from eckart.engine.blocks.stacked import StackedBlocks

Path = str | os.PathLike[str]


@takes_fitted  # type: ignore[arg-type]
def project_to(
    decomposition: Decomposition,
    data: object,
    path: Path,
    *,
    memory: str | int | None = None,
    overwrite: bool = False,
    callback: ProgressCallback | None = None,
    names: Sequence[str] | None = None,
    **options: object,
) -> int:
    """Write the scores of rows to a file, block by block.

    Parameters
    ----------
    {decomposition}
    data : array-like, sparse matrix, data frame or path
        Rows with the same columns as the fitted data. They may be larger than memory.
    {path [rows], memory, overwrite, callback}
    names : sequence of str, default None
        Names of the columns of scores, for file formats that store names.
    **options : dict
        Options of `project`, such as `whiten`.

    {Returns: int [rows written]; Raises: InputError [not finite], ParameterError [own input]}

    {See Also: project, reconstruct_to}

    Examples
    --------
    >>> import numpy as np, eckart as ek, tempfile, pathlib
    >>> table = np.arange(12.0).reshape(6, 2) ** 2
    >>> d = ek.decompose(table, k=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "scores.npy"
    ...     ek.project_to(d, table, target), np.load(target).shape
    (6, (6, 1))
    """
    names = names or [f"component {i + 1}" for i in range(decomposition.k)]

    def step(block: object) -> np.ndarray:
        return to_numpy(project(decomposition, block, **options))

    fitted = decomposition.column_names
    return _write(data, path, step, len(names), names, decomposition, memory, overwrite, callback, fitted)


@takes_fitted  # type: ignore[arg-type]
def reconstruct_to(
    decomposition: Decomposition,
    scores: object,
    path: Path,
    *,
    memory: str | int | None = None,
    overwrite: bool = False,
    callback: ProgressCallback | None = None,
    from_data: bool = False,
    **options: object,
) -> int:
    """Reconstruct rows from scores and write them to a file, block by block.

    Parameters
    ----------
    {decomposition}
    scores : array-like or path
        Scores of the rows. With `from_data`, the rows themselves.
    {path [rows], memory, overwrite, callback}
    from_data : bool, default False
        Treat `scores` as rows of data, and write their best approximation by the components.
    **options : dict
        Options of `reconstruct`, such as `whiten`.

    {Returns: int [rows written]; Raises: InputError [not finite], ParameterError [own input]}

    {See Also: reconstruct, project_to}

    Examples
    --------
    >>> import numpy as np, eckart as ek, tempfile, pathlib
    >>> table = np.outer([1.0, 2.0, 4.0], [1.0, 3.0])
    >>> d = ek.decompose(table, "svd", k=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "rows.npy"
    ...     rows = ek.reconstruct_to(d, table, target, from_data=True)
    ...     print(np.load(target).round(6))
    [[ 1.  3.]
     [ 2.  6.]
     [ 4. 12.]]
    """
    d = decomposition
    names = d.column_names or [f"column {i + 1}" for i in range(d.columns)]

    def step(block: object) -> np.ndarray:
        given = project(d, block, **options) if from_data else block
        return to_numpy(reconstruct(d, given, **options))

    fitted = d.column_names if from_data else None
    return _write(scores, path, step, d.columns, names, d, memory, overwrite, callback, fitted)


def _stepped(step: Callable[[Any], np.ndarray], block: object, matrix: StackedBlocks) -> np.ndarray:
    """The step, with missing values located by their row in the whole table, not in the block."""
    try:
        return step(block)
    except (MissingValuesError, NotFiniteError):
        refuse_not_finite(matrix, matrix.source.metadata)


def _opened(data: object, memory: int | None, fitted: Sequence[str] | None) -> StackedBlocks:
    """The rows in blocks; if they are rows of data, with the columns `fitted`."""
    opened = open_matrix(data, memory=memory, stream=True)
    compare_names(opened.metadata.column_names, fitted)
    matrix: StackedBlocks = opened.matrix
    return matrix


def _write(
    data: object, path: Path, step: Callable[[Any], np.ndarray], width: int, names: Sequence[str], d: Decomposition,
    memory: str | int | None, overwrite: bool, callback: ProgressCallback | None, fitted: Sequence[str] | None,
) -> int:  # fmt: skip
    if conflict := input_conflict(path, paths_of(data)):
        raise ParameterError(f"{os.fsdecode(path)} {conflict}. Choose another name.")
    matrix = _opened(data, memory_bytes(memory), fitted)
    source, spans = matrix.source, list(itertools.pairwise(matrix.edges))
    single = str(d.values.dtype).endswith("float32") and source.dtype == np.float32
    dtype = np.dtype(np.float32 if single else np.float64)
    size = max(1, block_bytes(memory_bytes(memory)) // (8 * width))  # rows computed at a time
    reading = Reading(callback=callback)
    reading.passes = 1
    with row_writer(path, (matrix.shape[0], width), dtype, names, overwrite=overwrite) as write:
        blocks = ahead(lambda span: source.read(*span), spans)
        for number, (span, block) in enumerate(blocks, start=1):
            for first in range(0, block.shape[0], size):
                written = _stepped(step, block[first : first + size], matrix)
                if not np.isfinite(written).all():
                    raise InputError(
                        f"{source.metadata.name}: the results for rows {span[0] + 1:,} to {span[1]:,} "
                        "are not finite. Impute or remove missing and infinite values first."
                    )
                write(written)
            reading.tell(number, len(spans), matrix.shape[0])
    return int(matrix.shape[0])
