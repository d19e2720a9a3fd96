"""``dynbench merge``: the results folders of several machines, or parts of a run, as one folder and one report."""

from __future__ import annotations

import argparse
from typing import Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "merge",
        help="join results folders of several machines into one, with one report",
        description="Join results folders into a new one. Every row names its machine; rows that are in several "
        "folders are written once; runs of one machine that contradict each other are both kept, with a label.",
    )
    verb.add_argument("output", type=options.path, metavar="OUT", help="the folder to write; must be empty or absent")
    verb.add_argument("folders", type=options.path, nargs="+", metavar="DIR", help="folders that bench or merge wrote")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Merge, write the report, print what was merged and the path."""
    from dynbench.benchmarks.results.merge import merge
    from dynbench.reports import html

    say(merge(args.output, args.folders))
    say(f"report: {html.write_report(args.output)}")
    return 0
