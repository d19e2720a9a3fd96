"""``dynbench campaign``: a sweep that a file describes, over robots, methods, options, tolerances and seeds."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynbench.benchmarks.campaigns.campaign import Campaign

INTERRUPTED = 130  # as shells have it
SHOWN = 5  # cells of a dry run


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "campaign",
        help="a sweep that a file (.toml) describes: robots x methods x options x tolerances x seeds",
        description="Run the cells that a campaign file describes and write campaign.csv, a row for each. Exit code 0: "
        "all is well; 1: some cells differ or failed; 2: misuse; 130: interrupted, --resume continues.",
    )
    verb.add_argument("file", type=Path, metavar="FILE", help="the campaign (.toml)")
    verb.add_argument("--output", type=Path, metavar="DIR", help="default: the file's name with -results, here")
    verb.add_argument(
        "--resume", action="store_true", help="continue in the same folder: what is finished and unchanged is kept"
    )
    verb.add_argument(
        "--retry-failed", action="store_true", help="as --resume, and try again what failed, crashed or timed out"
    )
    verb.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster that runs the cells (extra: cluster)")
    verb.add_argument("--processes", type=positive, metavar="N", help="default: one per processor, at most 8")
    verb.add_argument("--dry-run", action="store_true", help="print how many cells there are, and the first of them")
    verb.set_defaults(run=run)


def positive(text: str) -> int:
    """A whole number from 1 to 1024."""
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 1024")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Run the campaign, print a screen of summary."""
    from dynbench.benchmarks.campaigns import reading, running
    from dynbench.benchmarks.processes import plugins
    from dynbench.benchmarks.processes.executors import executor
    from dynbench.benchmarks.processes.journal import Store
    from dynbench.benchmarks.results import schema

    plugins.vet()
    campaign = reading.read(args.file)
    if args.dry_run:
        print(outline(campaign))
        return 0
    folder = args.output if args.output is not None else Path(f"{args.file.stem}-results")
    runner = executor(args.scheduler, args.processes)  # before the folder is touched: it may not be reachable
    with runner, Store(folder, args.resume or args.retry_failed, args.retry_failed) as store:
        for note in store.notes:
            print(f"dynbench campaign: {note}", file=sys.stderr)
        tally, interrupted = running.run(campaign, store, runner)
    print(tally.screen())
    print(f"\ntable: {folder / schema.CAMPAIGN.file}")
    sys.stdout.flush()
    if interrupted:
        print("dynbench campaign: interrupted; --resume continues this run", file=sys.stderr)
        return INTERRUPTED
    return 0 if tally.well else 1


def outline(campaign: Campaign) -> str:
    """What a campaign would do."""
    kind = campaign.kind
    lines = [f"{campaign.name}: {len(campaign)} cells of kind {campaign.kind_name}"]
    lines += [f"  {len(campaign.subjects)} robots or scenarios, {len(campaign.choices)} methods with options"]
    lines += [f"  {len(values)} x {name}" for name, values in campaign.axes.items() if values[0] is not None]
    lines.append("the first:")
    cells = ((block, cell) for block in campaign.blocks() for cell in block.cells)
    for block, cell in itertools.islice(cells, SHOWN):
        where = ", ".join(f"{n} {value}" for n, value in zip(kind.axes, cell, strict=True) if value is not None)
        lines.append(f"  {block.subject.name}, {block.choice.label}, {where}")
    return "\n".join(lines)
