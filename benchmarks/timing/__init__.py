"""How fast? `cases` says what is timed, `bench_timing` hands it to pytest-benchmark, `passes` runs and merges it;
`ratios` compares with other engines, `scaling` and `counts` say how cost grows, `startup` and `peak` the rest."""
