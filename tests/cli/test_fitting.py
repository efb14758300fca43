"""eckart fit: what it prints about choices that it made."""

import numpy as np
import pytest
from click.testing import CliRunner

from eckart.cli import main


@pytest.mark.parametrize(
    ("method", "options"),
    [("svd", "-k, --explain or --error"), ("kernel_pca", "-k or --explain"), ("nmf", "-k"), ("isomap", "-k")],
)
def test_the_default_number_names_the_options_of_the_method(tmp_path, method, options):
    np.savetxt(tmp_path / "table.csv", np.random.default_rng(1).random((30, 4)), delimiter=",")
    arguments = ["fit", str(tmp_path / "table.csv"), "--method", method, "-o", str(tmp_path / "model.eckart")]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0
    assert f"by default. To choose another number, use {options}.\n" in found.stderr
