"""Packages that have the name of a method: calling one says which function to use.

`eckart.pca` is a package of modules, but other libraries have functions of such names.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import NoReturn


class _Uncallable(ModuleType):
    def __call__(self, *_given: object, **_options: object) -> NoReturn:
        from eckart.options import LIBRARY_NAMES

        name = self.__name__.rpartition(".")[2]
        raise TypeError(f"{self.__name__} is a package of modules, not a function. {LIBRARY_NAMES[name]}.")


def refuse_calls(package: str) -> None:
    """Explain calls of a package, which Python refuses as calls of a 'module' object."""
    sys.modules[package].__class__ = _Uncallable
