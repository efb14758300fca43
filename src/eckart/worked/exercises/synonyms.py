"""Synonyms of the targets, by their English name; `names` also knows their translations."""

from __future__ import annotations

SYNONYMS = {
    "eigenvalues": (
        "eigvals, spectrum, spettro, espectro, спектр, evals, autovalor, autovalores, valores propios, "
        "собственные числа"
    ),
    "eigenvectors": "eigvecs, evecs, autovectores, vectores propios",
    "eigenvector": "eigvec, evec, autovector, vector propio",
    "eigenvalue": "eigval, eval, valor propio, собственное число",
    "rank": "rnk, rango",
    "paths": "geodesics, distances",
    "singular values": "svals, valori singolari, valores singulares, сингулярные числа",
    "columns": "cols, col",
    "components": "PC, PCs, CP, ГК",
    "scores": "score",
    "error": "err, residual",
    "Frobenius norm": (
        "Frobenius error, error in Frobenius norm, errore in norma Frobenius, error en norma Frobenius, "
        "ошибка по норме Фробениуса, норма Фробениуса"
    ),
    "spectral norm": "spectral error, errore spettrale, norma spettrale, error espectral, norma espectral",
    "rows": "row",
    "distances": "dist",
    "hole": "buco, hueco, пропуск",
    "share": "explained variance, variance explained, energy, varianza spiegata, varianza explicada",
    "suggest": (
        "recommend, suggerisco, suggerirei, consiglio, sugerir, sugiero, recomendar, recomiendo, советую, "
        "рекомендую, рекомендовать"
    ),
    "correlations": "corr",
    "covariance": "cov, covariances",
    "means": "mean, averages",
    "coordinates": "coords, embedding, coefficients",
    "basis": "rows, row, Rows that form a basis of the row space: {words}.",
    "approximation": "approssimazione, aproximación, приближение",
    "right singular vectors": "vettori singolari destri, vectores singulares derechos, правые сингулярные векторы",
    "left singular vectors": "vettori singolari sinistri, vectores singulares izquierdos, левые сингулярные векторы",
    "pseudo-inverse": (
        "pseudoinverse, pseudoinversa, псевдообратная, псевдообратная матрица, Moore-Penrose inverse, Moore-Penrose"
    ),
    "correlation matrix": "matrice di correlazione, matriz de correlación, корреляционная матрица, corr",
    "correlation": "r12, correlations, coefficient, correlazione, correlación, корреляция",
    "product": "prodotto, producto",
    "component": "componente, компонента, minor component",
    "variance": "varianza, дисперсия",
    "power": "potenza, potencia, степень",
    "components of the covariance matrix": (
        "components of the covariance, covariance components, eigenvectors of the covariance matrix, "
        "eigenvectors of the covariance, "
        "componenti della covarianza, componentes de la covarianza"
    ),
    "components of the correlation matrix": (
        "components of the correlation, correlation components, eigenvectors of the correlation matrix, "
        "eigenvectors of the correlation, "
        "componenti della correlazione, componentes de la correlación"
    ),
}
