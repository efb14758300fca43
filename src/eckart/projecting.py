"""project and reconstruct: scores of rows, and rows from scores, by the functions of the method."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from eckart.arrays import Array, astype, dtype_name, is_array, is_numpy, is_sparse, namespace, unmasked
from eckart.errors import InputError
from eckart.fitted import takes_fitted
from eckart.io.open_matrix import with_columns_of
from eckart.mapped import any_in_memory
from eckart.registry import get_method
from eckart.result import Decomposition


@takes_fitted  # type: ignore[arg-type]
def project(decomposition: Decomposition, data: object, **options: object) -> Array:
    """Compute the scores of rows in one pass over the data.

    Parameters
    ----------
    {decomposition}
    data : array-like, sparse matrix, data frame or path
        Rows with the same columns as the fitted data, in the same order.
    **options : dict
        Options of the method. For PCA and SVD, ``whiten=True`` divides the scores by their standard deviations.

    Returns
    -------
    array of shape (n_samples, k)
        Scores of the rows. For PCA and SVD they are ``(data - mean) / scale @ right``.

    {Raises: InputError [columns]; See Also: reconstruct, project_to}

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
    >>> ek.project(d, [[1, 1], [2, 2]]).round(4)
    array([[1.4142],
           [2.8284]])
    """
    data = with_columns_of(data, decomposition.column_names)
    return get_method(decomposition.method).function("project")(decomposition, data, **options)


@takes_fitted  # type: ignore[arg-type]
def reconstruct(decomposition: Decomposition, scores: Array, **options: object) -> Array:
    """Reconstruct rows from their scores.

    Parameters
    ----------
    {decomposition}
    scores : array-like, sparse matrix or data frame of shape (n_samples, k)
        Scores of the rows.
    **options : dict
        Options of the method. For PCA and SVD, use ``whiten=True`` if the scores are whitened.

    Returns
    -------
    array of shape (n_samples, columns)
        Reconstructed rows. For PCA and SVD they are ``(scores @ right.T) * scale + mean``.

    Raises
    ------
    InputError
        If the method cannot reconstruct rows, such as Isomap.

    {See Also: project, reconstruct_to}

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
    >>> ek.reconstruct(d, ek.project(d, [[1, 2]])).round(4)
    array([[1.5, 1.5]])
    """
    return get_method(decomposition.method).function("reconstruct")(decomposition, _as_array(scores), **options)


def _as_array(scores: object) -> Array:
    """Scores as a dense array of floats, with NaN for masked entries; arrays of other libraries stay there."""
    scores = unmasked(any_in_memory(scores))
    if is_sparse(scores):
        scores = cast("Any", scores).toarray()
    if is_array(scores) and not is_numpy(scores):
        array = cast("Array", scores)
        return array if "float" in dtype_name(array) else astype(array, namespace(array).float64)
    try:
        array = np.asarray(scores)
        array = array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"The scores are not a table of numbers: {error}. Pass an array of numbers.") from error
    if array.dtype.kind not in "biuf":
        raise InputError(f"The scores have dtype {array.dtype}, but they must be real numbers. Pass an array of them.")
    # Methods convert the components to the dtype of the scores: integers would cut them off.
    return array if array.dtype.kind == "f" and array.itemsize >= 4 else array.astype(np.float64)
