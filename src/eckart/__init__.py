"""Eckart: the few axes that explain a table or a matrix, what they mean, and how good they are."""
