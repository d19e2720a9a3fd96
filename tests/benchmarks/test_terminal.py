"""Closed, full and broken streams, signals, text from outside: one line and a documented exit code, no traceback."""

from __future__ import annotations

import functools
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pace import NEVER

from dynbench.benchmarks import cli, terminal
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.processes.interrupts import ignore, interruptible
from dynbench.benchmarks.processes.progress import Progress
from dynbench.robots import text

COMMAND = [sys.executable, "-P", "-m", "dynbench.benchmarks"]
BENCHMARKS = Path(cli.__file__).parents[1]


def shell(line: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which DYNBENCH is the command."""
    script = f"set -o pipefail; dynbench() {{ '{sys.executable}' -P -m dynbench.benchmarks \"$@\"; }}; {line}"
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300, cwd=tmp_path)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("dynbench list | head -1", 0, ""),
        ("dynbench list >&-", 0, ""),
        ("dynbench list 2>&-", 0, ""),
        ("dynbench list >/dev/full", 2, "dynbench list: stdout cannot be written: No space left on device"),
        ("dynbench list >/dev/full 2>&-", 2, ""),
        ("dynbench list >/dev/full 2>/dev/full", 2, ""),
        ("dynbench --version >/dev/full", 2, "dynbench: stdout cannot be written: No space left on device"),
        ("dynbench --help >&-", 0, "usage: dynbench"),
        ("dynbench inspect two-link >/dev/full", 2, "dynbench inspect: stdout cannot be written: No space left"),
        ("dynbench inspect nothing 2>/dev/full", 2, ""),
        ("dynbench inspect nothing 2>&-", 2, ""),
    ],
)
def test_streams_that_cannot_be_written(line, code, said, tmp_path):
    ended = shell(line, tmp_path)
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
    assert ended.stderr.startswith(said) if said else not ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["bench", "--output", ""], ["papers", "--output", ""], ["check", "--json", ""], ["report", ""],
        ["compare", "", ""], ["merge", "", "x"], ["campaign", ""], ["new-method", "mine", "--output", ""],
        ["problems", "--output", ""], ["table", ""], ["figure", "x", "speed", "-o", ""], ["export", "panda", "-o", ""],
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("path", "said"), [("", "an empty text"), ("x" * 300, "File name too long"), ("a\0b", "null")]
)
def test_what_cannot_be_a_path_is_misuse(arguments, path, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([argument or path for argument in arguments])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "expected a path, got" in error
    assert said in error
    assert len(error.splitlines()[-1]) < 500
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [["check", "--seed", "٣"], ["check", "--states", "٣"], ["bench", "--timeout", "1_0"], ["bench", "--timeout", "٣"],
     ["bench", "--memory", "٣G"], ["compare", "a", "b", "--threshold", "٣%"], ["check", "--seed", "-1"],
     ["check", "--seed", "9" * 5000], ["check", "--states", "9" * 5000], ["\x1b[2J" * 1000],
     ["check", "\x1b[2J" * 1000],
     ["check", "-r", "x" * 5000], ["check", "-m", "\x1b[2J" * 5000], ["inspect", "\x1b[2J.toml"], ["export", "\x9b"]],
)  # fmt: skip
def test_odd_arguments_are_misuse_in_a_short_line(arguments, capsys):
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    err = capsys.readouterr().err
    assert not any(text.is_unsafe(c) for c in err if c != "\n")
    line = err.rstrip("\n").splitlines()[-1]
    assert line.startswith("dynbench")
    assert len(line) <= terminal.LONGEST


def test_limits_are_the_same_in_both_places():
    assert terminal.LONGEST == text.LONGEST


def test_nothing_else_prints():
    """Only `terminal` and `progress` write to a stream, so that all text passes one place."""
    allowed = {"terminal.py", "bench_timing.py", "speed.py", "startup.py"}  # the last three: in processes of their own
    for file in BENCHMARKS.rglob("*.py"):
        found = re.findall(r"(?<![\w.])print\(", file.read_text(encoding="utf-8"))
        assert not found or file.name in allowed, file


def test_progress_shows_names_from_outside_and_survives_a_closed_stream(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("dynbench.benchmarks.processes.progress.BETWEEN_LINES", 0.0)
    with Progress("stage", 1, stream) as progress:
        progress.step("\x1b[2Jgone")
    assert "\x1b" not in stream.getvalue()
    assert r"\x1b[2Jgone" in stream.getvalue()
    with Progress("stage", 1, Full()) as progress:
        progress.step("one")


class Full(io.StringIO):
    """A stream on a full disk."""

    def write(self, line):
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_report_is_written_ends_with_130(tmp_path, number):
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from dynbench.reports import html\n"
        "from dynbench.benchmarks.cli import main\n"
        "def slow(folder):\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "html.write_report = slow\n"
        f"sys.argv = ['dynbench', 'report', {str(tmp_path)!r}]\n"
        "sys.exit(main())\n"
    )
    err = ended_by(number, script, "writing")
    assert err == "dynbench report: interrupted\n"


def ended_by(number: int, script: str, said: str) -> str:
    """Send a signal to a script that has printed a line; return its errors. It must end with exit code 130."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # a shell that runs the tests in the background has them ignore SIGINT, and processes inherit that
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen([sys.executable, "-c", script], preexec_fn=listening, **pipes)
    assert process.stdout is not None
    assert process.stdout.readline() == f"{said}\n"
    time.sleep(0.1)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=NEVER)
    assert process.returncode == 130, err
    return err


SLOW_MODULE = """
import time
print("importing", flush=True)
try:
    time.sleep(0.5)
except KeyboardInterrupt:
    raise ImportError("half of it is there") from None  # as numpy does
"""
SLOW_IMPORT = """
import sys
from dynbench.benchmarks.cli import main
from dynbench.reports import html
sys.path.insert(0, {folder!r})
def slow(folder):
    import slow_module
    print("imported", file=sys.stderr)
    exec({then!r})
html.write_report = slow
sys.argv = ["dynbench", "report", {folder!r}]
sys.exit(main())
"""
THEN = "import time; time.sleep(60)"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_waits_for_the_end_of_an_import(tmp_path, number):
    """Then it interrupts even a text that is run, after which Python would end itself by SIGINT."""
    (tmp_path / "slow_module.py").write_text(SLOW_MODULE)
    err = ended_by(number, SLOW_IMPORT.format(folder=str(tmp_path), then=THEN), "importing")
    assert err == "imported\ndynbench report: interrupted\n"


DROPPED = """
import time
class Waits:
    def __del__(self):
        import time
        print("ending", flush=True)
        time.sleep(5)
Waits()
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_not_lost_where_python_drops_exceptions(tmp_path, number):
    """Ctrl-C in the callback of a weak reference was printed as a traceback, and the run went on to its end."""
    (tmp_path / "slow_module.py").write_text("")
    script = SLOW_IMPORT.format(folder=str(tmp_path), then=DROPPED)
    assert ended_by(number, script, "ending") == "imported\ndynbench report: interrupted\n"


def test_once_the_exit_code_is_decided_signals_are_ignored():
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        with interruptible():
            ignore()
        assert [signal.getsignal(number) for number in numbers] == [signal.SIG_IGN] * 2
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_an_import_that_does_not_end_is_interrupted(tmp_path):
    endless = SLOW_MODULE.replace("0.5", "60").replace("ImportError", "KeyboardInterrupt")
    (tmp_path / "slow_module.py").write_text(endless)
    short = "from dynbench.benchmarks.processes import interrupts; interrupts.LONGEST_IMPORT = 0.3\n"
    err = ended_by(signal.SIGTERM, short + SLOW_IMPORT.format(folder=str(tmp_path), then=THEN), "importing")
    assert err == "dynbench report: interrupted\n"
