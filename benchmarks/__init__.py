"""The harness. `checks`: do methods agree, and with mechanics; `timing`: how fast, and how it grows; `simulation`:
motion through any method; `papers`: their experiments and claims; `runs`: a whole benchmark, from plan to files;
`campaigns`: many simulations; `processes`: where all of it runs; `cli`: the command line."""
