"""How many components: one module for each rule, and `choose_rank`, which applies all of them."""
