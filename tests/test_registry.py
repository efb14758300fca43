"""A method that comes in its own folder works everywhere, without a change to any other file."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

import eckart as ek
from eckart import api
from eckart.api import option_names
from eckart.engine.blocks.reading import ProgressCallback
from eckart.errors import ParameterError
from eckart.io.read_options import ReadKeywords
from eckart.registry import Method, all_methods, get_method, register, unregister

TOY = '''
"""Random projection: k directions drawn at random, orthonormalised."""
import numpy as np
from eckart.registry import Method, ReportSection
from dataclasses import dataclass
from eckart.result import Decomposition, Details


@dataclass(frozen=True)
class ToyDetails(Details):
    draws: int


def fit(data, *, k=2, rng=None, left=False, memory=None):
    table = np.asarray(getattr(data, "matrix", data), dtype=float)
    about = getattr(data, "metadata", None)
    right, _ = np.linalg.qr(np.random.default_rng(rng).standard_normal((table.shape[1], k)))
    scores = table @ right
    values = np.linalg.norm(scores, axis=0)
    made = Decomposition("toy", values, right, *table.shape, norm=float(np.linalg.norm(table)), weight=len(table),
                         left=scores / values if left else None, details=ToyDetails(draws=1))
    return made if about is None else made.named(about.row_names, about.column_names)


def project(d, data):
    return np.asarray(getattr(data, "matrix", data), dtype=float) @ d.right


def reconstruct(d, scores):
    return scores @ d.right.T


METHOD = Method(
    name="toy", title="Random projection", fit="toy_method:fit", project="toy_method:project",
    reconstruct="toy_method:reconstruct", details="toy_method:ToyDetails", default_k=2, label="direction ",
    section=ReportSection("The draw", figures={"draws": "Draws"}, treatment="The table was taken as it is."),
)
'''


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the toy method, announced the way an installed package announces it."""
    (tmp_path / "toy_method.py").write_text(TOY)
    info = tmp_path / "toy_method-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-method\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[eckart.methods]\ntoy = toy_method:METHOD\n")
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    path = os.pathsep.join([str(folder), *sys.path])
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_method_in_its_own_folder_works_at_every_door(installed: Path) -> None:
    table = np.random.default_rng(5).normal(size=(12, 4))
    np.savetxt(installed / "table.csv", table, delimiter=",", header="a,b,c,d", comments="")
    run(installed, "-m", "eckart", "fit", "table.csv", "--method", "toy", "--seed", "3", "-o", "toy.eckart")
    scores = run(installed, "-m", "eckart", "transform", "toy.eckart", "table.csv", "-o", "-")
    right, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 2)))
    header, *lines = scores.splitlines()
    assert "direction 1" in header
    printed = np.array([line.split(",")[-2:] for line in lines], dtype=float)
    np.testing.assert_allclose(printed, table @ right, atol=1e-6)

    shown = json.loads(run(installed, "-m", "eckart", "report", "table.csv", "--method", "toy", "--json"))
    assert shown["method"] == "toy"
    assert shown["components"][0]["name"] == "direction 1"
    page = (installed / "report.html").read_text()
    assert "Random projection" in page
    assert "The draw" in page
    assert "The table was taken as it is." in page

    python = """
import numpy as np, eckart as ek
table = np.arange(12.0).reshape(4, 3)
d = ek.decompose(table, "toy", k=3, rng=1, left=True)
d.save("again.eckart")
loaded = ek.load("again.eckart")
np.testing.assert_array_equal(loaded.right, d.right)
np.testing.assert_allclose(ek.reconstruct(loaded, ek.project(loaded, table)), table, atol=1e-12)
"""
    run(installed, "-c", python)


def test_registered_methods() -> None:
    toy = Method("toy", "Toy", fit="tests.test_registry:make", project="", reconstruct="")
    register(toy)
    try:
        assert ek.decompose([[1.0, 2.0]], "toy") == [[1.0, 2.0]]
        assert get_method("toy") is toy
        with pytest.raises(ParameterError, match="already registered"):
            register(Method("pca", "Mine", fit="", project="", reconstruct=""))
    finally:
        unregister("toy")
    with pytest.raises(ParameterError, match="did you mean 'kernel_pca'"):
        ek.decompose([[1.0]], "kernel_pcs")
    assert list(all_methods())[:2] == ["pca", "svd"]


def make(data: object) -> object:
    return data


def test_overloads_name_the_options_of_each_method() -> None:
    """Editors complete what the method's function takes, neither more nor less."""
    seen = {}
    for overload in typing.get_overloads(ek.decompose):
        parameters = inspect.signature(overload).parameters
        annotation = str(parameters["method"].annotation)
        for name in re.findall(r"['\"](\w+)['\"]", annotation) if annotation.startswith("Literal") else ():
            seen[name] = _keywords()[str(parameters["options"].annotation)]
    for name, method in all_methods().items():
        options = set(option_names(method) or ())
        device = {"device"} if method.device != "none" else set()
        progress = {"progress"} if "callback" in options else set()  # an option of `decompose` itself
        assert name in seen, f"api.py needs an overload of decompose for {name!r}"
        assert seen[name] == options | device | progress | set(ReadKeywords.__annotations__)


def _keywords() -> dict[str, set[str]]:
    """Unpack[...] -> names in that typed dictionary, which api.py declares for type checkers only."""
    modules = ("cur.options", "engine.svd_options", "io.read_options", "isomap.options", "kernel_pca.options")
    known: dict[str, set[str]] = {}
    for module in map(importlib.import_module, (f"eckart.{name}" for name in (*modules, "nmf.options"))):
        known |= {
            name: typing.get_type_hints(value, localns=_LATE).keys()
            for name, value in vars(module).items()
            if name.endswith("Keywords") and typing.is_typeddict(value)
        }
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(api))):
        if isinstance(node, ast.ClassDef):
            bases = (known[base.id] for base in node.bases if isinstance(base, ast.Name))
            fields = {line.target.id for line in node.body if isinstance(line, ast.AnnAssign)}
            found[f"Unpack[{node.name}]"] = fields.union(*bases)
    return found


def test_options_are_declared_with_the_types_of_their_keywords() -> None:
    """A dataclass has the defaults, a typed dictionary the same names for type checkers."""
    for method in all_methods().values():
        assert method.options is not None, f"{method.name!r} needs an options.py with typed keywords"
        module, _, name = method.options.partition(":")
        options, keywords = (
            typing.get_type_hints(getattr(importlib.import_module(module), found), localns=_LATE)
            for found in (name, name.replace("Options", "Keywords"))
        )
        assert options == keywords


_LATE = {"ArrayLike": ArrayLike, "ProgressCallback": ProgressCallback}
"""Names that the modules import for type checkers only."""
