"""Names for dictionaries whose values have many types."""

from __future__ import annotations

from typing import Any, TypeAlias

Keywords: TypeAlias = dict[str, Any]
"""Keyword arguments by name, checked by the function that takes them."""
JsonObject: TypeAlias = dict[str, Any]
"""An object of a JSON document: strings, numbers, booleans, None, lists and further objects."""
