"""How many axes: one file for each rule, and `choose_rank`, which asks them all."""
