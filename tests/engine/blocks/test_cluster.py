"""Dask: the same answer on any number of workers, also when they die; an error, never a hang, when all are gone."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import eckart as ek
from eckart.engine.blocks.cluster import Cluster, find_cluster
from eckart.engine.blocks.dask_rows import dask_rows
from eckart.engine.blocks.stacked import StackedBlocks
from eckart.errors import CheckpointError, ClusterError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Dask's own, on ports, workers that died and sockets
]


def table(rows=6000, columns=40):
    rng = np.random.default_rng(0)
    return rng.standard_normal((rows, columns)) * np.linspace(3, 0.1, columns) + 2.0


ELSEWHERE = """
import os, sys

def dask_setup(worker):
    os.chdir({there!r})

    def hide(event, arguments):
        if event == "open" and isinstance(arguments[0], str | bytes):
            if os.fsdecode(arguments[0]).startswith({hidden!r}):
                raise FileNotFoundError(2, "No such file or directory", arguments[0])

    sys.addaudithook(hide)
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The working directory of the workers."""
    return tmp_path_factory.mktemp("worker")


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    """A temporary folder of the client that no worker can see into."""
    return tmp_path_factory.mktemp("client")


def local_cluster(workers, **options):
    """Workers with one thread each, on loopback, without a dashboard and a profiler, which cost processor time."""
    options |= {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50}
    with dask.config.set({"distributed.worker.profile.enabled": False}):
        return distributed.LocalCluster(n_workers=workers, **options)


@pytest.fixture(scope="module")
def client(elsewhere, hidden, tmp_path_factory):
    """Workers with another working directory and another temporary folder than the client's."""
    preload = tmp_path_factory.mktemp("preload") / "elsewhere.py"
    preload.write_text(ELSEWHERE.format(there=str(elsewhere), hidden=str(hidden)))
    options = {"env": {"TMPDIR": str(tmp_path_factory.mktemp("temporary"))}, "preload": [str(preload)]}
    with (
        local_cluster(2, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("chunks", [(700, 40), (1000, 17), ((100, 5000, 900), (40,))])
def test_arrays(client, solver, chunks):
    data = table()
    whole = ek.decompose(data, k=4, solver=solver, left=True)
    d = ek.decompose(da.from_array(data, chunks=chunks), k=4, solver=solver, left=True)
    np.testing.assert_allclose(d.values, whole.values, rtol=1e-9)
    np.testing.assert_allclose(d.right, whole.right, atol=1e-5)
    np.testing.assert_allclose(d.left, whole.left, atol=1e-5)


def test_sparse_chunks(client):
    data = sp.random_array((5000, 300), density=0.02, format="csr", rng=np.random.default_rng(0))
    chunks = da.concatenate(
        [
            da.from_delayed(_rows(data, start), shape=(1000, 300), dtype=float, meta=sp.csr_array((0, 0)))
            for start in range(0, 5000, 1000)
        ]
    )
    d = ek.decompose(chunks, "svd", k=3)
    np.testing.assert_allclose(d.values, ek.decompose(data, "svd", k=3).values, rtol=1e-8)


def _rows(data, start):
    return dask.delayed(lambda: data[start : start + 1000])()


def test_frames(client):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table(500, 4), columns=list("abcd"))
    d = ek.decompose(dd.from_pandas(frame, npartitions=3), k=2)
    assert d.column_names == ("a", "b", "c", "d")
    np.testing.assert_allclose(d.values, ek.decompose(frame, k=2).values, rtol=1e-9)
    frame["town"] = ["x", "y"] * 250
    named, whole = ek.decompose(dd.from_pandas(frame, npartitions=3), k=2), ek.decompose(frame, k=2)
    assert named.column_names == whole.column_names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(named.values, d.values)


def test_files_are_read_by_the_workers(client, tmp_path):
    data = table()
    np.save(tmp_path / "a.npy", data)
    d = ek.decompose(tmp_path / "a.npy", k=4, executor="dask", memory="1MB")
    np.testing.assert_allclose(d.values, ek.decompose(data, k=4).values, rtol=1e-9)
    assert "blocks" in d.plan.why


def test_relative_paths(client, tmp_path, monkeypatch):
    data = table(1000)
    np.save(tmp_path / "a.npy", data)
    monkeypatch.chdir(tmp_path)
    d = ek.decompose("a.npy", k=4, executor=client, memory="1MB")
    values = np.linalg.svd(data - data.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(d.values, values[:4], rtol=1e-9)


def test_sorted_copies_are_where_workers_can_read_them(client, tmp_path, hidden, monkeypatch):
    data = sp.random_array((600, 40), density=0.2, rng=np.random.default_rng(5))
    scipy.io.mmwrite(tmp_path / "a.mtx", data)
    monkeypatch.setattr("tempfile.tempdir", str(hidden))
    d = ek.decompose(tmp_path / "a.mtx", "svd", k=3, executor=client, memory="1MB")
    np.testing.assert_allclose(d.values, np.linalg.svd(data.toarray(), compute_uv=False)[:3], rtol=1e-8)
    gc.collect()
    assert [path.name for path in tmp_path.iterdir()] == ["a.mtx"]
    assert not list(hidden.glob("eckart-*"))

    def refused(folder, *arguments, **options):
        if folder.parent == tmp_path and folder.name.startswith("eckart-"):
            raise PermissionError(13, "Permission denied")
        return mkdir(folder, *arguments, **options)

    mkdir = Path.mkdir
    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(ClusterError, match=r"Permission denied.*ECKART_SPOOL.*eckart convert"):
        ek.decompose(tmp_path / "a.mtx", "svd", k=3, executor=client, memory="1MB")
    (tmp_path / "stated").mkdir()
    monkeypatch.setenv("ECKART_SPOOL", str(tmp_path / "stated"))
    again = ek.decompose(tmp_path / "a.mtx", "svd", k=3, executor=client, memory="1MB")
    np.testing.assert_array_equal(again.values, d.values)


def test_sorted_copies_of_several_files(client, tmp_path, hidden, monkeypatch):
    data = sp.random_array((600, 40), density=0.2, rng=np.random.default_rng(5)).tocsr()
    for number in range(2):
        scipy.io.mmwrite(tmp_path / f"{number}.mtx", data[300 * number : 300 * (number + 1)])
    monkeypatch.setattr("tempfile.tempdir", str(hidden))
    source = ek.open_data([tmp_path / "0.mtx", tmp_path / "1.mtx"], memory="20kB")
    d = ek.decompose(source, "svd", k=3, executor=client)
    np.testing.assert_allclose(d.values, np.linalg.svd(data.toarray(), compute_uv=False)[:3], rtol=1e-8)
    del source
    gc.collect()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.mtx", "1.mtx"]


@pytest.mark.skipif(not Path("/proc/self/cwd").is_dir(), reason="needs a path that differs between processes")
def test_files_of_the_same_name_are_told_apart(client, tmp_path, elsewhere, monkeypatch):
    """/proc/self/cwd leads every process to its own working directory."""
    monkeypatch.chdir(tmp_path)
    data = table(1000)
    np.save(tmp_path / "a.npy", data)

    def run():
        return ek.decompose("/proc/self/cwd/a.npy", k=4, executor=client, memory="1MB")

    with pytest.raises(ClusterError, match=r"cannot compute block \d of 5 \(rows .*a.npy: No such file.*same path"):
        run()
    np.save(elsewhere / "a.npy", data)
    np.testing.assert_array_equal(run().values, ek.decompose("a.npy", k=4, executor=client, memory="1MB").values)
    np.save(elsewhere / "a.npy", data * 1.5)
    with pytest.raises(ClusterError, match="same size, different content"):
        run()
    np.save(elsewhere / "a.npy", data[:-1])
    with pytest.raises(ClusterError, match=r"bytes instead of "):
        run()


def test_other_versions_are_refused(client, tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", table(1000))
    there = ek.__version__
    monkeypatch.setattr("eckart.__version__", "9.9")
    with pytest.raises(ClusterError, match=rf"has Eckart {there}, but the client has Eckart 9.9.*pip install"):
        ek.decompose(tmp_path / "a.npy", k=4, executor=client, memory="1MB")


def fail(block, block_info=None):
    if block_info and block_info[None]["chunk-location"][0] == 2:
        raise ValueError("that one")
    return block


def test_failing_blocks_are_named(client):
    data = da.from_array(table(800, 10), chunks=(100, 10)).map_blocks(fail, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ClusterError, match=r"Block 3 of 8 \(rows 201 to 300\) failed.*ValueError: that one"):
        ek.decompose(data, k=2, executor=client)


class Stop(Exception):
    """Interrupted."""


class Unreadable:
    """A function that cannot be unpickled."""

    def __call__(self, block):
        return block

    def __reduce__(self):
        return exec, ("raise ModuleNotFoundError('no module of yours')",)


def test_work_that_the_scheduler_cannot_read(client):
    data = da.from_array(table(600, 10), chunks=(200, 10)).map_blocks(Unreadable(), dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ClusterError, match=r"(?s)cannot compute block 1 of 3 \(rows 1 to 200\).*deserialization"):
        ek.decompose(data, k=2, executor=client)
    with pytest.raises(ClusterError, match=r"(?s)cancelled the work before block 1 of 3 \(rows 1 to 200\).*: \w"):
        _sum_of(data, Cluster(client))


def test_graphs_that_fail_before_the_first_pass():
    def fail(block):
        if len(block):
            raise ValueError("no such shelf")
        return block

    data = da.from_array(table(600, 10), chunks=(200, 10)).map_blocks(fail, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ClusterError, match=r"cannot compute block 1 of 3 \(rows 1 to 200\): ValueError: no such shelf"):
        ek.decompose(data, k=2)


def test_checkpoints_of_clusters(client, tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, table(1500))
    options = {"k": 4, "solver": "lanczos", "executor": client, "memory": "1MB"}
    straight = ek.decompose(path, **options)

    def interrupt():
        def callback(progress):
            if progress.current_pass == 2:
                raise Stop

        with pytest.raises(Stop):
            ek.decompose(path, **options, checkpoint=tmp_path / "c", callback=callback)

    interrupt()
    copy = shutil.copy2(path, tmp_path / "copy.npy")
    resumed = ek.decompose(copy, **options, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(resumed.right, straight.right)
    interrupt()
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(before.st_size // 2)
        file.write(b"12345678")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(CheckpointError):
        ek.decompose(path, **options, checkpoint=tmp_path / "c")


def test_an_estimator(client):
    data = table()
    pca = ek.PCA(3).fit(da.from_array(data, chunks=(1500, 40)))
    np.testing.assert_allclose(pca.explained_variance_, ek.PCA(3).fit(data).explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("solver", ["gram", "lanczos"])
def test_the_number_of_workers_changes_no_bit(client, solver):
    data = da.from_array(table(), chunks=(500, 40))
    two = ek.decompose(data, k=4, solver=solver)
    with (
        local_cluster(1) as cluster,
        distributed.Client(cluster, set_as_default=False) as single,
    ):
        one = ek.decompose(data, k=4, solver=solver, executor=single)
    np.testing.assert_array_equal(one.right, two.right)
    np.testing.assert_array_equal(one.values, two.values)


@pytest.mark.parametrize("times", [2, 1000])
@pytest.mark.parametrize("name", ["_run", "_gather"])
def test_requests_that_dask_cancels_are_repeated(client, monkeypatch, name, times):
    """Its event loop cancels requests on a busy machine, and the client then raises UnboundLocalError."""
    original, cancelled = getattr(client, name), []

    async def request(*arguments, **options):
        cancelled.append(name)
        if len(cancelled) <= times:
            raise asyncio.CancelledError
        return await original(*arguments, **options)

    data = da.from_array(table(), chunks=(1000, 40))
    expected = ek.decompose(data, k=2).values
    monkeypatch.setattr(client, name, request)
    if name == "_gather" and times > 2:
        with pytest.raises(ClusterError, match="Dask cancelled the request 3 times"):
            ek.decompose(data, k=2)
    else:  # workers that do not tell their version get tasks all the same
        np.testing.assert_array_equal(ek.decompose(data, k=2).values, expected)
    assert cancelled


def test_the_same_error_in_a_graph_is_not_taken_for_a_cancelled_request(client):
    def wrong(block):
        if block.shape == ():
            value = block
        return value

    data = da.from_array(table(), chunks=(1000, 40)).map_blocks(wrong, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ClusterError, match="UnboundLocalError"):
        ek.decompose(data, k=2)


def test_no_cluster_is_started_silently():
    assert find_cluster(None, wanted=False) is None
    with pytest.raises(ClusterError, match="is not valid"):
        find_cluster("spark", wanted=False)


def test_dask_arrays_without_the_package_distributed(monkeypatch):
    """`pip install dask[array]` is enough where there is no cluster."""
    monkeypatch.setitem(sys.modules, "distributed", None)  # an import raises ImportError
    table = np.random.default_rng(4).normal(size=(300, 6)) * [6, 5, 4, 3, 2, 1]
    d = ek.decompose(da.from_array(table, chunks=(100, 6)), k=2)
    wanted = np.linalg.svd(table - table.mean(axis=0), compute_uv=False)[:2]
    np.testing.assert_allclose(d.values, wanted, rtol=1e-12)


def slowly(block):
    time.sleep(0.05)
    return block


def test_a_worker_dies_and_the_answer_is_right():
    data = table(4000, 30)
    whole = ek.decompose(data, k=4, solver="lanczos")
    with (
        local_cluster(2) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        slow = da.from_array(data, chunks=(400, 30)).map_blocks(slowly, dtype=float, meta=np.empty((0, 0)))
        killer = threading.Timer(0.6, lambda: os.kill(_pids(client)[0], signal.SIGKILL))
        killer.start()
        d = ek.decompose(slow, k=4, solver="lanczos", executor=client)
        killer.join()
    np.testing.assert_allclose(d.values, whole.values, rtol=1e-9)


def _pids(client):
    return list(client.run(os.getpid).values())


def die(block):
    if block.shape[0] > 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.parametrize("how", ["a deadly block", "no workers"])
def test_an_error_in_time_and_never_a_hang(how):
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),  # every further attempt starts another worker
        local_cluster(1) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        data = da.from_array(table(800, 10), chunks=(200, 10))
        if how == "a deadly block":
            data = data.map_blocks(die, dtype=float, meta=np.empty((0, 0)))
        else:
            cluster.scale(0)
            time.sleep(1.0)
        start = time.monotonic()
        with pytest.raises(ClusterError, match=r"Block \d of 4 \(rows .* killed its worker|no worker"):
            _sum_of(data, Cluster(client, patience=3.0))
        assert time.monotonic() - start < 60


def _sum_of(data, cluster):
    from eckart.engine.blocks.dask_rows import DaskRows

    rows = dask_rows(data)
    assert isinstance(rows, DaskRows)
    matrix = StackedBlocks(rows, rows.edges, "float64")
    matrix.reading.cluster = cluster
    return matrix.gram()


@contextlib.contextmanager
def own_scheduler(folder):
    """(client, process of the scheduler) of a scheduler and one worker in processes of their own, on loopback."""
    address = ["--scheduler-file", str(folder / "scheduler.json")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    module = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen([*module, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", *address], **quiet)
    client = worker = None
    try:
        client = distributed.Client(scheduler_file=address[1], timeout=60, set_as_default=False)
        module = [sys.executable, "-m", "distributed.cli.dask_worker"]
        worker = subprocess.Popen([*module, *address, "--nthreads", "1", "--no-dashboard"], **quiet)
        client.wait_for_workers(1, timeout=120)
        client._timeout = 3.0  # seconds in which it tries to connect to a lost scheduler again
        yield client, scheduler
    finally:
        for process in filter(None, (scheduler, worker)):
            process.kill()
            process.wait()
        if client is not None:
            client.close(timeout=2)  # otherwise its thread tries to reconnect until the process ends


def killing(number, victim, passes, folder, how=signal.SIGKILL):
    """A function of a block that sends the signal `how` to the process `victim` in the given pass.

    It is sent by value, because the scheduler cannot import this module.
    """

    def kill(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == number:
            with Path(folder, "passes").open("a+") as file:
                file.write(".")
                file.seek(0)
                if len(file.read()) == passes:
                    os.kill(victim, how)
                    time.sleep(2.0)  # the block is not complete when the connection breaks
        return block

    return kill


def test_a_scheduler_killed_during_a_pass(tmp_path):
    """A block kills the scheduler itself, so it is lost in the middle of the pass for certain."""
    with own_scheduler(tmp_path) as (client, scheduler):
        kill = killing(7, scheduler.pid, 2, str(tmp_path))
        chunks = da.from_array(table(4000, 20), chunks=(100, 20))
        data = chunks.map_blocks(kill, dtype=float, meta=np.empty((0, 0)))
        named = r"scheduler was lost.* before block [1-8] of 40 \(rows \d+ to \d+\) was complete.*checkpoint="
        with pytest.raises(ClusterError, match=named):
            ek.decompose(data, "svd", k=3, solver="lanczos", executor=client)
        assert scheduler.wait(10) == -signal.SIGKILL
        assert len((tmp_path / "passes").read_text()) == 2


def test_a_scheduler_killed_between_passes(tmp_path):
    """The next pass is submitted to a scheduler that no longer exists."""
    np.save(tmp_path / "data.npy", table(4000, 20))
    with own_scheduler(tmp_path) as (client, scheduler):
        options = {"k": 3, "solver": "lanczos", "memory": "600KB", "executor": client}

        def kill(_progress):
            scheduler.kill()
            scheduler.wait()

        with pytest.raises(ClusterError, match=r"lost.* before .*block"):
            ek.decompose(tmp_path / "data.npy", "svd", **options, callback=kill)
        assert scheduler.poll() == -signal.SIGKILL


def test_a_stopped_scheduler_is_an_error(tmp_path):
    """It keeps its connections but does not answer."""
    with own_scheduler(tmp_path) as (client, scheduler):
        stop = killing(7, scheduler.pid, 1, str(tmp_path), signal.SIGSTOP)
        data = da.from_array(table(4000, 20), chunks=(100, 20)).map_blocks(stop, dtype=float, meta=np.empty((0, 0)))
        with pytest.raises(ClusterError, match=r"before block [1-8] of 40 .*was complete.* did not answer"):
            _sum_of(data, Cluster(client, patience=2.0))
        assert len((tmp_path / "passes").read_text()) == 1


def test_an_asynchronous_client_is_refused(client, tmp_path):
    np.save(tmp_path / "data.npy", table(500, 5))
    with pytest.raises(ClusterError, match=r"client is asynchronous.*without asynchronous=True"):
        asyncio.run(_decompose_with_asynchronous_client(client.scheduler.address, tmp_path / "data.npy"))


async def _decompose_with_asynchronous_client(address, path):
    async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
        return ek.decompose(path, k=2, executor=client)
