"""Workloads x peers in one run: time, true error and peak memory, each peer in a process of its own.

`python -m benchmarks [--only NAME] [--quick]`. The files, in reading order: `workloads` (what is computed), `data`
(from what), `reference` (the right answer), `peers` (by whom), `worker` (one peer in its process), `session` (all peers
of one workload, interleaved), `startup` (import and first call), `tables` (what is printed).
"""
