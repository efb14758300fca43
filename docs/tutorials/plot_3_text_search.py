"""
Search documents by concept
===========================

A keyword search misses documents that use other words for the same topic. In this tutorial you search by concept
instead. The method is latent semantic analysis: it weights the words of a collection, finds concepts by a singular
value decomposition, and compares documents by their concepts.
"""

# %%
# A collection of documents
# -------------------------
# ``TextConcepts`` accepts a list of texts, a mapping of names to texts, a folder of text files, a CSV file, a JSON
# Lines file, or a file in the SMART format of classic test collections. ``stop_words="english"`` leaves out words such
# as "the" and "and".
import eckart as ek

documents = {
    "cats": "cats chase mice and the mice hide from cats",
    "kitten": "a kitten chases a mouse, and kittens grow into cats that chase mice",
    "pets": "dogs and cats are pets; a kitten is a young cat",
    "markets": "stock markets fell as investors sold shares",
    "bonds": "investors bought bonds when shares and stock prices fell",
    "yields": "bond yields rose, and investors sold bonds and stock",
    "bread": "bake the bread in a hot oven with yeast and flour",
    "dough": "knead flour, water and yeast to a dough, then bake it in the oven",
}
model = ek.TextConcepts(n_components=3, stop_words="english").fit(documents)
print(model.decomposition_)

# %%
# What are the concepts about?
# ----------------------------
# ``topics`` lists the words with the largest weights in each concept.
print(model.topics(3, words=4).text())

# %%
# Search
# ------
# The documents "cats" and "pets" do not contain the word "mouse", but they share a concept with documents that do.
print(model.search("mouse", n=3))

# %%
# Similar documents
# -----------------
# ``similar`` finds the documents that are closest to a given document.
print(model.similar("bonds", n=2))

# %%
# Add documents
# -------------
# New documents are projected onto the existing concepts. Eckart warns you if the concepts represent the new documents
# poorly.
model.add({"shares": "shares and stock rose"})
print(model.search("investors", n=4))

# %%
# Measure the quality of the search
# ---------------------------------
# If you know which documents are relevant to some queries, ``evaluate`` computes the mean average precision.
relevant = {"animals": ["cats", "kitten", "pets"], "finance": ["markets", "bonds", "yields", "shares"]}
print(model.evaluate({"animals": "kitten", "finance": "stock"}, relevant))

# %%
# Save the collection
# -------------------
# ``model.save("collection.eckart")`` writes the concepts and the coordinates of all documents to a file. On the command
# line, ``eckart search texts/ "query" -o collection.eckart`` searches a folder and saves the collection, and
# ``eckart search collection.eckart "query"`` searches the saved collection.
