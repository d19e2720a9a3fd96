"""``dynbench time``: one cell, or a few in turns, measured while one watches, with the code that is called."""

from __future__ import annotations

import argparse
from typing import Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say, tell

MODES = ("call", "unchecked", "batch", "threads")
ROWS = 1000


def add(verbs: Any) -> None:
    """Add the verb."""
    verb = verbs.add_parser(
        "time",
        help="time methods on one robot and quantity, in paired rounds",
        description="Measure methods in turns, and beside them the own calls of other engines that are named. Every "
        "row of timing.csv can be measured again by this verb.",
    )
    verb.add_argument("-r", "--robot", required=True, metavar="ROBOT", help="zoo name or file")
    verb.add_argument("-m", "--method", action="append", required=True, metavar="METHOD", help="repeat for more")
    verb.add_argument("--quantity", default="inverse_dynamics", metavar="QUANTITY", help="(default %(default)s)")
    verb.add_argument("--mode", choices=MODES, default="batch", help="kind of call (default %(default)s)")
    options.add_code(verb, "generic", ("generic", "traced"))
    verb.add_argument("--rows", type=options.positive, default=ROWS, metavar="N", help="of a batch (default 1000)")
    verb.add_argument("--seed", type=options.seed, default=0, metavar="S", help="of the states (default 0)")
    verb.add_argument("--seconds", type=options.seconds, default=3.0, metavar="S", help="budget (default 3)")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, show what is called, and print times and ratios with intervals."""
    from dynbench import methods, robots
    from dynbench.benchmarks.results import tables
    from dynbench.benchmarks.results.verdicts import COMPARED_WITH, interval_verdict
    from dynbench.benchmarks.runs.plan import known_quantity
    from dynbench.benchmarks.tiers import variants, why_not_traced
    from dynbench.benchmarks.timing import calibration, cases, engines
    from dynbench.benchmarks.timing.quiet import Group
    from dynbench.benchmarks.timing.rounds import Budget, Stopwatch
    from dynbench.robots.errors import DynbenchError

    quantity = known_quantity(args.quantity)
    robot = robots.load(args.robot)
    rows = args.rows if args.mode in cases.BATCH else 1
    cells = []
    for name in dict.fromkeys(methods.get(name).name for name in args.method):
        method = methods.get(name)
        reason = method.supports(robot)
        if reason or quantity not in method.computes_with(args.code):
            raise DynbenchError(f"{name} on {robot.name}: {reason or f'does not compute {quantity}'}")
        (variant,) = variants([name], [args.code])
        cells.append(cases.Cell(args.robot, name, quantity, args.mode, rows, code=variant.code))
        if variant.traced and (untraced := why_not_traced(cases.solver(args.robot, *variant), quantity)):
            raise DynbenchError(f"{name} on {robot.name}: {quantity} {untraced}")
        own = [mode for mode, ours in COMPARED_WITH.items() if ours == args.mode]
        own = [mode for mode in own if engines.offers(method, robot, quantity, mode)]
        cells += [cases.Cell(args.robot, name, quantity, mode, rows) for mode in own]
    ready = []
    for cell in cells:
        tell(f"preparing {cell.variant.label}, {cell.mode}")
        ready.append(cases.timed(cell, args.seed, give_up=60.0))
    for cell, one in zip(cells, ready, strict=True):
        cut = f"  (cut from {cell.rows} states to {one.rows})" if one.rows < cell.rows else ""
        say(f"{cell.variant.label}, {cell.mode}: {one.code}{cut}")
    watch = Stopwatch(calibration.remembered())
    budget = Budget(rounds=60, seconds=args.seconds)
    threads = args.mode == "threads"
    group = Group([watch.measure([one.call for one in ready], budget, threads)], watch.best, threads)
    lines = []
    for k, (cell, one) in enumerate(zip(cells, ready, strict=True)):
        time = group.seconds(k).times(1.0 / one.rows)
        ratio = group.ratio(k, 0).times(ready[0].rows / one.rows)
        shared = group.shared_ratio(k, 0) * ready[0].rows / one.rows
        judged = {"faster": "slower", "slower": "faster"}.get(said := interval_verdict(ratio.low, ratio.high), said)
        lines.append([
            f"{cell.variant.label}, {cell.mode}",
            tables.time_text(time.value),
            f"{tables.time_text(time.low)} to {tables.time_text(time.high)}",
            f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]",
            f"{shared:.3f}",
            f"{group.count[k]} of {group.taken[k]}",
            "disturbed" if group.disturbance(k) else "" if k == 0 else judged,
        ])  # fmt: skip
    heads = ["", "a state", "95 % interval", "over the first", "shared core", "quiet turns", ""]
    say(f"\n{robot.name}, {quantity}\n" + tables.aligned(heads, lines, "  "))
    for k, cell in enumerate(cells):
        if group.disturbance(k):
            tell(f"{cell.variant.label}, {cell.mode}: {group.disturbance(k)}")
    return 0
