"""Options and argument types that several verbs share, and the exit codes."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

MISUSE, INTERRUPTED = 2, 130  # exit codes, as shells use them
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SMALLEST = 256 << 20  # bytes: numba does not start with less


def add_selection(verb: argparse.ArgumentParser) -> None:
    """Add the options that select robots and methods, and the seed of the states."""
    verb.add_argument("-r", "--robot", action="append", metavar="ROBOT", help="zoo name or file; repeat for more")
    add_reading(verb)
    verb.add_argument("-m", "--method", action="append", metavar="METHOD", help="repeat for more; default: all")
    verb.add_argument("--seed", type=int, default=0, metavar="S", help="of the states (default 0)")


def add_reading(verb: argparse.ArgumentParser) -> None:
    """Add the options that say how the robots of -r are read; `sources` puts them into their texts."""
    base = verb.add_mutually_exclusive_group()
    for kind, help_text in (("floating", "let the base of every robot of -r float"), ("fixed", "hold it")):
        base.add_argument(f"--{kind}-base", dest="base", action="store_const", const=kind, help=help_text)
    lock = "hold a joint of every robot of -r at zero; repeat for more"
    verb.add_argument("--lock", action="append", default=[], metavar="JOINT", help=lock)
    mimic = "joints of a file that follow others: couple them (default), give each its own coordinate, or refuse it"
    verb.add_argument("--mimic", choices=("coupled", "independent", "refuse"), help=mimic)


def sources(args: argparse.Namespace) -> list[str] | None:
    """Return the robots of -r as texts that `robots.load` accepts, with the options of `add_reading`; None without -r.

    Says on stderr which base each file's robot has, since a URDF file does not say.
    """
    from dynbench.robots.errors import DynbenchError
    from dynbench.robots.sources import Options

    given = Options(args.base, tuple(args.lock), args.mimic)
    if not args.robot:
        if given != Options():
            names = "--floating-base, --fixed-base, --lock and --mimic"
            raise DynbenchError(f"{names} are for the robots of -r: none is given")
        return None
    found = [given.added_to(name) for name in args.robot]
    for source in found:
        tell_base(source)
    return found


def tell_base(source: str) -> None:
    """Print what is known of the base of a file's robot, to stderr."""
    from dynbench.robots import load
    from dynbench.robots.sources import Options

    bare, _ = Options.of(source)
    if Path(bare).is_file():
        robot = load(source)
        if robot.origin is not None:
            print(f"{bare}: base {robot.origin.base}", file=sys.stderr)


def add_resuming(verb: argparse.ArgumentParser) -> None:
    """Add the options that continue an earlier run."""
    verb.add_argument("--resume", action="store_true", help="continue in the same folder: finished cells are kept")
    verb.add_argument(
        "--retry-failed", action="store_true", help="like --resume, and repeat cells that failed, crashed or timed out"
    )


def add_json(verb: argparse.ArgumentParser, content: str) -> None:
    """Add ``--json FILE``."""
    verb.add_argument("--json", type=Path, metavar="FILE", help=f"write {content} to a file")


def positive(text: str) -> int:
    """A whole number from 1 to a million."""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """A time above zero."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not found > 0.0:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return found


def share(text: str) -> float:
    """A share such as 5% or 0.05, below 10 (1000 %)."""
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < 10.0:
        raise argparse.ArgumentTypeError(f"expected a share such as 5% or 0.05, got {text!r}")
    return value


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
        raise argparse.ArgumentTypeError(f"expected 0 or a size of at least 256M, such as 4G, got {text!r}")
    return found
