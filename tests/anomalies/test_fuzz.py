"""Two thousand damaged files of every kind, both ways of reading: right or refused (see `make fuzz` for more)."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.anomalies.fuzz.__main__ import run
from tests.anomalies.fuzz.expanding import ALLOWANCE, EXPANDING, LIMIT, peaks
from tests.anomalies.fuzz.mutations import mutate
from tests.anomalies.fuzz.outcomes import compared, judge, outcome
from tests.anomalies.fuzz.valid_files import FILES
from tests.anomalies.fuzz.variants import VARIANTS

REFUSED = {
    "header.csv", "empty.csv", "newline.csv", "infinite.csv", "huge.csv", "ragged.csv", "bzip.csv", "xz.csv", "nul.csv",
    "complex.npy", "objects.npy", "records.npy", "line.npy", "cube.npy", "no-rows.npy", "no-columns.npy", "dates.npy",
    "words.npy", "complex.npz", "two.npz", "no-members.npz", "complex.mtx", "hermitian.mtx", "no-rows.mtx",
    "fraction.mtx", "real-words.mtx", "no-rows.parquet", "negative-entries.parquet", "no-rows.arrow",
    "no-batches.arrow", "first.feather", "no-rows.h5",
    "no-columns.h5", "complex.h5", "records.h5", "cube.h5", "partial.h5", "csc.h5ad", "szip.h5", "scaled2.zarr",
    "partial3.zarr", "cube3.zarr",
}  # fmt: skip
"""Files without a matrix of real numbers, or with one that cannot be told for certain."""
UNCOMPARED = {
    "blank-lines.csv", "same-names.csv", "trailing.csv", "comment.csv", "zstd.csv", "one-cell.csv",
    "same-names.parquet", "same-names.arrow", "odd-names.parquet", "odd-names.arrow",
}  # fmt: skip
"""Texts that the csv module reads otherwise, and columns that have other names once they are read."""


@pytest.mark.parametrize("seed", range(2))
def test_damaged_files_are_refused_or_read_right(seed: int) -> None:
    """Each run first writes all valid files, so two long runs take less time than four short ones."""
    found = run(argparse.Namespace(first=0, last=1000, seed=seed, seconds=0.0, only="", keep="", jobs=1, progress=60.0))
    assert found.faults == []
    assert found.ran == set(range(1000))


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="measures peak memory as Linux does")
@pytest.mark.parametrize(("seed", "kinds"), [(0, tuple(EXPANDING)), (1, ("parquet", "understated"))])
def test_files_that_expand_stay_within_the_memory_limit(tmp_path: Path, seed: int, kinds: tuple[str, ...]) -> None:
    """About 250 MB in files of at most 1.3 MB."""
    found = peaks(seed, tmp_path, kinds)
    assert len(found) >= min(len(kinds), 4)
    assert {kind: added for kind, (added, _) in found.items() if added > LIMIT + ALLOWANCE} == {}


@pytest.mark.parametrize("limit", ["SIGTERM", "--seconds", "--to"])
def test_every_end_of_a_run_is_reported(limit: str) -> None:
    """The summary tells which mutations ran, and the exit code whether there were faults."""
    command = [sys.executable, "-m", "tests.anomalies.fuzz", "--only", "plain.csv", "--seed", "3", "--from", "20"]
    more = ["--count", "100000"]
    command += {
        "SIGTERM": [*more, "--progress", "0"], "--seconds": [*more, "--seconds", "5"], "--to": ["--to", "24"],
    }[limit]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        if limit == "SIGTERM":
            assert process.stdout is not None
            assert "1 ran" in next(line for line in process.stdout if "0 ran" not in line)
            process.terminate()
        told = process.communicate(timeout=300)[0].splitlines()[-1]
    assert process.returncode == 0
    assert re.match(r"seed 3, mutations (none|20-\d+): \d[\d,]* ran \(.*\), 0 faults", told)
    assert ("stopped early" in told) == (limit != "--to")
    assert limit != "--to" or "mutations 20-23: 4 ran" in told


def _write(name: str, path: Path) -> None:
    try:
        {**FILES, **VARIANTS}[name](path)
    except pa.ArrowNotImplementedError as error:
        pytest.skip(f"this version of PyArrow cannot write the file: {error}")


@pytest.mark.parametrize("name", VARIANTS)
def test_files_of_other_programs(tmp_path: Path, name: str) -> None:
    """Whole, in blocks and by an independent reader the same, or refused."""
    path = tmp_path / name
    _write(name, path)
    assert judge(path) == ("", name in REFUSED)
    if name not in REFUSED | UNCOMPARED:
        assert compared(path, outcome(path, stream=False), always=True) == ""


@pytest.mark.parametrize("name", [*FILES, *VARIANTS])
def test_both_ways_of_reading_refuse_in_the_same_words(tmp_path: Path, name: str) -> None:
    """Cut off and overwritten at the beginning, in the middle and at the end."""
    _write(name, tmp_path / name)
    files = [tmp_path / name] if (tmp_path / name).is_file() else sorted((tmp_path / name).rglob("*.json"))
    for file in files:
        content = file.read_bytes()
        for place in {min(9, len(content)), len(content) // 2, max(len(content) - 9, 0)}:
            for damaged in (content[:place], content[:place] + b"\xff" * 8 + content[place + 8 :]):
                file.write_bytes(damaged)
                memory, blocks = (outcome(tmp_path / name, stream=stream) for stream in (False, True))
                assert memory.fault == blocks.fault == ""
                assert memory.differs(blocks) == ""
        file.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("triplets.parquet", (90101, 3337)),
        ("mixed.parquet", (90101, 8730)),
        ("mixed.parquet", (70717, 5862)),
        ("mixed.parquet", (70717, 8223)),
        ("mixed.parquet", (70717, 15725)),
        ("columns.npy", (161101, 1007)),
    ],
)
def test_damage_that_one_way_of_reading_overlooked(tmp_path: Path, name: str, seed: tuple[int, int]) -> None:
    """A row group has a column of another type than the schema, or text with a damaged dictionary."""
    FILES[name](tmp_path / name)
    mutate(tmp_path / name, np.random.default_rng(seed), tmp_path if seed[0] != 90101 else None)
    assert judge(tmp_path / name).fault == ""
