"""A whole benchmark. What is run: `plan`, `stages` and `checking` (which add to `findings`), in the order of `bench`.
Where: `jobs` in `workers` (each a `child`) by `executors`, here or on a `dask_cluster`, guarded by `hosts`, `plugins`.
What is kept: the journal (`store`, `keys`) and tables (`records`, `outputs`, `tables`, `files`, `environment`), which
`folders` and `shapes` read again for reports, for `compare` (with `changes`) and for `merge`.
"""
