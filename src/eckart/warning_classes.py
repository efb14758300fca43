"""Warnings; `eckart.errors` has them all."""

from __future__ import annotations

from eckart.documentation import document
from eckart.wording import Worded, worded


@document
class EckartWarning(Worded, UserWarning):
    """Base class of all warnings that Eckart issues on purpose.

    Parameters
    ----------
    message : object, default ''
        The message.

    {See Also: AccuracyWarning, DataWarning}

    Examples
    --------
    >>> import warnings, eckart as ek
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ek.errors.EckartWarning)
    ...     model = ek.CUR(2).fit([[1.0, 1.0], [1.0, 1.0]])
    >>> model.columns_
    array([0])
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(worded(str(message), "python"))
        self._template = str(message)


@document
class AccuracyWarning(EckartWarning):
    """The requested accuracy could not be proved. The certificate contains the bounds that were proved.

    {See Also: Certificate}

    Examples
    --------
    >>> import warnings, numpy as np, eckart as ek
    >>> rows = np.random.default_rng(0).normal(size=(300, 200))
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always")
    ...     d = ek.decompose(rows, k=5, solver="lanczos", max_passes=2)
    >>> issued[0].category.__name__, d.certificate.proved
    ('AccuracyWarning', False)
    """


@document
class DataWarning(EckartWarning):
    """The result may be misleading because of a property of the data.

    {See Also: EckartWarning}

    Examples
    --------
    >>> import warnings, eckart as ek
    >>> with warnings.catch_warnings(record=True) as issued:
    ...     warnings.simplefilter("always")
    ...     model = ek.CUR(2).fit([[1.0, 1.0], [1.0, 1.0]])  # only one independent column
    >>> issued[0].category.__name__
    'DataWarning'
    """
