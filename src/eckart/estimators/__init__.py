"""The scikit-learn front: parameters in, attributes out. The only folder that imports scikit-learn."""

from eckart.estimators.column_selector import ColumnSelector
from eckart.estimators.cur import CUR
from eckart.estimators.incremental_pca import IncrementalPCA
from eckart.estimators.isomap import Isomap
from eckart.estimators.kernel_pca import KernelPCA
from eckart.estimators.nmf import NMF
from eckart.estimators.pca import PCA
from eckart.estimators.truncated_svd import TruncatedSVD

__all__ = ["CUR", "NMF", "PCA", "ColumnSelector", "IncrementalPCA", "Isomap", "KernelPCA", "TruncatedSVD"]
