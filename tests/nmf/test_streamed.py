"""NMF of tables that are read in blocks."""

import numpy as np
import pytest

import eckart as ek


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("shape", [(6, 3), (8, 4)])
def test_runs_that_end_after_two_refused_steps(shape, loss):
    """One part converges so closely that a step, and the shorter step after it, no longer lower the loss."""
    rng = np.random.default_rng(0)
    for table in (rng.random(shape), np.outer(rng.random(shape[0]), rng.random(shape[1]))):
        found = ek.decompose(table, "nmf", k=1, left=True, beta_loss=loss, stream=True)
        wanted = ek.decompose(table, "nmf", k=1, left=True, beta_loss=loss)
        np.testing.assert_allclose(
            (found.left * found.values) @ found.right.T, (wanted.left * wanted.values) @ wanted.right.T, rtol=1e-3
        )
