"""Texts as weighted counts of words: rows of length 1, one column for each word.

With f_ij the count of word j in document i of n, d_j the number of documents with word j, g_j its total count:

- log_entropy: log(1 + f_ij) (1 + sum_i p_ij log p_ij / log n) with p_ij = f_ij / g_j (Dumais, 1991);
- tfidf: f_ij (log((1 + n) / (1 + d_j)) + 1);
- bm25: log(1 + (n - d_j + 1/2) / (d_j + 1/2)) f_ij (k + 1) / (f_ij + k (1 - b + b l_i / l)) with k = 1.2, b = 0.75, l_i
  the length of document i and l the mean length (Robertson and Zaragoza, 2009).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from eckart.concept_space.stop_words import stop_words as words_of
from eckart.errors import InputError
from eckart.options import check_choice
from eckart.wording import either

WEIGHTS = ("log_entropy", "tfidf", "bm25")
_WORD = re.compile(r"[^\W_]{2,}")
_SATURATION, _LENGTH = 1.2, 0.75


def words(text: str) -> list[str]:
    """Runs of at least two letters or digits, in lower case."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True)
class WordWeights:
    """A vocabulary with weights; has the methods of scikit-learn's vectorizers that `concepts` uses."""

    kind: str
    vocabulary: tuple[str, ...]
    weights: np.ndarray
    """Global weight of each word."""
    mean_length: float
    places: dict[str, int] = field(repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {word: j for j, word in enumerate(self.vocabulary)})

    def build_analyzer(self) -> Callable[[str], list[str]]:
        """The function from a text to its words."""
        return words

    def get_feature_names_out(self) -> np.ndarray:
        """The words."""
        return np.array(self.vocabulary, dtype=object)

    def transform(self, texts: Iterable[str]) -> sparse.csr_array:
        """Weighted counts, rows of length 1; a text without known words is a row of zeros."""
        return self.weighted(counted([words(text) for text in texts], self.places))

    def weighted(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Local times global weights, rows divided by their lengths."""
        local = counts.data
        if self.kind == "log_entropy":
            local = np.log1p(local)
        elif self.kind == "bm25":
            lengths = np.repeat(np.asarray(counts.sum(axis=1)).ravel(), np.diff(counts.indptr))
            norm = 1.0 - _LENGTH + _LENGTH * lengths / max(self.mean_length, 1e-300)
            local = local * (_SATURATION + 1.0) / (local + _SATURATION * norm)
        values = local * self.weights[counts.indices]
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        squares = np.bincount(rows, values**2, minlength=counts.shape[0])
        values = values / np.sqrt(np.maximum(squares, 1e-300))[rows]
        return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def weigh(
    texts: Sequence[str], kind: str = "log_entropy", *, stop_words: Any = None, min_df: int = 1
) -> tuple[WordWeights, sparse.csr_array]:
    """The weights of the words of a collection, and its weighted counts."""
    check_choice("weights", kind, WEIGHTS)
    tokens = [words(text) for text in texts]
    left_out = words_of(stop_words, chain.from_iterable(tokens))
    documents = Counter(chain.from_iterable(map(set, tokens)))
    vocabulary = tuple(sorted(word for word, count in documents.items() if count >= min_df and word not in left_out))
    if not vocabulary:
        _refuse_empty(documents.keys() - set(left_out), bool(documents), min_df)
    counts = counted(tokens, {word: j for j, word in enumerate(vocabulary)})
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    made = WordWeights(kind, vocabulary, _global(counts, kind), float(lengths.mean()))
    return made, made.weighted(counts)


def _refuse_empty(others: set[str], found: bool, min_df: int) -> NoReturn:
    """Say why no words are left: `others` are the words that are not stop words."""
    if others:
        raise InputError(f"No word occurs in {min_df} or more documents. Use a smaller min_df.")
    if found:
        remedy = either("stop_words=None", "no --stop-words")
        raise InputError(f"The documents contain only stop words. Use {remedy}, or add other documents.")
    raise InputError("The documents contain no words of two or more letters. Add documents that contain text.")


def counted(tokens: Sequence[Sequence[str]], places: dict[str, int]) -> sparse.csr_array:
    """How often each word occurs in each document."""
    indptr, indices, data = [0], [], []
    for one in tokens:
        counts = Counter(places[word] for word in one if word in places)
        order = sorted(counts)
        indices += order
        data += [counts[place] for place in order]
        indptr.append(len(indices))
    arrays = (np.array(data, np.float64), np.array(indices, np.int64), np.array(indptr, np.int64))
    return sparse.csr_array(arrays, shape=(len(tokens), len(places)))


def _global(counts: sparse.csr_array, kind: str) -> np.ndarray:
    n, p = counts.shape
    documents = np.bincount(counts.indices, minlength=p)
    if kind == "tfidf":
        return np.asarray(np.log((1.0 + n) / (1.0 + documents)) + 1.0)
    if kind == "bm25":
        return np.asarray(np.log1p((n - documents + 0.5) / (documents + 0.5)))
    total = np.bincount(counts.indices, counts.data, minlength=p)
    share = counts.data / total[counts.indices]
    entropy = np.bincount(counts.indices, share * np.log(share), minlength=p)
    # A word spread evenly over all documents has weight 0; in a single document all words have weight 1.
    return np.asarray(1.0 + entropy / np.log(n)) if n > 1 else np.ones(p)
