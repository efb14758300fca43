"""Whole public calls with default settings, against scikit-learn and others, in one run.

`python -m benchmarks [--quick] [--only TEXT] [--families test|tuning] [--pairs 8]`. The files, in reading order:
`cases` (what is called, and on what), `families_test` and `families_tuning` (the data: constants of the library may be
tuned on the second only), `peers` (by whom), `worker` (a process that calls), `session` (interleaved rounds),
`ratio_map` (what is printed), `first_call` (fresh processes with an empty compile cache).
`report_files` counts the files of the package that `eckart report` runs.
"""
