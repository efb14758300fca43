"""
From a CSV file to a report
===========================

You have a table and want to know what is in it. This tutorial reads a CSV file, finds its principal components,
interprets them, and writes a page to share.
"""

# %%
# The table
# ---------
# ``usarrests`` ships with Eckart: arrests per 100,000 residents for three crimes in the 50 US states in 1973, and the
# percentage of people who live in cities.
import eckart as ek

path = ek.datasets.path("usarrests")
table = ek.datasets.load("usarrests")
print(table.column_names)
print(table.values[:3])

# %%
# Decompose
# ---------
# The columns have different units, so each is divided by its standard deviation (``scale=True``). ``left=True`` keeps
# the scores of the rows for the pictures.
d = ek.decompose(path, "pca", scale=True, left=True)
print(d)
print(ek.tables.eigenvalues(d).text())

# %%
# How many components matter?
# ---------------------------
ek.plots.scree(d)

# %%
# What do they mean?
# ------------------
# The first component is crime in general, the second contrasts cities with the country.
print(ek.tables.describe(d, 0))
print(ek.tables.describe(d, 1))
ek.plots.biplot(d)

# %%
# Which rows are unusual?
# -----------------------
print(ek.tables.outliers(d, k=2, only=True).text())

# %%
# How certain is it?
# ------------------
# The certificate states what is proved.
low, high = d.certificate.explained
print(f"explained: at least {low:.6f}; no other components can explain more than {high:.6f}")

# %%
# Share it
# --------
# One self-contained HTML page. On the command line: ``eckart report usarrests.csv --scale``.
page = ek.report(d, data=table.values)
print(f"{len(page):,} characters of HTML")
