"""
Search texts by concept
=======================

A search by concept finds documents about the topic of a query, even if they use other words. The plot shows how similar
the documents are to each other. Each block of dark cells is one topic.
"""

import matplotlib.pyplot as plt
import numpy as np

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
print(model.search("a kitten and a mouse", n=3))
print(model.topics(3, words=4).text())

scores = model.transform(documents)
scores /= np.linalg.norm(scores, axis=1, keepdims=True)
fig, ax = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
image = ax.imshow(scores @ scores.T, cmap="Greys", vmin=0, vmax=1)
ax.set_xticks(range(len(documents)), model.names_, rotation=45)
ax.set_yticks(range(len(documents)), model.names_)
fig.colorbar(image, label="cosine of the concepts")
