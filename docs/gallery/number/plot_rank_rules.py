"""
Rules for the number of components
==================================

``choose_rank`` applies many rules, which make different assumptions, and recommends a number. The table lists the
answer of each rule with its reason. The plot compares the answers with the true number.
"""

import matplotlib.pyplot as plt
import numpy as np

import eckart as ek

rng = np.random.default_rng(3)
table = 2 * rng.normal(size=(200, 3)) @ rng.normal(size=(3, 20)) + rng.normal(size=(200, 20))
choice = ek.choose_rank(table, "quick")
print(choice)
answers = [(v.title, v.k) for v in choice.verdicts if v.k is not None]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.barh([name for name, _ in answers], [k for _, k in answers])
ax.axvline(3, color="k", linestyle="--", label="true number")
ax.set_xlabel("components")
ax.legend()
