"""``dynbench problems``: benchmark problems with published or exact answers, by every method that applies."""

from __future__ import annotations

import argparse
from typing import Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say, tell


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "problems",
        help="benchmark problems with known answers: digits and cost by method",
        description="Run benchmark problems with published or exact answers by every method that applies, over "
        "integrators and tolerances, and print the digits reached, evaluations, CPU time and energy error. A run that "
        "ends early is a result with its reason. Exit code 0: all ran; 1: a process was lost or raised an error; "
        "2: misuse.",
    )
    verb.add_argument("problems", nargs="*", metavar="NAME", help="problems to run (default: all)")
    verb.add_argument("-m", "--method", action="append", metavar="METHOD", help="repeat for more; default: all")
    verb.add_argument("--quick", action="store_true", help="fewer tolerances, and less time for each method")
    output = "also write problems.csv, recordings and a report there"
    verb.add_argument("--output", type=options.path, metavar="DIR", help=output)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the problems named, or all; 0 if no process was lost."""
    from dynbench import methods
    from dynbench.benchmarks.problems import exudyn_judge, registry, running
    from dynbench.benchmarks.processes import plugins
    from dynbench.benchmarks.results import environment, files
    from dynbench.benchmarks.results.best_runs import applied

    names = registry.checked_names(args.problems)
    plugins.vet()
    judge = exudyn_judge.NAME
    given = [name if name == judge else methods.get(name).name for name in args.method or running.method_names()]
    chosen = tuple(dict.fromkeys(given))
    about = environment.describe()
    found = running.run(names, chosen, args.quick)
    if args.output is not None:
        from dynbench.reports import html

        running.write(args.output, found.rows)
        ran = [name for name in chosen if any(applied(row) and row["method"] == name for row in found.rows)]
        about |= {"quick": args.quick, "only problems": list(names), "load after": environment.load()}
        about |= {"methods": running.facts(ran)}
        files.write_json(args.output / "environment.json", about, indent=2)
        running.record_all(args.output, found.problems)
        tell(f"written to {html.write_report(args.output)}")
    say(running.table(found.rows))
    return int(found.lost > 0)
