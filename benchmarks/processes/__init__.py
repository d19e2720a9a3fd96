"""Where work is done: `jobs` in `workers`, isolated processes (each a `child`), handed out by `executors`, here or on a
`dask_cluster`; `hosts` keeps what is timed from being disturbed by what else of ours runs on its machine."""
