"""From a path or an open stream to readable bytes: only regular files, not empty, no decompression bomb."""

from __future__ import annotations

import difflib
import gzip
import io
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, NoReturn

from eckart.environment import check_expansion, check_fits, check_whole
from eckart.errors import FileError, ParameterError, ReadError
from eckart.io.guard import reading
from eckart.wording import either

CHUNK = 1 << 20
_WEB = ("http://", "https://", "ftp://", "s3://", "gs://", "file://")
GZIP_MAGIC = b"\x1f\x8b"
PARSING = 4
"""Memory of a text during parsing relative to its size: bytes, cells and numbers."""


@dataclass(frozen=True)
class OpenedFile:
    """A readable file: its name, and its path or, for a stream, its bytes."""

    name: str
    path: str | None
    content: bytes | None
    size: int
    max_expansion: float
    packed: bool
    """Whether it is gzip, regardless of its name."""
    memory: int | None = None
    """Bytes that reading the whole file may take; None means free memory."""

    def stream(self) -> BinaryIO:
        if self.path is None:
            return io.BytesIO(self.content or b"")
        try:
            return Path(self.path).open("rb")
        except OSError as error:
            raise ReadError(_refusal(self.name, self.path, error)) from error

    def read(self) -> bytes:
        """The whole content, decompressed if it is gzip."""
        check_fits(self.size, self.name, "reading the file")
        check_whole(PARSING * self.size, self.name, self.memory)
        if self.packed:
            return b"".join(self.unpacked())
        with self.stream() as stream:
            return self.content or stream.read()

    def unpacked(self, *, whole: bool = True) -> Iterator[bytes]:
        """The content in pieces, decompressed if it is gzip, up to the limit for a file of its size."""
        size = 0
        kind = "gzip file" if self.packed else ""
        with reading(self.name, kind=kind), self.stream() as stored:
            stream = gzip.GzipFile(fileobj=stored) if kind else stored
            while chunk := stream.read(CHUNK):
                size += len(chunk)
                check_expansion(size, self.size, self.name, self.max_expansion, whole=whole)
                if whole:
                    check_whole(PARSING * size, self.name, self.memory)
                yield chunk
        if not size:
            raise FileError(f"{self.name} is empty after decompression. Check that the file was written completely.")

    def read_small(self, limit: int) -> bytes | None:
        """The whole content if it takes at most `limit` bytes, otherwise None."""
        if self.size > limit:
            return None
        pieces, size = [], 0
        for piece in self.unpacked(whole=False):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                return None
        return b"".join(pieces)


def shown(path: str) -> str:
    """A path for a message: one line, not too long."""
    text = repr(path)[1:-1]
    return f"'{text}'" if len(text) <= 200 else f"'{text[:100]}...{text[-60:]}'"


def open_path(path: str | os.PathLike[str], max_expansion: float) -> OpenedFile:
    """Check the kind of file and its size before reading."""
    place = os.fsdecode(os.fspath(path))
    name = shown(place)
    try:
        status = Path(place).stat()
    except (OSError, ValueError) as error:
        raise ReadError(_refusal(name, place, error)) from error
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{name} is a folder, not a file. Give the name of a file inside it.")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(
            f"{name} is a pipe or a device, not a regular file. "
            + either(
                "Open it with open(path, 'rb') and pass the stream.", "Use '-' and redirect standard input from it."
            )
        )
    if status.st_size == 0:
        raise FileError(f"{name} is empty (0 bytes). Check that the file was written completely.")
    opened = OpenedFile(name, place, None, status.st_size, max_expansion, packed=False)
    with reading(name), opened.stream() as stream:
        return replace(opened, packed=stream.read(2) == GZIP_MAGIC)


def open_stream(stream: BinaryIO, max_expansion: float) -> OpenedFile:
    """Take all bytes of an open binary stream, such as standard input."""
    if not hasattr(stream, "read"):
        raise ParameterError(
            f"An object of type {type(stream).__name__} is neither a path nor an open file. Pass a path as a string."
        )
    label = getattr(stream, "name", None)
    name = shown(label) if isinstance(label, str) else "the input"
    with reading(name):
        content = stream.read()
    if not isinstance(content, bytes):
        raise FileError(
            f"{name} is open in text mode. Open it in binary mode ('rb'), so that Eckart can detect the encoding."
        )
    if not content:
        raise FileError(f"{name} is empty (0 bytes). Check the command that writes to it.")
    return OpenedFile(name, None, content, len(content), max_expansion, packed=content.startswith(GZIP_MAGIC))


def refuse_link(path: Path, container: str | Path, kind: str) -> NoReturn:
    """Refuse a symbolic link inside a folder or store that the user named."""
    raise FileError(
        f"{Path(container).name}: {path.relative_to(container)} is a symbolic link, but Eckart reads only the {kind} "
        f"you name. Copy the {kind} with its links resolved: cp -rL."
    )


def _refusal(name: str, path: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and os.path.islink(path):  # noqa: PTH114
        return f"{name} is a link to a file that does not exist. Check the target of the link."
    if "\n" in path:
        remedy = either(
            "To read text from memory, wrap it in io.StringIO.",
            "To read text that is not in a file, pipe it into the command and use '-'.",
        )
        return f"{name} does not exist. It has several lines, so it seems to be content and not a path. {remedy}"
    if "://" in path:
        return _address_refusal(name, path)
    if isinstance(error, FileNotFoundError):
        return f"{name} does not exist.{_near(path)}"
    if isinstance(error, PermissionError):
        return (
            f"{name} cannot be read: permission denied. Change the permissions of the file, or copy "
            "it to a folder that you can read."
        )
    cause = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{name} cannot be opened: {cause}. Check the path."


def _address_refusal(name: str, path: str) -> str:
    if path.startswith("file://"):
        return f"{name} is an address. Pass the path without 'file://'."
    if path.startswith(_WEB):
        return (
            f"{name} is a web address, but Eckart reads only local files. Download the file first, or "
            "open it with fsspec."
        )
    return (
        f"{name} is an address, but Eckart opens only local files and PostgreSQL databases. For another database, "
        f"{either('run a query with its Python driver, and pass the cursor', 'save the result of a query as CSV')}."
    )


def _near(path: str) -> str:
    folder, wanted = os.path.split(path)
    try:
        others = [entry.name for entry in os.scandir(folder or ".")]
    except OSError:
        return " The folder does not exist either. Check the path." if folder else " Check the path."
    close = difflib.get_close_matches(wanted, others[:10_000], n=1, cutoff=0.75)
    return f" Did you mean {shown(close[0])}?" if close else " Check the path."
