"""How many components: one file for each rule, and `choose_rank`, which asks them all."""
