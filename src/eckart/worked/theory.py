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
                "Rows are linearly dependent if one of them is a linear combination of the others. The rank of a "
                "matrix is the largest number of independent rows, which is also the largest number of independent "
                "columns. To find the rank by row reduction, subtract multiples of a pivot row from the rows below it,"
                " until each non-zero row starts further to the right than the row above. Row operations do not change"
                " the span of the rows, so the number of non-zero rows that remain is the rank."
            ),
            mark(
                "A basis of the row space is a set of independent rows such that every row of the table is a linear "
                "combination of them. The coefficients of this combination are the coordinates of the row. If the "
                "basis rows are the rows of $B$ and the coordinates are the rows of $C$, then $A = C B$. A table of "
                "rank $r$ therefore needs only $r$ coordinates per row. Real tables rarely have a low rank, but many "
                "are close to a table that does. The later lessons make this precise."
            ),
        ),
    ),
    Lesson(
        mark("Determinants"),
        (
            mark(
                "The determinant of a square matrix is the signed volume of the box that its columns span. It is 0 "
                "exactly when the columns are dependent. The equation $A x = b$ has exactly one solution for every $b$"
                " if the determinant is not 0. A determinant of order 2 is $a d - b c$, with a and b in the first row "
                "and c and d in the second. For order 3 there is the rule of Sarrus, and for any order there is the "
                "expansion by cofactors along a row."
            ),
            mark(
                "Expansion by cofactors takes about $n!$ products. Chio's condensation is faster: it replaces a "
                "determinant of order $n$ by one of order $n - 1$. The formula is $det(A) = det(B) / a_11^{n-2}$ with "
                "$b_{ij} = a_11 a_{i+1,j+1} - a_{1,j+1} a_{i+1,1}$. The pivot $a_11$ must not be zero. If it is zero, "
                "swap two rows, which changes the sign of the determinant. If the whole first column is zero, the "
                "determinant is zero."
            ),
        ),
    ),
    Lesson(
        mark("Eigenvalues and eigenvectors"),
        (
            mark(
                "A vector $e ≠ 0$ with $M e = λ e$ is called an eigenvector of $M$, and the factor is its eigenvalue. "
                "Multiplying by the matrix only scales the vector. The equation $(M - λ I) e = 0$"
                " has a solution other than 0 exactly when $det(M - λ I) = 0$. This determinant is the characteristic "
                "polynomial. Its degree $n$ is the number of rows, and its roots are the eigenvalues. For each root, "
                "row reduction of $M - λ I$ gives the eigenvectors. Divide them by their length to get unit vectors, "
                "whose sign is arbitrary."
            ),
            mark(
                "The sum of the eigenvalues is the trace of the matrix, and their product is its determinant. Use both"
                " to check your result. A symmetric matrix has real eigenvalues and orthogonal eigenvectors. Other "
                "matrices may have complex eigenvalues, or fewer independent eigenvectors than rows."
            ),
        ),
    ),
    Lesson(
        mark("Power iteration and deflation"),
        (
            mark(
                "For large matrices, it takes too long to expand determinants. Power iteration instead multiplies a "
                "start vector by $M$ and divides it by its length, again and again. The part of the vector along each "
                "eigenvector is multiplied by its eigenvalue, so the part along the dominant eigenvector soon exceeds "
                "all others. In each step the error is multiplied by about $|λ_2 / λ_1|$. The Rayleigh quotient $x^T M"
                " x$ estimates the eigenvalue."
            ),
            mark(
                "Power iteration fails if two different eigenvalues have the same largest absolute value, or if the "
                "start vector has no part along the dominant eigenvector. If the dominant eigenvalue is negative, the "
                "sign of the vector alternates, so the stopping rule must ignore the sign."
            ),
            mark(
                "Deflation removes an eigenpair that has been found, the eigenvalue $λ$ with the unit vector $v$, so "
                "that power iteration finds the next one. For symmetric $M$, use $B = M - λ v v^T$ (Hotelling). For "
                "other matrices, use $B = M - λ v x^T$ with $x · v = 1$ (Wielandt)."
            ),
        ),
    ),
    Lesson(
        mark("Diagonalisation and orthogonal bases"),
        (
            mark(
                "If a matrix with n rows has $n$ independent eigenvectors, write them as the columns of $V$. Then $A ="
                " V D V^{-1}$ with the eigenvalues on the diagonal of $D$. In the basis of the eigenvectors, the "
                "matrix only multiplies each coordinate by an eigenvalue. Powers are easy to compute: $A^m = V D^m "
                "V^{-1}$. "
                "If an eigenvalue is zero, "
                "$A$ is not invertible. For symmetric $A$, the eigenvectors can be chosen orthonormal, and then "
                "$V^{-1} = V^T$."
            ),
            mark(
                "The Gram-Schmidt process makes any basis orthonormal. Take the columns one by one, subtract the "
                "projections onto the vectors already found, and divide by the length. The coefficients form an upper "
                "triangular matrix $R$, and $A = Q R$."
            ),
        ),
    ),
    Lesson(
        mark("The singular value decomposition"),
        (
            mark(
                "Every matrix, square or not, can be written as $A = U Σ V^T$: a rotation ($V^T$), a stretch ($Σ$) and"
                " another rotation ($U$). It maps the unit circle to an ellipse with half-axes $σ_i u_i$. The right "
                "singular vectors $v_i$ are the eigenvectors of $A^T A$, and the singular values $σ_i = sqrt(λ_i)$ are"
                " the square roots of its eigenvalues. The left singular vectors are $u_i = A v_i / σ_i$. The rank is "
                "the number of singular values that are not zero. The decomposition is unique up to the signs of the "
                "vectors and rotations among vectors with equal singular values."
            ),
            mark(
                "Singular values are not eigenvalues. The two agree only for symmetric positive semi-definite "
                "matrices. The pseudo-inverse $A^+ = V Σ^+ U^T$ replaces each non-zero singular value by its "
                "reciprocal and leaves zeros unchanged."
            ),
        ),
    ),
    Lesson(
        mark("The best approximation"),
        (
            mark(
                "To approximate $A = ∑ σ_i u_i v_i^T$ by a matrix of lower rank, keep only the $k$ terms with the "
                "largest singular values. Eckart and Young proved that no other matrix of rank $k$ is closer. The "
                "errors of this approximation are $‖A - A_k‖_F^2 = σ_{k+1}^2 + … + σ_r^2$ and $‖A - A_k‖_2 = σ_{k+1}$."
            ),
            mark(
                "The proof uses Weyl's inequality. For any $B$ of rank $k$, it states that $σ_{i+k}(A) ≤ σ_i(A - B)$. "
                "Square both sides and sum over all indices. (Some notes replace $U^T B V$ by its diagonal instead. "
                "That step fails, because the diagonal can have a larger rank than $B$.)"
            ),
            mark(
                "The energy of a matrix is $‖A‖_F^2 = ∑ σ_i^2$. It helps you choose $k$: take the smallest $k$ for "
                "which the approximation has 80 or 90 % of the energy. For a matrix with m rows and n columns, the "
                "root mean square error is $‖A - A_k‖_F / sqrt(m n)$."
            ),
        ),
    ),
    Lesson(
        mark("Concepts and queries"),
        (
            mark(
                "Consider a table with one row per user and one column per film. $V$ connects films with concepts "
                "(tastes), $U$ connects users with concepts, and $Σ$ contains the strengths of the concepts. The "
                "ratings $q$ of a new user have the coordinates $q V$ in concept space. Mapping them back to the films"
                " gives $q V V^T$, the projection of these ratings onto the concepts. Recommend the films that have no"
                " rating yet but a positive entry in this projection."
            ),
            mark(
                "Two users are similar if the cosine of their vectors in concept space is close to 1, even if they "
                "rated different films. There must be fewer concepts than columns. With as many concepts as columns, "
                "$V V^T = I$, so the projection does not change $q$ and recommends nothing."
            ),
        ),
    ),
    Lesson(
        mark("Principal components"),
        (
            mark(
                "Centre the columns of the table $X$. The first principal component is the unit vector $w$ along which"
                " the rows vary most. It maximises $w^T S w$ with $S = X^T X$, so it satisfies $S w = λ w$ with the "
                "largest eigenvalue $λ$. Each further component maximises the variance among the vectors orthogonal to"
                " the earlier components. By Pythagoras' theorem, the same vectors minimise the error of replacing the"
                " rows by their projections. They are also the right singular vectors of the centred table."
            ),
            mark(
                "The scores $T = X V$ are the coordinates of the rows along the components. They are uncorrelated. "
                "Their variances $λ_i / (n - 1)$ add up to the total variance of the columns, so $λ_i / ∑ λ$ is the "
                "proportion of variance explained. To project new rows, centre them with the means of the original "
                "rows: $Z' = (X' - μ) V_k$. The last components have the least variance and show linear relations that"
                " nearly hold for all rows."
            ),
        ),
    ),
    Lesson(
        mark("Units, selection and missing values"),
        (
            mark(
                "Covariances depend on units. If the numbers in one column are much larger than those in the others, "
                "the first component points along that column. Correlations are the covariances after each column is "
                "divided by its standard deviation, so PCA of the correlation matrix gives all columns the same "
                "weight. The two matrices answer different questions, so state which one you used."
            ),
            mark(
                "Feature selection keeps some of the original columns instead of computing new ones. For example, it "
                "keeps those that correlate most with a target."
            ),
            mark(
                "Missing values can be filled by the EM algorithm. Start with the column means. Then fit $k$ "
                "components (M step), replace the missing values by their reconstruction (E step), and repeat both "
                "steps. The squared error of the known entries never increases."
            ),
        ),
    ),
    Lesson(
        mark("CUR and non-negative factors"),
        (
            mark(
                "CUR approximates a matrix by some of its own columns $C$ and rows $R$, whereas singular vectors mix "
                "all columns. Draw columns and rows with probabilities proportional to their squared norms. Divide "
                "each by the square root of its probability times the number of draws: $sqrt(c q_j)$ for a column and "
                "$sqrt(r p_i)$ for a row. The core $U = W^+$ is the pseudo-inverse of the submatrix in which the "
                "selected columns and rows intersect. With enough draws, this sampling has an additive error of "
                "at most $ε ‖A‖_F$ with high probability. The "
                "relative bound $(2 + ε) ‖A - A_k‖_F$ requires sampling by leverage scores."
            ),
            mark(
                "NMF approximates a table without negative entries by a product of two factors without negative "
                "entries: $A ≈ W H$ with $W ≥ 0$ and $H ≥ 0$. Parts are therefore added but never subtracted. "
                "Multiplicative updates multiply each entry of the factors by a ratio of non-negative numbers. No "
                "entry becomes negative, and the objective never increases. The result depends on the start, and "
                "entries that are zero stay zero."
            ),
        ),
    ),
    Lesson(
        mark("Kernel PCA and Isomap"),
        (
            mark(
                "No straight line separates two concentric circles. Kernel PCA maps the points to a feature space and "
                "applies PCA there. It never computes the map itself, because it needs only the inner products $K(x, "
                "z) = φ(x)^T φ(z)$. First centre the kernel matrix: subtract its row means and its column means, and "
                "add the overall mean, $K~ = K - 1K - K1 + 1K1$, where every entry of the matrix $1$ is $1/n$. Then "
                "find its eigenvectors $v$ and scale them as $a = v / sqrt(λ)$, so that the components have unit "
                "length. The scores are $K~ a = sqrt(λ) v$."
            ),
            mark(
                "Isomap unrolls a curve or a curved surface. It joins each point to its nearest neighbours and "
                "measures distances by shortest paths in this graph instead of straight lines. It then finds "
                "coordinates with these distances: it squares them, centres the matrix $D^2$ of the squares, and "
                "multiplies the eigenvectors of $B = -1/2 J D^2 J$ by $sqrt(λ)$. Here $J$ subtracts the means: it has "
                "$1 - 1/n$ on the diagonal and $-1/n$ elsewhere."
            ),
        ),
    ),
)


def lesson(number: int) -> Solution:
    """Return the theory of one lesson of the course.

    Parameters
    ----------
    number : int
        Number of the lesson, 1 to 12.

    Returns
    -------
    Solution
        The text in the current language. It can be printed and exported like a worked solution.

    Raises
    ------
    ParameterError
        If there is no lesson with this number.

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
