"""Damaged files through every reader, whole and in blocks: right, or refused; never a crash, a hang or a guess."""

from __future__ import annotations

import importlib
from typing import Any


class Missing:
    """Stands for a module that is not installed; files that need it are skipped with this error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, _: str) -> Any:
        raise ImportError(f"{self._name} is not installed")


def optional(name: str) -> Any:
    """A module, or `Missing` if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return Missing(name)
