"""What the host does with the work of a pass."""

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import MemoryBudgetError


def test_a_pass_without_room_on_the_host_is_refused_with_what_was_needed(monkeypatch):
    """NumPy's own error says neither what failed nor what to do."""

    def no_room(*_, **__):
        np.empty(2**60)  # more than any machine has

    monkeypatch.setattr("eckart.engine.backends.csr.CsrProducts.moments_and_product", no_room)
    table = sparse.random_array((40, 3000), density=0.01, format="csr", rng=np.random.default_rng(0))
    with pytest.raises(MemoryBudgetError, match=r"pass over the data needs .* \(Unable to allocate .*fewer col"):
        ek.decompose(table, "svd", k=1)
