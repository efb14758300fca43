"""The oldest supported versions, as constraints for pip: `python -m benchmarks.oldest pyproject.toml`."""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

_BOUND = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?\s*>=\s*([\w.]+)")


def lower_bounds(pyproject: str) -> dict[str, str]:
    """Package -> version of every requirement of the form `name>=version`, of the package and its extras."""
    project = tomllib.loads(pyproject)["project"]
    requirements = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    return {found[1]: found[2] for item in requirements if (found := _BOUND.match(item))}


if __name__ == "__main__":
    for name, version in lower_bounds(Path(sys.argv[1]).read_text(encoding="utf-8")).items():
        print(f"{name}=={version}")
