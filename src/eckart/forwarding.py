"""forwarded: an attribute that is read from an attribute of another object."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Generic, TypeVar

Value = TypeVar("Value")


class forwarded(property, Generic[Value]):
    """`passes: ClassVar[forwarded[int]] = forwarded("base.passes")` is a property that returns `self.base.passes`."""

    def __init__(self, path: str) -> None:
        super().__init__(attrgetter(path))

    if TYPE_CHECKING:

        def __get__(self, instance: object, owner: type | None = None) -> Value: ...  # type: ignore[override]
