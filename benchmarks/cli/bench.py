"""``dynbench bench``: agreement, then timing, scaling, counts and the papers' claims, then the report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "bench",
        help="everything: agreement, timing, scaling, counts, claims, and the report",
        description="Check that the methods agree, time those that do, and write tables and a report. With -r, scaling "
        "families and papers are left out. Exit code 0: all agree; 1: some do not, or failed; 2: misuse.",
    )
    verb.add_argument("-r", "--robot", action="append", metavar="ROBOT", help="zoo name or file; repeat for more")
    verb.add_argument("-m", "--method", action="append", metavar="METHOD", help="repeat for more; default: all")
    verb.add_argument("--quantity", action="append", metavar="QUANTITY", help="repeat for more; default: all")
    verb.add_argument("--quick", action="store_true", help="fewer robots, quantities, sizes and rounds")
    verb.add_argument(
        "--output", type=Path, metavar="DIR", help="default: reports/latest in a checkout, else dynbench-report"
    )
    verb.add_argument("--seed", type=int, default=0, metavar="S", help="of the states (default 0)")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the benchmark, write the report, print a screen of summary."""
    from dynbench.benchmarks.runs import bench
    from dynbench.benchmarks.runs.plan import choose
    from dynbench.robots.errors import DynbenchError

    plan = choose(args.robot, args.method, args.quantity, args.quick, args.seed)
    folder = args.output if args.output is not None else default_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DynbenchError(f"--output {folder}: {error.strerror}") from error
    findings = bench.run(plan, folder, whole=not args.robot)

    from dynbench.reports import html

    page = html.write_report(folder)
    print(bench.screen(findings))
    print(f"\nreport: {page}")
    sys.stdout.flush()
    return 0 if bench.agreed(findings) else 1


def default_folder() -> Path:
    """Where results go when nobody says: beside the code in a checkout, else where the user is."""
    from dynbench.benchmarks.runs.environment import checkout

    root = checkout()
    return root / "reports" / "latest" if root is not None else Path.cwd() / "dynbench-report"
