"""``dynbench bench``: agreement, then timing, scaling, counts and the papers' claims, then the report."""

from __future__ import annotations

import argparse
import functools
import math
from pathlib import Path
from typing import Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import complain, flush, say, tell


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "bench",
        help="everything: agreement, timing, scaling, counts, claims, and the report",
        description="Check that the methods agree, time those that do, and write tables and a report. With -r, scaling "
        "families and papers are left out. Exit code 0: all agree; 1: some do not, or failed; 2: misuse; "
        "130: interrupted.",
    )
    options.add_selection(verb)
    verb.add_argument("--quantity", action="append", metavar="QUANTITY", help="repeat for more; default: all")
    size = verb.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_true", help="all robots, quantities and methods: about half an hour")
    size.add_argument("--quick", action="store_true", help="the short run, which is the default")
    options.add_code(verb, "both", ("generic", "traced", "both"))
    verb.add_argument("--targets", action="store_true", help="also print our own targets against Pinocchio")
    where = "default: reports/latest in a checkout, else dynbench-report"
    verb.add_argument("--output", type=options.path, metavar="DIR", help=where)
    options.add_resuming(verb)
    memory = "memory limit of a process (default 4G); 0: no limit"
    verb.add_argument("--memory", type=options.size, default=4 << 30, metavar="SIZE", help=memory)
    timeout = "time limit of a cell in seconds (default: 1 to 15 minutes)"
    verb.add_argument("--timeout", type=options.seconds, default=math.inf, metavar="S", help=timeout)
    cluster = "of a Dask cluster that checks and counts (extra: cluster); timing stays on this machine"
    verb.add_argument("--scheduler", metavar="ADDRESS", help=cluster)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the benchmark, write the report, print a summary."""
    from dynbench.benchmarks.processes import plugins
    from dynbench.benchmarks.processes.jobs import Limits
    from dynbench.benchmarks.processes.journal import Journal
    from dynbench.benchmarks.runs import bench, screen
    from dynbench.benchmarks.runs.plan import choose
    from dynbench.reports import html

    options.tell_cache()
    plugins.vet()
    args.robot = options.sources(args)
    plan = choose(args.robot, args.method, args.quantity, not args.full, args.seed, args.code)
    folder = args.output if args.output is not None else default_folder()
    with Journal(folder, args.resume or args.retry_failed, args.retry_failed) as journal:
        for note in journal.notes:
            complain("bench", note)
        limits = Limits(args.memory, args.timeout)
        publish = functools.partial(_publish, folder)
        about = {"targets": args.targets}
        settings = {"limits": limits, "scheduler": args.scheduler, "publish": publish, "about": about}
        findings = bench.run(plan, journal, not args.robot, **settings)
        page = html.write_report(folder)
    say(screen.screen(findings, args.method or (), args.targets))
    say(f"\nreport: {page}")
    flush()
    if findings.interrupted:
        complain("bench", findings.notes[0])
        return options.INTERRUPTED
    return 0 if bench.agreed(findings) else 1


def _publish(folder: Path, stage: str) -> None:
    """Write the page of an unfinished run, and say where it is; a page that cannot be written stops nothing."""
    from dynbench.reports import html
    from dynbench.robots.errors import DynbenchError  # not above: it imports numpy

    try:
        page = html.write_report(folder)
    except DynbenchError as error:
        complain("bench", f"no page yet: {error}")
        return
    tell(f"the page so far, after {stage}: {page}")


def default_folder() -> Path:
    """The default output folder: in a checkout beside the code, otherwise in the current folder."""
    from dynbench.benchmarks.results.environment import checkout

    root = checkout()
    return root / "reports" / "latest" if root is not None else Path.cwd() / "dynbench-report"
