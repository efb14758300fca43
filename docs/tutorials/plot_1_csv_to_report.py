"""
From a CSV file to a report
===========================

You have a table and want to know what it contains. In this tutorial you read a CSV file, find its principal components,
interpret them, and write a page to share.
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
# The columns have different units, so divide each column by its standard deviation (``scale=True``). ``left=True``
# keeps the scores of the rows for the plots.
d = ek.decompose(path, "pca", scale=True, left=True)
print(d)
print(ek.tables.eigenvalues(d).text())

# %%
# How many components matter?
# ---------------------------
# The scree plot shows how much each component explains. Components below the broken-stick line explain no more than
# chance would.
ek.plots.scree(d)

# %%
# What do the components mean?
# ----------------------------
# The first component measures crime in general. The second component separates urban from rural states.
print(ek.tables.describe(d, 0))
print(ek.tables.describe(d, 1))
ek.plots.biplot(d)

# %%
# Which rows are unusual?
# -----------------------
# A large T2 means that a row is extreme. A large Q means that the components do not describe the row well.
print(ek.tables.outliers(d, k=2, only=True).text())

# %%
# How accurate is the result?
# ---------------------------
# The certificate contains proved bounds. Here they are for the first two components.
low, high = ek.decompose(path, "pca", k=2, scale=True).certificate.explained
print(f"two components explain at least {low:.6f}; no other two can explain more than {high:.6f}")

# %%
# Share the result
# ----------------
# ``report`` returns one self-contained HTML page. Pass a file name to write it. On the command line, ``eckart report
# usarrests.csv --scale`` does the same.
page = ek.report(d, data=table.values)
print(f"{len(page):,} characters of HTML")
