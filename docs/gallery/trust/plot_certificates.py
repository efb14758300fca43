"""
Certificates for flat and decaying spectra
==========================================

Eckart proves an interval for each singular value. Here the true values are known, and the intervals contain them. The
intervals are narrow both for singular values that decay quickly and for nearly equal ones (a flat spectrum).
"""

import matplotlib.pyplot as plt
import numpy as np

import eckart as ek

rng = np.random.default_rng(0)
noise = rng.normal(size=(600, 300))
u, _, vt = np.linalg.svd(noise, full_matrices=False)
decaying = u * (100 / np.arange(1, 301)) @ vt
fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for ax, (name, table) in zip(axes, {"decaying": decaying, "flat (noise)": noise}.items(), strict=True):
    d = ek.decompose(table, "svd", k=10, solver="lanczos")
    low, high = d.certificate.values
    ax.plot(range(1, 11), np.linalg.svd(table, compute_uv=False)[:10], "k.", label="LAPACK")
    ax.fill_between(range(1, 11), low, high, alpha=0.4, label="certified interval")
    ax.set(title=f"{name}: widest interval {np.max(high / low - 1):.0e}", xlabel="component")
axes[0].legend()
