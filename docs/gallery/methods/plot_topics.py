"""
Topics in documents
===================

NMF with the Kullback-Leibler loss finds topics in a table of word counts. The plot shows the words with the largest
weights in each topic.
"""

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer

import eckart as ek

documents = [
    "the cat chased the mouse",
    "a mouse hides from the cat",
    "cat and dog play",
    "the dog chased the cat",
    "stocks fell as markets closed",
    "the market rallied and stocks rose",
    "bond markets and stocks",
    "investors sold bonds",
]
words = CountVectorizer(stop_words="english")
counts = words.fit_transform(documents).astype(float)
nmf = ek.NMF(n_components=2, beta_loss="kullback-leibler", solver="mu", random_state=0).fit(counts)
names = words.get_feature_names_out()
fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for number, (ax, topic) in enumerate(zip(axes, nmf.components_, strict=True), 1):
    strongest = topic.argsort()[::-1][:5]
    ax.barh(names[strongest][::-1], topic[strongest][::-1])
    ax.set_title(f"topic {number}")
