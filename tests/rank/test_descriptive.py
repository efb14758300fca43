"""The reasons of the descriptive rules."""

import numpy as np

import eckart as ek


def test_broken_stick_describes_one_computed_component_in_the_singular():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((30, 1)) @ rng.standard_normal((1, 5)) + 1e-3 * rng.standard_normal((30, 5))
    found = ek.choose_rank(ek.decompose(table, k=1), ["broken_stick"])["broken_stick"]
    assert found.k is None
    assert found.reason == (
        "The computed component explains more than expected under the broken-stick model. There may be more."
    )
