"""Concept search: quality on a collection of texts, speed and memory of many recommendations.

`python -m benchmarks.concepts [--med FOLDER] [--repeats 5]`. The folder holds the MEDLARS collection in SMART format
(MED.ALL.gz, MED.QRY.gz, MED.REL.gz); without it the first part is left out.
"""

from __future__ import annotations

import argparse
import gzip
import re
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

import eckart as ek
from eckart.concept_space.best import best

MED = Path(__file__).parents[2] / "shared" / "data" / "med"
SETTINGS = {
    "tf-idf as it comes": {},
    "English stop words": {"stop_words": "english"},
    "log of counts": {"sublinear_tf": True},
    "log of counts, English stop words": {"sublinear_tf": True, "stop_words": "english"},
}


def texts(file: Path) -> list[str]:
    whole = gzip.decompress(file.read_bytes()).decode("latin-1").replace("\r\n", "\n")
    return [part.partition(".W\n")[2] for part in re.split(r"^\.I \d+\s*\n", whole, flags=re.MULTILINE)[1:]]


def judgements(file: Path) -> dict[int, set[int]]:
    """Query -> the documents that answer it, counted from 0."""
    found: dict[int, set[int]] = {}
    for line in gzip.decompress(file.read_bytes()).decode("ascii").splitlines():
        query, _, document, _ = line.split()
        found.setdefault(int(query) - 1, set()).add(int(document) - 1)
    return found


def average_precision(order: Sequence[int], relevant: set[int]) -> float:
    hits = [rank for rank, document in enumerate(order, 1) if document in relevant]
    return sum(count / rank for count, rank in enumerate(hits, 1)) / len(relevant)


def retrieval(folder: Path, k: int, options: dict[str, object]) -> tuple[float, float]:
    """Mean average precision of plain tf-idf and of k concepts."""
    documents, queries = texts(folder / "MED.ALL.gz"), texts(folder / "MED.QRY.gz")
    relevant = judgements(folder / "MED.REL.gz")
    vectorizer = TfidfVectorizer(**options)
    matrix = vectorizer.fit_transform(documents)
    space = ek.concepts(ek.decompose(matrix, "svd", k=k), rows=matrix, vectorizer=vectorizer)
    plain, concepts = [], []
    for number, text in enumerate(queries):
        scores = (matrix @ vectorizer.transform([text]).T).toarray()[:, 0]
        plain.append(average_precision(np.argsort(-scores, kind="stable").tolist(), relevant[number]))
        ranking = space.similar_rows(space.query(text), len(documents))
        concepts.append(average_precision(ranking.indices.tolist(), relevant[number]))
    return statistics.mean(plain), statistics.mean(concepts)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def tastes(rows: int, columns: int, kinds: int, each: int = 40) -> sparse.csr_array:
    """Each row rates some 40 columns, most of them of its own kind, from 1 to 5."""
    random = np.random.default_rng(0)
    kind = np.where(random.random((rows, each)) < 0.8, random.integers(kinds, size=(rows, 1)), random.integers(kinds))
    within = (columns // kinds * random.random((rows, each)) ** 3).astype(int)
    entries = random.integers(1, 6, size=rows * each).astype(float)
    indices = (np.repeat(np.arange(rows), each), (kind * (columns // kinds) + within).ravel())
    ratings = sparse.csr_array((entries, indices), shape=(rows, columns))
    ratings.data = np.minimum(ratings.data, 5.0)
    return ratings


def recommendations(dtype: str, repeats: int, rows: int = 10_000, columns: int = 30_000, k: int = 50) -> None:
    """recommend_many against the bare product, which is written into one buffer of 1000 rows again and again."""
    ratings = tastes(rows, columns, 2 * k).astype(dtype)
    d = ek.decompose(ratings, "svd", k=k, tol=1e-3)
    space = ek.concepts(d, rows=ratings)
    coordinates, right = space.rows.coordinates, space.geometry.right
    buffer = np.empty((1000, columns), dtype)

    def bare() -> None:
        for start in range(0, rows, 1000):
            np.matmul(coordinates[start : start + 1000], right.T, out=buffer)

    def partitioned() -> None:
        for start in range(0, rows, 1000):
            np.matmul(coordinates[start : start + 1000], right.T, out=buffer)
            np.argpartition(buffer, columns - 10, axis=1)

    works: dict[str, Callable[[], object]] = {
        "bare product": bare,
        "product whole": lambda: coordinates @ right.T,
        "the best 10": lambda: best(coordinates, right, 10),
        "recommend_many, known left out": lambda: space.recommend_many(n=10),
        "recommend_many of new rows": lambda: space.recommend_many(ratings, n=10),
    }
    space.recommend_many(n=10)
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            times[name].append(seconds(work))
    times["product and argpartition"] = [seconds(partitioned)]
    base = statistics.median(times["bare product"])
    for name, seen in times.items():
        middle = statistics.median(seen)
        print(f"{dtype}  {name:32s} median {middle:6.3f} s  least {min(seen):6.3f} s  speed {base / middle:5.2f}")
    tracemalloc.start()
    space.recommend_many(n=10)
    print(f"{dtype}  memory of recommend_many at its peak: {tracemalloc.get_traced_memory()[1] / 1e6:.1f} MB")
    tracemalloc.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--med", type=Path, default=MED)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    if given.med.is_dir():
        for name, options in SETTINGS.items():
            plain, concepts = retrieval(given.med, 100, options)
            print(f"mean average precision, {name}: {plain:.3f} plain, {concepts:.3f} with 100 concepts")
    for dtype in ("float32", "float64"):
        recommendations(dtype, given.repeats)


if __name__ == "__main__":
    main()
