"""Workers whose processes are stopped: they keep their connections, but their blocks must not be waited for."""

from __future__ import annotations

import contextlib
import os
import signal
import time

import numpy as np
import pytest

import eckart as ek
from eckart.errors import ClusterError

dask = pytest.importorskip("dask")
pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="stops processes"),
    pytest.mark.filterwarnings("ignore"),  # Dask's own, on workers that died
]


@contextlib.contextmanager
def workers(number, **limits):
    """(client, processes) of a cluster on loopback; the processes run again at the end, so that they can be closed."""
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        distributed.LocalCluster(
            n_workers=number, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50, **limits
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        processes = list(client.run(os.getpid).values())
        try:
            yield client, processes
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("eckart.engine.blocks.cluster._PATIENCE", 4.0)
    rng = np.random.default_rng(0)
    np.save(tmp_path / "data.npy", rng.standard_normal((4000, 40)) * np.linspace(3, 1, 40))
    return tmp_path / "data.npy"


def options(client, stopped=()):
    """Keywords of a run that stops the processes after its first pass."""

    def stop(progress):
        if progress.current_pass == 1 and progress.block == progress.blocks:
            for process in stopped:
                os.kill(process, signal.SIGSTOP)

    return {"k": 3, "solver": "lanczos", "memory": "600KB", "executor": client, "callback": stop}


def test_other_workers_repeat_the_blocks_of_a_stopped_one(path):
    with workers(2) as (client, processes):
        wanted = ek.decompose(path, "svd", **options(client))
        d = ek.decompose(path, "svd", **options(client, processes[:1]))
    assert d.info.passes > 1
    np.testing.assert_array_equal(d.right, wanted.right)
    np.testing.assert_array_equal(d.values, wanted.values)


def test_an_error_if_every_worker_is_stopped(path):
    with workers(2) as (client, processes):
        named = r"before block \d+ of \d+ \(rows .*4 seconds .*no worker .*accepted tasks.*Start the workers again"
        with pytest.raises(ClusterError, match=named):
            ek.decompose(path, "svd", **options(client, processes))


def _running(dask_scheduler):
    return len(dask_scheduler.running)


@pytest.mark.parametrize("kind", ["file", "array"])
def test_an_error_if_every_worker_is_paused(path, kind):
    """Dask pauses workers that use most of their memory; they send heartbeats, but start no tasks."""
    fractions = {f"distributed.worker.memory.{name}": False for name in ("target", "spill", "terminate")}
    data = path if kind == "file" else dask.array.from_array(np.load(path), chunks=(500, 40))
    named = r"before block \d+ .*no worker .*accepted tasks.*more memory if Dask paused"
    with (
        dask.config.set(fractions | {"distributed.worker.memory.pause": 0.5}),
        workers(1, memory_limit="100MB", processes=False, protocol="tcp") as (client, _),
    ):
        while client.run_on_scheduler(_running):
            time.sleep(0.1)
        with pytest.raises(ClusterError, match=named):
            ek.decompose(data, "svd", **options(client) | {"memory": "2MB"})
