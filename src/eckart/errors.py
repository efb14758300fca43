"""Exceptions and warnings. Each message says what was seen, what it means, what to do.

EckartError
├── InputError (ValueError)              the data cannot be used as they are
│   ├── MissingValuesError               NaN, masked or null entries, nothing said about them
│   └── NotFiniteError                   infinite entries, or values that overflow
├── ParameterError (ValueError)          an argument is outside its range
├── FileError (ValueError)               a file is broken, unsafe or of an unknown kind
│   ├── ReadError                        a reading library failed: the file is damaged or cut off
│   ├── ModelFileError                   a saved model is broken, newer or not a model
│   └── CheckpointError                  a checkpoint cannot be written, is damaged, or belongs to another run
├── ClusterError (RuntimeError)          a cluster is not there, or was lost
├── MemoryBudgetError (MemoryError)      the work cannot be done within the memory allowed
└── MissingDependencyError (ImportError) an optional package is not installed

EckartWarning (UserWarning)
├── AccuracyWarning                      the asked accuracy could not be proved
└── DataWarning                          the data look as if the answer will mislead
"""

from __future__ import annotations

import importlib
from types import ModuleType

from eckart.wording import Door, worded


class EckartError(Exception):
    """Base of every error that Eckart raises on purpose.

    `argument` and `value` name what was wrong, `remedy` what to do, where that is known; `worded("cli")` is the message
    with command-line options instead of keywords.
    """

    def __init__(
        self, message: object = "", *, argument: str | None = None, value: object = None, remedy: str | None = None
    ) -> None:
        template = str(message) if remedy is None else f"{message} {remedy}"
        super().__init__(worded(template, "python"))
        self.argument, self.value = argument, value
        self.remedy = None if remedy is None else worded(remedy, "python")
        self._template = template

    def worded(self, door: Door) -> str:
        """The message for Python or for the command line."""
        return worded(self._template, door)


class InputError(EckartError, ValueError):
    """The data cannot be used as they are."""


class MissingValuesError(InputError):
    """Entries are missing and nothing was said about how to treat them."""


class NotFiniteError(InputError):
    """Entries are infinite, or overflow on the way."""


class ParameterError(EckartError, ValueError):
    """An argument is outside its range."""


class FileError(EckartError, ValueError):
    """A file is broken, unsafe or of an unknown kind."""


class ReadError(FileError):
    """A file cannot be opened, or a reading library failed: it is damaged or cut off."""


class ModelFileError(FileError):
    """A saved model is broken, written by a newer version, or not a model."""


class CheckpointError(FileError):
    """A checkpoint cannot be written, is damaged, or belongs to another run."""


class ClusterError(EckartError, RuntimeError):
    """A cluster is not there, or was lost."""


class MemoryBudgetError(EckartError, MemoryError):
    """The work cannot be done within the memory allowed."""


class MissingDependencyError(EckartError, ImportError):
    """An optional package is not installed."""


class EckartWarning(UserWarning):
    """Base of every warning that Eckart gives on purpose."""


class AccuracyWarning(EckartWarning):
    """The asked accuracy could not be proved; the certificate says what was."""


class DataWarning(EckartWarning):
    """The data look as if the answer will mislead."""


def require(package: str, *, extra: str | None = None, purpose: str = "this") -> ModuleType:
    """Import an optional package, or say how to get it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        remedy = f"pip install 'eckart[{extra}]'" if extra else f"pip install {name}"
        message = f"The package {name!r} is not installed; it is needed for {purpose}. Install it: {remedy}"
        raise MissingDependencyError(message) from error
