"""A file that appears under its name only when it is complete: write beside it, fsync, rename."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from eckart.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def new_file(
    path: str | os.PathLike[str], *, overwrite: bool, error: type[FileError] = FileError
) -> Iterator[IO[bytes]]:
    """Open a draft in the same folder; it takes the name `path` when the block ends well and is removed when not."""
    target = Path(path)
    if not overwrite and os.path.lexists(target):
        raise error(f"{target} exists already, and nothing was written. Give overwrite=True to replace it.")
    draft = target.with_name(f".{target.name[:50]}.{secrets.token_hex(6)}.tmp")
    try:
        with draft.open("x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _publish(draft, target, overwrite=overwrite)
    except FileExistsError as cause:
        message = f"{target} was made by somebody else meanwhile and is untouched. Give overwrite=True to replace it."
        raise error(message) from cause
    except OSError as cause:
        size = f" ({_length(draft):,} bytes)" if _length(draft) else ""
        message = f"{target}{size} cannot be written: {cause.strerror or cause}. What was there before is untouched."
        raise error(message) from cause
    finally:
        draft.unlink(missing_ok=True)


def _length(draft: Path) -> int:
    try:
        return draft.stat().st_size
    except OSError:
        return 0


def _publish(draft: Path, target: Path, *, overwrite: bool) -> None:
    if overwrite:
        draft.replace(target)
    else:
        _rename_to_free_name(draft, target)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _rename_to_free_name(draft: Path, target: Path) -> None:
    try:
        target.hardlink_to(draft)  # unlike a rename, this fails when the name is taken
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        draft.rename(target)
