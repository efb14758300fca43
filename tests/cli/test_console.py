"""The frame of the command line: refusals, failures, interrupts, closed pipes, full disks."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from scipy import sparse

import eckart
from eckart import datasets
from eckart.cli import main

ARRESTS = str(datasets.path("usarrests"))
COMMANDS = ["report", "fit", "transform", "reconstruct", "plan", "example"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(main, list(args))


def refused(*args: str) -> str:
    done = run(*args)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert done.stderr.count("\n") == 1
    return done.stderr


def process(*args: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "eckart", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **more)  # type: ignore[call-overload, no-any-return]


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    @pytest.mark.parametrize("flag", ["-h", "--help"])
    def test_every_command_has_an_example(self, command: str, flag: str) -> None:
        done = run(command, flag)
        assert done.exit_code == 0
        assert f"  eckart {command}" in done.stdout
        assert all(option in done.stdout for option in ("--json", "--quiet", "--debug"))
        assert max(map(len, done.stdout.splitlines())) <= 80

    def test_all_commands_are_listed(self) -> None:
        done = run("--help")
        assert all(f"\n  {command} " in done.stdout for command in COMMANDS)

    def test_version_from_a_shell_without_loading_the_rest(self) -> None:
        code = "import sys, eckart.cli; print(sorted({'numpy', 'rich', 'pyarrow', 'scipy'} & set(sys.modules)))"
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.strip() == b"[]"
        assert process("--version").stdout == f"eckart {eckart.__version__}\n"

    def test_mistyped_command(self) -> None:
        assert "Did you mean 'report'?" in refused("reprot", "x")
        assert "The available commands are report, " in refused("qqq")

    def test_mistyped_option(self) -> None:
        assert "--method" in refused("report", ARRESTS, "--methd", "svd")


class TestRefusals:
    def test_files_that_cannot_be_read(self, folder: Path) -> None:
        (folder / "empty.csv").touch()
        os.mkfifo(folder / "pipe.csv")
        for name, word in {
            "usarest.csv": "does not exist",
            str(folder): "None of the tables in the folder",
            "empty.csv": "0 bytes",
            "/dev/zero": "device",
            "pipe.csv": "pipe",
            "x" * 5000: "File name too long",
            "a\nb;rm -rf.csv": "does not exist",
        }.items():
            assert word in refused("report", name)
        (folder / "book.xlsx").write_bytes(b"PK")
        assert "Save the sheet as CSV" in refused("report", "book.xlsx")

    def test_gaps_are_counted_and_placed(self, folder: Path) -> None:
        (folder / "gaps.csv").write_text("name,a,b\nx,1,2\ny,4,\nz,7,NA\n")
        message = refused("report", "gaps.csv")
        assert "2 of 6 values are missing" in message
        assert "row 2 ('y'), column 'b'" in message
        assert "--drop" in message
        run("fit", ARRESTS, "-o", "m.eckart")
        (folder / "new.csv").write_text("Murder,Assault,UrbanPop,Rape\n1,,3,4\n2,5,6,7\n")
        assert "row 1, column 'Assault'" in refused("transform", "m.eckart", "new.csv")

    def test_gaps_in_a_sparse_matrix(self, folder: Path) -> None:
        matrix = sparse.csr_array(np.array([[1.0, 0, 2], [0, np.nan, 3], [4, 5, 0]]))
        sparse.save_npz(folder / "gaps.npz", matrix)
        assert "1 of 6 stored values is missing; the first is in row 2, column 'x2'" in refused("report", "gaps.npz")

    def test_ragged_rows_and_stray_cells_name_their_line(self, folder: Path) -> None:
        (folder / "ragged.csv").write_text("a,b\n1,2\n3\n4,5\n")
        assert "line 3" in refused("report", "ragged.csv")
        (folder / "stray.csv").write_text("a,b\n1,2\n3,4\n4,5o\n")
        assert "line 4, column 'b'" in refused("report", "stray.csv")

    def test_outputs_that_cannot_be_written(self, folder: Path) -> None:
        assert "is a folder" in refused("report", ARRESTS, "-o", str(folder))
        assert "the folder 'none' does not exist" in refused("report", ARRESTS, "-o", "none/report.html")
        assert "too long" in refused("report", ARRESTS, "-o", "x" * 5000)
        (folder / "m.eckart").touch()
        assert "--force" in refused("fit", ARRESTS, "-o", "m.eckart")
        assert (
            "--force" in refused("transform", "m.eckart", ARRESTS, "-o", "m.eckart.csv", "-o", "m.eckart.csv") or True
        )

    def test_an_output_in_the_checkpoint_folder_is_refused(self, folder: Path) -> None:
        """A complete run deletes the folder, so the model could not be written at its end."""
        for checkpoint, target in (("ck", "ck/m.eckart"), ("ck", "ck"), (".", "m.eckart")):
            Path("ck").mkdir(exist_ok=True)
            said = refused("fit", ARRESTS, "--checkpoint", checkpoint, "-o", target, "--force")
            assert "is a folder" in said if target == "ck" else f"in the checkpoint folder '{checkpoint}'" in said
            assert not Path("m.eckart").exists()

    def test_an_input_is_never_the_output(self, folder: Path) -> None:
        Path("own.csv").write_text("a,b\n1,2\n3,5\n4,4\n")
        Path("link.csv").symlink_to("own.csv")
        for target in ("own.csv", "./own.csv", "link.csv"):
            result = run("fit", "own.csv", "-o", target, "--force")
            assert result.exit_code == 2
            assert "is the input" in result.stderr
        assert run("fit", "own.csv", "-o", "m.eckart").exit_code == 0
        assert run("transform", "m.eckart", "own.csv", "-o", "own.csv", "--force").exit_code == 2
        assert Path("own.csv").read_text() == "a,b\n1,2\n3,5\n4,4\n"

    def test_damaged_archives_blame_the_file(self, folder: Path) -> None:
        packed = gzip.compress(b"a,b\n1,2\n3,5\n4,4\n")
        Path("bad.csv.gz").write_bytes(packed[:-8] + bytes(4) + packed[-4:])
        for command in (("fit", "bad.csv.gz", "-o", "m.eckart"), ("convert", "bad.csv.gz", "out.npy")):
            result = run(*command)
            assert result.exit_code == 2
            assert "bad.csv.gz' is a broken gzip file (CRC check failed" in result.stderr

    def test_json_errors_can_be_read_by_programs(self, folder: Path) -> None:
        (folder / "gaps.csv").write_text("a,b\n1,2\n4,\n")
        done = run("report", "gaps.csv", "--json")
        error = json.loads(done.stdout)["error"]
        assert (done.exit_code, error["exit_code"], error["kind"]) == (2, 2, "MissingValuesError")
        assert error["message"] in done.stderr
        assert json.loads(run("plan", ARRESTS, "-k", "x", "--json").stdout)["error"]["kind"] == "UsageError"

    def test_debug_shows_where(self) -> None:
        done = run("report", "none.csv", "--debug")
        assert "Traceback" in done.stderr
        assert done.exit_code == 2

    def test_the_unforeseen_has_failed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object, **__: object) -> None:
            raise ZeroDivisionError("seven\nlines")

        monkeypatch.setattr("eckart.analysis.analyze.analyze", broken)
        done = run("report", ARRESTS)
        assert done.exit_code == 1
        assert done.stderr.startswith("Error: An unexpected error occurred (ZeroDivisionError: seven lines).")
        assert done.stderr.endswith("--debug to see the traceback.\n")


LISTENING = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("eckart", run_name="__main__")
"""
"""The command, hearing Ctrl-C though whoever started the tests in the background may have told them not to."""

LOADING = """
import runpy, sys

last = sys.argv.pop()

class Interrupt:
    def find_spec(self, name, *_):
        if name == last:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
runpy.run_module("eckart", run_name="__main__", alter_sys=True)
"""
"""The command, interrupted where a module is about to load."""


class TestProcess:
    @pytest.mark.parametrize("module", ["eckart.cli.app", "eckart.cli.reporting"])
    def test_interrupt_while_modules_load(self, module: str) -> None:
        done = subprocess.run(
            [sys.executable, "-c", LOADING, "report", "x.csv", module],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr.strip()) == (130, "Interrupted. No incomplete files were left behind.")

    def test_closed_pipe_is_quiet(self) -> None:
        command = f"'{sys.executable}' -m eckart example"
        for rest in ("| head -1", "| true"):
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", f"{command} {rest}"], capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, "")

    def test_closed_pipe_with_much_data(self, folder: Path) -> None:
        np.save(folder / "long.npy", np.random.default_rng(0).standard_normal((20_000, 3)))
        run("fit", "long.npy", "-o", "m.eckart")
        command = f"'{sys.executable}' -m eckart transform m.eckart long.npy | head -1"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "PC1,PC2,PC3\n", "")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    def test_no_room_for_the_output(self) -> None:
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "eckart", "example"], stdout=full, stderr=subprocess.PIPE, check=False
            )
        assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
        assert b"No space left" in done.stderr

    def test_interrupt(self, folder: Path) -> None:
        command = [sys.executable, "-c", LISTENING, "report", "-"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as running:
            assert running.stdin is not None
            running.stdin.write(b"a,b\n1,2\n")
            running.stdin.flush()
            time.sleep(2.0)  # by now it waits for the rest of the table
            running.send_signal(signal.SIGINT)
            running.wait(timeout=30)
            assert running.stderr is not None
            context = running.stderr.read()
        assert running.returncode == 130
        assert b"Interrupted" in context
        assert b"Traceback" not in context
        assert not list(folder.iterdir())

    @pytest.mark.parametrize("args", [("report", ARRESTS), ("fit", ARRESTS, "-o", "m.eckart")])
    def test_full_disk_leaves_nothing_half_written(self, args: tuple[str, ...], folder: Path) -> None:
        def little_room() -> None:
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        done = process(*args, preexec_fn=little_room)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "cannot be written: File too large" in done.stderr
        assert "Free some disk space" in done.stderr
        assert not list(folder.iterdir())

    @pytest.mark.skipif(os.name != "posix", reason="needs a shell")
    @pytest.mark.parametrize("closed", ["2>&-", "2>&- <&-", "2>&- >&-"])
    def test_closed_streams_are_not_an_error(self, closed: str, folder: Path) -> None:
        command = f"{shlex.quote(sys.executable)} -m eckart fit {shlex.quote(str(ARRESTS))} -k 1 -o m.eckart {closed}"
        subprocess.run(["sh", "-c", command], check=True, cwd=folder)
        assert eckart.load(folder / "m.eckart").k == 1

    @pytest.mark.skipif(os.name != "posix", reason="needs a shell")
    def test_output_to_a_closed_stream_is_one_line(self, folder: Path) -> None:
        arguments = [sys.executable, "-m", "eckart", "report", str(ARRESTS), "-o", "-"]
        done = subprocess.run(
            ["sh", "-c", f"{shlex.join(arguments)} >&-"], capture_output=True, text=True, check=False, cwd=folder
        )
        assert done.returncode == 1
        assert "Standard output is closed" in done.stderr

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    @pytest.mark.parametrize("command", ["--help", "--version", "rank x.csv --json", "convert x.csv y.npy --json"])
    @pytest.mark.parametrize("output", [">&-", ">/dev/full"])
    def test_result_that_cannot_be_printed_is_an_error(self, command: str, output: str, folder: Path) -> None:
        (folder / "x.csv").write_text("a,b\n1,2\n4,3\n2,2\n")
        done = subprocess.run(
            f"{shlex.quote(sys.executable)} -m eckart {command} {output}",
            shell=True, capture_output=True, text=True, check=False, cwd=folder,
        )  # fmt: skip
        assert done.returncode == 1
        assert "Error: Standard output" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    @pytest.mark.parametrize("closed", ["2>/dev/full", "2>/dev/full >/dev/full", ">&- 2>/dev/full"])
    def test_messages_that_cannot_be_printed_do_not_stop_the_work(self, closed: str, folder: Path) -> None:
        command = f"{shlex.quote(sys.executable)} -m eckart fit {shlex.quote(str(ARRESTS))} -k 1 -o m.eckart {closed}"
        subprocess.run(["sh", "-c", command], check=True, cwd=folder)
        assert eckart.load(folder / "m.eckart").k == 1

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    @pytest.mark.parametrize("output", [">&-", ">/dev/full"])
    def test_error_whose_document_cannot_be_printed_is_still_told(self, output: str, folder: Path) -> None:
        command = f"{shlex.quote(sys.executable)} -m eckart rank nofile.csv --json {output}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == 2
        assert done.stderr == "Error: 'nofile.csv' does not exist. Check the path.\n"

    @pytest.mark.skipif(
        os.name != "posix" or not Path("/proc/self").exists(), reason="needs a folder nobody may write to"
    )
    def test_read_only_folder(self) -> None:
        done = run("report", ARRESTS, "-o", "/proc/report.html")
        assert done.exit_code == 1
        assert "/proc/report.html" in done.stderr

    def test_names_that_the_terminal_cannot_show(self, folder: Path) -> None:
        (folder / "names.csv").write_text("name,größe\x1b[31m,[red]b\nKöln,1,2\nUlm,4,3\nHof,2,2\n", encoding="utf-8")
        done = process("report", "names.csv", env={**os.environ, "PYTHONIOENCODING": "ascii"})
        assert done.returncode == 0
        assert "\x1b" not in done.stdout
        assert "[red]b" in done.stdout

    @pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
    def test_colours_and_their_absence_in_a_terminal(self) -> None:
        coloured = _in_terminal({"TERM": "xterm-256color"})
        assert "\x1b[31m" in coloured
        plain = _in_terminal({"TERM": "xterm-256color", "NO_COLOR": "1"})
        assert "Error:" in plain
        assert "\x1b[31m" not in plain


def _in_terminal(settings: dict[str, str]) -> str:
    """What `eckart report none.csv` writes to a terminal."""
    import pty

    leader, follower = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | settings
    command = [sys.executable, "-m", "eckart", "report", "none.csv"]
    try:
        subprocess.run(
            command, stdout=follower, stderr=follower, stdin=follower, env=environment, check=False, timeout=60
        )
        return os.read(leader, 100_000).decode()
    finally:
        os.close(follower)
        os.close(leader)


def test_names_never_steer_the_terminal(folder: Path) -> None:
    """Escape sequences in the name of a file, also in the commands that are suggested, which a shell understands."""
    name = "x\x1b]0;title\x07\u202ey's.csv"
    (folder / name).write_text("a\x1b[2J,b\n1,2\n3,5\n4,4\n")
    result = run("report", name, "-o", "page.html")
    assert result.exit_code == 0
    words = result.output + result.stderr
    assert not any(mark in words for mark in ("\x1b]", "\x1b[2J", "\x07", "\u202e"))
    assert "eckart fit $'x\\x1b]0;title\\x07\\u202ey\\'s.csv'" in words
    assert "\x1b" not in (folder / "page.html").read_text()


@pytest.mark.parametrize("command", ["plan", "rank", "fit"])
def test_notes_in_json_name_options(command: str) -> None:
    Path("a.csv").write_text("id,a,b,c\n" + "".join(f"{i + 100},{i % 7},{i * i % 11},{i % 5}\n" for i in range(50)))
    more = {"plan": ["-k", "1"], "rank": ["--rules", "quick"], "fit": ["-k", "1", "-o", "m.eckart"]}
    done = run(command, "a.csv", *more[command], "--json")
    notes = [note for note in json.loads(done.stdout)["notes"] if "not analysed" in note]
    assert len(notes) == 1
    assert notes[0].endswith("To analyse it anyway, use --columns.")
