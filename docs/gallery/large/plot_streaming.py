"""
A file larger than the memory limit
===================================

Eckart reads the file in blocks, stays within the memory limit, and reports its progress after every block.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import eckart as ek

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
np.save(folder / "large.npy", rng.normal(size=(50_000, 40)) * np.linspace(4, 1, 40))
seen = []
d = ek.decompose(folder / "large.npy", "pca", k=3, memory="8MB", callback=seen.append)
print(d.plan)
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot([progress.block for progress in seen])
ax.set(xlabel="call", ylabel="blocks read", title=f"{len(seen)} blocks, {d.info.passes} pass over the file")
