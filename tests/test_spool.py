"""Temporary folders are removed after runs, errors, Ctrl-C and SIGTERM; those of killed processes by the next run."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import eckart as ek
from eckart.errors import FileError
from eckart.locks import FolderLock
from eckart.spool import Spool, remove_stale, spool_folder


def test_a_folder_lives_as_long_as_its_object(tmp_path):
    spool = Spool(tmp_path)
    (spool.folder / "data").write_bytes(b"1")
    assert [path.name for path in tmp_path.iterdir()] == [spool.folder.name]
    assert remove_stale(tmp_path) == 0
    del spool
    gc.collect()
    assert not list(tmp_path.iterdir())
    with Spool(tmp_path) as folder:
        (folder / "inner").mkdir()
    assert not list(tmp_path.iterdir())


def test_folders_of_others_are_left_alone(tmp_path):
    (tmp_path / "eckart-notes").mkdir()
    (tmp_path / "eckart-notes" / "precious").write_text("mine")
    (tmp_path / "eckart-file").write_text("mine")
    with Spool(tmp_path):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["eckart-file", "eckart-notes"]


def test_empty_folders_go_when_they_are_old(tmp_path):
    """A process killed between making and locking its folder leaves it empty."""
    old, new, other = (tmp_path / f"eckart-{name}" for name in ("abcd_123", "abcd_124", "results"))
    for folder in (old, new, other):
        folder.mkdir()
        if folder is not new:
            os.utime(folder, (0, 0))
    assert remove_stale(tmp_path) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["eckart-abcd_124", "eckart-results"]


@pytest.mark.skipif(sys.platform == "win32", reason="links are POSIX")
def test_no_link_is_followed(tmp_path):
    """Neither a folder that is a link, nor links in a folder, nor a lock that is a link."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "lock").write_text("mine")
    place = tmp_path / "place"
    place.mkdir()
    (place / "eckart-abcdefgh").symlink_to(precious)
    linked, stale = place / "eckart-abcdefgi", place / "eckart-abcdefgj"
    linked.mkdir()
    (linked / "lock").symlink_to(precious / "lock")
    stale.mkdir()
    (stale / "lock").write_text("1 elsewhere\n")
    (stale / "data").symlink_to(precious)
    (stale / "file").symlink_to(precious / "lock")
    assert remove_stale(place) == 1
    assert not stale.exists()
    assert (precious / "lock").read_text() == "mine"
    assert sorted(path.name for path in place.iterdir()) == ["eckart-abcdefgh", "eckart-abcdefgi"]


ENDS = textwrap.dedent("""
    import multiprocessing, os, sys, threading
    from concurrent.futures import ProcessPoolExecutor
    from eckart.spool import Spool
    kept = []
    def make(place):
        kept.append(Spool(place))
        (kept[-1].folder / "data").write_bytes(b"1")
    if __name__ == "__main__":
        how, place = sys.argv[1:]
        if how in ("fork", "spawn"):
            context = multiprocessing.get_context(how)
            process = context.Process(target=make, args=(place,))
            process.start()
            process.join()
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                pool.submit(make, place).result()
        elif how == "terminated":
            with multiprocessing.get_context("fork").Pool(1) as pool:  # ends its workers with SIGTERM
                pool.apply(make, (place,))
        elif how == "thread":
            thread = threading.Thread(target=make, args=(place,))
            thread.start()
            thread.join()
        elif how == "child":
            make(place)
            child = os.fork()
            if child == 0:
                sys.exit()
            os.waitpid(child, 0)
            assert (kept[0].folder / "data").exists()
        elif how == "error":
            make(place)
            raise ValueError
""")


@pytest.mark.skipif(sys.platform == "win32", reason="fork is POSIX")
@pytest.mark.parametrize("how", ["fork", "spawn", "terminated", "thread", "child", "error"])
def test_ends_of_processes(tmp_path, how):
    (tmp_path / "spool").mkdir()
    (tmp_path / "ends.py").write_text(ENDS)
    command = [sys.executable, "-W", "ignore", "ends.py", how, "spool"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert (b"ValueError" in ended.stderr) == (how == "error")
    assert ended.returncode == (how == "error"), ended.stderr.decode()
    assert not list((tmp_path / "spool").iterdir())


def test_no_place_for_a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ECKART_SPOOL", str(tmp_path / "nowhere"))
    with pytest.raises(FileError, match="ECKART_SPOOL"):
        Spool()


def matrix(path):
    scipy.io.mmwrite(path, sp.random_array((3000, 200), density=0.05, rng=np.random.default_rng(0)))


def test_runs_leave_nothing_behind(tmp_path, monkeypatch):
    matrix(tmp_path / "a.mtx")
    (tmp_path / "spool").mkdir()
    monkeypatch.setenv("ECKART_SPOOL", str(tmp_path / "spool"))
    ek.decompose(tmp_path / "a.mtx", "svd", k=2, stream=True)
    gc.collect()
    assert not list((tmp_path / "spool").iterdir())
    text = (tmp_path / "a.mtx").read_text().splitlines()
    (tmp_path / "b.mtx").write_text("\n".join([*text[:-1], "1 999999 1.0"]) + "\n")
    with pytest.raises(FileError):
        ek.decompose(tmp_path / "b.mtx", "svd", k=2, stream=True)
    assert not list((tmp_path / "spool").iterdir())


PROGRAM = textwrap.dedent("""
    import sys, time, eckart as ek
    def watch(progress):
        print("begun", flush=True)
        time.sleep(0.05)
    ek.decompose(sys.argv[1], "svd", k=3, solver="lanczos", memory="2MB", stream=True, callback=watch, max_passes=200)
    if sys.argv[2:] == ["error"]:
        raise ValueError
""")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("door", ["python", "command"])
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_signals(tmp_path, door, number):
    matrix(tmp_path / "a.mtx")
    spool = tmp_path / "spool"
    spool.mkdir()
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, "a.mtx"]
    if door == "command":
        fit = ["fit", "a.mtx", "--method", "svd", "-k", "3", "--memory", "2MB", "--checkpoint", "c", "-o", "m.eckart"]
        command = [sys.executable, "-W", "ignore", "-c", "from eckart.cli import main; main()", *fit]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "ECKART_SPOOL": str(spool), "TMPDIR": str(spool)},
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not list(spool.glob("eckart-*/*")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert list(spool.iterdir())
    process.send_signal(getattr(signal, number))
    _, errors = process.communicate(timeout=120)
    left = list(spool.iterdir())
    if number == "SIGKILL":
        assert left
        remove_stale(spool)
        assert not list(spool.iterdir())
        return
    assert not left, errors.decode()
    wanted = {("python", "SIGTERM"): -15, ("command", "SIGTERM"): 143, ("command", "SIGINT"): 130}
    assert process.returncode == wanted.get((door, number), -2)
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "m.eckart"))]


MAKES_FOLDERS = textwrap.dedent("""
    import sys
    from eckart.spool import Spool
    print("ready", flush=True)
    while True:
        Spool(sys.argv[1]).remove()
""")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_signal_at_any_moment_leaves_no_folder(tmp_path):
    """Between making a folder and registering its removal, too: every third of these runs left one behind."""
    for number in range(10):
        place = tmp_path / str(number)
        place.mkdir()
        command = [sys.executable, "-W", "ignore", "-c", MAKES_FOLDERS, str(place)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(0.002 + 0.0017 * number)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == -15
        assert not list(place.iterdir())


INTERRUPTED = textwrap.dedent("""
    import sys
    import eckart.spool as spool

    removed = spool._empty

    def interrupted(folder):
        spool._empty = removed
        raise KeyboardInterrupt

    try:
        with spool.Spool(sys.argv[1]) as folder:
            (folder / "data").write_text("data")
            spool._empty = interrupted
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert folder.exists()
""")


def test_a_second_interrupt_during_the_removal_leaves_no_folder(tmp_path):
    """Two Ctrl-C within a moment: the second one strikes in the block that removes the folder."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", INTERRUPTED, str(tmp_path)], check=True, timeout=120)
    assert not list(tmp_path.iterdir())


def test_no_temporary_folder_at_all(monkeypatch):
    """Python looks for one by writing to each; the data are not to blame."""

    def none(*_):
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.delenv("ECKART_SPOOL", raising=False)
    monkeypatch.setattr("tempfile.gettempdir", none)
    with pytest.raises(FileError, match="Set the environment variable ECKART_SPOOL"):
        spool_folder()


@pytest.mark.parametrize("options", [{}, {"left": True}, {"checkpoint": "runs"}, {"solver": "gram"}], ids=str)
def test_a_copy_is_removed_with_the_run_that_made_it(tmp_path, monkeypatch, options):
    """At once, and not when garbage is collected: it may be as large as the data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ECKART_SPOOL", str(tmp_path / "spool"))
    (tmp_path / "spool").mkdir()
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.random_array((3000, 60), density=0.1, rng=np.random.default_rng(7)))
    gc.collect()
    gc.disable()
    try:
        d = ek.decompose(tmp_path / "a.mtx", "svd", k=2, stream=True, **options)
        assert list((tmp_path / "spool").iterdir()) == []
    finally:
        gc.enable()
    assert d.values[0] > d.values[1]


def _entries_with_a_gap(folder):
    """Matrix Market file whose last row has a value that is missing."""
    path = folder / "gap.mtx"
    lines = [f"{row} {1 + row % 7} {row}.5" for row in range(1, 200)]
    path.write_text("\n".join(["%%MatrixMarket matrix coordinate real general", "200 7 200", *lines, "200 1 nan"]))
    return path


@pytest.mark.parametrize(
    "call",
    [
        lambda path: ek.decompose(path, "svd", k=2, stream=True),
        lambda path: ek.PCA(2, memory="20kB").fit(path),
        lambda path: ek.choose_rank(path, memory="20kB"),
        lambda path: ek.analyze(path, memory="20kB"),
        lambda path: ek.project_to(
            ek.decompose(np.random.default_rng(0).standard_normal((20, 7)), k=2), path, f"{path}.npy"
        ),
    ],
    ids=["decompose", "fit", "choose_rank", "analyze", "project_to"],
)
def test_the_copy_is_gone_while_the_error_exists(tmp_path, monkeypatch, call):
    """The traceback refers to the variables of the failed call; an interactive session keeps it."""
    monkeypatch.setenv("ECKART_SPOOL", str(tmp_path / "spool"))
    (tmp_path / "spool").mkdir()
    path = _entries_with_a_gap(tmp_path)
    with pytest.raises(ek.errors.EckartError) as caught:
        call(path)
    assert not list((tmp_path / "spool").iterdir())
    assert caught.value.__traceback__ is not None


def test_a_failed_call_keeps_the_copy_of_a_source_that_the_caller_opened(tmp_path, monkeypatch):
    monkeypatch.setenv("ECKART_SPOOL", str(tmp_path / "spool"))
    (tmp_path / "spool").mkdir()
    source = ek.open_data(_entries_with_a_gap(tmp_path), stream=True)
    with pytest.raises(ek.errors.EckartError):
        ek.decompose(source, "svd", k=2, stream=True)
    assert len(list((tmp_path / "spool").iterdir())) == 1
    assert source.read(0, 2).shape == (2, 7)


def test_a_failed_call_keeps_the_copy_of_a_source_that_its_callback_opened(tmp_path, monkeypatch):
    monkeypatch.setenv("ECKART_SPOOL", str(tmp_path))
    matrix = sp.random_array((90, 6), density=0.4, rng=np.random.default_rng(0))
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, matrix)
    opened = []

    def callback(_):
        opened.append(ek.open_data(path, stream=True))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ek.decompose(np.random.default_rng(0).random((60, 4)), k=2, stream=True, callback=callback)
    values = np.linalg.svd(matrix.toarray(), compute_uv=False)[:2]
    np.testing.assert_allclose(ek.decompose(opened.pop(), "svd", k=2).values, values, rtol=1e-9)
    gc.collect()
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_another_run_removes_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    acquire, removed = FolderLock.acquire, []

    def after_removal(folder):
        if not removed:
            removed.append(folder)
            folder.rmdir()
        return acquire(folder)

    monkeypatch.setattr(FolderLock, "acquire", staticmethod(after_removal))
    with Spool(tmp_path) as folder:
        assert folder.is_dir()
        assert folder != removed[0]
    assert not list(tmp_path.iterdir())
