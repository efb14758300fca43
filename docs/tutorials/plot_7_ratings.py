"""
Recommend from ratings
======================

A table of ratings usually has more unknown entries than known ones. ``Ratings`` fits a model to the known entries and
predicts the others. In this tutorial you measure the error of the predictions and recommend films.
"""

# %%
# A table with unknown entries
# ----------------------------
# Unknown entries are NaN, empty cells of a CSV file, or entries that a sparse matrix does not store. This table is
# simulated: 200 users have rated about a third of 40 films.
import numpy as np

import eckart as ek

rng = np.random.default_rng(1)
tastes, genres = rng.normal(size=(200, 2)), rng.normal(size=(2, 40))
truth = 3 + 0.7 * tastes @ genres + rng.normal(0, 0.3, 40)
known = rng.random(truth.shape) < 1 / 3
table = np.where(known, truth + rng.normal(0, 0.3, truth.shape), np.nan)
print(f"{known.mean():.0%} of the entries are known")

# %%
# Measure the error
# -----------------
# ``evaluate`` hides a fifth of the known ratings, fits the model to the others, and predicts the hidden ones. For
# comparison, the output also gives the error of two simpler models: one that uses only the mean ratings of users and
# films (biases), and one that uses only the overall mean. The error is smallest with two concepts.
for k in (1, 2, 5):
    print(k, ek.Ratings(n_components=k, rng=0).evaluate(table))

# %%
# Recommend films
# ---------------
# ``recommend`` ranks the films that the user has not rated yet. ``predict`` predicts a single rating.
model = ek.Ratings(n_components=2, rng=0).fit(table)
print(model.recommend(0, 3))
print(f"predicted {model.predict(0, 5):.2f}, true {truth[0, 5]:.2f}")

# %%
# Users without ratings
# ---------------------
# For a user without ratings, ``Ratings`` predicts the mean rating of each film, and a note reports this.
table[3] = np.nan
fallback = ek.Ratings(n_components=2, rng=0).fit(table).recommend(3, 2)
print(fallback.notes)

# %%
# On the command line, ``eckart recommend ratings.csv --row Ada`` recommends columns for a row, and
# ``eckart recommend ratings.csv --evaluate 0.2`` measures the error.
