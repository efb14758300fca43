"""Types that public functions return, for annotations and `isinstance`."""

from __future__ import annotations

from eckart.analysis.bootstrap import Bootstrap
from eckart.analysis.tables.rotation import Rotation
from eckart.cur.core import Core
from eckart.engine.blocks.reading import Progress
from eckart.kernel_pca.preimage import Preimages
from eckart.kernel_pca.scan_kernels import KernelScan, KernelTrial
from eckart.missing.fill import Filled
from eckart.nmf.plsa import Plsa
from eckart.rank.answer import Verdict
from eckart.rank.verdict import RankChoice
from eckart.result import SolveInfo
from eckart.text import Table

__all__ = [
    "Bootstrap",
    "Core",
    "Filled",
    "KernelScan",
    "KernelTrial",
    "Plsa",
    "Preimages",
    "Progress",
    "RankChoice",
    "Rotation",
    "SolveInfo",
    "Table",
    "Verdict",
]
