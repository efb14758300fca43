"""Orthonormal bases of tall blocks by matrix products, with dependent directions left out."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from eckart.arrays import EPSILON, Array, astype, device, float64, from_numpy, is_host, namespace, to_numpy
from eckart.engine.backends.cuda import orthogonal as orthogonal_device
from eckart.engine.backends.cuda import random as cuda_random
from eckart.engine.backends.cuda.constants import NEARLY_ORTHOGONAL, WELL_CONDITIONED
from eckart.engine.backends.tall import inner, times, without

_TINY = 1e-8
"""Orthogonality loss whose square is below rounding."""
_LITTLE = 1e-3
"""Coefficients of unit columns up to this size are removed by one projection; its rounding does not depend on them."""
ROUNDING_ONLY = 1e-3
"""A unit column of rounding errors has at most this length after projection against a basis."""


def orthonormalize(block: Array, floor: float = 0.0) -> Array:
    """Q with Q^T Q = I and span Q = span Z, without columns shorter than `floor` and nearly dependent ones (1e-6).

    Q = Z W with W^T Z^T Z W = I; a second round corrects the rounding errors of the first, unless Z was nearly
    orthogonal. If Z^T Z = I + F with a tiny F, W = I - F / 2.
    """
    if orthogonal_device.usable(block):
        made = orthogonal_device.orthonormalized(block)
        if made.good(floor):
            return made.block
    for least in (floor, 0.0):
        gram = to_numpy(inner(block, block))
        if (correction := _correction(gram)) is not None:
            return times(block, from_numpy(correction, block))
        whitening, nearly = _whiten(gram, least)
        block = times(block, from_numpy(whitening, block))
        if nearly:
            break
    return block


def _correction(gram: np.ndarray) -> np.ndarray | None:
    """I - F / 2 for Z^T Z = I + F, which is W up to 3 F^2 / 8; None unless that is below rounding."""
    excess = gram - np.eye(len(gram))
    return np.eye(len(gram)) - 0.5 * excess if float(np.vdot(excess, excess)) <= _TINY**2 else None


def next_block(rest: Array, gram: np.ndarray, floor: float, *bases: Array) -> tuple[Array, float]:
    """(Q, dropped): an orthonormal basis of Z, orthogonal to the bases, and the norm of what it leaves out of Z.

    `gram` is Z^T Z, and the bases are mutually orthogonal.

    Directions much shorter than others come in a later round. Scaling a short direction to unit length also scales its
    rounding, so the result is projected against the bases once more.
    """
    xp = namespace(rest)
    pieces: list[Array] = []
    left, length = rest, _longest(gram)
    floor = max(floor, 1e3 * EPSILON * length)
    room = min(rest.shape[1], rest.shape[0] - sum(int(basis.shape[1]) for basis in bases))
    while length > floor and room > 0:
        piece = times(left, from_numpy(_whiten(gram, floor)[0], left))
        piece = orthonormalize(project_out(piece, *bases, *pieces), ROUNDING_ONLY)
        if piece.shape[1] == 0:
            break
        piece = piece[:, : min(room, piece.shape[1])]
        room -= piece.shape[1]
        pieces.append(piece)
        if piece.shape[1] == left.shape[1]:
            length = 0.0  # nothing was left out
            break
        left = without(left, piece, inner(piece, left))
        gram = to_numpy(inner(left, left))
        length = _longest(gram)
    dropped = float(np.sqrt(max(np.trace(gram), 0.0))) if length else 0.0
    if not pieces:
        return rest[:, :0], dropped
    return (pieces[0] if len(pieces) == 1 else xp.concat(pieces, axis=1)), dropped


def outside(random: Array, *bases: Array) -> tuple[Array, Array]:
    """(Q, coordinates): an orthonormal basis of the part of random columns outside the bases, and Q^T of them."""
    if orthogonal_device.usable(random):
        made = orthogonal_device.orthonormalized(random, None, *bases)
        if made.good(0.0, ROUNDING_ONLY):
            return made.block, inner(made.block, random)
    left = project_out(random, *bases)
    fresh = orthonormalize(project_out(orthonormalize(left), *bases))
    return fresh, inner(fresh, left)


def _longest(gram: np.ndarray) -> float:
    return float(np.sqrt(np.diagonal(gram).max(initial=0.0)))


def _whiten(gram: np.ndarray, floor: float = 0.0) -> tuple[np.ndarray, bool]:
    """(W, whether Z was nearly orthogonal) with Z W orthonormal, given Z^T Z.

    W = D C^-T, where D scales the columns to unit length and C C^T = D Z^T Z D. If that is nearly singular, W = D E
    L^-1/2 with its eigenpairs, and dependent directions are left out.
    """
    lengths = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    if lengths.size and np.minimum.reduce(lengths) > floor:  # nearly always
        scaled = gram / lengths / lengths[:, None]
        return _inverse_root(scaled) / lengths[:, None], _is_nearly_identity(scaled)
    used = np.flatnonzero(lengths > floor)
    if not used.size:
        return np.zeros((gram.shape[0], 0)), True
    inner_part, nearly = _whiten(gram[np.ix_(used, used)], floor)
    result = np.zeros((gram.shape[0], inner_part.shape[1]))
    result[used] = inner_part
    return result, nearly


def _is_nearly_identity(scaled: np.ndarray) -> bool:
    """Whether all eigenvalues of a matrix of unit diagonal are near 1: within the largest off-diagonal row sum."""
    return float(np.abs(scaled).sum(axis=1).max()) - 1.0 < NEARLY_ORTHOGONAL  # Gershgorin


def _inverse_root(scaled: np.ndarray) -> np.ndarray:
    """W with W^T S W = I for a matrix of unit diagonal."""
    # Call LAPACK directly: for a matrix this small, the wrappers of NumPy and SciPy take longer than LAPACK.
    root, failed = lapack.dpotrf(scaled, lower=1, clean=1)
    if not failed:
        inverse, failed = lapack.dtrtri(root, lower=1)
        # The diagonal is not enough: many pivots that are not small can give a nearly singular factor.
        if not failed and float(np.vdot(inverse, inverse)) < WELL_CONDITIONED**-2:
            return np.ascontiguousarray(inverse.T)
    # The longest first: they are kept if there is no room for all.
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(scaled))
    good = values > 100 * len(values) * EPSILON
    return np.asarray(vectors[:, good] / np.sqrt(values[good]))


def project_out(block: Array, *bases: Array) -> Array:
    """Z without its parts along mutually orthogonal bases, repeated until a pass finds almost nothing.

    On a GPU, two passes, which are enough, instead of waiting for the result of each.
    """
    xp = namespace(block)
    if not is_host(block):
        return orthogonal_device.cleared(xp.asarray(block, copy=True), *bases)
    for _ in range(3 if block.shape[1] else 0):
        found = 0.0
        for basis in bases:
            if basis.shape[1]:
                coefficients = inner(basis, block)
                block = without(block, basis, coefficients)
                found = max(found, float(xp.max(xp.abs(coefficients))))
        if found <= _LITTLE:
            break
    return block


def gaussian(rng: np.random.Generator, rows: int, columns: int, prototype: Array) -> Array:
    """A block of independent standard normal numbers on the device of `prototype`.

    A GPU computes them in pairs from random bits: sqrt(-2 log u) cos(2 pi v) and sqrt(-2 log u) sin(2 pi v).
    """
    if is_host(prototype):
        return astype(from_numpy(rng.standard_normal((rows, columns), dtype=np.float32), prototype), float64(prototype))
    if cuda_random.usable(prototype):
        return cuda_random.normals(rows, columns, int(rng.integers(2**63)), prototype)
    xp = namespace(prototype)
    bits = random_bits(rng, (-(-rows // 2), columns), prototype)
    low, high = ((astype(part, xp.float64) + 0.5) / 2.0**32 for part in (bits & _LOW, (bits >> 32) & _LOW))
    length, angle = xp.sqrt(-2.0 * xp.log(low)), (2.0 * np.pi) * high
    return xp.concat([length * xp.cos(angle), length * xp.sin(angle)], axis=0)[:rows, :]


_LOW = 2**32 - 1
_ODD, _FIRST, _SECOND = (value - 2**64 for value in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def random_bits(rng: np.random.Generator, shape: tuple[int, int], prototype: Array) -> Array:
    """64 random bits for every entry, as int64, on the device of `prototype` (Steele, Lea and Flood's SplitMix64).

    A right shift extends the sign, so it is masked.
    """
    xp = namespace(prototype)
    count = xp.arange(shape[0] * shape[1], dtype=xp.int64, device=device(prototype))
    bits = count * _ODD + int(rng.integers(2**63))
    bits = (bits ^ ((bits >> 30) & (2**34 - 1))) * _FIRST
    bits = (bits ^ ((bits >> 27) & (2**37 - 1))) * _SECOND
    return xp.reshape(bits ^ ((bits >> 31) & (2**33 - 1)), shape)


def random_start(rng: np.random.Generator, rows: int, columns: int, prototype: Array) -> Array:
    """A block of random signs on the device of `prototype`: as good a start as normal numbers, but faster."""
    if not is_host(prototype):
        if cuda_random.usable(prototype):
            return cuda_random.signs(rows, columns, int(rng.integers(2**63)), prototype)
        return 1.0 - 2.0 * astype((random_bits(rng, (rows, columns), prototype) >> 33) & 1, float64(prototype))
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-rows * columns // 8)), np.uint8), count=rows * columns)
    moved = from_numpy(bits.reshape(rows, columns), prototype)  # as bytes: an eighth of the transfer
    return 2.0 * astype(moved, float64(prototype)) - 1.0


def flip_signs(right: Array) -> np.ndarray:
    """One sign per column: the entry of largest modulus (the first in a tie) becomes positive."""
    if right.shape[0] == 0:
        return np.ones(right.shape[1])
    if isinstance(right, np.ndarray):
        largest = right[np.abs(right).argmax(axis=0), np.arange(right.shape[1])]
        return np.where(largest < 0.0, -1.0, 1.0)
    xp = namespace(right)
    indices = xp.argmax(xp.abs(right), axis=0)
    signs = np.diagonal(to_numpy(xp.take(right, indices, axis=0)))
    return np.where(signs < 0.0, -1.0, 1.0)


def signs_of(right: Array) -> Array:
    """The same on the device of `right`; on a GPU without a copy to the host."""
    if isinstance(right, np.ndarray):
        return flip_signs(right)
    if is_host(right) or right.shape[0] == 0:
        return from_numpy(flip_signs(right), right)
    xp = namespace(right)
    columns = xp.arange(right.shape[1], device=device(right))
    largest = right[xp.argmax(xp.abs(right), axis=0), columns]
    return 1.0 - 2.0 * astype(largest < 0.0, float64(right))
