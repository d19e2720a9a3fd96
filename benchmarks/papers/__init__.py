"""The papers, a folder each: its experiments as `Scenario`s, its claims with our numbers, its errata, its recordings.

`registry` finds and runs them, `plugins` those of other packages; `claims` is what they hand in.
"""

from __future__ import annotations

from dynbench.benchmarks.papers.registry import (
    NOT_RUN,
    Paper,
    checked_names,
    job,
    names,
    run_papers,
    table,
    write,
)

__all__ = [
    "NOT_RUN",
    "Paper",
    "checked_names",
    "job",
    "names",
    "run_papers",
    "table",
    "write",
]
