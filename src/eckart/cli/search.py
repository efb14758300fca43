"""eckart search: documents by concept, from raw texts or from a saved collection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eckart.cli import numbers
from eckart.cli.app import Refused, standard_input
from eckart.cli.console import Console
from eckart.cli.options import Output, gathered, output, results_option, with_console
from eckart.formatting import counted, percent

if TYPE_CHECKING:
    from eckart.concept_space.results import Ranking
    from eckart.concept_space.text_concepts import TextConcepts

_WEIGHTS = ("log-entropy", "tfidf", "bm25")
_STOP = (
    "Ignore the stop words of this language: english, german, french, spanish, italian, or auto to detect the language."
)
_RELEVANT = "Relevance judgements for --evaluate, one per line: 'QUERY 0 DOCUMENT 1' (TREC format) or 'QUERY DOCUMENT'."


@dataclass(frozen=True)
class CollectionOptions:
    """How to read and weigh documents."""

    k: int | None
    weights: str
    stop_words: str | None
    column: str | None
    names: str | None


_collection_options = gathered("collection", CollectionOptions, [
    click.option("-k", "k", type=numbers.components, metavar="N",
                 help="Number of concepts.  [default: a third of the number of documents, between 10 and 100]"),
    click.option("--weights", type=click.Choice(_WEIGHTS), default="log-entropy", show_default=True,
                 help="How to weight the word counts."),
    click.option("--stop-words", metavar="LANGUAGE", help=_STOP),
    click.option("--column", metavar="NAME", help="CSV column or JSON key that contains the text of each document."),
    click.option("--names", metavar="NAME", help="CSV column or JSON key that contains the name of each document."),
])  # fmt: skip


@dataclass(frozen=True)
class EvaluationOptions:
    """Queries whose relevant documents are known."""

    queries: str | None
    relevant: str | None

    def __post_init__(self) -> None:
        if (self.queries is None) != (self.relevant is None):
            raise click.UsageError(
                "--evaluate QUERIES needs --relevant FILE, and --relevant FILE needs --evaluate QUERIES. "
                "Give both options."
            )


_evaluation_options = gathered("evaluation", EvaluationOptions, [
    click.option("--evaluate", "queries", metavar="QUERIES",
                 help=("Measure the mean average precision of the search on the queries in this file. "
                 "Needs --relevant.")),
    click.option("--relevant", metavar="FILE", help=_RELEVANT),
])  # fmt: skip


@click.command(short_help="Search documents by meaning (latent semantic analysis).")
@click.argument("documents")
@click.argument("query", nargs=-1)
@results_option("Number of documents to list.")
@_collection_options
@click.option("--similar", metavar="DOCUMENT", help="Find documents similar to this document, instead of searching.")
@click.option("--topics", is_flag=True, help="List the top words of each concept, instead of searching.")
@click.option(
    "--add",
    "added",
    metavar="DOCUMENTS",
    help="Add these documents to the collection. The concepts are not fitted again.",
)
@_evaluation_options
@output("Save the collection to this file, such as docs.eckart, for faster searches later.")
@with_console
def search(
    console: Console, documents: str, query: tuple[str, ...], n: int, collection: CollectionOptions,
    similar: str | None, topics: bool, added: str | None, evaluation: EvaluationOptions, output: Output,
) -> None:  # fmt: skip
    """Find the documents whose meaning is closest to QUERY (latent semantic analysis).

    DOCUMENTS is a folder of text files, a CSV, TSV or JSON Lines file, a file in SMART format, or a collection saved
    with -o. If QUERY is '-', queries are read from standard input, one per line.

    \b
    Examples:
      eckart search docs/ "interest rates" -o docs.eckart
      eckart search docs.eckart "interest rates" -n 3
      eckart search articles.csv --column abstract --topics
      eckart search MED.ALL.gz --evaluate MED.QRY.gz --relevant MED.REL.gz
    """
    queries, relevant = evaluation.queries, evaluation.relevant
    _check_one([bool(query), similar is not None, topics, queries is not None], saved=output.path is not None)
    model = _collection(console, documents, collection)
    if added is not None:
        with console.warnings():
            model.add(added, column=collection.column, names=collection.names)
    if output.path is not None:
        _save(console, model, output)
    if queries is not None and relevant is not None:
        _evaluate(console, model, queries, relevant)
    elif topics:
        _topics(console, model, n)
    elif similar is not None:
        _show(console, model, model.similar(similar, n))
    elif query:
        for line in _queries(query):
            _show(console, model, model.search(line, n))


def _queries(given: tuple[str, ...]) -> Iterable[str]:
    """The words given as one query, or the lines of standard input for '-'."""
    return (line.strip() for line in standard_input() if line.strip()) if given == ("-",) else [" ".join(given)]


def _check_one(wanted: list[bool], *, saved: bool) -> None:
    if sum(wanted) > 1:
        raise click.UsageError(
            "QUERY, --similar, --topics and --evaluate each ask for a different result. Use only one of them."
        )
    if not any(wanted) and not saved:
        raise click.UsageError(
            'No query was given. Give a QUERY such as "interest rates", or use --similar, --topics or --evaluate.'
        )


def _collection(console: Console, path: str, options: CollectionOptions) -> TextConcepts:
    from eckart.concept_space.text_concepts import TextConcepts

    if Path(path).is_file() and Path(path).suffix == ".eckart":
        return TextConcepts.load(path)
    with console.status(f"Reading {path}"), console.warnings():
        found = TextConcepts(options.k, weights=options.weights.replace("-", "_"), stop_words=options.stop_words)
        return found.fit(path, column=options.column, names=options.names)


def _save(console: Console, model: TextConcepts, output: Output) -> None:
    from eckart.cli import outputs

    if output.path == "-":
        raise Refused(
            "A collection cannot be printed to standard output. Give a file name with -o, such as -o docs.eckart."
        )
    outputs.check(output)
    with outputs.writing():
        model.save(output.path, overwrite=output.force)
    console.say(f"Saved the collection of {counted(len(model.names_), 'document')} to {output.path}.")


def _show(console: Console, model: TextConcepts, ranking: Ranking) -> None:
    from eckart.text import Table

    snippets = [model.snippets_[place] for place in ranking.indices.tolist()]
    if console.json:
        found = ranking.to_dict()
        hits: Any = found["hits"]
        for hit, snippet in zip(hits, snippets, strict=True):
            hit["snippet"] = snippet
        console.document(**found)
        return
    console.say_all(
        ranking.notes
        or (() if len(ranking) else ("No document has a concept or a word in common with the query. Try other words.",))
    )
    if len(ranking):
        lines = tuple((hit.name, hit.score, text) for hit, text in zip(ranking, snippets, strict=True))
        table = Table(ranking.title, ("document", "cosine", "begins"), lines, kinds=("text", "number", "text"))
        click.echo(_listed(table, console.width))


def _listed(table: Any, width: int) -> str:
    """One line for each document: cosine, name, and as much of the beginning as fits."""
    from eckart.formatting import clean, shorten

    lines = [table.title, ""]
    for name, score, text in table.rows:
        head = f"{round(float(score), 4) + 0.0:7.4f}  {clean(name)}"
        room = width - len(head) - 2
        lines.append(f"{head}  {shorten(text, room)}" if room >= 20 else head)
    return "\n".join(lines)


def _topics(console: Console, model: TextConcepts, n: int) -> None:
    import textwrap

    table = model.topics(n)
    if console.json:
        console.document(**table.to_dict())
        return
    for number, words, opposed, share in table.rows:
        text = (
            f"{number}. {words}"
            + (f"  --  as opposed to: {opposed}" if opposed else "")
            + f"  ({percent(float(share or 0.0))})"
        )
        click.echo(textwrap.fill(text, console.width, subsequent_indent="   "))


def _evaluate(console: Console, model: TextConcepts, queries: str, relevant: str) -> None:
    found = model.evaluate(queries, _judgements(relevant))
    if console.json:
        console.document(
            mean_average_precision=found.mean_average_precision, precision_at_10=found.precision_at_10,
            average_precisions=list(found.average_precisions),
        )  # fmt: skip
        return
    click.echo(str(found))


def _judgements(path: str) -> dict[str, set[str]]:
    """Query -> names of relevant documents, from lines 'query 0 document relevance' or 'query document'."""
    from eckart.concept_space.documents import file_text

    found: dict[str, set[str]] = {}
    for number, line in enumerate(file_text(Path(path)).splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words:
            continue
        if len(words) not in (2, 4):
            raise Refused(f"{path}, line {number}: expected 'QUERY 0 DOCUMENT 1' (TREC format) or 'QUERY DOCUMENT'.")
        query, document = (words[0], words[2]) if len(words) == 4 else words
        if len(words) == 4 and words[3] == "0":
            continue
        found.setdefault(query, set()).add(document)
    return found
