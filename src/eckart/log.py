"""The logger "eckart": silent unless the application configures it.

INFO  one line per decomposition, and when a checkpoint is resumed
DEBUG the chosen solver with its reason, and every pass over the data

Examples
--------
>>> import logging, sys
>>> import eckart as ek
>>> from eckart.log import logger
>>> handler = logging.StreamHandler(sys.stdout)
>>> logger.addHandler(handler)
>>> logger.setLevel(logging.INFO)
>>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
svd of 4 x 2: 1 component, solver 'gram', 1 pass over the data, ... s, 96.67 % explained.
>>> logger.setLevel(logging.NOTSET)
>>> logger.removeHandler(handler)
"""

from __future__ import annotations

import logging

logger = logging.getLogger("eckart")
logger.addHandler(logging.NullHandler())
