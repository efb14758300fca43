"""Functions of a Decomposition that show it: tables, plots, a summary for the terminal, a report. No data needed."""
