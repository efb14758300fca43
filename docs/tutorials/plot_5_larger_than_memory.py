"""
Data larger than memory
=======================

Eckart reads a file in blocks and stays within a memory limit. This tutorial plans the work, runs it with a checkpoint,
and writes the scores without loading the whole table.
"""

# %%
# A file
# ------
import tempfile
from pathlib import Path

import numpy as np

import eckart as ek

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
np.save(folder / "table.npy", rng.normal(size=(40_000, 60)) * np.linspace(4, 1, 60))

# %%
# Plan
# ----
# A plan reads only the shape.
print(ek.plan(folder / "table.npy", "pca", k=4, memory="6MB"))

# %%
# Run
# ---
# Repeat the same call after an interruption and it resumes, with bit-identical results.
d = ek.decompose(folder / "table.npy", "pca", k=4, memory="6MB", checkpoint=folder / "run")
print(d.certificate.explained)

# %%
# Write the scores
# ----------------
rows = ek.project_to(d, folder / "table.npy", folder / "scores.npy", memory="6MB")
print(rows, np.load(folder / "scores.npy", mmap_mode="r").shape)
