"""The oldest supported versions, as constraints for pip: `python -m benchmarks.oldest pyproject.toml`."""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

_FRAMES = ("pandas", "polars")
"""Libraries of users' data, which only the tests install; the newest need newer versions of the others."""
_BOUND = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?\s*>=\s*([\w.]+)")


def lower_bounds(pyproject: str) -> dict[str, str]:
    """Package -> version of every requirement of the form `name>=version`: of the package, its extras and frames."""
    read = tomllib.loads(pyproject)
    project, tests = read["project"], read["dependency-groups"]["test"]
    frames = [item for item in tests if item.startswith(_FRAMES) and _BOUND.match(item)]
    requirements = [*project["dependencies"], *chain(*project["optional-dependencies"].values()), *frames]
    return {found[1]: found[2] for item in requirements if (found := _BOUND.match(item))}


if __name__ == "__main__":
    for name, version in lower_bounds(Path(sys.argv[1]).read_text(encoding="utf-8")).items():
        print(f"{name}=={version}")
