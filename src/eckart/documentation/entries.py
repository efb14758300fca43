"""Entries of numpydoc sections that several docstrings share.

The name of an entry is the text before its type. If one name needs several texts, a variant in brackets tells them
apart: ``d [centred]``. The brackets are not part of the text.
"""

from __future__ import annotations

import re

_HEADER = re.compile(r"(?P<name>[^\s:\[]+)(?: \[(?P<variant>[^\]]+)\])?(?P<kind> .*)?")


def _read(block: str) -> dict[str, tuple[str, ...]]:
    """Name, with its variant -> lines of the entry."""
    entries: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in block.strip("\n").split("\n"):
        header = None if line.startswith(" ") else _HEADER.fullmatch(line)
        if header is None:
            entries[name] += (line,)
        else:
            name = header["name"] + (f" [{header['variant']}]" if header["variant"] else "")
            entries[name] = (header["name"] + (header["kind"] or ""),)
    return entries


_ARRESTS = """
>>> import eckart as ek
>>> arrests = ek.datasets.load("usarrests")
>>> d = ek.decompose(arrests.values, k=2, scale=True, left=True).named(arrests.row_names, arrests.column_names)
"""
_RATINGS = """
>>> import eckart as ek
>>> path = ek.datasets.path("ratings")
>>> space = ek.concepts(ek.decompose(path, "svd", k=2), rows=path)
"""
_IRIS = """
>>> from sklearn.datasets import load_iris
>>> from sklearn.linear_model import LogisticRegression
>>> import eckart as ek
>>> X, y = load_iris(return_X_y=True, as_frame=True)
"""
_MODEL = """
>>> import eckart as ek, pathlib, tempfile
>>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder) / "model.eckart"
"""

SECTIONS = {
    "Parameters": _read(
        """
d : Decomposition or fitted estimator
    The decomposition.
d [with rows] : Decomposition or fitted estimator
    The decomposition, with the scores of its rows: fitted with ``left=True``, or the result of `with_rows`.
d [centred] : Decomposition or fitted estimator
    A decomposition of centred data.
d [PCA or SVD] : Decomposition or fitted estimator
    A PCA or SVD.
decomposition : Decomposition or fitted estimator
    The fitted model.
component : int, default 0
    Index of the component, counted from 0.
components : tuple of int, default (0, 1)
    Components on the x axis and the y axis, counted from 0.
k [model] : int or None, default None
    Number of leading components in the model. None uses all.
k [rotated] : int or None, default None
    Number of leading components to rotate. None uses all.
normalize : bool, default True
    Apply Kaiser's normalisation, so that all columns have the same weight when the rotation is computed.
confidence : float, default 0.95
    Confidence level of each limit.
limit : int or None, default None
    Maximum number of rows of the table. None includes all.
labels : sequence
    Category of each fitted row. None or NaN means that a row has no category.
data [new rows] : array-like, sparse matrix, data frame or path
    Rows with the same columns as the fitted data. They are read in one pass.
ax : matplotlib.axes.Axes or None, default None
    Axes to draw on. None creates a new figure.
path [rows] : str or path
    File to write. The suffix sets the format: .npy, .parquet or .zarr.
overwrite : bool, default False
    Replace an existing file.
width : int, default 80
    Maximum line length.
width [rich] : int, default 80
    Maximum width in characters.
limit [40] : int, default 40
    Maximum number of rows.
memory : str or int, default None
    Limit on the working memory, such as "2GB".
callback : callable, default None
    Function that is called with a `Progress` object after every block.
n_oversamples : int, default 10
    Ignored; accepted for compatibility with scikit-learn.
power_iteration_normalizer : {'auto', 'QR', 'LU', 'none'}, default 'auto'
    Ignored; accepted for compatibility with scikit-learn.
random_state [start] : int, RandomState, Generator or None, default None
    Seed for the random start. None uses a fixed seed, so results are reproducible.
memory [estimator] : str, int or None, default None
    Limit on the working memory, in addition to the data, such as "2GB".
device : str or None, default None
    'cuda' copies host data to the GPU and returns host arrays. Arrays that are already on a device stay there.
progress : bool, default False
    Show a progress bar while data are read in blocks.
name [dataset] : str
    Name of the table.
X : array-like, sparse matrix, data frame or path of shape (n_samples, n_features)
    Rows are observations.
X [in memory] : array-like, sparse matrix or data frame of shape (n_samples, n_features)
    Rows are observations.
X [new rows] : array-like, sparse matrix, data frame or path of shape (n_samples, n_features_in_)
    Rows with the same columns as the fitted data.
X [same order] : array-like, sparse matrix, data frame or path of shape (n_samples, n_features_in_)
    Rows with the same columns as the fitted data, in the same order.
X [non-negative] : array-like, sparse matrix, data frame or path of shape (n_samples, n_features)
    Non-negative data. Rows are observations.
W : array-like of shape (n_samples, n_components), default None
    Starting factor, for ``init='custom'``.
H : array-like of shape (n_components, n_features), default None
    Starting factor, for ``init='custom'``.
sample_weight : array-like of shape (n_samples,), default None
    Weight of each row. A weight of 2 is equivalent to including the row twice. None gives every row weight 1.
y : None
    Ignored; present for compatibility with scikit-learn.
y [target] : array-like of shape (n_samples,)
    Target to predict, one value per row.
y [ignored] : object
    Ignored.
estimator : classifier or regressor
    Estimator that scores sets of columns. It is cloned for every set; the original is never fitted.
n_jobs : int or None, default None
    Number of processes that score sets in parallel (joblib).
scoring : str, callable or None, default None
    Scoring rule, as in ``sklearn.model_selection.cross_val_score``.
cv : int, splitter or iterable, default 5
    Cross-validation folds, as in ``sklearn.model_selection.cross_val_score``.
nested : bool, default False
    Also estimate the score on new rows (`nested_score_`). To do so, leave out each fold in turn, repeat the whole
    search on the other folds, and score the result on the fold left out. The run time is multiplied by about the number
    of folds.
row [any] : str, int, array-like, dict, list of str or Query
    The row, in any of the forms that `query` accepts.
row [rating] : int or str
    Name of the row, or its index counted from 0. If the names are whole numbers, such as the numbers of users, an int
    is a name.
column [concept] : str or int
    Name of the column, or its index counted from 0. If the names are whole numbers, an int is a name.
concept : int
    Index of the concept, counted from 0.
n [columns] : int, default 10
    Number of columns.
n [rows] : int, default 10
    Number of rows.
n [documents] : int, default 10
    Number of documents.
by [similarity] : {'cosine', 'dot'}, default 'cosine'
    Similarity measure.
unknown : {'error', 'ignore'} or None, default None
    How to treat names that are not columns, as in `query`.
column [text] : str, optional
    Column of a CSV file, or key of JSON lines, that contains the text.
document : int or str
    Name of the document, or its index counted from 0. If the names are whole numbers, an int is a name. Documents
    without names are numbered from 1.
documents : path, sequence of str, or mapping of str to str
    The documents, in any of the forms that `fit` accepts.
given [12 x 8] : str, list, array or sympy.Matrix
    The matrix, at most 12 x 8. In text, semicolons separate the rows: "1 2; 2 1".
given [8 x 8] : str, list, array or sympy.Matrix
    The matrix, at most 8 x 8. In text, semicolons separate the rows: "1 2; 2 1".
given [8 x 6] : str, list, array or sympy.Matrix
    The matrix, at most 8 x 6. In text, semicolons separate the rows: "1 2; 2 1".
given [square] : str, list, array or sympy.Matrix
    A square matrix, at most 8 x 8. In text, semicolons separate the rows: "1 2; 2 1".
given [table] : str, list, array or sympy.Matrix
    The table, at most 40 rows and 6 columns; rows are observations.
k [1] : int, default 1
    Number of components.
divide : {'n-1', 'n', '1'}, default 'n-1'
    Number by which cross-products are divided to get covariances. '1' does not divide them.
"""
    ),
    "Returns": _read(
        """
Table
Ranking
Dataset
dict
array [of columns] of shape (n_features_in_, n_features_in_)
matplotlib.axes.Axes
    The axes with the plot.
str [text]
    The text.
Self [fitted]
    The fitted estimator.
Self [selector]
    The fitted selector.
Self
    The estimator itself.
TextConcepts [fitted]
    The estimator itself.
TextConcepts [opened]
    The collection, ready to search.
array [scores] of shape (n_samples, n_components_)
    Scores of the rows, always dense.
int [rows written]
    Number of rows written.
Solution
    The steps and the answer.
"""
    ),
    "Raises": _read(
        """
ParameterError [left vectors]
    If the decomposition does not contain the scores of its rows (``left=True``).
ParameterError [not centred]
    If the data were not centred.
ParameterError [not orthogonal]
    If the components are not orthogonal, as in NMF.
ParameterError [no column weights]
    If the components have no loadings, as in Isomap.
ParameterError [dataset]
    If there is no table with this name.
ParameterError [own input]
    If the output file is one of the input files.
InputError [columns]
    If the number of columns differs from that of the fitted data.
InputError [column names]
    If the number or the names of the columns differ from those of the fitted data.
InputError [not finite]
    If a result is infinite or NaN.
InputError [exact]
    If the matrix is too large for exact arithmetic, or an entry cannot be parsed.
MissingValuesError
    If values are missing and `missing` does not say how to treat them.
"""
    ),
    "See Also": _read(
        """
contributions : Contributions of columns.
row_contributions : Contributions of rows.
loadings : Loadings of the columns.
correlations : Correlations of the columns with the scores.
column_cos2 : How well each component represents each column.
cos2 : How well each component represents each row.
row_quality : How well all components together represent each row.
row_scores : Scores as an array.
scores : Coordinates of the rows.
eigenvalues : Explained variance of each component.
thresholds : Thresholds of Kaiser's rule and of the broken-stick rule.
describe : Description of one component in sentences.
description : Description of all components as a table.
outliers : Outlier statistics T2 and Q of each row.
outlier_limits : Limits of the outlier statistics.
outlier_columns : Columns that cause an outlier.
varimax : The rotation as arrays.
rotated_loadings : Loadings after the rotation.
rotated_variances : Explained variance after the rotation.
categories : Mean scores of categories.
category_cos2 : How well the components represent each category.
association : Test whether the categories differ on each component.
rows : Scores of rows that were not fitted.
row_cos2 : How well the components represent rows that were not fitted.
scree : Plot of the explained shares.
cumulative : Plot of the cumulative shares.
scores [plot] : Plot of the rows only.
biplot : Plot of rows and columns together.
correlation_circle : Plot of the columns only.
eckart.bootstrap : Bootstrap intervals of loadings and explained shares.
eckart.choose_rank : Choose the number of components.
eckart.project : Scores of new rows as an array.
eckart.supplementary.columns : Correlations of columns that were not fitted.
eckart.plots.contributions : Bar chart of the contributions.
eckart.plots.correlation_circle : Plot of the correlations.
eckart.plots.loadings : Heatmap of the loadings.
eckart.plots.outlier_map : Plot of the outlier statistics.
eckart.plots.reconstruction : Plot of the reconstruction errors.
eckart.plots.scores : Scatter plot of the scores.
eckart.plots.scree : Plot of the explained shares.
eckart.tables.contributions : Contributions as numbers.
eckart.tables.correlations : Correlations as numbers.
eckart.tables.loadings : Loadings as numbers.
eckart.tables.outliers : Outlier statistics as numbers.
eckart.tables.reconstruction_error : Reconstruction errors as numbers.
eckart.tables.scores : Scores as numbers.
eckart.tables.varimax : Function that returns this object.
project : Compute the scores of rows in memory.
project_to : Compute the scores of rows and write them to a file.
reconstruct : Reconstruct rows from scores in memory.
reconstruct_to : Reconstruct rows from scores and write them to a file.
BackwardElimination : Remove columns one after another.
CorrelationFilter : Score columns one at a time.
RandomSubsetSearch : Try random sets of columns.
AccuracyWarning : Warning that the requested accuracy could not be proved.
Certificate : Proved bounds on the accuracy of a result.
CheckpointError : Error in a checkpoint.
DataWarning : Warning that the result may be misleading.
EckartError : Base class of all errors.
EckartWarning : Base class of all warnings.
FileError : Error in a file.
InputError : Error in the data.
MissingDependencyError : A package that is not installed.
MissingValuesError : Missing values.
ModelFileError : Error in a saved model.
NotFiniteError : Infinite values.
ParameterError : Error in an argument.
ReadError : Error of the library that reads a file.
require : Import an optional package.
analyze : Analyse data or a model.
bootstrap : Intervals of loadings and explained shares.
convert : Convert a file for faster loading.
decompose : Decompose a table or matrix.
fill_missing : Impute missing values.
load [dataset] : Load a table.
load [model] : Read a model.
names : List the tables.
plan : Predict solver, passes and memory.
plots.scree : Plot the explained variance of each component.
report : Write an HTML report.
choose_rank : Choose the number of components.
RankChoice : The answers of all rules.
Concepts.explain : Explain a predicted value.
Concepts.fold_in : Add rows to the concepts.
Concepts.query : Compute the coordinates of a row.
Concepts.similar_rows : Rank the stored rows by similarity.
Ranking : Rows or columns with scores, best first.
concepts : Search and recommendations in the space of the components.
KernelScan : Results of all kernels and widths.
eckart.scan_kernels : Compare kernels and widths.
eckart.KernelPCA.preimages : Find rows for given scores.
open_data : Open data with reading options.
bounds : Compare the best approximation with another of the same rank.
deflation : The other eigenpairs.
determinant : The determinant of a square matrix.
diagonalize : The factorisation V D V^-1.
eigen : All eigenpairs exactly.
gram_schmidt : An orthonormal basis.
kernel_pca : Components of a kernel.
minor_components : The components of smallest variance.
pca : The components of largest variance.
power_iteration : The dominant eigenpair by iteration.
pseudo_inverse : The pseudo-inverse.
rank : The rank by row reduction.
svd : The singular value decomposition.
eckart.CUR : The same in floating point, for data of any size.
eckart.CorrelationFilter : The same in floating point, for data of any size.
eckart.Isomap : The same in floating point, for data of any size.
eckart.KernelPCA : The same in floating point, for data of any size.
eckart.NMF : The same in floating point, for data of any size.
eckart.PCA : The same in floating point, for data of any size.
eckart.TruncatedSVD : The same in floating point, for data of any size.
eckart.concepts : The same in floating point, for data of any size.
eckart.fill_missing : The same for data of any size, with standard errors.
"""
    ),
    "Attributes": _read(
        """
title : str
    Title of the result.
name [row] : str
    Name of the row.
notes : tuple of str
    Remarks on the result.
parts : mapping
    Named results as SymPy values.
detail : {'brief', 'normal', 'full'}
    Level of detail.
language : {'en', 'it', 'es', 'ru'}
    Language of the text.
figures : tuple of callable
    Functions that draw the figures of the solution.
"""
    ),
    "Examples": {
        name: tuple(text.strip().split("\n"))
        for name, text in {"arrests": _ARRESTS, "ratings": _RATINGS, "model": _MODEL, "iris": _IRIS}.items()
    },
}
