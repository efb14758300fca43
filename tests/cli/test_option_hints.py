"""Options of other libraries are answered with the option of the command."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import eckart as ek
from eckart.cli import main
from eckart.errors import ParameterError

TABLE = str(ek.datasets.path("usarrests"))


@pytest.mark.parametrize(
    ("command", "option", "expected"),
    [
        ("fit", "--n_components", "-k"), ("report", "--n-components", "-k"), ("fit", "--k", "-k"),
        ("rank", "--standardize", "--scale"), ("fit", "--random_state", "--seed"), ("nmf", "--beta_loss", "--loss"),
        ("nmf", "--max_iter", "--iterations"), ("isomap", "--n_neighbors", "--neighbors"),
        ("fit", "--row_names", "--row-names"), ("fit", "--methd", "--method"), ("select", "-k", "--keep"),
        ("select", "--n-features-to-select", "--keep"),
    ],
)  # fmt: skip
def test_options_of_other_libraries(command: str, option: str, expected: str) -> None:
    result = CliRunner().invoke(main, [command, TABLE, option, "2"])
    assert result.exit_code == 2
    assert f"No such option '{option}'. Did you mean '{expected}'?" in result.stderr


def test_an_unrelated_option_has_no_suggestion() -> None:
    assert "Did you mean" not in CliRunner().invoke(main, ["fit", TABLE, "--zzz"]).stderr


def test_methods_are_named_in_any_case() -> None:
    result = CliRunner().invoke(main, ["rank", TABLE, "--method", "PCA"])
    assert result.exit_code == 0
    for given, meant in {"PCA": "pca", "KernelPCA": "kernel_pca", "TruncatedSVD": "svd", "NMF": "nmf"}.items():
        with pytest.raises(ParameterError, match=f"did you mean '{meant}'"):
            ek.decompose([[1.0, 2.0], [3.0, 5.0]], given)


def test_an_option_of_another_method_is_named_with_this_method() -> None:
    result = CliRunner().invoke(main, ["svd", TABLE, "--neighbors", "3"])
    assert "No such option '--neighbors'. It is an option of 'eckart isomap'." in result.stderr
