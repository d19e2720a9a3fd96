"""The command line: ``dynbench VERB ...``. Each module here is a verb, except `options`, which they share.

    add(verbs)     adds the verb's parser to the command, with ``run`` as its default
    run(args)      runs the verb and returns the exit code: 0 no problem, 1 something disagrees or failed

A verb imports what it needs when it runs, not when it is loaded, so that ``dynbench list`` is fast. Misuse and every
other `DynbenchError` is one line on stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from dynbench.benchmarks.cli import (
    bench,
    campaign,
    check,
    compare,
    export,
    figure,
    inspect,
    listing,
    merge,
    new_method,
    options,
    papers,
    report,
    table,
    test_method,
    timing,
)

VERBS = (
    listing, inspect, check, bench, timing, campaign, papers, report, table, figure, compare, merge, export, new_method,
    test_method,
)  # fmt: skip
LONGEST = 1200  # characters of an error that are printed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with ``arguments`` (default: those of the process) and return its exit code."""
    args = parser().parse_args(arguments)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"dynbench {args.verb}: interrupted", file=sys.stderr)
        return options.INTERRUPTED
    except BrokenPipeError:  # `dynbench list | head` closes the pipe, which is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        from dynbench.robots.errors import DynbenchError  # not above: it imports numpy

        if not isinstance(error, DynbenchError):
            raise
        print(f"dynbench {args.verb}: {one_line(str(error))}", file=sys.stderr)
        return options.MISUSE
    return code


def one_line(message: str) -> str:
    """Return a message safe for a terminal: untrusted names may contain line ends, escapes, or megabytes."""
    shown = message if len(message) <= LONGEST else f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
    return printable(shown)


def printable(text: str) -> str:
    """Return a text with the characters that a terminal would obey written out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command."""
    command = argparse.ArgumentParser(
        prog="dynbench", description="Compare formulations of robot dynamics on the same robots and states."
    )
    command.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    verbs = command.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in VERBS:
        verb.add(verbs)
    return command


class Version(argparse.Action):
    """Prints the version; looks it up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: object) -> None:
        from importlib.metadata import version

        print(f"dynbench {version('dynbench')}")
        parser.exit()
