import json
import subprocess
import sys
from functools import cache

import pytest

HEAVY = (
    *("click", "jinja2", "matplotlib", "numba", "pandas", "plotly"),
    *("polars", "pyarrow", "rich", "sklearn", "sympy", "torch"),
)


def modules_after(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def after_import() -> set[str]:
    return modules_after("import eckart")


@pytest.mark.parametrize("package", HEAVY)
def test_import_leaves_heavy_packages_alone(package, after_import):
    assert package not in after_import


def test_the_public_names_are_listed_before_they_are_loaded():
    names = modules_after("import eckart; assert {'PCA', 'decompose', 'plan'} <= set(dir(eckart)), dir(eckart)")
    assert names.isdisjoint(HEAVY)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    import eckart

    with pytest.raises(AttributeError, match="nonsense"):
        _ = eckart.nonsense


VERBS = ("PCA", "decompose", "plan", "project", "reconstruct", "load", "report")


@cache
def callables_after_imports() -> set[str]:
    """Which verbs can be called after modules of similar names were imported; one process serves all of them."""
    modules = "eckart.estimators, eckart.api, eckart.cli, eckart.analysis.report.page, eckart.io.model_file, eckart"
    code = f"import {modules}; print(*(name for name in {VERBS} if callable(getattr(eckart, name))))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("name", VERBS)
def test_a_public_verb_stays_callable_when_a_module_has_its_name(name):
    assert name in callables_after_imports()
