"""Search for a false certificate: many families of tables, every option, checked against extended precision.

`families` makes the tables, `planted` those that are built against a known random start, `breaks` the named cases that
once had a false certificate. `options` draws what to ask for, `reference` computes the truth, `checks` and `methods`
compare every statement with it, and `python -m benchmarks.certificates` runs the sweep.
"""
