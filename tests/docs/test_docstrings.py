"""Every public docstring keeps numpydoc's rules (those of pyproject.toml), and no example prints a bare True."""

import inspect
import re

from tests.docs.docstrings import all_findings, public_names


def test_public_docstrings_keep_the_rules() -> None:
    assert not all_findings()


def test_examples_print_results() -> None:
    """A bare True shows nothing, except where the value itself is true or false, such as `certificate.proved`."""
    hidden = re.compile(r">>> (?:bool\(|all\(|np\.allclose|issubclass|.* in page).*\n\s*True$", re.MULTILINE)
    assert not [name for name, value in public_names().items() if hidden.search(inspect.getdoc(value) or "")]
