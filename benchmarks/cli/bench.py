"""``dynbench bench``: agreement, then timing, scaling, counts and the papers' claims, then the report."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

INTERRUPTED = 130  # as shells have it
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SMALLEST = 256 << 20  # bytes: numba does not start with less


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "bench",
        help="everything: agreement, timing, scaling, counts, claims, and the report",
        description="Check that the methods agree, time those that do, and write tables and a report. With -r, scaling "
        "families and papers are left out. Exit code 0: all agree; 1: some do not, or failed; 2: misuse; "
        "130: interrupted.",
    )
    verb.add_argument("-r", "--robot", action="append", metavar="ROBOT", help="zoo name or file; repeat for more")
    verb.add_argument("-m", "--method", action="append", metavar="METHOD", help="repeat for more; default: all")
    verb.add_argument("--quantity", action="append", metavar="QUANTITY", help="repeat for more; default: all")
    verb.add_argument("--quick", action="store_true", help="fewer robots, quantities, sizes and rounds")
    verb.add_argument(
        "--output", type=Path, metavar="DIR", help="default: reports/latest in a checkout, else dynbench-report"
    )
    verb.add_argument("--seed", type=int, default=0, metavar="S", help="of the states (default 0)")
    verb.add_argument(
        "--resume", action="store_true", help="continue in the same folder: what is finished and unchanged is kept"
    )
    verb.add_argument(
        "--retry-failed", action="store_true", help="as --resume, and try again what failed, crashed or timed out"
    )
    verb.add_argument(
        "--memory", type=size, default=4 << 30, metavar="SIZE", help="that a process may take (default 4G); 0: no limit"
    )
    verb.add_argument(
        "--timeout", type=seconds, default=math.inf, metavar="S", help="the most a cell may take (default: 1 to 15 min)"
    )
    verb.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster that checks and counts (extra: cluster); times are "
        "this machine's"
    )  # fmt: skip
    verb.set_defaults(run=run)


def seconds(text: str) -> float:
    """A time above zero."""
    found = float(text)
    if not found > 0.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return found


def size(text: str) -> int:
    """A number of bytes such as "512M" or "4G"."""
    number, unit = text.rstrip("iIbB"), ""
    if number[-1:].upper() in UNITS:
        number, unit = number[:-1], number[-1].upper()
    try:
        found = int(float(number) * UNITS.get(unit, 1))
    except (ValueError, OverflowError):
        found = -1
    if found < 0 or 0 < found < SMALLEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size of at least 256M, such as 4G, nor 0")
    return found


def run(args: argparse.Namespace) -> int:
    """Run the benchmark, write the report, print a screen of summary."""
    from dynbench.benchmarks.processes import plugins
    from dynbench.benchmarks.processes.jobs import Limits
    from dynbench.benchmarks.processes.journal import Journal
    from dynbench.benchmarks.runs import bench
    from dynbench.benchmarks.runs.plan import choose
    from dynbench.reports import html

    plugins.vet()
    plan = choose(args.robot, args.method, args.quantity, args.quick, args.seed)
    folder = args.output if args.output is not None else default_folder()
    with Journal(folder, args.resume or args.retry_failed, args.retry_failed) as journal:
        for note in journal.notes:
            print(f"dynbench bench: {note}", file=sys.stderr)
        limits = Limits(args.memory, args.timeout)
        findings = bench.run(plan, journal, whole=not args.robot, limits=limits, scheduler=args.scheduler)
        page = html.write_report(folder)
    print(bench.screen(findings))
    print(f"\nreport: {page}")
    sys.stdout.flush()
    if findings.interrupted:
        print(f"dynbench bench: {findings.notes[0]}", file=sys.stderr)
        return INTERRUPTED
    return 0 if bench.agreed(findings) else 1


def default_folder() -> Path:
    """Where results go when nobody says: beside the code in a checkout, else where the user is."""
    from dynbench.benchmarks.results.environment import checkout

    root = checkout()
    return root / "reports" / "latest" if root is not None else Path.cwd() / "dynbench-report"
