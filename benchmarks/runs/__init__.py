"""A whole benchmark. What is run: `plan`, `stages` and `checking` (which add to `findings`), in the order of `bench`.
What is kept: the journal (`store`, `keys`) and tables (`records`, `outputs`, `tables`, `files`, `environment`), which
`folders` and `shapes` read again for reports, for `compare` (with `changes`) and for `merge`.
"""
