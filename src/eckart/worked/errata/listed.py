"""The list, in the order of a course."""

from __future__ import annotations

from eckart.worked.errata import components as c
from eckart.worked.errata import linear_algebra as a
from eckart.worked.errata.erratum import Erratum
from eckart.worked.messages import mark

_ROWS = (
    (
        mark("eigenvalues"),
        mark("For an eigenvalue, det(M - λ I) must differ from 0."),
        mark("It must be 0; where it is not, only e = 0 solves the system."),
        a.characteristic,
    ),
    (
        mark("determinant"),
        mark("Chio's condensation needs the whole diagonal to be non-zero."),
        mark("Only each pivot must be non-zero; a row swap, which changes the sign, removes a zero pivot."),
        a.chio,
    ),
    (
        mark("power iteration"),
        mark("Stop when two successive vectors are close."),
        mark(
            "With a negative dominant eigenvalue they never are; with different eigenvalues of "
            "equal modulus it does not converge; the start must not be orthogonal to the answer."
        ),
        a.stopping,
    ),
    (
        mark("power iteration, program"),
        mark("Deflate any matrix with A - λ v v^T."),
        mark("For matrices that are not symmetric the later vectors are not eigenvectors of A."),
        a.deflating,
    ),
    (
        mark("Wielandt's deflation"),
        "v_i = (λ_1 - λ_i) u_i + ...",
        "v_i = (λ_i - λ_1) u_i + λ_1 (x · u_i) v_1.",
        a.wielandt,
    ),
    (
        mark("trace"),
        mark("The trace is the sum of the singular values."),
        mark("It is the sum of the eigenvalues; the sum of the singular values is the nuclear norm."),
        a.trace,
    ),
    (
        mark("singular values"),
        mark("Singular values are the eigenvalues (of a square matrix)."),
        mark("Only for a symmetric positive semi-definite matrix."),
        c.symmetric_singular,
    ),
    (
        mark("ratings, rank"),
        mark("The first four rows are linearly independent."),
        mark("They are multiples of one row; so are the last three. The rank is 2."),
        a.ratings_rank,
    ),
    (
        mark("ratings, changed rows"),
        mark("After the change the last three columns are no longer all independent."),
        mark("This is about rows, and they were dependent before: the last three rows now have rank 2 instead of 1."),
        c.dependent,
    ),
    (
        mark("second ratings SVD"),
        mark("First entry of V^T .58."),
        mark("It is .56."),
        a.mixed_first,
    ),
    (
        mark("second ratings SVD, sign"),
        mark("Second row of V^T (.12, -.02, .12, .69, .69) with the U printed next to it."),
        mark("Its sign is wrong for that U: the printed product gives -4.71 where the matrix has 5."),
        a.mixed_second,
    ),
    (
        mark("query"),
        mark("q V = [2.32, 0] and q V V^T = [1.35, 1.35, 1.35, 0, 0]."),
        mark("4/√3 = 2.309 and 4/3 = 1.333; rounded factors were multiplied."),
        a.rounded_query,
    ),
    (
        mark("Frobenius norm"),
        mark("‖X‖_F = ∑ σ_i^2; the Frobenius norm is the sum of the squared entries."),
        mark("Both sums give its square: the root is missing."),
        a.frobenius,
    ),
    (
        mark("energy"),
        mark("The energy is the sum of the σ_i."),
        mark("It is the sum of their squares."),
        a.energy_rule,
    ),
    (
        mark("RMSE"),
        mark("RMSE = ‖M - M'‖_F."),
        mark("Divide by √(m n)."),
        a.rmse,
    ),
    (
        mark("Theorem 1, proof"),
        mark("U^T Z V may be replaced by its diagonal D, which has rank at most k."),
        mark(
            "diag(U^T Z V) can have a larger rank than Z, so the step fails; Weyl's inequality repairs "
            "the proof (see 'eckart worked bounds')."
        ),
        c.proof_of_theorem_1,
    ),
    (
        mark("SVD, roles of U and V"),
        mark("U rotates first and V restores, or columns of U are eigenvectors of A^T A."),
        mark("V^T acts first and U last; columns of U are eigenvectors of A A^T, those of V of A^T A."),
        c.swapped_vectors,
    ),
    (
        mark("SVD, uniqueness"),
        mark("The SVD (or the set of components) is unique."),
        mark("It is unique only up to the signs of the vectors and a rotation within equal singular values."),
        c.unique,
    ),
    (
        mark("compact SVD"),
        mark("μ_m = 0 because n = m + 1 and the rank is m."),
        mark("Full rank m means that no singular value is 0; only columns of zeros are added to Σ."),
        c.full_rank,
    ),
    (
        mark("Theorem 2"),
        mark("v_n^T A v_n > x^T A x for every other x."),
        mark("The inequality is not strict and does not hold for every x: v_1^T A v_1 ≥ x^T A x ≥ v_n^T A v_n."),
        c.strict_inequality,
    ),
    (
        mark("features"),
        "x' = U_k x.",
        "x' = U_k^T x.",
        c.features,
    ),
    (
        "Z = X U^T",
        mark("U^T U = I for d < D."),
        mark("U U^T = I_d; U^T U is a projection."),
        c.projection,
    ),
    (
        mark("score"),
        mark("The squared sum is the score."),
        mark("The sum itself is the score; its square adds to the variance."),
        c.scores,
    ),
    (
        mark("covariance of the scores"),
        "s s^T / (m - 1).",
        mark("diag(s^2) / (m - 1): scores are uncorrelated."),
        c.score_covariance,
    ),
    (
        mark("variance of a component"),
        mark("z_j^T z_k is the covariance, ‖z‖^2 the variance."),
        mark("Divide by l (or l - 1)."),
        c.variance_divisor,
    ),
    (
        mark("PCA, pseudo-code"),
        mark("Find the eigenpairs of the centred data."),
        mark("Find those of their covariance matrix: the centred data are not square."),
        c.pseudo_code,
    ),
    (
        mark("number of components"),
        mark("Cross-validation is not available."),
        mark("Element-wise cross-validation and bi-cross-validation are available."),
        c.cross_validation,
    ),
    (
        mark("problem 3.1"),
        mark("The line with the least sum of distances passes through the mean."),
        mark("The line with the least sum of squared distances does."),
        c.distances,
    ),
    (
        mark("circle"),
        mark("In polar coordinates one coordinate, the radius, describes a circle."),
        mark("The angle does; the radius is the same for all its points."),
        c.circle,
    ),
    (
        mark("kernel"),
        "K(x, z) = x^T z.",
        "K(x, z) = φ(x)^T φ(z).",
        c.kernel_of_what,
    ),
    (
        mark("kernel PCA (4.1)"),
        "K - 1K + 1K1.",
        "K - 1K - K1 + 1K1.",
        c.centring,
    ),
    (
        mark("CUR, core"),
        "U = Y (Σ^+)^2 X^T.",
        "W^+ = Y Σ^+ X^T, or C^+ A R^+.",
        c.core_of_cur,
    ),
    (
        mark("CUR, bound"),
        mark("‖A - C U R‖_F ≤ (2 + ε) ‖A - A_k‖_F for sampling by squared norms."),
        mark("That bound belongs to leverage scores; squared norms give an additive error ε ‖A‖_F."),
        c.norm_sampling,
    ),
    (
        mark("NMF"),
        mark("The multiplicative updates converge to a local optimum."),
        mark("The objective never rises, but the limit need not be a local optimum: zeros stay zeros."),
        c.local_optimum,
    ),
)

ERRATA = tuple(Erratum(number, *row) for number, row in enumerate(_ROWS, 1))
"""Every error that was found, numbered from 1."""
