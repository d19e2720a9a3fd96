"""The harness. `checks`: do methods agree, and with mechanics; `timing`: how fast, and how it grows; `simulation`:
motion through any method; `scenarios`: the papers' experiments and claims; `runs`: a whole benchmark, from plan to
files; `cli`: the command line."""
