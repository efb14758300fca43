"""Methods beside PCA and SVD, one module each, with the same three functions.

decompose(data, **options) -> Decomposition, project(d, data) -> coordinates, reconstruct(d, coordinates) -> rows.
They stand on `axes.py`: the certified SVD under all of them is the same.
"""
