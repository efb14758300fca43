"""concepts: from a decomposition or a fitted estimator to queries and recommendations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eckart.concept_space.geometry import Geometry
from eckart.concept_space.names import Names, listed
from eckart.concept_space.space import Concepts
from eckart.concept_space.stored_rows import StoredRowSet, rows_of, rows_of_model
from eckart.documentation import document
from eckart.errors import InputError
from eckart.fitted import decomposition_of
from eckart.options import hint_keywords
from eckart.result import Decomposition


@hint_keywords
@document
def concepts(
    model: object,
    rows: object = None,
    columns: Sequence[str] | None = None,
    *,
    row_names: Sequence[str] | None = None,
    vectorizer: object = None,
) -> Concepts:
    """Use the components of a decomposition for search, recommendations and comparisons.

    Parameters
    ----------
    model : Decomposition or fitted estimator
        Model of any method. `similar_columns`, `top_columns`, `recommend_many` and `fold_in` do not support kernel PCA
        and Isomap, because these methods have no linear map from scores back to columns.
    rows : array-like, sparse matrix, data frame or path, default None
        Rows to search, with the same columns as the fitted data. None uses the fitted rows if the model stores their
        scores (``left=True``). Their original entries are then unknown.
    columns : sequence of str, default None
        Names of the columns. None uses the names of the model or of the vectorizer, or x1, x2, ...
    row_names : sequence of str, default None
        Names of the rows. None uses the names of `rows` or of the model, or 1, 2, ...
    vectorizer : object, default None
        Transformer that converted texts to rows, such as scikit-learn's ``TfidfVectorizer``. It is also applied to the
        texts of queries.

    Returns
    -------
    Concepts
        The space, with methods for queries.

    Raises
    ------
    InputError
        If two columns have the same name.

    See Also
    --------
    TruncatedSVD : The usual model for text and ratings.
    NMF : Topics as non-negative components.

    {Examples: ratings}
    >>> [hit.name for hit in space.similar_columns("Two Summers", 1)]
    ['A Letter from Rome']
    """
    d = decomposition_of(model)
    geometry = Geometry(d)
    column_names = _column_names(d, model, columns, vectorizer)
    if rows is None:
        found, names = rows_of_model(geometry), d.row_names
    else:
        found, names = rows_of(geometry, rows)
    names = names if row_names is None else tuple(map(str, row_names))
    stored = (
        None
        if found is None
        else StoredRowSet(geometry, (found,), Names("row", int(found.coordinates.shape[0]), names))
    )
    return Concepts(d, geometry, column_names, stored, vectorizer)


def _column_names(d: Decomposition, model: object, given: Sequence[str] | None, vectorizer: Any) -> Names:
    names: Any = given
    if names is None:
        names = d.column_names or getattr(model, "feature_names_in_", None)
    if names is None and vectorizer is not None:
        names = vectorizer.get_feature_names_out()
    result = Names("column", d.columns, None if names is None else tuple(map(str, names)))
    twice = sorted({name for name in result.given or () if result.find(name) == -1})
    if twice:
        raise InputError(
            f"Column names must be unique, but these names occur more than once: {listed(twice)}. Rename the columns."
        )
    return result
