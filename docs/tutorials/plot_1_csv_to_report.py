"""
From a CSV file to a report
===========================

Suppose that you have a table and want to know what it contains. In this tutorial you read a CSV file, compute its
principal components, interpret them, and write a report that you can share.
"""

# %%
# The table
# ---------
# The table ``usarrests`` ships with Eckart. It contains the arrests per 100,000 residents for three crimes in the 50 US
# states in 1973, and the percentage of people who live in urban areas.
import eckart as ek

path = ek.datasets.path("usarrests")
table = ek.datasets.load("usarrests")
print(table.column_names)
print(table.values[:3])

# %%
# Compute the components
# ----------------------
# The columns have different units, so we divide each column by its standard deviation (``scale=True``). With
# ``left=True``, the decomposition also keeps the scores of the rows, which the plots need.
d = ek.decompose(path, "pca", scale=True, left=True)
print(d)
print(ek.tables.eigenvalues(d).text())

# %%
# How many components matter?
# ---------------------------
# The scree plot shows the share of the variance that each component explains. The broken-stick line shows the shares
# that you would expect by chance, so components below the line are not worth keeping.
ek.plots.scree(d)

# %%
# What do the components mean?
# ----------------------------
# ``describe`` lists the columns with the largest loadings and the rows with extreme scores. The first component
# measures crime in general. The second component mainly measures urbanisation.
print(ek.tables.describe(d, 0))
print(ek.tables.describe(d, 1))
ek.plots.biplot(d)

# %%
# Which rows are unusual?
# -----------------------
# A large T2 means that a row has extreme values. A large Q means that the two components do not describe the row well.
print(ek.tables.outliers(d, k=2, only=True).text())

# %%
# How accurate is the result?
# ---------------------------
# The certificate of a result contains proved bounds on its accuracy. Here we compute only two components. The bounds
# show that no other two components can explain more of the variance.
low, high = ek.decompose(path, "pca", k=2, scale=True).certificate.explained
print(f"two components explain at least {low:.6f}; no other two can explain more than {high:.6f}")

# %%
# Share the result
# ----------------
# ``report`` returns one self-contained HTML page. If you pass a file name, it also writes the page to that file. On the
# command line, ``eckart report usarrests.csv --scale`` does the same.
page = ek.report(d, data=table.values)
print(f"{len(page):,} characters of HTML")
