"""ARCHITECTURE.md names every module of the top level, in the order of the import contracts."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "eckart"


def rows() -> list[list[str]]:
    """The names in the first column of the table of packages."""
    section = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Packages")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [re.findall(r"`(\w+)(?:/|\.py)`", cell) for cell in cells]


def test_the_table_names_every_module_once() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert sorted(name for row in rows() for name in row) == sorted(there - {"__init__", "__main__"})


def test_rows_are_in_the_order_of_the_contracts() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    place = {name: number for number, row in enumerate(rows()) for name in row}
    places = [[place[name] for name in re.split(r"[ :]+", layer)] for layer in layers]
    for upper, lower in pairwise(places):
        assert max(upper) <= min(lower)
