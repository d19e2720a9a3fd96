"""Running jobs: `workers` runs `jobs` in isolated processes (each a `child`), `executors` distributes them, here or on
a `dask_cluster`; `journal` keeps the answers by `keys`, and `hosts` keeps other jobs away while one is timed."""
