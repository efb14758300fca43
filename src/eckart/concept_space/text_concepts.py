"""TextConcepts: search documents by concept, from raw texts (latent semantic analysis)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.utils.validation import check_is_fitted

from eckart.analysis.measures import svd_details
from eckart.api import decompose
from eckart.concept_space.documents import Documents, Texts, beginning, read_documents
from eckart.concept_space.evaluation import Evaluation, average_precision, first_ten
from eckart.concept_space.front import concepts
from eckart.concept_space.names import Names
from eckart.concept_space.results import Ranking
from eckart.concept_space.space import Concepts
from eckart.concept_space.stored_rows import Rows, StoredRowSet
from eckart.concept_space.term_matching import with_terms
from eckart.concept_space.word_weights import WordWeights, weigh
from eckart.documentation import document
from eckart.errors import InputError, ModelFileError
from eckart.estimators.sklearn_base import BaseEstimator
from eckart.options import are_whole, check_count
from eckart.projecting import project
from eckart.result import Decomposition, WordModel
from eckart.text import Table

_MOST_CONCEPTS, _FEWEST_CONCEPTS = 100, 10
_PER_CONCEPT = 3
"""Small collections have one concept per three documents."""


class FittedTextConcepts:
    """The attributes that `TextConcepts.fit` sets."""

    decomposition_: Decomposition
    counter_: WordWeights
    space_: Concepts
    names_: tuple[str, ...]
    snippets_: tuple[str, ...]
    _terms: csr_array | None


@dataclass(eq=False, repr=False)
class TextConcepts(BaseEstimator, FittedTextConcepts):
    """Search a collection of texts by concept (latent semantic analysis).

    Eckart counts and weights the words of each document. The SVD of the weighted counts finds the concepts. Documents
    and queries are compared by the cosine of their coordinates on the concepts.

    Parameters
    ----------
    n_components : int, optional
        Number of concepts. By default a third of the number of documents, but at least 10 and at most 100. Up to 10
        documents therefore keep all concepts and are compared by their words alone.
    weights : {"log_entropy", "tfidf", "bm25"}, default: "log_entropy"
        How the word counts are weighted. After weighting, each document is scaled to unit length.
    stop_words : str or sequence of str, optional
        Words to leave out: a list, the name of a language ("english", "german", "french", "spanish" or "italian"), or
        "auto" for the language that fits the documents best. By default no words are left out.
    min_df : int, default: 1
        Leave out words that occur in fewer than this many documents.
    rng : int, optional
        Seed for the decomposition.

    Attributes
    ----------
    decomposition_ : Decomposition
        The SVD with its certificate. Its rows are the documents and its columns are the words.
    space_ : Concepts
        The concept space, with all methods of `Concepts`.
    counter_ : object
        Vocabulary and weights. It converts texts to rows of the matrix that was decomposed.
    names_ : tuple of str
        Names of the documents, including those added later.
    snippets_ : tuple of str
        The beginning of each document.

    See Also
    --------
    concepts : The same for any decomposition.
    Ratings : Concepts of a table with unknown entries.

    References
    ----------
    Deerwester, Dumais, Furnas, Landauer and Harshman (1990), Indexing by latent semantic analysis, JASIS 41(6).

    Examples
    --------
    >>> import eckart as ek
    >>> texts = ["cats chase mice", "a kitten is a small cat", "stocks and bonds fell", "bonds rose as stocks fell"]
    >>> model = ek.TextConcepts(n_components=2).fit(texts)
    >>> [hit.name for hit in model.search("bonds", n=2)]
    ['3', '4']
    >>> model.snippet("4")
    'bonds rose as stocks fell'
    >>> model.add(["shares and bonds"], names=["new"]).names_
    ('1', '2', '3', '4', 'new')
    >>> print(model.evaluate(["cat", "stocks"], [["1", "2"], ["3", "4"]]))
    Over 2 queries, the mean average precision is 1.0000 and the precision at 10 is 0.2000.
    """

    n_components: int | None = None
    _: KW_ONLY
    weights: str = "log_entropy"
    stop_words: str | Sequence[str] | None = None
    min_df: int = 1
    rng: int | None = None

    @document
    def fit(
        self, documents: Texts, y: object = None, *, column: str | None = None, names: Iterable[str] | str | None = None
    ) -> TextConcepts:
        """Find the concepts of a collection.

        Parameters
        ----------
        documents : path, sequence of str, or mapping of str to str
            The documents: a folder of text files, a CSV or TSV file, a JSON Lines file, a SMART collection (a text file
            in which lines with .I and .W begin documents and their texts), a sequence of texts, or a mapping of names
            to texts.
        {y [ignored], column [text]}
        names : iterable of str or str, optional
            Names of the documents, or the column that contains them.

        {Returns: TextConcepts [fitted]}
        """
        given = read_documents(documents, column=column, names=names)
        counter, matrix = weigh(given.texts, self.weights, stop_words=self.stop_words, min_df=self.min_df)
        k = self.n_components
        k = max(_FEWEST_CONCEPTS, min(_MOST_CONCEPTS, len(given) // _PER_CONCEPT)) if k is None else k
        check_count("n_components", k, None)
        d = decompose(matrix, "svd", k=min(k, *matrix.shape), left=True, rng=self.rng)
        self._take(d.named(given.names, counter.vocabulary), counter)
        self.names_, self.snippets_ = given.names, tuple(map(beginning, given.texts))
        self._terms = matrix.astype(np.float32)
        return self

    @document
    def search(self, query: str, n: int = 10) -> Ranking:
        """Find the documents that are most similar to a query.

        Parameters
        ----------
        query : str
            Any text. Words that do not occur in the collection are ignored and named in a note.
        {n [documents]}

        Returns
        -------
        Ranking
            Names of the documents, and the cosines between their concepts and those of the query, best first. If no
            word of the query occurs in the concepts, the documents are ranked by the words that they share with the
            query, and a note reports this.
        """
        check_is_fitted(self)
        row = self.space_.query(query)
        found = replace(self.space_.similar_rows(row, n), title="Documents for the query")
        return (
            found if self._terms is None else with_terms(found, row, self._terms, self.names_, n, self.decomposition_.k)
        )

    @document
    def similar(self, document: int | str, n: int = 10) -> Ranking:
        """Find the documents most similar to a document.

        {Parameters: document, n [documents]; Returns: Ranking}
            Names of the other documents, and the cosines between their concepts and those of the document, best first.
        """
        check_is_fitted(self)
        return replace(self.space_.similar_rows(document, n), title=f"Documents similar to {document}")

    def topics(self, n: int = 10, words: int = 8) -> Table:
        """List the most important words of the leading concepts.

        Parameters
        ----------
        n : int, default: 10
            Number of concepts.
        words : int, default: 8
            Maximum number of words with positive weights, and of words with negative weights, for each concept.

        Returns
        -------
        Table
            For each concept: its words with positive weights, its words with negative weights, and the share of the
            weighted counts that it explains.
        """
        check_is_fitted(self)
        right = np.asarray(self.decomposition_.right)
        shares = np.asarray(self.decomposition_.explained_variance_ratio)
        rows = []
        for i in range(min(n, right.shape[1])):
            column, half = right[:, i], []
            for sign in (1.0, -1.0):
                order = np.argsort(-sign * column, kind="stable")[:words]
                strong = [j for j in order.tolist() if sign * column[j] > 0.1 * np.abs(column).max()]
                half.append(", ".join(self.counter_.vocabulary[j] for j in strong))
            rows.append((str(i + 1), half[0], half[1], float(shares[i])))
        columns = ("concept", "words", "as opposed to", "share")
        caption = (
            "Words with the largest positive and negative weights, and the share of the weighted "
            "word counts that each concept explains."
        )
        return Table("Concepts", columns, tuple(rows), caption, ("text", "text", "text", "percent"))

    @document
    def transform(self, documents: Texts) -> np.ndarray:
        """Compute the coordinates of documents in concept space.

        {Parameters: documents}

        Returns
        -------
        numpy.ndarray
            One row for each document, one column for each concept.
        """
        check_is_fitted(self)
        given = read_documents(documents)
        return np.asarray(project(self.decomposition_, self.counter_.transform(given.texts)))

    @document
    def add(
        self, documents: Texts, *, column: str | None = None, names: Iterable[str] | str | None = None
    ) -> TextConcepts:
        """Add documents to the collection without changing the concepts (folding-in).

        Parameters
        ----------
        {documents, column [text]}
        names : iterable of str or str, optional
            Names of the documents, or the column that contains them. By default, the documents are numbered, continuing
            the existing numbers.

        {Returns: TextConcepts [fitted]}

        Warns
        -----
        DataWarning
            If the concepts represent the new documents so poorly that you should fit the model again.
        """
        check_is_fitted(self)
        if names is None and not isinstance(documents, str | os.PathLike | Documents | Mapping):
            documents = list(documents)
            names = [str(len(self.names_) + i + 1) for i in range(len(documents))]
        given = read_documents(documents, column=column, names=names)
        taken = set(self.names_) & set(given.names)
        if taken:
            raise InputError(
                "The collection already contains documents with these names: "
                f"{', '.join(sorted(taken)[:5])}. Rename the new documents, or leave them out."
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            terms = self.counter_.transform(given.texts)
            folded = self.space_.fold_in(terms, row_names=given.names)
        for warning in caught:
            warnings.warn(warning.message, stacklevel=2)
        self.space_ = folded.space
        self.names_ = (*self.names_, *given.names)
        self.snippets_ = (*self.snippets_, *map(beginning, given.texts))
        if self._terms is not None:
            self._terms = csr_array(vstack([self._terms, terms.astype(np.float32)], format="csr"))
        return self

    def evaluate(
        self, queries: Texts, relevant: Sequence[Iterable[int | str]] | Mapping[str, Iterable[int | str]]
    ) -> Evaluation:
        """Measure the precision of searches, using queries whose relevant documents are known.

        Parameters
        ----------
        queries : path, sequence of str, or mapping of str to str
            Texts of the queries, in any of the forms that `fit` accepts for documents.
        relevant : sequence or mapping of collections
            For each query, the names or indices of the relevant documents. The keys of a mapping are the names of the
            queries. Queries without relevant documents are left out.

        Returns
        -------
        Evaluation
            Average precision and precision at 10 of every query. Printing it shows their means.
        """
        check_is_fitted(self)
        given = read_documents(queries)
        places, whole = {name: i for i, name in enumerate(self.names_)}, are_whole(self.names_)
        precisions, first = [], []
        for i, (name, text) in enumerate(zip(given.names, given.texts, strict=True)):
            wanted = relevant.get(name, ()) if isinstance(relevant, Mapping) else relevant[i]
            known = {places.get(str(one), -1) if whole or isinstance(one, str) else int(one) for one in wanted} - {-1}
            if not known:
                continue
            order = self.search(text, len(self.names_)).indices.tolist()
            precisions.append(average_precision(order, known))
            first.append(first_ten(order, known))
        if not precisions:
            raise InputError(
                "None of the queries has a relevant document in the collection. Check that the document "
                "names in the relevance judgements match the collection."
            )
        return Evaluation(tuple(precisions), tuple(first))

    @document
    def snippet(self, document: int | str) -> str:
        """Return the beginning of a document.

        {Parameters: document}

        Returns
        -------
        str
            The first words of the text.
        """
        check_is_fitted(self)
        return self.snippets_[Names("document", len(self.names_), self.names_).place(document)]

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Save the concepts, the words, and the coordinates and word counts of all documents to one file.

        Parameters
        ----------
        path : path
            The file to write, such as "collection.eckart".
        overwrite : bool, default: False
            Replace the file if it exists.
        """
        check_is_fitted(self)
        parts = self.space_.rows.parts if self.space_.rows is not None else ()
        added = [np.asarray(part.coordinates, np.float64) for part in parts[1:]]
        empty = np.zeros((0, self.decomposition_.k))
        kept = WordModel(
            self.counter_.kind, self.counter_.weights, self.counter_.mean_length, tuple(self.names_),
            tuple(self.snippets_), np.vstack([empty, *added]), self._terms,
        )  # fmt: skip
        d = self.decomposition_
        replace(d, details=replace(svd_details(d), words=kept)).save(path, overwrite=overwrite)

    @classmethod
    @document
    def load(cls, path: str | os.PathLike[str]) -> TextConcepts:
        """Load a collection that `save` wrote.

        Parameters
        ----------
        path : path
            File to read.

        {Returns: TextConcepts [opened]}
        """
        from eckart.io.model_file import load

        return cls.from_decomposition(load(path))

    @classmethod
    @document
    def from_decomposition(cls, d: Decomposition) -> TextConcepts:
        """Restore a collection from its decomposition.

        Parameters
        ----------
        d : Decomposition
            A decomposition that `save` wrote and `eckart.load` read.

        {Returns: TextConcepts [opened]}
        """
        details = svd_details(d)
        kept = details.words
        if kept is None or d.column_names is None:
            raise ModelFileError(
                "This model was not fitted on documents, so it cannot be searched. Fit TextConcepts on "
                "documents and save it."
            )
        counter = WordWeights(kept.weights, d.column_names, np.asarray(kept.word_weights), kept.mean_length)
        model = cls(n_components=d.k, weights=counter.kind)
        bare = replace(d, details=replace(details, words=None))
        model._take(bare, counter)
        model.names_, model.snippets_, model._terms = tuple(kept.names), tuple(kept.snippets), kept.terms
        added, rows = np.asarray(kept.added, np.float64), model.space_.rows
        if len(added) and rows is not None:
            names = Names("document", len(model.names_), tuple(model.names_))
            both = StoredRowSet(rows.geometry, (*rows.parts, Rows(added)), names)
            model.space_ = replace(model.space_, rows=both)
        return model

    def _take(self, d: Decomposition, counter: WordWeights) -> None:
        self.decomposition_, self.counter_ = d, counter
        space = concepts(d, vectorizer=counter)
        assert space.rows is not None
        names = replace(space.rows.names, what="document")  # as messages call the rows
        self.space_ = replace(space, rows=replace(space.rows, names=names))
