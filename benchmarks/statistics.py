"""Error rates by simulation: python -m benchmarks.statistics [limits bootstrap selection columns weights] [--seed 0]

limits: false alarms of T2 and Q at 5 %, fitted and new rows. bootstrap: coverage of 95 % intervals of loadings, and how
often a sign called sure is right. selection: scores of searches on pure noise against fresh rows. columns: correlations
of columns with a component of pure noise. weights: weighted rows against repeated rows.
"""

from __future__ import annotations

import argparse

import numpy as np

import eckart as ek
from eckart.analysis.bootstrap import rotated_groups
from eckart.analysis.tables.outliers import distances, new_limits


def limits(rng: np.random.Generator) -> None:
    print(f"{'noise':<10}{'columns':>8}{'rows':>6}{'k':>3}{'T2 fitted':>11}{'Q fitted':>10}{'T2 new':>8}{'Q new':>7}")
    for noise in ("equal", "unequal"):
        for columns in (8, 30):
            for rows, tables in ((15, 120), (30, 80), (100, 40), (1000, 10)):
                for k in (1, 2, 5):
                    rates = np.mean([_false_alarms(rng, noise, rows, columns, k) for _ in range(tables)], axis=0)
                    shown = "".join(
                        f"{100 * rate:>{width}.1f}" for rate, width in zip(rates, (11, 10, 8, 7), strict=True)
                    )
                    print(f"{noise:<10}{columns:>8}{rows:>6}{k:>3}{shown}", flush=True)


def _false_alarms(rng: np.random.Generator, noise: str, rows: int, columns: int, k: int) -> list[float]:
    deviations = np.ones(columns) if noise == "equal" else rng.uniform(0.5, 2.0, columns)
    deviations[:k] = np.linspace(9.0, 6.0, k)
    d = ek.decompose(rng.standard_normal((rows, columns)) * deviations, left=True)
    found, (inside, beside) = distances(d, k), new_limits(d, k)
    others = rng.standard_normal((1000, columns)) * deviations - np.asarray(d.mean)
    scores = others @ np.asarray(d.right)[:, :k]
    t2 = (scores**2 / np.asarray(d.variances)[:k]).sum(axis=1)
    q = (others**2).sum(axis=1) - (scores**2).sum(axis=1)
    fitted = [(found.inside > found.inside_limit).mean(), (found.beside > found.beside_limit).mean()]
    return [*fitted, (t2 > inside).mean(), (q > beside).mean()]


def bootstrap(rng: np.random.Generator) -> None:
    print(f"{'components':<12}{'rows':>6}{'coverage':>10}{'sure signs right':>18}")
    cases = {"clear": (4, 2, 1, 0.5, 0.4), "close": (2, 1.9, 0.8, 0.5, 0.3), "three close": (2, 1.95, 1.9, 0.4, 0.3)}
    for rows in (50, 200):
        for name, deviations in cases.items():
            k, inside, sure = 3 if "three" in name else 2, [], []
            for _ in range(40):
                basis = np.linalg.qr(rng.standard_normal((5, 5)))[0]
                data = (rng.standard_normal((rows, 5)) * deviations) @ basis.T
                found = ek.bootstrap(data, k=k, count=300, rng=int(rng.integers(2**31)))
                fit = np.asarray(found.decomposition.right)
                truth = basis[:, :k] * np.sign((basis[:, :k] * fit).sum(axis=0))
                truth = rotated_groups(fit, truth, found.groups).T.ravel()
                lines = found.loadings().rows
                low, high = np.array([line[3:5] for line in lines], dtype=float).T
                called = np.array([line[5] == "sure" for line in lines])
                inside.append(((low <= truth) & (truth <= high)).mean())
                sure += (np.sign(truth) == np.sign(fit.T.ravel()))[called].tolist()
            print(f"{name:<12}{rows:>6}{100 * np.mean(inside):>10.1f}{100 * np.mean(sure):>18.1f}", flush=True)


def selection(rng: np.random.Generator) -> None:
    from sklearn.naive_bayes import GaussianNB

    print(f"{'search':<22}{'best':>7}{'nested':>8}{'fresh':>7}")
    for name in ("BackwardElimination", "RandomSubsetSearch"):
        scores = []
        for seed in range(12):
            X, y = rng.standard_normal((100, 12)), rng.permutation(np.arange(100) % 2)
            options = {"cv": 5, "nested": True} | ({"n_iter": 50, "random_state": seed} if "Random" in name else {})
            search = getattr(ek, name)(GaussianNB(), **options).fit(X, y)
            fresh = rng.standard_normal((2000, 12)), np.arange(2000) % 2
            model = GaussianNB().fit(search.transform(X), y)
            scores.append([search.best_score_, search.nested_score_, model.score(search.transform(fresh[0]), fresh[1])])
        best, nested, seen = np.mean(scores, axis=0)
        print(f"{name:<22}{best:>7.3f}{nested:>8.3f}{seen:>7.3f}", flush=True)


def columns(rng: np.random.Generator) -> None:
    """Why `axis_columns` has no p-values."""
    from scipy import stats

    data = [rng.standard_normal((50, 10)) for _ in range(100)]
    found = [stats.pearsonr(table, np.asarray(ek.decompose(table, k=1, left=True).left)).pvalue for table in data]
    print(
        f"pure noise, 50 x 10: {np.mean(np.array(found) < 0.05):.0%} of columns have p < 0.05 with the first component"
    )


def weights(rng: np.random.Generator) -> None:
    worst = 0.0
    names = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_",
             "noise_variance_")  # fmt: skip
    for rows, width in ((30, 6), (12, 25)):
        data, times = rng.standard_normal((rows, width)), rng.integers(1, 4, rows)
        pair = ek.PCA(3).fit(data, sample_weight=times.astype(float)), ek.PCA(3).fit(np.repeat(data, times, axis=0))
        arrays = [[np.asarray(getattr(model, name)) for name in names] for model in pair]
        for model, list_ in zip(pair, arrays, strict=True):
            list_ += [model.get_covariance(), model.get_precision(), model.score_samples(data)]
        worst = max(worst, *(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(*arrays, strict=True)))
    print(f"weights against repeated rows, PCA: largest relative difference {worst:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["limits", "bootstrap", "selection", "columns", "weights"])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for part in given.parts:
        print(f"--- {part}")
        globals()[part](np.random.default_rng(given.seed))


if __name__ == "__main__":
    main()
