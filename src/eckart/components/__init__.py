"""Components of any data: opened, imputed if asked, decomposed by the engine; scores of rows, and rows from scores."""
