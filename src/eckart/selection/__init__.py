"""Feature selection: choose among the original columns by a filter, an elimination or a random search."""

from eckart.selection.backward_elimination import BackwardElimination
from eckart.selection.correlation_filter import CorrelationFilter
from eckart.selection.random_subset_search import RandomSubsetSearch

__all__ = ["BackwardElimination", "CorrelationFilter", "RandomSubsetSearch"]
