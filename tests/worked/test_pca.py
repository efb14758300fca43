"""PCA of tables without variance."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize(("table", "centred"), [("3 3; 3 3; 3 3", True), ("0 0; 0 0", False)])
def test_shares_of_nothing_are_not_defined(table: str, centred: bool) -> None:
    text = worked.pca(table, center=centred).text()
    assert "shares of it are not defined" in text
