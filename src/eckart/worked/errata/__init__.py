"""Common errors in lecture notes: each claim, the correction, and a computation that proves it.

>>> from eckart.worked.errata import ERRATA
>>> ERRATA[0].number, ERRATA[0].where
(1, 'eigenvalues')
>>> all(erratum.shown()[-1].holds for erratum in ERRATA[:3])
True
"""

from __future__ import annotations

from eckart.worked.errata.erratum import Erratum, Evidence, erratum, markdown
from eckart.worked.errata.listed import ERRATA

__all__ = ["ERRATA", "Erratum", "Evidence", "erratum", "markdown"]
