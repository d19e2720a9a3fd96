"""Timing: `cases` defines what is timed, `bench_timing` passes it to pytest-benchmark, `passes` runs and merges it;
`ratios` compares with other engines, `scaling` and `counts` show how cost grows, `startup` and `peak` the rest."""
