"""One wrapper for every reading library: any exception becomes a FileError with file, position and remedy."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from eckart.engine.blocks.source import Block
from eckart.errors import EckartError, FileError, InputError, MemoryBudgetError, ReadError, translated
from eckart.fingerprint import FileState
from eckart.wording import MEMORY

Source = TypeVar("Source")
_ADDRESS = re.compile(r":? ?<[\w.]+ object at 0x[0-9a-f]+>")
"""An object of Python, which says nothing to a reader and differs in every message."""
_REMEDY = (
    "The file is damaged or truncated, or its format does not match its name. Copy the file again, or export it again."
)


class Unreadable(Exception):
    """A sound file of a kind that Eckart does not read; the text says why and what to do instead."""


@contextmanager
def reading(name: str, place: str = "", kind: str = "") -> Iterator[None]:
    """Turn any exception of the libraries inside into a FileError; errors of Eckart pass unchanged.

    `place` is the part of the file being read, or `kind` the expected kind of file.

    On damaged bytes the libraries (zipfile, zlib, h5py, zarr, pyarrow, json, numpy) can raise anything, including
    KeyError and RecursionError, so no list of exceptions is complete.
    """
    where = f"{name}, {place}" if place else name
    try:
        yield
    except EckartError:
        raise
    except Unreadable as error:
        raise FileError(f"{where} cannot be read: {error}.") from error
    except MemoryError as error:
        raise MemoryBudgetError(
            f"Reading {where} needs more memory than is available ({reason(error)}). If the file "
            "itself is small, it is probably damaged. Otherwise, use a machine with more memory, or "
            f"read smaller blocks with {MEMORY}."
        ) from error
    except NotImplementedError as error:
        raise ReadError(
            f"{where} cannot be read: the library for this format does not support some of its content "
            f"({reason(error)}). Save the file again with other data types or another compression, for example with "
            "columns of type int64 or float64. If other programs cannot read it either, it is damaged."
        ) from error
    except Exception as error:
        if "unable to lock file" in str(error):  # HDF5
            raise ReadError(
                f"{where} cannot be read, because a program has it open for writing ({reason(error)}). Close it there "
                "first."
            ) from error
        what = f"is a broken {kind}" if kind else "cannot be read"
        raise ReadError(f"{where} {what} ({reason(error)}). {_REMEDY}") from error


def reading_frame() -> AbstractContextManager[None]:
    """Turn any exception of a data frame library into an InputError; the libraries do not agree on one either."""
    return translated(
        lambda error: InputError(
            f"The data frame cannot be read ({reason(error)}). Convert its columns to plain numbers and texts, and "
            "leave out columns of other types."
        ),
        MemoryError, ImportError, Warning,
    )  # fmt: skip


def reason(error: Exception) -> str:
    """Another library's message for use in ours: one line, not too long."""
    text = str(error).strip().partition("\n")[0] or type(error).__name__
    if isinstance(error, KeyError):
        text = f"there is no {text}"
    text = _ADDRESS.sub("", text)
    text = text if text.isprintable() else repr(text)
    return text.rstrip(".") if len(text) <= 200 else text[:200] + "..."


def reads_rows(read: Callable[[Source, int, int], Block]) -> Callable[[Source, int, int], Block]:
    """Guard the `read` of a row source, compare its block with the expected shape and record rounded integers.

    `integers`, if the source has it, are the positions of columns stored as integers that float64 may round.
    """

    @functools.wraps(read)
    def checked(self: Any, start: int, stop: int) -> Block:
        name = self.metadata.name
        with reading(name, f"rows {start + 1:,} to {stop:,}"):
            block = read(self, start, stop)
        if isinstance(state := getattr(self, "state", None), FileState) and not Path(state.path).is_dir():
            state.check(name, start, stop)  # check again: it may have changed during the read
        expected = (stop - start, self.shape[1])
        if block.shape != expected:
            raise FileError(
                f"{name}, rows {start + 1:,} to {stop:,}: the file declares a block of shape "
                f"{expected}, but contains a block of shape {block.shape}. Copy the file again, or "
                "export it again."
            )
        if integers := getattr(self, "integers", ()):
            self.metadata.rounded.check(block, integers, self.metadata.column_names)
        return block

    return checked
