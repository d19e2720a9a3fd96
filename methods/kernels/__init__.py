"""The shared hot path: formulations are plain functions over a generic scalar, and live on these helpers.

Read `scalar` first (what a generic scalar is), then `vectors`, `tree` (the packed model) and `sweeps`.
`compiled` turns a formulation into machine code (with `pack`, `functions`, `memory`, `tiles`), `count` into operation
counts; neither is imported before use.
"""
