"""``dynbench export``: a quantity of one robot as C or LaTeX."""

from __future__ import annotations

import argparse
from typing import Any

from dynbench.benchmarks.cli import options

LANGUAGES = ("c", "latex")


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser("export", help="a quantity of one robot as self-contained C, or its closed form in LaTeX")
    verb.add_argument("robot", metavar="ROBOT", help="name or file")
    verb.add_argument("-m", "--method", default="newton-euler", help="default: %(default)s")
    verb.add_argument("--quantity", default="inverse_dynamics", help="default: %(default)s")
    verb.add_argument("--lang", choices=LANGUAGES, default="c", help="default: %(default)s")
    where = "default: stdout; with C, a header is written beside it"
    verb.add_argument("-o", "--output", type=options.path, metavar="FILE", help=where)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the export to the file, or to stdout."""
    from dynbench.methods import get
    from dynbench.methods.traced import export_c, export_latex
    from dynbench.robots import load

    method, robot = get(args.method), load(args.robot)
    make = export_c.export_c if args.lang == "c" else export_latex.export_latex
    text = make(method, robot, args.quantity)
    beside = {}
    if args.lang == "c" and args.output is not None:
        beside[args.output.with_suffix(".h")] = export_c.declaration(method, robot, args.quantity)
    options.say_or_write(text, args.output, beside)
    return 0
