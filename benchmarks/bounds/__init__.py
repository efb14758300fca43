"""Tables and checks that look for false statements of accuracy of kernel PCA, Isomap, CUR and NMF."""
