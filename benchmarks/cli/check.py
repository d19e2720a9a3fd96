"""``dynbench check``: do the methods agree with each other, and each with mechanics?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say, tell

if TYPE_CHECKING:
    from dynbench.benchmarks.processes.executors import LocalExecutor
    from dynbench.benchmarks.processes.jobs import Answer, Ask, Job
    from dynbench.benchmarks.results.rows import Row

REFERENCE = "newton-euler"
SHOWN = 6  # disagreements printed; all are in the JSON


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "check",
        help="agreement of all pairs of methods, and invariants of each",
        description="Compare all pairs of methods at seeded random states, and check each for what must hold for it "
        f"alone. A single method is compared with {REFERENCE}. Exit code 0: all agree; 1: some do not; 2: misuse.",
    )
    options.add_selection(verb)
    verb.add_argument("--states", type=options.positive, default=64, metavar="N", help="states per robot (default 64)")
    options.add_code(verb, "generic", ("generic", "traced", "both"))
    options.add_json(verb, "every row, with the worst states,")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check, print a screen of summary, and return 0 if nothing disagrees."""
    from dynbench.robots.errors import DynbenchError

    if args.json is not None and not args.json.absolute().parent.is_dir():
        raise DynbenchError(f"--json {args.json}: the folder {args.json.absolute().parent} does not exist")

    from dynbench.benchmarks.processes import plugins
    from dynbench.benchmarks.processes.executors import LocalExecutor
    from dynbench.benchmarks.processes.jobs import Job
    from dynbench.benchmarks.processes.workers import run_job

    options.tell_cache()
    plugins.vet()
    args.robot = options.sources(args)
    with LocalExecutor() as executor:
        used = len(args.robot) * (len(args.method) + 1) if args.robot and args.method else executor.processes
        for _ in range(min(used, executor.processes)):  # they start while this process imports and reads
            executor.submit(run_job, Job("dynbench.benchmarks.checks.evaluate:start_compiler"))
        methods = chosen_methods(args.method)

        from dynbench.benchmarks.checks.check import DEFAULT_ROBOTS, CheckSettings, Comparison, check
        from dynbench.benchmarks.checks.evaluate import load
        from dynbench.benchmarks.results.rows import write_json
        from dynbench.benchmarks.results.summary import summary
        from dynbench.benchmarks.tiers import tiers, variants

        robots = {load(name).name: name for name in args.robot or DEFAULT_ROBOTS}
        tell(f"{', '.join(robots)}: {', '.join(methods)}")
        tell("methods that were never used before are compiled first, which takes minutes; the compiled code is kept")
        compared = variants(methods, tiers(args.code))
        comparisons = [Comparison(source, compared) for source in robots.values()]
        rows = check(comparisons, CheckSettings(states=args.states, seed=args.seed), asking(executor))
    if args.json is not None:
        write_json(args.json, rows, states=args.states, seed=args.seed)
    say(summary(rows, SHOWN))
    require_something(rows, args.method or [])
    return 0 if all(row.ok for row in rows) else 1


def asking(executor: LocalExecutor) -> Ask:
    """Return what runs the jobs of a stage in worker processes, with progress on stderr."""
    from dynbench.benchmarks.checks.check import label
    from dynbench.benchmarks.processes.executors import in_order
    from dynbench.benchmarks.processes.progress import Progress

    def ask(stage: str, jobs: Sequence[Job]) -> list[Answer]:
        with Progress(stage, len(jobs)) as progress:
            return in_order(executor, jobs, lambda job, answer: progress.step(label(job), answer.outcome))

    return ask


def chosen_methods(names: list[str] | None) -> list[str]:
    """Return the names of the methods asked for, or of all; plugins that cannot be used are named on stderr."""
    from dynbench.methods import registry

    if names:
        from dynbench.benchmarks.runs.plan import with_reference

        return list(with_reference(names))
    _, broken = registry.available()
    for name, reason in broken.items():
        tell(f"{name}: {reason}")
    return list(registry.names())


def require_something(rows: list[Row], asked: list[str]) -> None:
    """Raise an error if nothing was checked, or nothing of a method that was asked for: that is not agreement."""
    from dynbench.robots.errors import DynbenchError

    checked = {name for row in rows if row.value is not None or not row.ok for name in (row.method, row.other)}
    missed = {name.replace("_", "-") for name in asked} - checked
    if missed or not checked:
        of = [row for row in rows if row.method in missed or not missed]
        reasons = dict.fromkeys(f"{row.method} on {row.robot}: {row.reason}" for row in of)
        raise DynbenchError("nothing was checked of " + ("; ".join(list(reasons)[:3]) or "any method: there are none"))
