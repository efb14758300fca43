"""
Predict ratings
===============

``Ratings`` fits a model to the known entries of a table and predicts the others. Here each user has rated about a third
of the films. To choose the number of concepts, we compare the errors on held-out ratings.
"""

import matplotlib.pyplot as plt
import numpy as np

import eckart as ek

rng = np.random.default_rng(0)
users, films, tastes = 300, 60, 2
truth = 3 + rng.normal(0, 0.4, (users, 1)) + rng.normal(0, 0.4, films)
truth += rng.normal(size=(users, tastes)) @ rng.normal(size=(tastes, films)) / 2
table = np.where(rng.random(truth.shape) < 1 / 3, truth + rng.normal(0, 0.3, truth.shape), np.nan)

numbers = [1, 2, 3, 5, 8]
scores = [ek.Ratings(n_components=k, rng=0).evaluate(table) for k in numbers]
print(scores[1])

model = ek.Ratings(n_components=2, rng=0).fit(table)
print(model.recommend(0, 3))

fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(numbers, [score.rmse for score in scores], "o-", label="concepts and biases")
ax.axhline(scores[0].rmse_of_biases, linestyle="--", color="0.4", label="biases only")
ax.set(xlabel="number of concepts", ylabel="error on held-out ratings", ylim=(0, None))
ax.legend()
