"""The probabilistic reading of W H (pLSA): rows are documents d, columns are terms m, parts are topics t.

P(d, m) = sum over t of P(t) P(d | t) P(m | t). With the sums of the columns of W and of the rows of H divided out,
total P(t) = (sum of column t of W) (sum of row t of H).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eckart.errors import InputError


@dataclass(frozen=True)
class Plsa:
    """Factors of NMF as probabilities (probabilistic latent semantic analysis).

    Rows are documents d, columns are terms m and components are topics t. The model is P(d, m) = sum over t of P(t) P(d
    | t) P(m | t).

    Attributes
    ----------
    topics : array of shape (k,)
        Probabilities P(t) of the topics, which sum to 1.
    terms : array of shape (k, n_features)
        Probabilities P(m | t) of the terms. Each row sums to 1, or is zero for a topic without weight.
    total : float
        Sum of all entries of W H.

    See Also
    --------
    eckart.NMF : Estimator with this object as `plsa_`.

    Examples
    --------
    >>> import eckart as ek
    >>> nmf = ek.NMF(2, tol=1e-8, max_iter=1000).fit([[1, 0, 2], [2, 0, 4], [0, 3, 0], [1, 3, 2]])
    >>> nmf.plsa_.topics.round(3)
    array([0.667, 0.333])
    """

    topics: np.ndarray
    terms: np.ndarray
    total: float

    def documents(self, W: np.ndarray) -> np.ndarray:
        """Compute P(d | t) from the coordinates W.

        Parameters
        ----------
        W : array-like of shape (n_samples, k)
            Coordinates from `fit_transform`.

        Returns
        -------
        array of shape (n_samples, k)
            Probabilities; each column sums to 1.
        """
        W = np.asarray(W)
        if W.ndim != 2 or W.shape[1] != len(self.topics):
            raise InputError(
                f"W has shape {W.shape}, but it must have one column for each of the {len(self.topics)} topics."
            )
        sums = W.sum(axis=0)
        return W / np.where(sums > 0, sums, 1)

    def factors(self, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Convert back to factors W and H with W H = total P(d, m).

        Parameters
        ----------
        documents : array-like of shape (n_samples, k)
            P(d | t).

        Returns
        -------
        tuple of array
            The factors W and H. The rows of H sum to 1.
        """
        return np.asarray(documents) * (self.total * self.topics), self.terms


def plsa(sums: np.ndarray, H: np.ndarray) -> Plsa:
    """The probabilities of parts H (k x columns), given the column sums of W.

    >>> import numpy as np
    >>> reading = plsa(np.array([2.0, 1.0]), np.array([[1.0, 1.0], [0.0, 2.0]]))
    >>> reading.topics.round(4)
    array([0.6667, 0.3333])
    """
    across = H.sum(axis=1, dtype=np.float64)
    weights = sums * across
    total = float(weights.sum())
    topics = weights / total if total > 0 else weights
    return Plsa(topics, H / np.where(across > 0, across, 1)[:, None], total)
