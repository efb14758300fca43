"""
Data larger than memory
=======================

Eckart can read a file in blocks and stay within a memory limit. In this tutorial you predict the cost, run the
decomposition with a checkpoint, and write the scores without loading the whole table.
"""

# %%
# Create a file
# -------------
# This table has 40,000 rows. It stands in for a table that is larger than memory.
import tempfile
from pathlib import Path

import numpy as np

import eckart as ek

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
np.save(folder / "table.npy", rng.normal(size=(40_000, 60)) * np.linspace(4, 1, 60))

# %%
# Predict the cost
# ----------------
# ``plan`` predicts the solver, the number of passes over the data and the memory. It reads only the shape of the table.
print(ek.plan(folder / "table.npy", "pca", k=4, memory="6MB"))

# %%
# Run the decomposition
# ---------------------
# ``checkpoint`` names a folder for intermediate results. If the run is interrupted, repeat the same call to resume it.
# The result is bit-identical to that of an uninterrupted run.
d = ek.decompose(folder / "table.npy", "pca", k=4, memory="6MB", checkpoint=folder / "run")
print(d.certificate.explained)

# %%
# Write the scores
# ----------------
# ``project_to`` reads the rows and writes their scores block by block.
rows = ek.project_to(d, folder / "table.npy", folder / "scores.npy", memory="6MB")
print(rows, np.load(folder / "scores.npy", mmap_mode="r").shape)
