"""Entries in any order as rows: sorted once into a temporary file, which is removed with the source."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.source import Metadata
from eckart.environment import MAX_EXPANSION
from eckart.errors import ClusterError, FileError
from eckart.fingerprint import FileState, fingerprint
from eckart.io.arrays.npz_rows import NpzRows, npz_rows
from eckart.io.bytes import open_path
from eckart.io.entries.csr_file import write_csr
from eckart.io.entries.triplets import EntryBlocks
from eckart.io.rows import TemporaryRows
from eckart.notes import Note
from eckart.spool import VARIABLE, Spool, stated_folder

_NOTE = Note(
    "sorted_entries",
    (
        "The entries of the matrix were sorted by row in a temporary file. To skip this step next "
        "time, convert the file once with 'eckart convert'."
    ),
)


@dataclass(frozen=True)
class SpooledRows(TemporaryRows[NpzRows]):
    """The rows of `originals`, files of entries, read from a sorted copy in a temporary folder."""

    originals: tuple[FileState, ...]

    def pointers(self) -> Iterator[np.ndarray]:
        return self.source.pointers()

    def fingerprint(self) -> JsonObject:
        """Fingerprint of the given files: the sorted copy differs in every run."""
        return fingerprint(self.originals, shape=list(self.shape))

    def for_workers(self) -> tuple[NpzRows, Spool | None]:
        """The sorted copy where the workers of a cluster can read it, and the folder to keep alive."""
        if stated_folder() is not None:
            return self.source, self.spool
        copy, folder = Path(self.source.state.path), Path(self.originals[0].path).parent
        try:
            spool = Spool(folder)
            target = spool.folder / copy.name
            try:
                os.link(copy, target)
            except OSError:  # another file system
                shutil.copyfile(copy, target)
        except (FileError, OSError) as error:
            raise ClusterError(
                f"The entries of {self.metadata.name} must be sorted by row for the Dask workers, but "
                f"the sorted copy cannot be written to {folder} ({error}). Set the environment "
                f"variable {VARIABLE} to a folder that all workers can read under the same path, or "
                f"convert the file once: eckart convert {self.metadata.name} "
                f"{Path(self.metadata.name).stem}.npz"
            ) from error
        rows = replace(self.source, state=FileState.of(str(target)), _readers={})
        return rows, spool


def spooled_rows(
    paths: Sequence[str],
    name: str,
    entries: EntryBlocks,
    *,
    notes: tuple[Note, ...] = (),
    memory: int | None = None,
) -> SpooledRows:
    """Sort entries by rows in a folder that is removed with the source."""
    originals, spool = tuple(map(FileState.of, paths)), Spool()
    target = str(spool.folder / f"{name}.npz")
    try:
        write_csr(target, entries.shape, entries.blocks, overwrite=True, name=name, memory=memory, dtype=entries.dtype)
        rows = npz_rows(open_path(target, MAX_EXPANSION), target, memory)
    except BaseException:
        spool.remove()
        raise
    assert rows is not None
    for original in originals:
        original.check(Path(original.path).name, 0, entries.shape[0])  # it was read twice, and both passes had to agree
    notes = (*notes, *entries.rounded.notes())
    metadata = Metadata(name, notes=notes, parsing_notes=(*notes, _NOTE))
    return SpooledRows(replace(rows, metadata=metadata), spool, metadata, originals)
