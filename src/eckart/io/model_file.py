"""One decomposition in one file: a NumPy .npz archive whose arrays and JSON are sealed by SHA-256. Never a pickle.

file = stored zip [array.npy ..., model.json] + zip comment "eckart-model sha256 <digest of every byte before it>"

Members are stored uncompressed and without gaps, so no declared size can exceed the file. `numpy.load(path)` opens the
same file anywhere.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.lib import format as npy

from eckart.aliases import JsonObject
from eckart.documentation import document
from eckart.errors import ModelFileError
from eckart.files import HashingWriter, new_file
from eckart.fitted import takes_fitted
from eckart.io.model_values import allowed, check, decode, encode
from eckart.options import hint_keywords
from eckart.result import Decomposition
from eckart.wording import OVERWRITE, SAVE

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "eckart-model"
VERSION = 1

_JSON = "model.json"
_SEAL = b"eckart-model sha256 "
_SEAL_LENGTH = len(_SEAL) + 64
_LOCAL_HEADER = 30
_HEADER_LIMIT = 10_000
_CHUNK = 1 << 20
_BROKEN = (ValueError, TypeError, KeyError, AttributeError, EOFError, OverflowError, RecursionError, RuntimeError)
"""Exceptions of zipfile, json and numpy on invalid bytes."""


@document
@takes_fitted
def save(decomposition: Decomposition, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a decomposition to one file.

    The file is written completely or not at all. It contains no pickle, and a checksum covers all of it. Arrays on a
    GPU are copied to the host first.

    Parameters
    ----------
    decomposition : Decomposition or fitted estimator
        What to save.
    path : str or path
        File to write.
    overwrite : bool, default False
        Replace an existing model. Files that are not models are never replaced.

    Raises
    ------
    ModelFileError
        If the file exists and `overwrite` is False, or if it cannot be written.

    {See Also: load [model]}

    {Examples: model}
    ...     ek.save(d, path)
    ...     print(repr(ek.load(path)))
    <Decomposition svd of 4 x 2, k=1, explained 0.9667>
    """
    if overwrite:
        _refuse_other_file(Path(path))
    decomposition = decomposition.on_host()
    arrays: dict[str, np.ndarray] = {}
    body = encode(decomposition, "", arrays)
    check(decomposition, "This decomposition cannot be saved")
    _check_loadable(body, arrays)
    document = {"format": FORMAT, "version": VERSION, "class": "Decomposition", "libraries": libraries(), "body": body}
    with new_file(path, overwrite=overwrite, error=ModelFileError) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            document["sha256"] = {name: _write_array(archive, name, array) for name, array in arrays.items()}
            with archive.open(_member(_JSON), "w", force_zip64=True) as entry:
                entry.write(json.dumps(document, allow_nan=False).encode("ascii"))
            archive.comment = _SEAL + b"0" * 64
        seal = _seal(file, file.seek(0, os.SEEK_END) - _SEAL_LENGTH)
        file.write(seal)


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file ends with the seal of a model."""
    with Path(path).open("rb") as file:
        file.seek(-min(_SEAL_LENGTH, Path(path).stat().st_size), os.SEEK_END)
        return file.read(len(_SEAL)) == _SEAL


def _refuse_other_file(path: Path) -> None:
    """Refuse to replace anything except a model or an empty file, under any name or link."""
    if not path.is_file() or path.stat().st_size == 0:
        return  # what cannot be replaced is refused when it is written
    if not is_model_file(path):
        raise ModelFileError(
            f"{path} is not a model file, so Eckart does not replace it, even with {OVERWRITE}. "
            "Delete the file yourself, or choose another name."
        )


def _check_loadable(body: object, arrays: dict[str, np.ndarray]) -> None:
    """Refuse to write what `load` would refuse to read."""
    try:
        decode(json.loads(json.dumps(body, allow_nan=False)), arrays)
    except (ModelFileError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"This decomposition cannot be saved, because the saved file could not be loaded again. {error}"
        ) from error


@hint_keywords
@document
def load(path: str | os.PathLike[str]) -> Decomposition:
    """Read a decomposition written by `save`.

    Parameters
    ----------
    path : str or path
        File to read.

    Returns
    -------
    Decomposition
        The decomposition, with NumPy arrays.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, not a model, or written by a newer version.

    See Also
    --------
    save : Write the file.

    {Examples: model}
    ...     d.save(path)
    ...     print(ek.load(path).values.round(4))
    [7.6158]
    """
    name = str(path)
    try:
        other = Path(path).exists() and not Path(path).is_file()
        file = None if other else Path(path).open("rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"{name} cannot be opened: {reason}. Check the path.") from error
    if file is None:  # opening a pipe would block
        raise ModelFileError(f"{name} cannot be opened: it is a pipe, a device or a folder. Check the path.")
    with file:
        try:
            _check_seal(file, name)
        except OSError as error:  # a disk or a network fails, or the file is memory of the system
            message = f"{name} cannot be read: {error.strerror or error}. Check the disk, or copy the file again."
            raise ModelFileError(message) from error
        try:
            decomposition = _read(file)
        except ModelFileError as error:
            raise ModelFileError(f"{name} cannot be loaded. {error}") from error
        except (*_BROKEN, MemoryError, OSError, SyntaxError, zipfile.BadZipFile) as error:
            message = f"{name} cannot be loaded. Its checksum is valid, but its content is not a model: {error}"
            raise ModelFileError(message) from error
    check(decomposition, f"{name} cannot be loaded")
    return decomposition


def libraries() -> dict[str, str]:
    """The versions in use, for the record."""
    found = {"python": platform.python_version()}
    for package in ("eckart", "numpy", "scipy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a source tree that was never installed
            found[package] = "unknown"
    return found


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # a fixed date: the same model gives the same bytes


def _write_array(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> str:
    with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as entry:
        hashing = HashingWriter(entry)
        npy.write_array(hashing, array, version=(1, 0), allow_pickle=False)
        return hashing.digest.hexdigest()


def _seal(file: IO[bytes], length: int) -> bytes:
    """The seal of the first `length` bytes; leaves the file positioned after them."""
    file.seek(0)
    digest, left = hashlib.sha256(), length
    while left > 0 and (chunk := file.read(min(left, _CHUNK))):
        digest.update(chunk)
        left -= len(chunk)
    return _SEAL + digest.hexdigest().encode("ascii")


def _check_seal(file: IO[bytes], name: str) -> None:
    start = file.read(8)
    if not start.startswith(b"PK\x03\x04"):
        raise ModelFileError(f"{name} is not an Eckart model: {_kind(start)} To create a model, use {SAVE}.")
    length = file.seek(0, os.SEEK_END) - _SEAL_LENGTH
    file.seek(max(length, 0))
    seal = file.read()
    if not re.fullmatch(re.escape(_SEAL) + rb"[0-9a-f]{64}", seal):
        message = (
            f"{name} is a zip archive without Eckart's checksum. It is truncated, or was modified, or is not a model."
        )
        raise ModelFileError(f"{message} Use an intact copy of the file.")
    if _seal(file, length) != seal:
        raise ModelFileError(
            f"{name} was modified after it was written: its checksum does not match. Use an intact copy of the file."
        )


def _kind(start: bytes) -> str:
    if not start:
        return "it is empty."
    if start[:1] == b"\x80":
        return "it looks like a pickle file. Pickles can run code, so Eckart never loads them."
    if start.startswith(b"\x93NUMPY"):
        return "it is a single .npy array."
    return f"it begins with {start[:4]!r}, so it is not a zip archive."


def _read(file: IO[bytes]) -> Decomposition:
    with zipfile.ZipFile(file) as archive:
        members = _members(archive, file)
        document = json.loads(archive.read(members[_JSON]), object_pairs_hook=_no_duplicates)
        _check_document(document)
        digests = document["sha256"]
        differing = {f"{key}.npy" for key in digests} ^ (set(members) - {_JSON})
        if differing:
            raise ModelFileError(f"The files in the archive differ from the list in {_JSON}: {sorted(differing)[:5]}.")
        arrays = {key: _read_array(archive, members[f"{key}.npy"], digests[key]) for key in digests}
    decomposition = decode(document["body"], arrays)
    if not isinstance(decomposition, Decomposition):
        raise ModelFileError(f"It contains an object of type {type(decomposition).__name__}, not a Decomposition.")
    return decomposition


def _check_document(document: Mapping[str, object]) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"It is an archive, but not in the format {FORMAT!r}.")
    found = document.get("version")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise ModelFileError("It has no valid format version.")
    if found > VERSION:
        raise ModelFileError(
            f"It has format version {found}; this version of Eckart reads formats up to {VERSION}. Update Eckart."
        )
    if document.get("class") != "Decomposition":
        raise ModelFileError(f"It contains the unknown class {str(document.get('class'))[:40]!r}.")


def _members(archive: zipfile.ZipFile, file: IO[bytes]) -> dict[str, zipfile.ZipInfo]:
    """The members by name, after checking that none is duplicate, compressed, encrypted, overlapping or too large."""
    offset = 0
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        short = repr(info.filename[:40])
        if info.filename in members:
            raise ModelFileError(f"It contains two files called {short}.")
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1:
            raise ModelFileError(
                f"It contains the compressed or encrypted file {short}, but the files in a model "
                "are stored uncompressed."
            )
        if info.header_offset != offset:
            raise ModelFileError(f"In the archive, {short} overlaps another file or leaves a gap.")
        file.seek(offset + 26)
        lengths = file.read(4)  # lengths of the name and of the extra field, before the member's bytes
        offset += _LOCAL_HEADER + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
        offset += info.file_size
        members[info.filename] = info
    if offset != archive.start_dir or _JSON not in members:
        raise ModelFileError(f"It does not contain {_JSON}, or it contains bytes between its files.")
    return members


def _no_duplicates(pairs: list[tuple[str, object]]) -> JsonObject:
    if len(dict(pairs)) != len(pairs):
        raise ModelFileError(f"{_JSON} contains the same key twice.")
    return dict(pairs)


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, digest: object) -> np.ndarray:
    short = repr(info.filename[:40])
    data = _bytes(archive, info)
    if hashlib.sha256(data).hexdigest() != digest:
        raise ModelFileError(f"The checksum of {short} differs from the one in {_JSON}.")
    stream = io.BytesIO(bytes(data[: _HEADER_LIMIT + 12]))
    if npy.read_magic(stream) != (1, 0):
        raise ModelFileError(f"{short} is not an .npy array of version 1.0.")
    shape, fortran, dtype = npy.read_array_header_1_0(stream, max_header_size=_HEADER_LIMIT)
    if not allowed(dtype):
        raise ModelFileError(f"{short} has dtype {dtype}, which a model never has.")
    start, count = stream.tell(), 1
    for length in shape:
        count *= int(length)
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(data) - start:
        raise ModelFileError(f"{short} declares shape {shape}, which does not match its {len(data) - start:,} bytes.")
    flat = np.frombuffer(data, dtype=dtype, offset=start, count=count)
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _bytes(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytearray:
    """The member's bytes, in one writable buffer."""
    data, position = bytearray(info.file_size), 0
    with archive.open(info) as entry:
        while chunk := entry.read(_CHUNK):
            data[position : position + len(chunk)] = chunk
            position += len(chunk)
    return data
