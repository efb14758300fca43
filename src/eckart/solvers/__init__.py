"""Pure functions of an operator: factors, and what is proved of them. No files, no frames, no estimators."""
