"""The text of the kernels is installed with the package."""

from __future__ import annotations

from importlib.resources import files

import pytest

from eckart.engine.backends.cuda.source import source

KERNELS = {"csr": "multiply", "digest": "dense_sums", "random": "normals", "skinny": "multiply", "whiten": "whiten"}


def test_every_file_is_known() -> None:
    found = {path.name for path in files("eckart.engine.backends.cuda").iterdir() if path.name.endswith(".cu")}
    assert found == {f"{name}.cu" for name in KERNELS}


@pytest.mark.parametrize(("name", "kernel"), KERNELS.items())
def test_kernels_are_in_their_file(name: str, kernel: str) -> None:
    text = source(name)
    assert "__global__" in text
    assert kernel in text
