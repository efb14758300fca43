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


@pytest.mark.parametrize("name", ["pca", "nmf", "cur", "isomap", "kernel_pca"])
def test_a_method_that_is_called_by_its_name_names_the_function(name):
    code = f"import eckart\nfor _ in range(2):\n try: eckart.{name}([[1, 2]])\n except Exception as error: print(error)"
    code += f"\n from eckart import {name}"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.count(f"Use eckart.decompose(data, '{name}'), or eckart.") == 2


def test_options_by_position_are_refused_with_their_names():
    import eckart

    with pytest.raises(TypeError, match=r"only the data and the method by position\. .* such as k=2\."):
        eckart.decompose([[1.0, 2.0], [3.0, 5.0]], "pca", 2)


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
