"""The list, in the order of a course."""

from __future__ import annotations

from eckart.worked.errata import components as c
from eckart.worked.errata import linear_algebra as a
from eckart.worked.errata.erratum import Erratum

_ROWS = (
    (
        "eigenvalues",
        "For an eigenvalue, det(M - λ I) must differ from 0.",
        "It must be 0; where it is not, only e = 0 solves the system.",
        a.characteristic,
    ),
    (
        "determinant",
        "Chio's condensation needs the whole diagonal to be non-zero.",
        "Only each pivot, and a row swap (with a change of sign) repairs a zero one.",
        a.chio,
    ),
    (
        "power iteration",
        "Stop when two successive vectors are close.",
        (
            "With a negative dominant eigenvalue they never are; with ties in modulus nothing converges; the"
            " start must not be orthogonal to the answer."
        ),
        a.stopping,
    ),
    (
        "power iteration, program",
        "Deflate any matrix with A - λ v v^T.",
        "For matrices that are not symmetric the later vectors are not eigenvectors of A.",
        a.deflating,
    ),
    ("Wielandt's deflation", "v_i = (λ_1 - λ_i) u_i + ...", "v_i = (λ_i - λ_1) u_i + λ_1 (x · u_i) v_1.", a.wielandt),
    (
        "trace",
        "The trace is the sum of the singular values.",
        "Of the eigenvalues; the sum of the singular values is the nuclear norm.",
        a.trace,
    ),
    (
        "singular values",
        "Singular values are the eigenvalues (of a square matrix).",
        "Only of a symmetric positive semi-definite one.",
        c.symmetric_singular,
    ),
    (
        "ratings, rank",
        "The first four rows are linearly independent.",
        "They are multiples of one row; so are the last three. The rank is 2.",
        a.ratings_rank,
    ),
    (
        "ratings, changed rows",
        "After the change the last three columns are no longer all independent.",
        "Rows, not columns, and dependent, not independent: the last three rows now have rank 2 instead of 1.",
        c.dependent,
    ),
    ("second ratings SVD", "First entry of V^T .58.", "It is .56.", a.mixed_first),
    (
        "second ratings SVD, sign",
        "Second row of V^T (.12, -.02, .12, .69, .69) with the U printed next to it.",
        "Its sign is wrong for that U: the printed product gives -4.71 where the matrix has 5.",
        a.mixed_second,
    ),
    (
        "query",
        "q V = [2.32, 0] and q V V^T = [1.35, 1.35, 1.35, 0, 0].",
        "4/√3 = 2.309 and 4/3 = 1.333; rounded factors were multiplied.",
        a.rounded_query,
    ),
    (
        "Frobenius norm",
        "‖X‖_F = ∑ σ_i^2; the Frobenius norm is the sum of the squared entries.",
        "Its square is; the root is missing.",
        a.frobenius,
    ),
    ("energy", "The energy is the sum of the σ_i.", "Of their squares.", a.energy_rule),
    ("RMSE", "RMSE = ‖M - M'‖_F.", "Divide by √(m n).", a.rmse),
    (
        "Theorem 1, proof",
        "U^T Z V may be replaced by its diagonal D, which has rank at most k.",
        (
            "diag(U^T Z V) can have a larger rank than Z, so the step fails; Weyl's inequality repairs the "
            "proof (see 'eckart worked bounds')."
        ),
        c.proof_of_theorem_1,
    ),
    (
        "SVD, roles of U and V",
        "U rotates first and V restores, or columns of U are eigenvectors of A^T A.",
        "V^T acts first and U last; columns of U are eigenvectors of A A^T, those of V of A^T A.",
        c.swapped_vectors,
    ),
    (
        "SVD, uniqueness",
        "The SVD (or the set of components) is unique.",
        "Up to the signs of the vectors, and up to a rotation within equal singular values.",
        c.unique,
    ),
    (
        "compact SVD",
        "μ_m = 0 because n = m + 1 and the rank is m.",
        "Full rank m means that no singular value is 0; only columns of zeros are added to Σ.",
        c.full_rank,
    ),
    (
        "Theorem 2",
        "v_n^T A v_n > x^T A x for every other x.",
        "Not strict, and not for every x: v_1^T A v_1 ≥ x^T A x ≥ v_n^T A v_n.",
        c.strict_inequality,
    ),
    ("features", "x' = U_k x.", "x' = U_k^T x.", c.features),
    ("Z = X U^T", "U^T U = I for d < D.", "U U^T = I_d; U^T U is a projection.", c.projection),
    ("score", "The squared sum is the score.", "The sum is; its square adds to the variance.", c.scores),
    (
        "covariance of the scores",
        "s s^T / (m - 1).",
        "diag(s^2) / (m - 1): scores are uncorrelated.",
        c.score_covariance,
    ),
    (
        "variance of a component",
        "z_j^T z_k is the covariance, ‖z‖^2 the variance.",
        "Divide by l (or l - 1).",
        c.variance_divisor,
    ),
    (
        "PCA, pseudo-code",
        "Find the eigenpairs of the centred data.",
        "Of their covariance matrix: the centred data are not square.",
        c.pseudo_code,
    ),
    (
        "number of components",
        "Cross-validation is not available.",
        "Element-wise and bi-cross-validation are.",
        c.cross_validation,
    ),
    (
        "problem 3.1",
        "The line with the least sum of distances passes through the mean.",
        "With the least sum of squared distances.",
        c.distances,
    ),
    (
        "circle",
        "In polar coordinates one coordinate, the radius, describes a circle.",
        "The angle does; the radius is the same for all its points.",
        c.circle,
    ),
    ("kernel", "K(x, z) = x^T z.", "K(x, z) = φ(x)^T φ(z).", c.kernel_of_what),
    ("kernel PCA (4.1)", "K - 1K + 1K1.", "K - 1K - K1 + 1K1.", c.centring),
    ("CUR, core", "U = Y (Σ^+)^2 X^T.", "W^+ = Y Σ^+ X^T, or C^+ A R^+.", c.core_of_cur),
    (
        "CUR, bound",
        "‖A - C U R‖_F ≤ (2 + ε) ‖A - A_k‖_F for sampling by squared norms.",
        "That bound belongs to leverage scores; squared norms give an additive error ε ‖A‖_F.",
        c.norm_sampling,
    ),
    (
        "NMF",
        "The multiplicative updates converge to a local optimum.",
        "The objective never rises, but the limit need not be a local optimum: zeros stay zeros.",
        c.local_optimum,
    ),
)

ERRATA = tuple(Erratum(number, *row) for number, row in enumerate(_ROWS, 1))
"""Every slip that was found, numbered from 1."""
