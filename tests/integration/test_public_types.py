"""Public signatures say what they take and give: no annotation is `Any`, so that type checkers and editors can help."""

import inspect
import re
from collections.abc import Iterator

from tests.docs.docstrings import public_names


def annotations(value: object) -> Iterator[tuple[str, str]]:
    """(name, annotation) of the parameters and of the result, as they are written."""
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    function = inspect.unwrap(function) if callable(function) else function
    if inspect.isclass(function):
        function = vars(function).get("__init__")
    if inspect.isfunction(function):
        signature = inspect.signature(function)
        yield from ((name, str(item.annotation)) for name, item in signature.parameters.items())
        yield "return", str(signature.return_annotation)


def test_no_public_annotation_is_any() -> None:
    found = [
        f"{public}({name}: {annotation})"
        for public, value in public_names().items()
        for name, annotation in annotations(value)
        if re.search(r"\bAny\b", annotation)
    ]
    assert found == []
