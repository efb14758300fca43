"""The list, in the order of a course."""

from __future__ import annotations

from eckart.worked.errata import components as c
from eckart.worked.errata import linear_algebra as a
from eckart.worked.errata.erratum import Erratum
from eckart.worked.messages import mark

_ROWS = (
    (
        mark("eigenvalues"),
        mark("λ is an eigenvalue if det(M - λ I) is not 0."),
        mark("The determinant must be 0. Otherwise, only e = 0 solves the system."),
        a.characteristic,
    ),
    (
        mark("determinant"),
        mark("Chio's condensation needs the whole diagonal to be non-zero."),
        mark("Only the pivots must be non-zero. If a pivot is zero, swap two rows, which changes the sign."),
        a.chio,
    ),
    (
        mark("power iteration"),
        mark("Stop when two successive vectors are close."),
        mark(
            "With a negative dominant eigenvalue, successive vectors are never close. With different "
            "eigenvalues of equal modulus, the iteration does not converge. The start vector must "
            "not be orthogonal to the dominant eigenvector."
        ),
        a.stopping,
    ),
    (
        mark("power iteration, program"),
        mark("Deflate any matrix with A - λ v v^T."),
        mark("If the matrix is not symmetric, the vectors found after the first are not eigenvectors of A."),
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
        mark("The trace is the sum of the eigenvalues. The sum of the singular values is the nuclear norm."),
        a.trace,
    ),
    (
        mark("singular values"),
        mark("Singular values are the eigenvalues (of a square matrix)."),
        mark("This holds only for symmetric positive semi-definite matrices."),
        c.symmetric_singular,
    ),
    (
        mark("ratings, rank"),
        mark("The first four rows are linearly independent."),
        mark("The first four rows are multiples of one row, and so are the last three. The rank is 2."),
        a.ratings_rank,
    ),
    (
        mark("ratings, changed rows"),
        mark("After the change, the last three columns are no longer all independent."),
        mark(
            "The statement should be about rows, not columns, and these rows were already dependent: "
            "the last three rows had rank 1 and now have rank 2."
        ),
        c.dependent,
    ),
    (
        mark("second ratings SVD"),
        mark("The first entry of V^T is .58."),
        mark("It is .56."),
        a.mixed_first,
    ),
    (
        mark("second ratings SVD, sign"),
        mark("The second row of V^T is (.12, -.02, .12, .69, .69), with the U that the notes print."),
        mark(
            "The sign of this row is wrong for the printed U: the printed product gives -4.71 where the matrix has 5."
        ),
        a.mixed_second,
    ),
    (
        mark("query"),
        mark("q V = [2.32, 0] and q V V^T = [1.35, 1.35, 1.35, 0, 0]."),
        mark("The values are 4/√3 = 2.309 and 4/3 = 1.333. The notes multiplied rounded factors."),
        a.rounded_query,
    ),
    (
        mark("Frobenius norm"),
        mark("‖X‖_F = ∑ σ_i^2; the Frobenius norm is the sum of the squared entries."),
        mark("Both sums give the square of the norm, so the square root is missing."),
        a.frobenius,
    ),
    (
        mark("energy"),
        mark("The energy is the sum of the σ_i."),
        mark("The energy is the sum of the squared σ_i."),
        a.energy_rule,
    ),
    (
        mark("RMSE"),
        mark("RMSE = ‖M - M'‖_F."),
        mark("The norm must be divided by √(m n)."),
        a.rmse,
    ),
    (
        mark("Theorem 1, proof"),
        mark("U^T Z V may be replaced by its diagonal D, which has rank at most k."),
        mark(
            "diag(U^T Z V) can have a larger rank than Z, so the step fails. A proof by Weyl's inequality works "
            "(see 'eckart worked bounds')."
        ),
        c.proof_of_theorem_1,
    ),
    (
        mark("SVD, roles of U and V"),
        mark("U rotates first and V rotates back. Also: the columns of U are eigenvectors of A^T A."),
        mark(
            "V^T acts first and U last. The columns of U are eigenvectors of A A^T, and those of V are eigenvectors "
            "of A^T A."
        ),
        c.swapped_vectors,
    ),
    (
        mark("SVD, uniqueness"),
        mark("The SVD (or the set of components) is unique."),
        mark(
            "The SVD is unique only up to the signs of the vectors, and up to rotations among "
            "vectors with equal singular values."
        ),
        c.unique,
    ),
    (
        mark("compact SVD"),
        mark("μ_m = 0 because n = m + 1 and the rank is m."),
        mark(
            "If the rank is m, none of the m singular values is 0. Σ has a column of zeros, but that column is not "
            "a singular value."
        ),
        c.full_rank,
    ),
    (
        mark("Theorem 2"),
        mark("v_n^T A v_n > x^T A x for every other x."),
        mark("The inequality is reversed and not strict: v_1^T A v_1 ≥ x^T A x ≥ v_n^T A v_n for every unit vector x."),
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
        mark("U U^T = I_d, and U^T U is a projection."),
        c.projection,
    ),
    (
        mark("score"),
        mark("The squared sum is the score."),
        mark("The score is the sum, without the square. The squares of the scores add up to the eigenvalue."),
        c.scores,
    ),
    (
        mark("covariance of the scores"),
        "s s^T / (m - 1).",
        mark("With singular values s and m rows, it is diag(s^2) / (m - 1), because the scores are uncorrelated."),
        c.score_covariance,
    ),
    (
        mark("variance of a component"),
        mark("z_j^T z_k is the covariance, ‖z‖^2 the variance."),
        mark("Divide both by the number of rows l, or by l - 1."),
        c.variance_divisor,
    ),
    (
        mark("PCA, pseudo-code"),
        mark("Find the eigenpairs of the centred data."),
        mark(
            "The centred data are not square, so they have no eigenpairs. Find the eigenpairs of their "
            "covariance matrix."
        ),
        c.pseudo_code,
    ),
    (
        mark("number of components"),
        mark("Cross-validation is not available."),
        mark("Element-wise cross-validation and bi-cross-validation both work."),
        c.cross_validation,
    ),
    (
        mark("problem 3.1"),
        mark("The line with the least sum of distances passes through the mean."),
        mark("Only the line with the least sum of squared distances passes through the mean."),
        c.distances,
    ),
    (
        mark("circle"),
        mark("In polar coordinates, a single coordinate, the radius, describes a circle."),
        mark("The angle describes a circle. The radius is the same for all its points."),
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
        mark("W^+ = Y Σ^+ X^T, or C^+ A R^+."),
        c.core_of_cur,
    ),
    (
        mark("CUR, bound"),
        mark("‖A - C U R‖_F ≤ (2 + ε) ‖A - A_k‖_F for sampling by squared norms."),
        mark(
            "This bound holds for sampling by leverage scores. Sampling by squared norms gives only an additive error "
            "of ε ‖A‖_F."
        ),
        c.norm_sampling,
    ),
    (
        mark("NMF"),
        mark("The multiplicative updates converge to a local optimum."),
        mark(
            "The objective never increases, but the limit may not be a local optimum, because entries "
            "that are zero stay zero."
        ),
        c.local_optimum,
    ),
)

ERRATA = tuple(Erratum(number, *row) for number, row in enumerate(_ROWS, 1))
"""Every error that was found, numbered from 1."""
