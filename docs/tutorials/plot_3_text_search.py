"""
Search documents by concept
===========================

Latent semantic analysis: the SVD of a weighted word count finds concepts, and documents are compared by concept instead
of by word.
"""

# %%
# Count words
# -----------
from sklearn.feature_extraction.text import TfidfVectorizer

import eckart as ek

documents = [
    "cats chase mice in the garden",
    "the kitten plays with a toy mouse",
    "dogs and cats are pets",
    "stock markets fell sharply today",
    "investors sold bond funds and bought shares",
    "bond yields rose as stock prices fell",
    "a recipe for bread with yeast",
    "bake the bread in a hot oven",
]
weights = TfidfVectorizer(stop_words="english")
matrix = weights.fit_transform(documents)
print(matrix.shape)

# %%
# Find concepts
# -------------
# The matrix stays sparse. The certificate says how much of it the concepts keep.
d = ek.decompose(matrix, "svd", k=3, left=True).named(
    [f"document {i + 1}" for i in range(8)], weights.get_feature_names_out()
)
print(d.certificate.explained)
space = ek.concepts(d)

# %%
# Search
# ------
for i, document in enumerate(space.similar_rows("document 4", 2).names, 1):
    print(i, document)
