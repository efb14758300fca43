"""The theory of the course: twelve lessons. Translations are in the catalogue, as for all messages."""

from __future__ import annotations

from dataclasses import dataclass

from eckart.worked.checks import whole
from eckart.worked.messages import mark, tr
from eckart.worked.solution import Solution, Step


@dataclass(frozen=True)
class Lesson:
    """A title and paragraphs; formulas are between dollar signs."""

    title: str
    paragraphs: tuple[str, ...]


LESSONS = (
    Lesson(
        mark("Rank, basis, coordinates"),
        (
            mark(
                "Rows are linearly dependent if one of them is a combination of the others. The rank is the largest "
                "number of independent rows, and also of independent columns. Row reduction finds it: subtract "
                "multiples of a pivot row from the rows below until each non-zero row starts further to the right "
                "than the one above. Row operations do not change the span of the rows, so the number of non-zero "
                "rows at the end is the rank."
            ),
            mark(
                "A basis of the row space is a smallest set of rows from which all others follow. The "
                "coordinates of a row are the coefficients of that combination: $A = C B$ with the basis rows in"
                " $B$ and the coordinates in $C$. A table of rank $r$ needs only $r$ coordinates per row. Data "
                'are rarely of low rank exactly, but often nearly so; the rest of this course makes "nearly" '
                "precise."
            ),
        ),
    ),
    Lesson(
        mark("Determinants"),
        (
            mark(
                "The determinant is the signed volume of the box that the columns of a square matrix span. It is 0 "
                "exactly when the columns are dependent, so it tells whether $A x = b$ has exactly one solution for "
                "every $b$. For two rows it is $a d - b c$; for three, the rule of Sarrus; in general, expansion by "
                "cofactors along a row."
            ),
            mark(
                "Expansion costs $n!$ products. Chio's condensation replaces a determinant of order $n$ by one of "
                "order $n - 1$: $det(A) = det(B) / a_11^{n-2}$ with $b_{ij} = a_11 a_{i+1,j+1} - a_{1,j+1} "
                "a_{i+1,1}$. Only the pivot $a_11$ must be non-zero. If it is zero, swap two rows, which changes "
                "the sign. If the first column is zero, so is the determinant."
            ),
        ),
    ),
    Lesson(
        mark("Eigenvalues and eigenvectors"),
        (
            mark(
                "A vector $e ≠ 0$ with $M e = λ e$ keeps its direction under $M$. This means that $(M - λ I) e = 0$ "
                "has a solution other than 0, which is the case exactly if $det(M - λ I) = 0$. This characteristic "
                "polynomial has degree $n$; its roots are the eigenvalues. For each root, row reduction of $M - λ "
                "I$ gives the eigenvectors; divide by the length to get unit vectors, which are then determined up "
                "to sign."
            ),
            mark(
                "The sum of the eigenvalues is the trace, and their product is the determinant. Always check both. "
                "A symmetric matrix has real eigenvalues and orthogonal eigenvectors. Other matrices may have "
                "complex eigenvalues, or too few eigenvectors."
            ),
        ),
    ),
    Lesson(
        mark("Power iteration and deflation"),
        (
            mark(
                "For large matrices, expanding determinants takes too long. Power iteration repeatedly multiplies a "
                "start vector by $M$ and divides it by its length. Each part of the vector grows with its own "
                "eigenvalue, so the part along the dominant eigenvector prevails. The error is multiplied by $|λ_2 "
                "/ λ_1|$ at each step. The Rayleigh quotient $x^T M x$ estimates the eigenvalue."
            ),
            mark(
                "Power iteration fails if two different eigenvalues share the largest modulus, or if the start has "
                "no part along the dominant eigenvector. If the dominant eigenvalue is negative, the sign "
                "alternates, so the stopping rule must ignore the sign."
            ),
            mark(
                "Deflation removes an eigenpair that has been found: $B = M - λ v v^T$ for symmetric $M$ "
                "(Hotelling), $B = M - λ v x^T$ with $x · v = 1$ otherwise (Wielandt). Power iteration then finds "
                "the next pair."
            ),
        ),
    ),
    Lesson(
        mark("Diagonalisation and orthogonal bases"),
        (
            mark(
                "With $n$ independent eigenvectors in the columns of $V$, $A = V D V^{-1}$: in the basis of its "
                "eigenvectors a matrix only stretches. Powers follow directly, $A^m = V D^m V^{-1}$, and a zero in "
                "$D$ shows that $A$ is not invertible. For symmetric $A$ the vectors can be chosen orthonormal, and "
                "$V^{-1} = V^T$."
            ),
            mark(
                "Any basis can be made orthonormal by Gram-Schmidt: take the columns one by one, subtract the "
                "projections on the vectors already found, and divide by the length. The coefficients form an upper "
                "triangular $R$, and $A = Q R$."
            ),
        ),
    ),
    Lesson(
        mark("The singular value decomposition"),
        (
            mark(
                "Every matrix, square or not, is $A = U Σ V^T$: rotate ($V^T$), stretch ($Σ$), rotate ($U$). The "
                "unit circle becomes an ellipse with half-axes $σ_i u_i$. The right vectors $v_i$ are eigenvectors "
                "of $A^T A$, and the singular values $σ_i = sqrt(λ_i)$ are the square roots of its eigenvalues. The "
                "left vectors are $u_i = A v_i / σ_i$. The rank is the number of singular values that are not zero. "
                "The decomposition is unique up to the signs of the vectors and rotations among vectors with equal "
                "singular values."
            ),
            mark(
                "Singular values are not eigenvalues: they agree only for symmetric positive semi-definite "
                "matrices. The pseudo-inverse $A^+ = V Σ^+ U^T$ takes reciprocals of the non-zero singular "
                "values and leaves zeros zero."
            ),
        ),
    ),
    Lesson(
        mark("The best approximation"),
        (
            mark(
                "Keep the $k$ largest terms of $A = ∑ σ_i u_i v_i^T$ and drop the rest. Eckart and Young proved "
                "that no matrix of rank $k$ is closer. The errors are $‖A - A_k‖_F^2 = σ_{k+1}^2 + … + σ_r^2$ and "
                "$‖A - A_k‖_2 = σ_{k+1}$."
            ),
            mark(
                "The proof uses Weyl's inequality. For any $B$ of rank $k$, it gives $σ_{i+k}(A) ≤ σ_i(A - B)$. "
                "Square both sides and add. (Some notes argue that $U^T B V$ may be replaced by its diagonal; the "
                "diagonal can have a larger rank than $B$, so that step fails.)"
            ),
            mark(
                "The energy $‖A‖_F^2 = ∑ σ_i^2$ guides the choice of $k$: take the smallest $k$ that captures 80 or "
                "90 % of it. The root mean square error is $‖A - A_k‖_F / sqrt(m n)$."
            ),
        ),
    ),
    Lesson(
        mark("Concepts and queries"),
        (
            mark(
                "In a table of users by films, $V$ connects films with concepts (tastes), $U$ connects users with "
                "concepts, and $Σ$ contains the strengths of the concepts. A new user $q$ is mapped to $q V$ and "
                "back to $q V V^T$: the projection on the row space. Entries that were 0 and become positive are "
                "suggestions."
            ),
            mark(
                "Two users are similar if the cosine of their vectors in concept space is near 1, even if they "
                "rated different films. Projection changes $q$ only if there are fewer concepts than columns: with "
                "all of them, $V V^T = I$ and the row does not change."
            ),
        ),
    ),
    Lesson(
        mark("Principal components"),
        (
            mark(
                "Centre the columns. The first principal component is the unit vector $w$ along which the rows vary "
                "most: it maximises $w^T S w$ with $S = X^T X$, so $S w = λ w$ with the largest $λ$. The next one "
                "does the same among the vectors orthogonal to it. By Pythagoras' theorem, the same vectors "
                "minimise the error when rows are replaced by their projections. They are also the right singular "
                "vectors of $X$."
            ),
            mark(
                "Scores $T = X V$ are the coordinates of the rows. They are uncorrelated, with variances $λ_i / (n "
                "- 1)$ that add up to those of the columns, so $λ_i / ∑ λ$ is the proportion of variance explained. "
                "New rows are centred with the old means: $Z' = (X' - μ) V_k$. The last components, which have the "
                "least variance, show relations that all rows nearly satisfy."
            ),
        ),
    ),
    Lesson(
        mark("Units, selection and missing values"),
        (
            mark(
                "Covariances depend on units. If one column is measured in grams and another in tonnes, the first "
                "component points to the one with the larger numbers. Correlations are covariances of columns "
                "divided by their standard deviations: PCA of the correlation matrix treats all columns alike. Both "
                "are correct answers to different questions, so state which matrix you used."
            ),
            mark(
                "Selection keeps some of the old columns instead of computing new ones, for instance those most "
                "correlated with a target."
            ),
            mark(
                "Missing values can be filled by EM: start with the column means, fit $k$ components (M step), "
                "replace the missing values by the reconstruction (E step), and repeat. The squared error of the "
                "known entries never increases."
            ),
        ),
    ),
    Lesson(
        mark("CUR and non-negative factors"),
        (
            mark(
                "Singular vectors mix all columns. CUR keeps real columns $C$ and real rows $R$. Draw them with "
                "probabilities proportional to their squared norms (compare a random number with the cumulative "
                "probabilities). Divide them by $sqrt(c q_j)$ and $sqrt(r p_i)$, and link them by the core $U = "
                "W^+$, the pseudo-inverse of their intersection. Squared norms give an additive error bound $ε "
                "‖A‖_F$; the relative bound $(2 + ε) ‖A - A_k‖_F$ needs leverage scores."
            ),
            mark(
                "NMF writes a non-negative table as $A ≈ W H$ with $W ≥ 0$ and $H ≥ 0$: the parts are only added. "
                "Multiplicative updates multiply each entry by a ratio of non-negative numbers, so signs cannot "
                "change, and the objective never increases. The limit depends on the start, and zeros stay zeros."
            ),
        ),
    ),
    Lesson(
        mark("Kernel PCA and Isomap"),
        (
            mark(
                "No straight line separates two concentric circles. Kernel PCA maps the points to a feature space "
                "and applies PCA there. It does not compute the map, because only the inner products $K(x, z) = "
                "φ(x)^T φ(z)$ are needed. Centre the kernel matrix, $K~ = K - 1K - K1 + 1K1$ (both means are "
                "subtracted), find its eigenvectors $v$, and scale them as $a = v / sqrt(λ)$ so that the components "
                "have unit length. The scores are $K~ a = sqrt(λ) v$."
            ),
            mark(
                "Isomap unrolls a curve. It joins each point to its nearest neighbours, replaces straight distances "
                "by shortest paths in that graph, and finds coordinates with these distances: the eigenvectors of "
                "$B = -1/2 J D^2 J$ times $sqrt(λ)$."
            ),
        ),
    ),
)


def lesson(number: int) -> Solution:
    """Get the theory of one lesson of the course.

    Parameters
    ----------
    number : int
        Number of the lesson, 1 to 12.

    Returns
    -------
    Solution
        The text, in the current language. It prints and exports like a worked solution.

    Raises
    ------
    ParameterError
        If there is no lesson of this number.

    See Also
    --------
    exercise : Exercises for the lessons.
    language : Choose the language.

    Examples
    --------
    >>> lesson(6).title
    'Lesson 6. The singular value decomposition'
    """
    whole("lesson", number, 1, len(LESSONS))
    chosen = LESSONS[number - 1]
    title = tr("Lesson {number}. {title}", number=number, title=tr(chosen.title))
    return Solution(title, tuple(Step(tr(paragraph)) for paragraph in chosen.paragraphs), ())
