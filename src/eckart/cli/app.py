"""The wrapper of every command: errors become one line and an exit code, and a closed pipe is not an error."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import io
import itertools
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import click
from click.exceptions import Abort, Exit

from eckart import cleanup
from eckart.cli.console import Console, one_line, report
from eckart.cli.option_hints import with_suggestions

if TYPE_CHECKING:
    from eckart.errors import EckartError

FAILED, REFUSED, INTERRUPTED, TERMINATED = 1, 2, 130, 143
_TERMINATION = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGALRM") if hasattr(signal, name))
_GRACE = 3.0
"""Seconds in which a terminated command may remove its files in order."""
_TEACHING = {"worked", "exercise", "course", "errata"}
"""Commands whose messages are in the language of the user."""


class Failed(click.ClickException):
    """The work failed, although the request was valid."""

    exit_code = FAILED


class Refused(click.ClickException):
    """The input cannot be used, or the request is not valid."""

    exit_code = REFUSED


def standard_input() -> TextIO:
    """Standard input, which may be closed if there is no terminal."""
    if sys.stdin is None:
        raise Refused(
            "'-' means standard input, but standard input is closed. Pipe data into the command, or "
            "give the name of a file instead of '-'."
        )
    return sys.stdin


class _ClosedOutput(io.RawIOBase):
    """Takes the place of a closed standard output, whose results would otherwise be lost without an error."""

    def writable(self) -> bool:
        return True

    def write(self, _data: object) -> int:
        raise Failed("Standard output is closed, so the result cannot be printed. Leave standard output open.")


@contextlib.contextmanager
def _terminated_in_order() -> Iterator[None]:
    """End the command on SIGTERM as on any other error, so that drafts and temporary folders are removed.

    Python loses an exception that is raised in a callback (of a weak reference, or of a library). So the command ends
    immediately on a second signal, or if it still runs after some seconds.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    handlers = {number: signal.getsignal(number) for number in _TERMINATION}

    def end_now(_number: int, _frame: object) -> None:
        cleanup.remove_all()
        os._exit(TERMINATED)

    def end(_number: int, _frame: object) -> None:
        for number in _TERMINATION:
            signal.signal(number, end_now)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, _GRACE)
        raise SystemExit(TERMINATED)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
        if signal.getsignal(signal.SIGTERM) is end_now:
            raise SystemExit(TERMINATED)
    finally:
        if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGTERM) is end_now:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _open_closed_streams() -> None:
    """Give closed standard streams (`2>&-`) to the null device.

    The next file would get their number, and what libraries write to the standard streams would end up in it. Messages
    are lost, but the work is done; a closed standard output remains an error for what must be written to it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_ClosedOutput(), encoding="utf-8", write_through=True)


class Application(click.Group):
    """The group of all commands, each imported when needed. Every exit goes through `main`.

    `modules` maps command names, in the order of the help, to modules of `eckart.cli`.
    """

    def __init__(self, *args: Any, modules: Mapping[str, str] | None = None, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.modules = dict(modules or {})

    def main(self, *args: object, **extra: object) -> Any:
        console = Console()
        _open_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                # a name may contain characters that the terminal cannot show
                stream.reconfigure(errors="backslashreplace")
        given = extra.get("args") or (args[0] if args else None) or sys.argv[1:]
        console.language = _language(given if isinstance(given, list | tuple) else [])
        with _terminated_in_order():
            code = self._run(console, *args, **extra)
        sys.exit(code)

    def _run(self, console: Console, *args: Any, **extra: Any) -> int:
        try:
            code = self._exit_code(*args, **{**extra, "standalone_mode": False, "obj": console})
        except click.ClickException as error:
            _tell(console, with_suggestions(error) if isinstance(error, click.NoSuchOption) else error)
            return error.exit_code
        except (Abort, KeyboardInterrupt) as stop:
            cause = stop.__cause__ if isinstance(stop, Abort) else stop
            report(str(cause or "") or "Interrupted. No incomplete files were left behind.")
            return INTERRUPTED
        return code if isinstance(code, int) else 0

    def _exit_code(self, *args: Any, **extra: Any) -> object:
        try:
            return super().main(*args, **extra)
        except OSError as error:  # the help and the version are printed before `invoke`
            raise translated(error) from error

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (click.ClickException, Exit, Abort):
            raise
        except BrokenPipeError:
            _let_go_of_output()
            raise Exit(0) from None
        except Exception as error:
            if ctx.obj.debug:
                traceback.print_exc()
            raise translated(error) from error
        return result

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name in self.modules and name not in self.commands:
            module = importlib.import_module(f"eckart.cli.{self.modules[name]}")
            self.add_command(getattr(module, "short_forms", {}).get(name) or getattr(module, name))
        return super().get_command(ctx, name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        names = self.list_commands(ctx)
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"The available commands are {', '.join(names)}."
        raise click.UsageError(f"{name!r} is not an eckart command. {hint}", ctx)


def translated(error: Exception) -> click.ClickException:
    """An exception as one line and its exit code."""
    from eckart.errors import EckartError

    if isinstance(error, EckartError):
        return (Failed if _is_of_the_machine(error) else Refused)(error.worded("cli"))
    if isinstance(error, MemoryError):
        return Failed(
            "Eckart ran out of memory. Read fewer columns with --columns, or request fewer components "
            "with a smaller -k."
        )
    if isinstance(error, OSError):
        _let_go_of_output()
        return Failed(f"{error.filename or 'Standard output'} cannot be used: {error.strerror or error}.")
    kind = type(error).__name__
    return Failed(
        f"An unexpected error occurred ({kind}: {error}). Run the command again with --debug to see the traceback."
    )


def _is_of_the_machine(error: EckartError) -> bool:
    """Whether the machine failed, not the input or its options: a package, a cluster, a disk.

    A refusal for too little memory gives the bytes that are needed and the option to change.
    """
    from eckart.errors import CheckpointError, ClusterError, FileError, MissingDependencyError
    from eckart.files import is_full

    if isinstance(error, MissingDependencyError | ClusterError):
        return True
    full = isinstance(error, FileError) and is_full(error.__cause__)
    return full or (isinstance(error, CheckpointError) and _refused_by_system(error))


def _refused_by_system(error: BaseException) -> bool:
    """Whether the cause is a full disk, a missing folder or a similar failure."""
    cause = error.__cause__
    return cause is not None and (isinstance(cause, OSError) or _refused_by_system(cause))


def _tell(console: Console, error: click.ClickException) -> None:
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    message, hint, head = one_line(error.format_message()), "", "Error:"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"Try '{error.ctx.command_path} --help'."
    if console.language != "en":
        from eckart.worked.command_errors import translated as in_language
        from eckart.worked.messages import language, tr

        with language(console.language):
            message, hint, head = in_language(message), in_language(hint), tr("Error:")
    message = f"{message} {hint}".rstrip()
    if console.json:
        try:
            console.document(error={"kind": _kind(error), "exit_code": error.exit_code, "message": message})
            sys.stdout.flush()
        except (OSError, Failed):
            _let_go_of_output()
    report(click.style(head, fg="red", bold=True) + f" {message}", color=_colour())


def _language(given: Sequence[object]) -> str:
    """The language of a teaching command, by --lang or by the locale; every other command uses English."""
    words = [str(word) for word in given]
    if not words or words[0] not in _TEACHING:
        return "en"
    from eckart.worked.messages import LANGUAGES, preferred

    chosen = [after for word, after in itertools.pairwise(words) if word == "--lang"]
    chosen += [word.partition("=")[2] for word in words if word.startswith("--lang=")]
    return chosen[-1] if chosen and chosen[-1] in LANGUAGES else preferred()


def _kind(error: click.ClickException) -> str:
    """The name of the exception class, with its library."""
    if error.__cause__ is not None:
        return type(error.__cause__).__name__
    return (
        "UsageError"
        if isinstance(error, click.UsageError)
        else "InputError"
        if error.exit_code == REFUSED
        else "Failed"
    )


def _colour() -> bool | None:
    """click checks for a terminal, but does not honour NO_COLOR."""
    return False if os.environ.get("NO_COLOR") else None


def _let_go_of_output() -> None:
    """Nobody reads the output any more, or the disk is full: the interpreter must not write again when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
