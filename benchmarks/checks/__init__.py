"""Is it right? `agreement` compares every pair of methods, `invariants` each method with mechanics, `conformance` each
with the contract; `check` runs the first two on given robots, `gate` says what may then be timed."""
