"""The scikit-learn front: parameters in, attributes out. The only folder that imports scikit-learn."""

from eckart.estimators.incremental_pca import IncrementalPCA
from eckart.estimators.pca import PCA
from eckart.estimators.truncated_svd import TruncatedSVD

__all__ = ["PCA", "IncrementalPCA", "TruncatedSVD"]
