"""``dynbench check``: do the methods agree with each other, and each with mechanics?"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from dynbench.benchmarks.cli import options

if TYPE_CHECKING:
    from dynbench.benchmarks.results.rows import Row
    from dynbench.methods.base import Method

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
    options.add_json(verb, "every row, with the worst states,")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check, print a screen of summary, and return 0 if nothing disagrees."""
    from dynbench.robots.errors import DynbenchError

    if args.json is not None and not args.json.absolute().parent.is_dir():
        raise DynbenchError(f"--json {args.json}: the folder {args.json.absolute().parent} does not exist")

    from dynbench.benchmarks.processes import plugins

    plugins.vet()
    methods = chosen_methods(args.method)

    from dynbench.benchmarks.checks.check import check, default_robots
    from dynbench.benchmarks.results.rows import write_json
    from dynbench.benchmarks.results.summary import summary
    from dynbench.robots import load

    robots = [load(name) for name in args.robot] if args.robot else default_robots()
    tell("checking; what was never used before is compiled first, which takes minutes and is kept")
    rows = check(robots, methods, args.states, args.seed, tell)
    if args.json is not None:
        about = {"states": args.states, "seed": args.seed}
        try:
            write_json(args.json, rows, **about)
        except OSError as error:
            raise DynbenchError(f"--json {args.json}: {error.strerror}") from error
    print(summary(rows, SHOWN))
    require_something(rows, args.method or [])
    return 0 if all(row.ok for row in rows) else 1


def tell(line: str) -> None:
    """Progress, a line each."""
    print(line, file=sys.stderr, flush=True)


def chosen_methods(names: list[str] | None) -> list[Method]:
    """The methods asked for, or all; plugins that cannot be used are named on stderr."""
    from dynbench.methods import registry

    if names:
        methods = {method.name: method for method in map(registry.get, names)}
        if len(methods) == 1 and REFERENCE not in methods:
            methods[REFERENCE] = registry.get(REFERENCE)
        return list(methods.values())
    _, broken = registry.available()
    for name, reason in broken.items():
        tell(f"{name}: {reason}")
    return [registry.get(name) for name in registry.names()]


def require_something(rows: list[Row], asked: list[str]) -> None:
    """A check that checked nothing, or nothing of a method that was asked for, must not look like one that passed."""
    from dynbench.robots.errors import DynbenchError

    checked = {name for row in rows if row.value is not None or not row.ok for name in (row.method, row.other)}
    missed = {name.replace("_", "-") for name in asked} - checked
    if missed or not checked:
        of = [row for row in rows if row.method in missed or not missed]
        reasons = dict.fromkeys(f"{row.method} on {row.robot}: {row.reason}" for row in of)
        raise DynbenchError("nothing was checked of " + ("; ".join(list(reasons)[:3]) or "any method: there are none"))
