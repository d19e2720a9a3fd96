"""``dynbench merge``: the results folders of several machines, or parts of a run, as one folder and one report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "merge",
        help="join results folders of several machines into one, with one report",
        description="Join results folders into a new one. Every row keeps the machine it is from; what is in several "
        "folders is taken once; runs of one machine that contradict each other are both kept, under a label.",
    )
    verb.add_argument("output", type=Path, metavar="OUT", help="the folder to write; must be empty or absent")
    verb.add_argument("folders", type=Path, nargs="+", metavar="DIR", help="what `dynbench bench` or `merge` wrote")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Merge, write the report, print what came together and where it is."""
    from dynbench.benchmarks.results.merge import merge
    from dynbench.reports import html

    print(merge(args.output, args.folders))
    print(f"report: {html.write_report(args.output)}")
    return 0
