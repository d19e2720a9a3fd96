"""A whole benchmark: `plan` selects, `stages` and `checking` run jobs and add to `findings`, `bench` has the order, and
`outputs` writes the tables."""
