"""The picture of docs/isomap.md: python docs/swiss_roll.py writes docs/_static/swiss-roll.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import make_swiss_roll

import eckart as ek


def main() -> None:
    points, along = make_swiss_roll(1500, random_state=0)
    flat = {"PCA": ek.PCA(2).fit_transform(points), "Isomap": ek.Isomap(n_neighbors=10).fit_transform(points)}
    figure = plt.figure(figsize=(10.5, 3.4), layout="constrained")
    roll = figure.add_subplot(1, 3, 1, projection="3d")
    roll.scatter(*points.T, c=along, s=5)
    roll.view_init(8, -72)
    roll.set_title("a roll in three dimensions")
    for place, (name, scores) in enumerate(flat.items()):
        axes = figure.add_subplot(1, 3, place + 2)
        axes.scatter(scores[:, 0], scores[:, 1], c=along, s=5)
        axes.set_title(f"two coordinates by {name}")
        axes.set_aspect("equal", adjustable="datalim")
    figure.savefig(Path(__file__).parent / "_static" / "swiss-roll.png", dpi=110)


if __name__ == "__main__":
    main()
