"""``dynbench table``: a table for a paper, from a results folder."""

from __future__ import annotations

import argparse
from typing import Any

from dynbench.benchmarks.cli import options

CONTENTS = ("times", "ratios", "agreement", "counts", "growth")
FORMS = ("latex", "csv", "markdown")
MODES = ("call", "unchecked", "batch", "threads")


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "table",
        help="chosen methods, robots and quantities of a run as LaTeX, CSV or Markdown",
        description="Write a table of a run: robots by methods, the winner in bold, ties in bold together, engines by "
        "their own calls. The winner is the fastest of the chosen methods.",
    )
    add_choice(verb, CONTENTS)
    verb.add_argument("--format", choices=FORMS, help="default: by the ending of -o (.tex, .csv, .md), or LaTeX")
    verb.add_argument("--caption", default="", metavar="TEXT", help="default: says what the table shows")
    verb.add_argument("--label", default="", metavar="KEY", help="of LaTeX (default tab:CONTENT)")
    verb.add_argument("-o", "--output", type=options.path, metavar="FILE", help="default: stdout")
    verb.set_defaults(run=run)


def add_choice(verb: argparse.ArgumentParser, contents: tuple[str, ...]) -> None:
    """Add the arguments that say what of which run is shown."""
    verb.add_argument("folder", type=options.path, metavar="DIR", help="a folder that `dynbench bench` wrote")
    verb.add_argument("content", choices=contents, nargs="?", default=contents[0], help="(default %(default)s)")
    verb.add_argument("-r", "--robot", action="append", default=[], metavar="ROBOT", help="repeat for more")
    verb.add_argument("-m", "--method", action="append", default=[], metavar="METHOD", help="repeat for more")
    verb.add_argument("--quantity", action="append", default=[], metavar="QUANTITY", help="repeat for more")
    verb.add_argument("--mode", choices=MODES, default="batch", help="kind of call (default %(default)s)")
    verb.add_argument("--code", default="", metavar="CODE", help="tier of code: generic or traced (default: the first)")
    verb.add_argument("--engine", default="", metavar="ENGINE", help="that ratios are to (default: the first)")
    verb.add_argument("--family", default="", metavar="FAMILY", help="of growth (default: all)")


def choice(args: argparse.Namespace) -> Any:
    """Return the choice of the arguments of `add_choice`."""
    from dynbench.reports.publication import Choice

    methods = [name.replace("_", "-") for name in args.method]
    return Choice(args.robot, methods, args.quantity, args.mode, args.code, args.engine, args.family)


def run(args: argparse.Namespace) -> int:
    """Write the table to the file, or to stdout."""
    from dynbench.reports import publication

    ending = args.output.suffix if args.output is not None else ""
    form = args.format or publication.ENDINGS.get(ending, "latex")
    text = publication.table(args.folder, args.content, choice(args), form, args.caption, args.label)
    options.say_or_write(text, args.output)
    return 0
