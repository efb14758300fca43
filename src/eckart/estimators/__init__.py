"""What all estimators share: input validation, parameter constraints, output containers."""
