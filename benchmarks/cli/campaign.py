"""``dynbench campaign``: a sweep that a file describes, over robots, methods, options, tolerances and seeds."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import complain, flush, say

if TYPE_CHECKING:
    from dynbench.benchmarks.campaigns.campaign import Campaign

SHOWN = 5  # cells of a dry run


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "campaign",
        help="a sweep that a file (.toml) describes: robots x methods x options x tolerances x seeds",
        description="Run the cells that a campaign file describes and write campaign.csv, a row for each. Exit code 0: "
        "no failure; 1: some cells differ or failed; 2: misuse; 130: interrupted, --resume continues.",
    )
    verb.add_argument("file", type=options.path, metavar="FILE", help="the campaign (.toml)")
    verb.add_argument("--output", type=options.path, metavar="DIR", help="default: the file's name with -results, here")
    options.add_resuming(verb)
    verb.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster that runs the cells (extra: cluster)")
    verb.add_argument("--processes", type=processes, metavar="N", help="default: one per processor, at most 8")
    verb.add_argument("--dry-run", action="store_true", help="print the number of cells, and the first of them")
    verb.set_defaults(run=run)


def processes(text: str) -> int:
    """A whole number from 1 to 1024."""
    if (found := options.positive(text)) > 1024:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 1024, got {text!r}")
    return found


def run(args: argparse.Namespace) -> int:
    """Run the campaign, print a summary."""
    from dynbench.benchmarks.campaigns import reading, running
    from dynbench.benchmarks.processes import plugins
    from dynbench.benchmarks.processes.executors import executor
    from dynbench.benchmarks.processes.journal import Journal
    from dynbench.benchmarks.results import schema

    plugins.vet()
    campaign = reading.read(args.file)
    if args.dry_run:
        say(outline(campaign))
        return 0
    folder = args.output if args.output is not None else Path(f"{args.file.stem}-results")
    runner = executor(args.scheduler, args.processes)  # first: if it is not reachable, the folder stays as it is
    with runner, Journal(folder, args.resume or args.retry_failed, args.retry_failed) as journal:
        for note in journal.notes:
            complain("campaign", note)
        summary, interrupted = running.run(campaign, journal, runner)
    say(summary.screen())
    say(f"\ntable: {folder / schema.CAMPAIGN.file}")
    flush()
    if interrupted:
        complain("campaign", "interrupted; --resume continues this run")
        return options.INTERRUPTED
    return 0 if summary.well else 1


def outline(campaign: Campaign) -> str:
    """What a campaign would do."""
    kind = campaign.kind
    lines = [f"{campaign.name}: {len(campaign)} cells of kind {campaign.kind_name}"]
    lines += [f"  {len(campaign.targets)} robots or scenarios, {len(campaign.choices)} methods with options"]
    lines += [f"  {len(values)} x {name}" for name, values in campaign.axes.items() if values[0] is not None]
    lines.append("the first:")
    cells = ((block, cell) for block in campaign.blocks() for cell in block.cells)
    for block, cell in itertools.islice(cells, SHOWN):
        where = ", ".join(f"{n} {value}" for n, value in zip(kind.axes, cell, strict=True) if value is not None)
        lines.append(f"  {block.target.name}, {block.choice.label}, {where}")
    return "\n".join(lines)
