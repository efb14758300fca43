"""
A matrix maps the circle to an ellipse
======================================

A matrix maps the unit circle to an ellipse. The singular values are the lengths of its half-axes, and the left singular
vectors are their directions.
"""

import matplotlib.pyplot as plt
import numpy as np

import eckart as ek

A = np.array([[3.0, 1.0], [1.0, 2.0]])
d = ek.decompose(A, "svd", left=True)
angle = np.linspace(0, 2 * np.pi, 200)
circle = np.vstack([np.cos(angle), np.sin(angle)])
fig, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.plot(*circle, "--", label="unit circle")
ax.plot(*(A @ circle), label="its image")
for value, direction in zip(d.values, d.left.T, strict=True):
    ax.annotate("", xy=value * direction, xytext=(0, 0), arrowprops={"arrowstyle": "->"})
    ax.text(*(value * direction), f"  {value:.2f}")
ax.set_aspect("equal")
ax.legend()
