"""
GPU
===

With ``device="cuda"``, Eckart copies data from the host to the GPU, decomposes them there, and returns host arrays.
PyTorch and CuPy arrays stay on their device. Without a GPU, this example runs on the processor.
"""

import importlib.util

import numpy as np

import eckart as ek

rng = np.random.default_rng(0)
table = (rng.normal(size=(2000, 200)) * np.linspace(3, 1, 200)).astype(np.float32)
gpu = importlib.util.find_spec("torch") is not None and __import__("torch").cuda.is_available()
d = ek.decompose(table, "pca", k=5, device="cuda" if gpu else None)
print("on the GPU" if gpu else "on the processor")
ek.plots.scree(d, thresholds=False)
