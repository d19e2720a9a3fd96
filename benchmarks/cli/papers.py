"""``dynbench papers``: the papers' experiments, and which of their claims hold."""

from __future__ import annotations

import argparse
from typing import Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say, tell


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "papers",
        help="the papers' experiments and claims",
        description="Run the experiments of the papers and print our numbers beside the printed ones. Exit code 0: all "
        "ran; 1: one did not; 2: misuse.",
    )
    verb.add_argument("papers", nargs="*", metavar="NAME", help="papers to run (default: all)")
    verb.add_argument("--quick", action="store_true", help="the short form of experiments that have one")
    where = "also write tables, simulations and a report there"
    verb.add_argument("--output", type=options.path, metavar="DIR", help=where)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the papers named, or all; 0 if every experiment ran."""
    from dynbench.benchmarks import papers
    from dynbench.benchmarks.processes.workers import ask_all
    from dynbench.benchmarks.results import environment, files
    from dynbench.benchmarks.runs import kept

    keep = kept.keeping(ask_all)
    names = papers.checked_names(args.papers)
    about = environment.describe()
    found = papers.run_papers(names, args.quick, keep)
    if args.output is not None:
        from dynbench.benchmarks.papers import recordings, sweeps
        from dynbench.reports import html

        papers.write(args.output, found)
        about |= {"quick": args.quick, "only papers": list(names), "load after": environment.load()}
        files.write_json(args.output / "environment.json", about, indent=2)
        recordings.run(args.output, names, args.quick, keep)
        sweeps.run(args.output, names, args.quick, keep)
        tell(f"written to {html.write_report(args.output)}")
    say(papers.table(found))
    return int(any(claim["verdict"] == papers.NOT_RUN for paper in found for claim in paper.claims))
