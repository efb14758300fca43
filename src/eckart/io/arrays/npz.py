"""NumPy's .npz: a zip of .npy members, dense or one of SciPy's sparse matrices. Nothing is unpacked to disk."""

from __future__ import annotations

import zipfile
from collections import Counter
from typing import BinaryIO

import numpy as np

from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.environment import check_expansion, check_whole
from eckart.errors import FileError, ParameterError
from eckart.io.arrays.npy import (
    ConvertingSource,
    Header,
    check_size,
    numeric_source,
    read_header,
    refuse_shape,
    value_notes,
)
from eckart.io.bytes import OpenedFile
from eckart.io.guard import reading
from eckart.io.roles import listed
from eckart.notes import Note
from eckart.wording import KEY


def read_npz(opened: OpenedFile, key: str | None = None) -> MemorySource | ConvertingSource:
    """The only matrix of the archive, the one named by `key`, or its sparse matrix."""
    with (
        reading(opened.name, kind=".npz archive"),
        opened.stream() as stream,
        zipfile.ZipFile(stream) as archive,
    ):
        members = members_of(archive, opened)
        check_whole(3 * sum(entry.file_size for entry in members.values()), opened.name, opened.memory)
        if key is None and {"format", "shape", "data"} <= members.keys():
            return _sparse(archive, members, opened)
        return _dense(archive, members, opened, key)


def _check_names(names: list[str], title: str) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise FileError(
            f"{title} contains the names {listed(twice)} more than once, so it is unclear which array "
            "is meant. Save the archive again with unique names."
        )
    others = [name for name in names if not name.endswith(".npy")]
    if others or not names:
        raise FileError(f"{title} is not an .npz archive: it contains {listed(others) if others else 'nothing'}.")


def members_of(archive: zipfile.ZipFile, opened: OpenedFile, *, whole: bool = True) -> dict[str, zipfile.ZipInfo]:
    """Members by key, after the checks that need no unpacking."""
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    _check_names(names, opened.name)
    if any(entry.flag_bits & 1 for entry in entries):
        raise FileError(f"{opened.name} is encrypted. Save the archive without a password.")
    expanded = sum(entry.file_size for entry in entries)
    check_expansion(expanded, opened.size, opened.name, opened.max_expansion, whole=whole)
    return {name.removesuffix(".npy"): entry for name, entry in zip(names, entries, strict=True)}


def header_of(stream: BinaryIO, entry: zipfile.ZipInfo, title: str) -> Header:
    header = read_header(stream, title)
    check_size(header, entry.file_size, title)
    return header


def array_of(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, title: str) -> np.ndarray:
    with archive.open(entry) as stream:
        header = header_of(stream, entry, title)  # type: ignore[arg-type]
        content = stream.read()
    if len(content) != header.bytes:
        raise FileError(f"{title} is truncated: it has {len(content)} of {header.bytes} bytes. Copy the file again.")
    return np.frombuffer(content, header.dtype).reshape(header.shape, order="F" if header.fortran else "C")


def _dense(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], opened: OpenedFile, key: str | None
) -> MemorySource | ConvertingSource:
    key, notes = matrix_key(archive, members, opened, key)
    title = f"{opened.name}, array {key!r}"
    values = array_of(archive, members[key], title)
    refuse_shape(values.shape, title)
    return numeric_source(values, Metadata(opened.name, notes=notes))


def matrix_key(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], opened: OpenedFile, key: str | None
) -> tuple[str, tuple[Note, ...]]:
    """The name of the only matrix of an archive, or `key`, and a note on unused arrays."""
    notes: tuple[Note, ...] = ()
    if key is None:
        key = _only_matrix(archive, members, opened)
        if len(members) > 1:
            others = [name for name in members if name != key]
            notes = (
                Note(
                    "unused_arrays",
                    (f"The matrix is the array {key!r} of the file. Other arrays were ignored: {listed(others)}."),
                ),
            )
    if key not in members:
        raise ParameterError(f"{opened.name} has no array {key!r}. Its arrays are {listed(list(members))}.")
    return key, notes


def _only_matrix(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], opened: OpenedFile) -> str:
    if len(members) == 1:
        return next(iter(members))
    shapes: dict[str, tuple[int, ...]] = {}
    for key, entry in members.items():
        with archive.open(entry) as stream:
            try:
                shapes[key] = header_of(stream, entry, key).shape  # type: ignore[arg-type]
            except FileError:
                continue
    tables = [key for key, shape in shapes.items() if len(shape) == 2]
    if len(tables) == 1:
        return tables[0]
    seen = ", ".join(f"{key!r} {shapes.get(key, '(not numbers)')}" for key in list(members)[:20])
    count = "several matrices" if tables else "no matrix"
    raise FileError(
        f"{opened.name} contains {count}: {seen}. Choose an array with {KEY}, or save only one matrix in the file."
    )


def _sparse(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], opened: OpenedFile
) -> MemorySource | ConvertingSource:
    from eckart.io.arrays.sparse import sparse_matrix

    kind = format_of(archive, members["format"], opened.name)
    wanted: list[str] = [
        key for key in ("shape", "data", "indices", "indptr", "row", "col", "offsets") if key in members
    ]
    arrays = {key: array_of(archive, members[key], f"{opened.name}, array {key!r}") for key in wanted}
    matrix = sparse_matrix(kind, arrays, opened.name)
    return MemorySource(matrix, Metadata(opened.name, notes=value_notes(arrays["data"])))


def format_of(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> str:
    """The one text member: the kind of the sparse matrix, three letters."""
    with archive.open(entry) as stream:
        content = stream.read(1000)
    kind = content[-12:].replace(b"\0", b"").strip().decode("latin-1")[-3:] if entry.file_size <= 1000 else ""
    if kind not in ("csr", "csc", "coo", "bsr", "dia"):
        raise FileError(
            f"{name} is a sparse matrix in the unknown format {kind!r}. Save it with scipy.sparse.save_npz."
        )
    return kind
