"""Commands on data larger than the memory allowed: blocks, checkpoints, a scheduler, progress, Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow import csv, parquet

import eckart as ek
from eckart.cli import main
from eckart.cli.progress import ProgressReporter, rest_text
from eckart.engine.blocks.reading import Progress
from eckart.progress import pass_text

SMALL = "200KB"
"""Memory allowed: the tables below are larger than a quarter of it."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("eckart.budget._BLOCK_BYTES", (2**14, 2**14))
    return tmp_path


@pytest.fixture(scope="module")
def numbers() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((2000, 12)) * np.linspace(3, 0.5, 12) + 1


def run(*args: str) -> Result:
    return CliRunner().invoke(main, list(args))


def done(*args: str) -> Result:
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result


def named(table: np.ndarray) -> pa.Table:
    columns = {f"c{j}": table[:, j] for j in range(table.shape[1])}
    return pa.table({"who": [f"r{i}" for i in range(len(table))], **columns})


def stored(kind: str, table: np.ndarray) -> str:
    """The table as a file, a folder or a pattern."""
    if kind == "npy":
        np.save("t.npy", table)
    elif kind == "csv":
        csv.write_csv(named(table), "t.csv")
    elif kind == "parquet":
        parquet.write_table(named(table), "t.parquet", row_group_size=300)
    elif kind in ("folder", "pattern"):
        Path("parts").mkdir()
        for i in range(4):
            parquet.write_table(named(table[500 * i : 500 * (i + 1)]), f"parts/{i}.parquet")
        return "parts" if kind == "folder" else "parts/*.parquet"
    elif kind == "h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File("t.h5", "w") as file:
            file["x"] = table
    elif kind == "h5ad":
        h5py = pytest.importorskip("h5py")
        with h5py.File("t.h5ad", "w") as file:
            file["X"] = table
            file["X"].attrs["encoding-type"] = "array"
    else:
        zarr = pytest.importorskip("zarr")
        zarr.create_array("t.zarr", data=table, chunks=(300, table.shape[1]))
    return f"t.{kind}"


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet", "folder", "pattern", "h5", "h5ad", "zarr"])
@pytest.mark.parametrize("memory", [SMALL, "1GB"])
def test_fit_every_kind(kind: str, memory: str, numbers: np.ndarray) -> None:
    data = stored(kind, numbers)
    context = json.loads(done("fit", data, "-k", "3", "--memory", memory, "-o", "m.eckart", "--json").stdout)
    assert ("read in blocks" in context["why"]) == (memory == SMALL)
    exact = np.linalg.svd(numbers - numbers.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(ek.load("m.eckart").values, exact[:3], rtol=1e-9)


def test_text_columns_name_the_rows_as_in_memory(numbers: np.ndarray) -> None:
    for kind in ("csv", "parquet"):
        said = done("fit", stored(kind, numbers), "-k", "2", "--memory", SMALL, "-o", f"{kind}.eckart").stderr
        assert "The row names come from the column 'who'" in said


def test_report_of_blocks(numbers: np.ndarray) -> None:
    result = done("report", stored("npy", numbers), "--memory", SMALL, "-k", "3")
    assert "read in blocks" in " ".join(result.stdout.split())
    assert "How many components" in result.stdout
    assert Path("report.html").stat().st_size > 10_000


@pytest.mark.parametrize("method", ["svd", "nmf", "cur", "kernel-pca"])
def test_methods(method: str, numbers: np.ndarray) -> None:
    np.save("t.npy", np.abs(numbers))
    context = json.loads(
        done("fit", "t.npy", "--method", method, "-k", "2", "--memory", SMALL, "-o", "m", "--json").stdout
    )
    assert context["k"] == 2
    assert context["rows"] == 2000


def test_isomap_is_refused(numbers: np.ndarray) -> None:
    result = run("fit", stored("npy", numbers), "--method", "isomap", "--memory", SMALL, "-o", "m.eckart")
    assert result.exit_code == 2
    assert "needs all rows at once" in result.stderr


def test_rank_of_blocks(numbers: np.ndarray) -> None:
    path = stored("npy", numbers)
    inside = json.loads(done("rank", path, "--rules", "quick", "--json").stdout)
    blocks = json.loads(done("rank", path, "--rules", "quick", "--memory", SMALL, "--json").stdout)
    assert [rule["k"] for rule in blocks["rules"]] == [rule["k"] for rule in inside["rules"]]


def test_chosen_columns(numbers: np.ndarray) -> None:
    path = stored("csv", numbers)
    done("fit", path, "--columns", "c3,c1", "--drop", "c1", "-k", "1", "--memory", SMALL, "-o", "m.eckart")
    d = ek.load("m.eckart")
    assert d.column_names == ("c3",)
    assert float(d.values[0]) == pytest.approx(np.linalg.norm(numbers[:, 3] - numbers[:, 3].mean()))


@pytest.mark.parametrize("target", ["s.npy", "s.parquet", "s.zarr", "s.csv"])
def test_transform_and_back(target: str, numbers: np.ndarray) -> None:
    path = stored("parquet", numbers)
    done("fit", path, "-k", "12", "--memory", SMALL, "-o", "m.eckart")
    done("transform", "m.eckart", path, "-o", target, "--memory", SMALL)
    done("reconstruct", "m.eckart", target, "-o", "back.npy", "--memory", SMALL)
    np.testing.assert_allclose(np.load("back.npy"), numbers, atol=1e-8)
    refused = run("transform", "m.eckart", path, "-o", target, "--memory", SMALL)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr


def test_reconstruct_from_data(numbers: np.ndarray) -> None:
    path = stored("npy", numbers)
    done("fit", path, "-k", "2", "-o", "m.eckart")
    done("reconstruct", "m.eckart", "--from-data", path, "-o", "blocks.npy", "--memory", SMALL)
    done("reconstruct", "m.eckart", "--from-data", path, "-o", "whole.npy")
    np.testing.assert_allclose(np.load("blocks.npy"), np.load("whole.npy"), atol=1e-10)


def test_gaps_are_named_by_file_row_column(numbers: np.ndarray) -> None:
    table = numbers.copy()
    table[1700, 4] = np.nan
    path = stored("npy", table)
    result = run("fit", path, "-k", "2", "--memory", SMALL, "-o", "m.eckart")
    assert result.exit_code == 2
    for word in ("t.npy", "row 1701", "column 5"):
        assert word in result.stderr
    done("fit", path, "-k", "2", "--columns", "x1,x2", "--memory", SMALL, "-o", "m.eckart")
    result = run("transform", "m.eckart", path, "-o", "s.npy", "--drop", "x1", "--memory", SMALL)
    assert result.exit_code == 2


def test_convert(numbers: np.ndarray) -> None:
    path = stored("csv", numbers)
    assert "Wrote 2,000 rows x 12 columns (float32" in done("convert", path, "t.npy", "--single").stderr
    np.testing.assert_allclose(np.load("t.npy"), numbers, rtol=1e-6)
    refused = run("convert", path, "t.npy")
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    done("convert", path, "t.npy", "--force", "--json")
    assert np.load("t.npy").dtype == np.float64


def test_options_without_meaning(numbers: np.ndarray) -> None:
    path = stored("npy", numbers)
    result = run("fit", path, "--method", "cur", "-k", "2", "--checkpoint", "c", "-o", "m.eckart")
    assert result.exit_code == 2
    assert "--checkpoint does not apply to --method cur" in result.stderr


def test_a_small_text_file_takes_a_checkpoint(numbers: np.ndarray) -> None:
    """Its rows are in memory, but they count as read in blocks."""
    np.savetxt("x.csv", numbers[:50], delimiter=",", header="a" + ",a" * 11, comments="")
    Path("x.csv").rename("x.log")
    done("fit", "x.log", "--format", "csv", "-k", "2", "-o", "a.eckart", "--checkpoint", "run")
    Path("x.log").rename("x.csv")
    done("fit", "x.csv", "-k", "2", "-o", "b.eckart", "--checkpoint", "run")
    assert ek.load("a.eckart").values.tobytes() == ek.load("b.eckart").values.tobytes()


def test_options_that_a_format_does_not_have_are_named_as_typed(numbers: np.ndarray) -> None:
    result = run("fit", stored("npy", numbers), "-k", "2", "-o", "m.eckart", "--row-names", "who")
    assert result.exit_code == 2
    assert "--row-names who does not apply to" in result.output


def test_checkpoint_of_another_run(numbers: np.ndarray) -> None:
    path = stored("npy", numbers)
    Path("c").mkdir()
    Path("c/mine.txt").write_text("precious")
    result = run("fit", path, "-k", "2", "--checkpoint", "c", "-o", "m.eckart")
    assert result.exit_code == 2
    assert "not empty" in result.stderr


def test_scheduler(numbers: np.ndarray) -> None:
    distributed = pytest.importorskip("distributed")
    path = stored("npy", numbers)
    done("fit", path, "-k", "3", "-o", "here.eckart", "--checkpoint", "c")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1",
        dashboard_address="127.0.0.1:0", silence_logs=50,
    )  # fmt: skip
    with cluster:
        done("fit", path, "-k", "3", "-o", "there.eckart", "--scheduler", cluster.scheduler_address)
        np.save("p.npy", np.abs(numbers))
        done("fit", "p.npy", "--method", "nmf", "-k", "2", "-o", "n.eckart", "--scheduler", cluster.scheduler_address)
    np.testing.assert_allclose(ek.load("there.eckart").values, ek.load("here.eckart").values, rtol=1e-12)


class _Listener:
    """A program on loopback that is not a scheduler: it sends `greeting` to everyone, or nothing."""

    def __init__(self, greeting: bytes) -> None:
        self.server, self.greeting, self.open = socket.create_server(("127.0.0.1", 0)), greeting, []
        threading.Thread(target=self.answer, daemon=True).start()

    def answer(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.open.append(self.server.accept()[0])
                self.open[-1].sendall(self.greeting)

    def __enter__(self) -> str:
        return f"tcp://127.0.0.1:{self.server.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        for connection in [self.server, *self.open]:
            connection.close()


@pytest.mark.parametrize(
    ("greeting", "reason"),
    [(None, "Timed out"), (b"", "did not answer like a scheduler within 1 second."), (b"\xff" * 64, "did not answer")],
    ids=["nobody", "a silent program", "other bytes"],
)
def test_no_scheduler_there(
    numbers: np.ndarray, monkeypatch: pytest.MonkeyPatch, greeting: bytes | None, reason: str
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("eckart.cli.execution._CONNECT_SECONDS", 1)
    with contextlib.nullcontext("tcp://127.0.0.1:9") if greeting is None else _Listener(greeting) as address:
        result = run("fit", stored("npy", numbers), "-k", "2", "-o", "m", "--scheduler", address)
    assert result.exit_code == 1
    assert f"Cannot connect to a Dask scheduler at {address}: " in result.stderr
    assert reason in result.stderr
    assert "Check that the scheduler is running" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_encrypted_scheduler_without_certificates(numbers: np.ndarray) -> None:
    pytest.importorskip("distributed")
    result = run("fit", stored("npy", numbers), "-k", "2", "-o", "m", "--scheduler", "tls://127.0.0.1:9")
    assert result.exit_code == 1
    assert "no certificate is configured" in result.stderr
    assert "DASK_DISTRIBUTED__COMM__TLS__CA_FILE" in result.stderr


def test_a_scheduler_killed_between_passes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Dask logs tracebacks about its lost connection; users see one sentence about their run."""
    pytest.importorskip("distributed")
    monkeypatch.setattr("eckart.cli.execution._CONNECT_SECONDS", 3)
    np.save("a.npy", np.random.default_rng(0).standard_normal((4000, 60)))
    file = ["--scheduler-file", "scheduler.json", "--no-dashboard"]
    started = [["dask_scheduler", "--host", "127.0.0.1", "--port", "0"], ["dask_worker", "--nthreads", "1"]]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen([sys.executable, "-m", f"distributed.cli.{name[0]}", *name[1:], *file], **quiet)
                 for name in started]  # fmt: skip

    def kill() -> None:
        while not Path(folder, "c", "read-000001").exists() and processes[0].poll() is None:
            time.sleep(0.01)
        processes[0].kill()

    try:
        while not Path("scheduler.json").exists():
            time.sleep(0.1)
        address = json.loads(Path("scheduler.json").read_text())["address"]
        threading.Thread(target=kill, daemon=True).start()
        options = ["--solver", "lanczos", "--memory", "800KB", "--checkpoint", "c", "--scheduler", address]
        result = run("fit", "a.npy", "-k", "3", "-o", "m.eckart", *options)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert result.exit_code == 1
    assert "The connection to the Dask scheduler was lost" in result.stderr
    assert "repeat the call" in result.stderr
    printed = result.stderr + capfd.readouterr().err
    assert "Traceback" not in printed
    assert "distributed" not in printed


class TestProgress:
    progress = Progress(2, 5, 3, 20, 12.0, 1_234_567.0, 75.0, (0.9312, 0.934))

    def test_words(self) -> None:
        assert pass_text(self.progress) == "pass 2 of about 5"
        expected = "block 3 of 20, 93.12 to 93.40 % explained (proved bounds), 1,234,567 rows/s, 0:01:15 left"
        assert rest_text(self.progress) == expected

    def test_where_it_stands(self) -> None:
        reporter = ProgressReporter(checkpoint="run1")
        assert "before the first block" in reporter.where()
        reporter(self.progress)
        assert reporter.where().startswith("Stopped in pass 2, after block 3 of 20. The checkpoint is in run1")
        reporter.stop = True
        with pytest.raises(KeyboardInterrupt):
            reporter(self.progress)

    def test_a_terminal_shows_it_and_a_pipe_does_not(self, numbers: np.ndarray) -> None:
        pty = pytest.importorskip("pty")
        stored("npy", numbers)
        command = [sys.executable, "-m", "eckart", "fit", "t.npy", "-k", "3", "--memory", "400KB"]
        ours, theirs = pty.openpty()
        subprocess.run([*command, "-o", "a.eckart"], stderr=theirs, check=True, env=os.environ | {"TERM": "xterm"})
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
        assert b"pass 1 of about" in shown
        assert b"rows/s" in shown
        quiet = subprocess.run([*command, "-o", "b.eckart"], capture_output=True, check=True)
        assert b"rows/s" not in quiet.stderr


SLOW = """
    import sys, time
    from eckart.engine.blocks import stacked
    read = stacked.StackedBlocks.part
    def part(self, *args):
        time.sleep(0.5)
        print("block", flush=True)
        return read(self, *args)
    stacked.StackedBlocks.part = part
    from eckart.cli import main
    main(sys.argv[1:])
"""


def test_interrupted_and_gone_on(numbers: np.ndarray) -> None:
    stored("npy", numbers)
    program = [sys.executable, "-c", textwrap.dedent(SLOW)]
    command = ["fit", "t.npy", "-k", "3", "--memory", "300KB", "--checkpoint", "c"]
    process = subprocess.Popen(
        [*program, *command, "-o", "m.eckart"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()  # the first of several blocks, each slow enough for a signal to arrive in it
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped in pass 1, after block" in said
    assert "The checkpoint is in c" in said
    assert "Traceback" not in said
    assert Path("c/partial").exists()
    assert not Path("m.eckart").exists()
    again = subprocess.run([*program, *command, "-o", "m.eckart"], capture_output=True, text=True, check=True)
    whole = subprocess.run([*program, *command[:-2], "-o", "w.eckart"], capture_output=True, text=True, check=True)
    assert again.stdout.count("block") < whole.stdout.count("block")
    first, second = ek.load("m.eckart"), ek.load("w.eckart")
    np.testing.assert_array_equal(first.right, second.right)
    assert not Path("c").exists()
