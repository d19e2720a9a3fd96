"""``dynbench inspect``: what was read from a robot's file, what was ignored, what looks wrong."""

from __future__ import annotations

import argparse
from typing import Any

from dynbench.benchmarks.cli import options
from dynbench.benchmarks.terminal import say


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser(
        "inspect",
        help="what was read of a robot, what was ignored, what looks wrong",
        description="Print bodies, joints, base, masses, frames, what of the file is not used, and suspicious values. "
        "Exit code 0: nothing is suspicious; 1: something is; 2: the robot cannot be read, or misuse.",
    )
    verb.add_argument("robot", metavar="ROBOT", nargs=1, help="zoo name or file")
    options.add_reading(verb)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what is known of the robot."""
    import warnings

    from dynbench.robots import load
    from dynbench.robots.errors import RobotWarning
    from dynbench.robots.sources import Options

    given = Options(args.base, tuple(args.lock), args.mimic)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # what they say is among the suspicions
        found = load(given.added_to(args.robot[0])).inspect()
    say(str(found))
    return int(bool(found.suspicions))
