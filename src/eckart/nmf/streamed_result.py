"""NMF of rows read in blocks, as a Decomposition."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from eckart.engine.blocks.checkpoint import Journal, key_of
from eckart.engine.blocks.cluster import find_cluster
from eckart.engine.blocks.dask_rows import DaskRows, is_dask
from eckart.engine.blocks.source import RowSource
from eckart.engine.matrix import Opened
from eckart.engine.settings import generator
from eckart.engine.threads import threads
from eckart.environment import say_bytes
from eckart.io.open_matrix import open_matrix
from eckart.nmf.certificate import moved_by_rounding
from eckart.nmf.compare import paired_cosines
from eckart.nmf.constants import EXPECTED_PASSES
from eckart.nmf.details import NMFDetails
from eckart.nmf.options import NMFOptions, Settings, check_settings
from eckart.nmf.streamed import Streamed, certificate_of, fit_blocks, rows_of
from eckart.options import memory_bytes
from eckart.result import Decomposition, Plan, SolveInfo


def blocks_of(data: object, memory: str | int | None, *, stream: bool | None) -> Opened | None:
    """The data if their rows are read in blocks; None if they are in memory, or fit."""
    elsewhere = isinstance(data, str | os.PathLike | RowSource) or is_dask(data)
    if stream is False or not (stream or elsewhere):
        return None
    opened = open_matrix(data, memory=memory_bytes(memory), stream=stream)
    # Each block has its own powers of two.
    return None if opened.matrix.resident else replace(opened, matrix=replace(opened.matrix, exponent=0), exponent=0)


def factorise_blocks(opened: Opened, options: NMFOptions) -> Decomposition[NMFDetails]:
    matrix, H = opened.matrix, options.H
    settings = check_settings(matrix.shape, options)
    seed, random = generator(options.rng)
    reading = matrix.reading
    reading.callback, reading.expected = options.callback, min(settings.max_iter, EXPECTED_PASSES)
    if options.executor is not None or isinstance(matrix.source, DaskRows):
        reading.cluster = find_cluster(options.executor, wanted=True)
    if options.checkpoint is not None:
        run = {
            "method": "nmf", "settings": asdict(settings),
            "blocks": key_of("edges", np.asarray(matrix.edges)), "seed": str(random.bit_generator.state),
            "H": key_of("H", None if H is None else np.asarray(H, np.float64)),
        }  # fmt: skip
        reading.journal = Journal.open(options.checkpoint, run, matrix)
    with reading.journal or nullcontext():
        streamed = fit_blocks(matrix, settings, random, H=H, executor=options.executor)
        left = rows_of(matrix, settings, streamed.outcome.right) if options.left else None
    return _assembled(opened, settings, streamed, left, seed)


def _assembled(
    opened: Opened, settings: Settings, streamed: Streamed, left: np.ndarray | None, seed: int | None
) -> Decomposition[NMFDetails]:
    matrix, outcome, seen = opened.matrix, streamed.outcome, streamed.seen
    rows, columns = matrix.shape
    widths, lengths = np.sqrt(seen.squares), np.linalg.norm(outcome.right, axis=0)
    dtype = matrix.dtype
    passes = matrix.passes
    values = widths * lengths
    moved = moved_by_rounding(values, dtype) / max(float(np.sqrt(seen.norm)), 1e-300)
    return Decomposition(
        method="nmf", values=values.astype(dtype),
        right=(outcome.right / np.where(lengths > 0, lengths, 1)).astype(dtype),
        left=None if left is None else (left / np.where(widths > 0, widths, 1)).astype(dtype),
        rows=rows, columns=columns, norm=float(np.sqrt(seen.norm)), weight=float(rows),
        column_names=opened.metadata.column_names, certificate=certificate_of(streamed, settings, passes, moved),
        plan=_plan(matrix, settings), notes=opened.metadata.all_notes,
        info=SolveInfo(solver="auto", passes=passes, steps=outcome.iterations, seed=seed, threads=threads()),
        details=NMFDetails(
            lengths=lengths, options=settings.for_coordinates, history=np.array(outcome.history),
            error=float(np.sqrt(2.0 * streamed.loss)), iterations=outcome.iterations, compressed_iterations=0,
            converged=outcome.converged, why=outcome.why, runs=np.array(streamed.losses),
            agreement=paired_cosines(outcome.right, outcome.right)[None], sums=seen.sums,
        ),
    )  # fmt: skip


def _plan(matrix: Any, settings: Settings) -> Plan:
    rows, columns = matrix.shape
    block = int(np.diff(matrix.edges).max()) * columns * 8
    why = (
        f"Each iteration reads all rows once, in blocks of up to {say_bytes(block)}. For each block, "
        "it computes the best W and updates the sums that determine the next H."
    )
    return Plan(
        method="nmf", solver="auto", rows=rows, columns=columns, k=settings.k, passes=settings.max_iter,
        peak_bytes=3 * block + 8 * 6 * settings.k * columns, why=why,
    )  # fmt: skip
