"""
Dask
====

Pass a Dask array, and the workers of a Dask cluster compute its decomposition. The result does not depend on the number
of workers. It agrees with the result for the same data in a NumPy array.
"""

import dask.array as da
import numpy as np

import eckart as ek

rng = np.random.default_rng(0)
table = rng.normal(size=(5000, 30)) * np.linspace(3, 1, 30)
d = ek.decompose(da.from_array(table, chunks=(1000, 30)), "pca", k=3)
print(np.allclose(d.values, ek.decompose(table, "pca", k=3).values))
ek.plots.scree(d, thresholds=False)
