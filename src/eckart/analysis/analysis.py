"""Analysis: a decomposition and everything that the report shows about it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eckart.analysis.clusters import Clusters
from eckart.analysis.column_roles import ColumnRole
from eckart.analysis.measures import floats, svd_details
from eckart.analysis.recommendation import Recommendation
from eckart.analysis.unusual import Outliers
from eckart.documentation import document
from eckart.engine.leading import leading
from eckart.rank.verdict import RankChoice
from eckart.registry import method_of
from eckart.result import Decomposition


@document
@dataclass(frozen=True)
class Analysis:
    """Result of `analyze`: a decomposition and everything that the report shows about it.

    Attributes
    ----------
    decomposition : Decomposition
        The decomposition, with all components that are shown.
    recommendation : Recommendation
        Recommended number of components, how much they explain, and the rule that decided.
    roles : tuple of ColumnRole
        Role of every column of the source: measure, category, date, label, identifier or row names.
    ranks : RankChoice or None
        Answers of all rules for the number of components; None if no rule was applied.
    outliers : Outliers
        Unusual rows, described in sentences and tables.
    clusters : Clusters or None
        Groups of rows. None if no groups were found.
    labels : mapping of str to sequence of str
        Labels of the rows: for each text column (categories, dates and labels), the text of every row.
    data : array or None
        The decomposed table, if it is in memory.
    reading : tuple of str
        Sentences that describe how the source was read.
    name : str
        Name of the source.
    options : mapping
        Options that were passed to `analyze`.
    requested : bool
        Whether you set the number of components, instead of leaving it to the rules.

    {See Also: analyze, report}

    Examples
    --------
    >>> import eckart as ek
    >>> found = ek.analyze(ek.datasets.path("usarrests"), scale=True)
    >>> found
    <Analysis of usarrests.csv: pca of 50 x 4. Keep 1 component. It explains 62.01 % of the variance. ...>
    >>> found.k, found.kept.k, found.scale_matters
    (1, 1, False)
    >>> print(found.to_dict()["recommended"]["rule"])
    sign_flip
    """

    decomposition: Decomposition
    recommendation: Recommendation
    roles: tuple[ColumnRole, ...] = ()
    ranks: RankChoice | None = None
    outliers: Outliers = field(default_factory=Outliers)
    clusters: Clusters | None = None
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    data: object = None
    reading: tuple[str, ...] = ()
    name: str = "data"
    options: Mapping[str, object] = field(default_factory=dict)
    requested: bool = False

    @property
    def k(self) -> int | None:
        """Recommended number of components. 0 if none stands out from noise, None if no rule applies."""
        return self.recommendation.k

    @property
    def scale_matters(self) -> bool:
        """True if the columns were not scaled, although their variances differ by more than a factor of 100."""
        d = self.decomposition
        lengths = svd_details(d).column_norms
        if d.method != "pca" or d.scale is not None or lengths is None:
            return False
        norms = floats(lengths)
        norms = norms[norms > 0]
        return len(norms) > 1 and bool(norms.max() / 10.0 > norms.min())  # a product would overflow

    @property
    def kept(self) -> Decomposition:
        """The decomposition with only the recommended components, or with all components if no rule applies."""
        d = self.decomposition
        if self.requested or not method_of(d).orthogonal or d.which == "smallest":
            return d
        return leading(d, self.recommendation.model)

    def summary(self, *, width: int = 80, steps: Sequence[str] = ()) -> str:
        """Return the summary that the command line prints.

        Parameters
        ----------
        width : int, default: 80
            Maximum length of a line.
        steps : sequence of str, optional
            Commands to suggest at the end.

        Returns
        -------
        str
            The summary.
        """
        from eckart.analysis.summary import summary_text

        return summary_text(self, width=width, steps=steps)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        overwrite: bool = False,
        command: str = "",
    ) -> str:
        """Return the report, and write it to a file if a path is given.

        Parameters
        ----------
        path : path, optional
            The file to write. The report is Markdown if the name ends in .md, HTML otherwise.
        title : str, optional
            Title of the report.
        overwrite : bool, default: False
            Replace the file if it exists.
        command : str, optional
            Command that reproduces the report, shown in the report.

        Returns
        -------
        str
            The page.
        """
        from eckart.analysis.report.page import write

        return write(self, title or self.title, path, overwrite=overwrite, command=command)

    def markdown(self, *, title: str | None = None) -> str:
        """Return the report as Markdown.

        Parameters
        ----------
        title : str, optional
            Title of the report.

        Returns
        -------
        str
            The page.
        """
        from eckart.analysis.report.markdown import markdown

        return markdown(self, title or self.title)

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values for JSON.

        Returns
        -------
        dict
            The recommendation and the sections of the report with their tables.
        """
        from eckart.analysis.document import of_analysis

        return of_analysis(self)

    @property
    def title(self) -> str:
        """Title of the report."""
        from eckart.analysis.labels import method_name

        method = method_name(self.decomposition)
        return method if self.name == "data" else f"{method} of {self.name}"

    def __repr__(self) -> str:
        d = self.decomposition
        return f"<Analysis of {self.name}: {d.method} of {d.rows:,} x {d.columns:,}. {self.recommendation.sentence}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        """Show the answer, the components and the columns behind them in a notebook."""
        from eckart.analysis.report.fragment import fragment

        return fragment(self)
