"""Coordinates on their device; only one number per row is ever copied to the host."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, astype, dtype_name, from_numpy, is_numpy, namespace, to_numpy


def on_device_of(numbers: np.ndarray, prototype: Array) -> Array:
    """Host numbers on the device of `prototype`, and in its dtype, because other libraries do not mix dtypes."""
    return numbers if is_numpy(prototype) else astype(from_numpy(np.asarray(numbers), prototype), prototype.dtype)


def joined(parts: list[Array], axis: int = 0) -> Array:
    return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=axis)


def in_float64(array: Array) -> Array:
    return astype(array, namespace(array).float64)


def row_squares(vectors: Array) -> np.ndarray:
    """||v||^2 of each row, on the host."""
    if is_numpy(vectors):
        return np.asarray(np.einsum("ij,ij->i", vectors, vectors))
    return to_numpy(namespace(vectors).sum(vectors * vectors, axis=1))


def times(vectors: Array, one: np.ndarray) -> np.ndarray:
    """v . one for each row, in the wider of the two dtypes, on the host."""
    if is_numpy(vectors):
        return np.asarray(vectors @ one)
    wide = in_float64(vectors) if one.dtype == np.float64 else vectors
    return to_numpy(wide @ on_device_of(one, wide))


def triangle(vectors: Array) -> np.ndarray:
    """R of a QR factorisation, on the host, with one column per concept."""
    if is_numpy(vectors):
        return np.asarray(np.linalg.qr(vectors, mode="r"))
    return to_numpy(namespace(vectors).linalg.qr(vectors)[1])


def unit_of(array: Array) -> float:
    """The unit roundoff of the dtype."""
    return float(np.finfo(dtype_name(array)).eps)
