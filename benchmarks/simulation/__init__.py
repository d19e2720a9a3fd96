"""Robots in motion: a `scenario` runs through any method, by `simulate` (scipy, with `stops`) or compiled (`equations`,
`integrators`); `work_precision` sweeps it; `recording` and `drawing` make plain data for the report."""
