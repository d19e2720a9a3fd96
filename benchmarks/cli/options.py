"""Options and argument types that several verbs share, and the exit codes."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from dynbench.benchmarks.terminal import say, tell

MISUSE, INTERRUPTED = 2, 130  # exit codes, as shells use them
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SMALLEST = 256 << 20  # bytes: numba does not start with less


def add_selection(verb: argparse.ArgumentParser) -> None:
    """Add the options that select robots and methods, and the seed of the states."""
    verb.add_argument("-r", "--robot", action="append", metavar="ROBOT", help="zoo name or file; repeat for more")
    add_reading(verb)
    verb.add_argument("-m", "--method", action="append", metavar="METHOD", help="repeat for more; default: all")
    verb.add_argument("--seed", type=seed, default=0, metavar="S", help="of the states (default 0)")


def add_code(verb: argparse.ArgumentParser, default: str, choices: Sequence[str]) -> None:
    """Add ``--code``, the tier of machine code."""
    tier = "tier of machine code: generic (any robot) or traced (made for one robot) (default %(default)s)"
    verb.add_argument("--code", choices=choices, default=default, help=tier)


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
    if os.path.isfile(bare):  # False for a name that is too long, where `Path.is_file` raises
        robot = load(source)
        if robot.origin is not None:
            tell(f"{bare}: base {robot.origin.base}")


def tell_cache() -> None:
    """Say, on stderr, if compiled kernels cannot be kept."""
    from dynbench.methods.kernels import cache

    reason = cache.unwritable()
    if reason is not None:
        tell(reason)


def add_resuming(verb: argparse.ArgumentParser) -> None:
    """Add the options that continue an earlier run."""
    verb.add_argument("--resume", action="store_true", help="continue in the same folder: finished cells are kept")
    verb.add_argument(
        "--retry-failed", action="store_true", help="like --resume, and repeat cells that failed, crashed or timed out"
    )


def say_or_write(text: str, output: Path | None, beside: Mapping[Path, str] = MappingProxyType({})) -> None:
    """Print a text on stdout, or write it to a file, with others ``beside`` it, and say so."""
    from dynbench.robots.errors import DynbenchError

    if output is None:
        say(text, end="")
        return
    files = {output: text, **beside}
    try:
        for path, content in files.items():
            path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise DynbenchError(f"cannot write {error.filename}: {error.strerror}") from None
    tell(f"wrote {', '.join(map(str, files))}")


def add_json(verb: argparse.ArgumentParser, content: str) -> None:
    """Add ``--json FILE``."""
    verb.add_argument("--json", type=path, metavar="FILE", help=f"write {content} to a file")


def path(text: str) -> Path:
    """A file or folder. An empty text, which `Path` takes for the current folder, is often an unset variable."""
    if not text:
        raise argparse.ArgumentTypeError("expected a path, got an empty text")
    try:
        os.lstat(text)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # each verb says what it expects there
    except (OSError, ValueError) as error:  # too long for the system, or with a null character
        said = error.strerror if isinstance(error, OSError) else error
        raise argparse.ArgumentTypeError(f"expected a path, got {text!r:.80}: {said}") from None
    return Path(text)


def decimal(text: str) -> float:
    """A number in ASCII digits; `float` also takes those of other scripts, and underscores. NaN for what is none."""
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan


def seed(text: str) -> int:
    """A whole number from 0 to 2^32 - 1."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 10) or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 to 4294967295, got {text!r:.80}")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1 to a million."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 20) or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r:.80}")
    return int(text)


def seconds(text: str) -> float:
    """A time above zero."""
    found = decimal(text)
    if not found > 0.0:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r:.80}")
    return found


def share(text: str) -> float:
    """A share such as 5% or 0.05, below 10 (1000 %)."""
    value = decimal(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    if not 0.0 <= value < 10.0:
        raise argparse.ArgumentTypeError(f"expected a share such as 5% or 0.05, got {text!r:.80}")
    return value


def size(text: str) -> int:
    """A number of bytes such as "512M" or "4G"."""
    number, unit = text.rstrip("iIbB"), ""
    if number[-1:].upper() in UNITS:
        number, unit = number[:-1], number[-1].upper()
    try:
        found = int(decimal(number) * UNITS.get(unit, 1))
    except (ValueError, OverflowError):
        found = -1
    if found < 0 or 0 < found < SMALLEST:
        raise argparse.ArgumentTypeError(f"expected 0 or a size of at least 256M, such as 4G, got {text!r:.80}")
    return found
