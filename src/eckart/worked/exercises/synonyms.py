"""Synonyms of the targets, by their English name; `names` also knows their translations."""

from __future__ import annotations

SYNONYMS = {
    "eigenvalues": (
        "ev, eigvals, spectrum, spettro, espectro, спектр, evals, e-values, autovalor, autovalores, valores propios, "
        "собственные числа, собственное число, pares propios, eigenpares, eigenpairs, собственные пары, eigenvalores"
    ),
    "eigenvectors": (
        "eigvecs, evecs, e-vectors, autovectores, vectores propios, eigenspace, autospazio, autoespacio, "
        "eigenvectores, собственное подпространство"
    ),
    "eigenvector": "eigvec, evec, autovector, vector propio",
    "eigenvalue": (
        "eigval, eval, valor propio, собственное число, Rayleigh quotient, quoziente di Rayleigh, "
        "cociente de Rayleigh, отношение Рэлея"
    ),
    "rank": "rnk, rango, dim row space, dimension row space, dim, dimension",
    "paths": "geodesics, distances",
    "singular values": "svals, valori singolari, valores singulares, сингулярные числа",
    "columns": "cols, col",
    "components": (
        "PC, PCs, CP, ГК, directions, loadings, нагрузки, eigenvectors, autovettori, autovectores, vectores propios, "
        "собственные векторы"
    ),
    "scores": (
        "score, projections, proiezioni, proyecciones, проекции, счёт, счета, puntuación, puntuaciones, coordinate, "
        "coordinates, coordenadas, координаты"
    ),
    "error": "err, residual, погрешность",
    "Frobenius norm": (
        "distance, distanza, distancia, расстояние, Frobenius error, Frobenius distance, error in Frobenius norm, "
        "errore in norma Frobenius, "
        "error en norma Frobenius, ошибка по норме Фробениуса, норма Фробениуса"
    ),
    "spectral norm": "spectral error, errore spettrale, norma spettrale, error espectral, norma espectral",
    "back": (
        "reconstructed row, reconstruction, riga ricostruita, ricostruzione, fila reconstruida, reconstrucción, "
        "восстановленная строка, projection, proiezione, proyección, проекция"
    ),
    "rows": "row",
    "distances": "dist, residual",
    "hole": "buco, hueco, пропуск",
    "share": "explained variance, variance explained, energy, varianza spiegata, varianza explicada",
    "suggest": (
        "recommend, suggerisco, suggerirei, consiglio, sugerir, sugiero, recomendar, recomiendo, советую, "
        "рекомендую, рекомендовать"
    ),
    "correlations": "corr, cor",
    "covariance": (
        "cov, covariances, covariance matrix, matrice di covarianza, matriz de covarianza, ковариационная матрица, "
        "ковариационная"
    ),
    "means": "mean, averages",
    "coordinates": "coords, embedding, coefficients",
    "basis": "rows, row, Rows that form a basis of the row space: {words}.",
    "approximation": "best rank, best rank one, rank one, approssimazione, aproximación, приближение",
    "right singular vectors": (
        "right, right vectors, destri, derechos, правые, vettori destri, vectores derechos, правые векторы, "
        "vettori singolari destri, vectores singulares derechos, правые сингулярные векторы"
    ),
    "left singular vectors": (
        "left, left vectors, sinistri, izquierdos, левые, vettori sinistri, vectores izquierdos, левые векторы, "
        "vettori singolari sinistri, vectores singulares izquierdos, левые сингулярные векторы"
    ),
    "pseudo-inverse": (
        "pseudoinverse, pseudoinversa, псевдообратная, псевдообратная матрица, Moore-Penrose inverse, Moore-Penrose, "
        "inversa di Moore-Penrose, inversa de Moore-Penrose, обратная Мура-Пенроуза, inversa generalizzata"
    ),
    "correlation matrix": (
        "matrice di correlazione, matriz de correlación, корреляционная матрица, корреляционная, cor, corr, corrcoef"
    ),
    "correlation": "r12, correlations, coefficient, correlazione, correlación, корреляция",
    "product": "prodotto, producto, произведение, prodotto CUR, producto CUR, произведение CUR, product CUR",
    "component": "componente, компонента, minor component",
    "variance": "varianza, дисперсия",
    "power": "potenza, potencia, степень",
    "components of the covariance matrix": (
        "components of the covariance, covariance components, eigenvectors of the covariance matrix, "
        "eigenvectors of the covariance, eigenvectors of cov, V_C, V_cov, autovettori della covarianza, "
        "autovettori della matrice di covarianza, componenti della matrice di covarianza, "
        "componentes de la matriz de covarianza, vectores propios de la covarianza, autovectores de la covarianza, "
        "vectores propios de la matriz de covarianza, компоненты ковариационной матрицы, компоненты ковариации, "
        "собственные векторы ковариационной матрицы, собственные векторы ковариации, "
        "componenti della covarianza, componentes de la covarianza"
    ),
    "components of the correlation matrix": (
        "components of the correlation, correlation components, eigenvectors of the correlation matrix, "
        "eigenvectors of the correlation, eigenvectors of corr, V_R, V_cor, V_corr, autovettori della correlazione, "
        "autovettori della matrice di correlazione, componenti della matrice di correlazione, "
        "componentes de la matriz de correlación, vectores propios de la correlación, autovectores de la correlación, "
        "vectores propios de la matriz de correlación, компоненты корреляционной матрицы, компоненты корреляции, "
        "собственные векторы корреляционной матрицы, собственные векторы корреляции, "
        "componenti della correlazione, componentes de la correlación"
    ),
}
