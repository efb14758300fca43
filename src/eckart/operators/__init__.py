"""What a solver may ask of a matrix, wherever it lives."""
