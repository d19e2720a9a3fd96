"""``dynbench figure``: a figure for a paper, from a results folder."""

from __future__ import annotations

import argparse
from typing import Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.cli.table import add_choice, choice
from dynbench.benchmarks.terminal import tell

CONTENTS = ("speed", "ratios", "growth", "batches", "agreement", "peak", "precision", "overview")


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "figure",
        help="chosen methods, robots and quantities of a run as PDF or SVG",
        description="Draw a figure of a run. Every method has the colour, marker and dashes that it has in the report; "
        "no two of a run share marker and dashes, so that they differ in print.",
    )
    add_choice(verb, CONTENTS)
    verb.add_argument(
        "-o", "--output", type=options.path, required=True, metavar="FILE", help=".pdf, .svg, or .csv for its data"
    )
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw the figure, or several if the choice gives several, and name the files."""
    from dynbench.reports import publication

    for path in publication.figure(args.folder, args.content, choice(args), args.output):
        tell(f"wrote {path}")
    return 0
