"""Exceptions and warnings. Each message states what was seen, why it is a problem, and what to do.

EckartError
├── InputError (ValueError)              the data cannot be used as they are
│   ├── MissingValuesError               NaN, masked or null entries, and no option to treat them
│   └── NotFiniteError                   infinite entries, or values that overflow
├── ParameterError (ValueError)          an argument is outside its range
├── FileError (ValueError)               a file is damaged, unsafe or of an unknown kind
│   ├── ReadError                        the library that reads a file failed, because it is damaged
│   ├── ModelFileError                   a saved model is damaged, too new, or not a model
│   └── CheckpointError                  a checkpoint cannot be written, is damaged, or belongs to another run
├── ClusterError (RuntimeError)          a cluster is not available, or the connection was lost
├── MemoryBudgetError (MemoryError)      the computation needs more memory than the limit allows
└── MissingDependencyError (ImportError) an optional package is not installed

EckartWarning (UserWarning)
├── AccuracyWarning                      the requested accuracy could not be proved
└── DataWarning                          the data make the result misleading
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

from eckart.documentation import document
from eckart.warning_classes import AccuracyWarning, DataWarning, EckartWarning
from eckart.wording import Worded, worded

__all__ = [
    "AccuracyWarning",
    "CheckpointError",
    "ClusterError",
    "DataWarning",
    "EckartError",
    "EckartWarning",
    "FileError",
    "InputError",
    "MemoryBudgetError",
    "MissingDependencyError",
    "MissingValuesError",
    "ModelFileError",
    "NotFiniteError",
    "ParameterError",
    "ReadError",
    "require",
]


@document
class EckartError(Worded, Exception):
    """Base class of all errors that Eckart raises on purpose.

    Parameters
    ----------
    message : object, default ''
        The message.
    argument : str or None, default None
        Name of the argument that is wrong, if known.
    value : object, default None
        Value of that argument.
    remedy : str or None, default None
        How to fix the problem, if known. It is appended to the message.

    {See Also: InputError, ParameterError}

    Examples
    --------
    >>> import eckart as ek
    >>> try:
    ...     ek.decompose([[1.0, 2.0], [3.0, 5.0]], k=5)
    ... except ek.errors.EckartError as error:
    ...     print(type(error).__name__)
    ParameterError
    """

    def __init__(
        self, message: object = "", *, argument: str | None = None, value: object = None, remedy: str | None = None
    ) -> None:
        template = str(message) if remedy is None else f"{message} {remedy}"
        super().__init__(worded(template, "python"))
        self.argument: str | None = argument
        self.value: object = value
        self.remedy: str | None = None if remedy is None else worded(remedy, "python")
        self._template = template


@document
class InputError(EckartError, ValueError):
    """The data cannot be used as they are.

    {See Also: MissingValuesError, NotFiniteError}

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1.0, 2.0], [3.0, 5.0]], k=1)
    >>> try:
    ...     ek.project(d, [[1.0, 2.0, 3.0]])
    ... except ek.errors.InputError:
    ...     print("refused")
    refused
    """


@document
class MissingValuesError(InputError):
    """Values are missing, and no option says how to treat them.

    {See Also: fill_missing}

    Examples
    --------
    >>> import eckart as ek
    >>> try:
    ...     ek.decompose([[1.0, float("nan")], [3.0, 5.0]], k=1)
    ... except ek.errors.MissingValuesError:
    ...     print("refused")
    refused
    """


@document
class NotFiniteError(InputError):
    """Values are infinite, overflow or underflow.

    {See Also: InputError}

    Examples
    --------
    >>> import eckart as ek
    >>> try:
    ...     ek.decompose([[1.0, float("inf")], [3.0, 5.0]], k=1)
    ... except ek.errors.NotFiniteError:
    ...     print("refused")
    refused
    """


@document
class ParameterError(EckartError, ValueError):
    """An argument is unknown or out of range.

    {See Also: EckartError}

    Examples
    --------
    >>> import eckart as ek
    >>> try:
    ...     ek.datasets.load("iris")
    ... except ek.errors.ParameterError as error:
    ...     print(error)
    There is no example table 'iris'. The available tables are films, ratings, ratings_mixed, usarrests.
    """


@document
class FileError(EckartError, ValueError):
    """A file is damaged, unsafe or of an unknown kind.

    {See Also: ReadError, ModelFileError, CheckpointError}

    Examples
    --------
    >>> import eckart as ek, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "broken.npy"
    ...     _ = path.write_bytes(b"not an array")
    ...     try:
    ...         ek.decompose(path)
    ...     except ek.errors.FileError:
    ...         print("refused")
    refused
    """


@document
class ReadError(FileError):
    """A file cannot be opened, or the library that reads it failed because the file is damaged.

    {See Also: FileError}

    Examples
    --------
    >>> import eckart as ek
    >>> try:
    ...     ek.decompose("missing.csv")
    ... except ek.errors.ReadError as error:
    ...     print(error)
    'missing.csv' does not exist. Check the path.
    """


@document
class ModelFileError(FileError):
    """A saved model is damaged, written by a newer version, or not a model.

    {See Also: load [model]}

    Examples
    --------
    >>> import eckart as ek
    >>> try:
    ...     ek.load("missing.eckart")
    ... except ek.errors.ModelFileError as error:
    ...     print(error)
    missing.eckart cannot be opened: No such file or directory. Check the path.
    """


@document
class CheckpointError(FileError):
    """A checkpoint cannot be written, is damaged, or belongs to another run.

    {See Also: decompose}

    Examples
    --------
    >>> import eckart as ek, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "notes.txt"
    ...     _ = path.write_text("not a checkpoint")
    ...     try:
    ...         ek.decompose([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], k=1, stream=True, checkpoint=path)
    ...     except ek.errors.CheckpointError:
    ...         print("refused")
    refused
    """


@document
class ClusterError(EckartError, RuntimeError):
    """A cluster is not available, or the connection was lost.

    {See Also: decompose}

    Examples
    --------
    >>> import eckart as ek
    >>> try:
    ...     ek.decompose([[1.0, 2.0], [3.0, 5.0]], k=1, executor="slurm")
    ... except ek.errors.ClusterError:
    ...     print("refused")
    refused
    """


@document
class MemoryBudgetError(EckartError, MemoryError):
    """The computation needs more memory than the limit allows.

    {See Also: plan}

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> try:
    ...     ek.decompose(np.ones((300, 200)), k=2, memory=1000)
    ... except ek.errors.MemoryBudgetError:
    ...     print("refused")
    refused
    """


@document
class MissingDependencyError(EckartError, ImportError):
    """An optional package is not installed.

    {See Also: require}

    Examples
    --------
    >>> import eckart as ek
    >>> try:
    ...     ek.errors.require("no_such_package")
    ... except ek.errors.MissingDependencyError as error:
    ...     print(error)
    The package 'no_such_package' is required for this, but it is not installed. Install it with: pip install
    no_such_package
    """


@document
def require(package: str, *, extra: str | None = None, purpose: str = "this") -> ModuleType:
    """Import an optional package, or raise an error that explains how to install it.

    Parameters
    ----------
    package : str
        Name of the package.
    extra : str or None, default None
        Eckart extra that installs the package.
    purpose : str, default 'this'
        What the package is needed for. The error message mentions it.

    Returns
    -------
    module
        The imported package.

    Raises
    ------
    MissingDependencyError
        If the package is not installed.

    {See Also: MissingDependencyError}

    Examples
    --------
    >>> import eckart as ek
    >>> ek.errors.require("math").sqrt(4)
    2.0
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        remedy = f"pip install 'eckart[{extra}]'" if extra else f"pip install {name}"
        message = f"The package {name!r} is required for {purpose}, but it is not installed. Install it with: {remedy}"
        raise MissingDependencyError(message) from error


@contextmanager
def translated(translate: Callable[[Exception], EckartError], *unchanged: type[Exception]) -> Iterator[None]:
    """Raise `translate(error)` for any exception of the libraries inside; these raise too many types to list them.

    Errors of Eckart pass unchanged, as do those of the types `unchanged`.
    """
    passing: tuple[type[Exception], ...] = (EckartError, *unchanged)
    try:
        yield
    except passing:
        raise
    except Exception as error:
        raise translate(error) from error
