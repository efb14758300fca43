"""
CUR: real columns instead of components
=======================================

CUR approximates a table by some of its own columns and rows. The plot compares the error of CUR with the error of the
truncated SVD, which is the smallest error possible for the same rank.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import eckart as ek

digits = load_digits().data
ranks = [2, 5, 10, 15, 20, 30]
fits = [ek.CUR(n_components=k).fit(digits) for k in ranks]
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(ranks, [fit.relative_error_ for fit in fits], "o-", label="CUR")
ax.plot(ranks, [fit.relative_error_ / fit.ratio_[0] for fit in fits], "s--", label="best of this rank (SVD)")
ax.set(xlabel="rank", ylabel="relative error", ylim=(0, None))
ax.legend()
