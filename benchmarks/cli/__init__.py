"""The command line: ``dynbench VERB ...``. Each module here is a verb, except `options`, which they share.

    add(verbs)     adds the verb's parser to the command, with ``run`` as its default
    run(args)      runs the verb and returns the exit code: 0 no problem, 1 something disagrees or failed

A verb imports what it needs when it runs, not when it is loaded, so that ``dynbench list`` is fast. Misuse and every
other `DynbenchError` is one line on stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from dynbench.benchmarks.cli import (
    bench,
    campaign,
    check,
    compare,
    export,
    inspect,
    listing,
    merge,
    new_method,
    options,
    papers,
    report,
    test_method,
    timing,
)

VERBS = (
    listing, inspect, check, bench, timing, campaign, papers, report, compare, merge, export, new_method, test_method,
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
    command = Parser(
        prog="dynbench", description="Compare formulations of robot dynamics on the same robots and states."
    )
    command.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    verbs = command.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in VERBS:
        verb.add(verbs)
    return command


class Parser(argparse.ArgumentParser):
    """Explains misuse: similar verbs, and which option a word without one may belong to."""

    def error(self, message: str) -> NoReturn:
        from dynbench.robots.errors import near  # not above: its package imports numpy

        verb = re.match(r"argument VERB: invalid choice: '(.+?)'", message)
        extra = re.match(r"unrecognized arguments: (.+)", message)
        if verb:
            names = [one.__name__.rpartition(".")[2] for one in VERBS]
            known = {"listing": "list", "timing": "time"}
            found = near(verb[1], [known.get(name, name).replace("_", "-") for name in names], len(names))
            message = f"unknown verb {verb[1]!r}; {found}"
        elif extra and not extra[1].startswith("-"):
            message += f"; {_belongs_to(extra[1].split()[0])}"
        super().error(message)


def _belongs_to(word: str) -> str:
    """Return the option that a word may be meant for."""
    from dynbench import methods, robots

    if word in methods.names():
        return f"a method is given as -m {word}"
    if word in robots.names() or os.path.exists(word) or re.fullmatch(r"[a-z]+-\d+", word):
        return f"a robot is given as -r {word}"
    return "robots are given as -r ROBOT, methods as -m METHOD"


class Version(argparse.Action):
    """Prints the version; looks it up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: object) -> None:
        from importlib.metadata import version

        print(f"dynbench {version('dynbench')}")
        parser.exit()
