"""Tests mirror the source tree, so that the tests of a module are found by its path."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src" / "eckart"
CATEGORIES = ("anomalies", "docs", "gpu", "integration")
"""Folders of tests that belong to no single module: damage, documentation, graphics cards, whole calls."""


def has_a_place(test: Path) -> bool:
    """tests/nmf/test_fit.py for nmf/fit.py, tests/test_selection.py for the package selection."""
    folder, name = test.parent, test.stem.removeprefix("test_")
    if folder.parts[:1] and folder.parts[0] in CATEGORIES:
        return True
    module = SOURCE / folder / name
    return module.is_dir() or any(module.with_name(f).is_file() for f in (f"{name}.py", f"__{name}__.py"))


def test_every_test_file_is_at_the_path_of_its_module() -> None:
    files = [path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")]
    assert [str(path) for path in files if not has_a_place(path)] == []


def test_source_files_are_short() -> None:
    long = {str(path.relative_to(SOURCE)): count for path in SOURCE.rglob("*.py") if (count := _lines(path)) > 400}
    assert long == {}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
