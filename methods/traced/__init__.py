"""Traced code: a kernel run on symbols, for one robot, gives straight-line machine code, C and LaTeX.

Read `graph` (what symbols are), `reduce` (numbers of the robot that leave fewer operations) and `trace` (which puts the
two together). `writer`, `single` and `batch` write LLVM IR, `code` compiles it and keeps it on disk; `export_c` and
`export_latex` write files. docs/tracing.md says how it works and what it gives. Nothing here imports numba.
"""
