"""``dynbench report``: write report.html again, from the tables of an earlier run."""

from __future__ import annotations

import argparse
from typing import Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser("report", help="write report.html again from the tables in a folder")
    verb.add_argument("folder", type=options.path, metavar="DIR", help="a folder that `dynbench bench` wrote")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page and print its path."""
    from dynbench.reports import html

    say(str(html.write_report(args.folder)))
    return 0
