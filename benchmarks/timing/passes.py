"""Timing by pytest-benchmark: several interleaved passes, merged; noise from A/A pairs; no verdict within the noise.

Each pass is a process of its own that runs `bench_timing` on all cells, so that what differs between processes (memory
layout, hash seeds) shows in the spread and not as a difference between methods. Within a pass pytest-benchmark
calibrates the number of calls a round and takes the statistics over rounds.

    seconds     of one state: the smallest over passes of the median over rounds
    median      the median over passes
    low, high   smallest and largest over passes
    iqr         between the quartiles of the rounds, median over passes
    noise       relative; see `noise`

A cell whose process dies or hangs gets the reason, its robot and method are left out, and the pass is run again.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dynbench import methods
from dynbench.benchmarks.timing.cases import Cell, load

OUTSIDE = 120.0  # seconds more than a cell has, for what happens before the first and after the last
FEWEST = 0.02  # noise is never taken to be below 2 %: a handful of A/A pairs cannot show less


@dataclass(frozen=True)
class Spec:
    """What a run of `bench_timing` times, and how long it may take over it."""

    cells: tuple[Cell, ...]
    passes: tuple[int, ...] = (0,)
    seed: int = 0
    max_time: float = 0.1  # seconds of rounds a cell
    min_rounds: int = 5
    call_limit: float = 0.1  # seconds a call; larger batches are cut
    give_up: float = 5.0  # seconds for eight states; slower cells are left out
    status: str = ""  # file to which progress is appended

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Spec:
        plain = json.loads(path.read_text(encoding="utf-8"))
        plain["cells"] = tuple(Cell(**cell) for cell in plain["cells"])
        plain["passes"] = tuple(plain["passes"])
        return cls(**plain)


@dataclass(frozen=True)
class Timing:
    """One cell's merged time, per state; ``reason`` is "" exactly when there is one."""

    cell: Cell
    seconds: float = math.nan
    median: float = math.nan
    low: float = math.nan
    high: float = math.nan
    iqr: float = math.nan
    rows: int = 0  # as timed: fewer than the cell's when one call would have taken too long
    rounds: int = 0
    passes: int = 0
    noise: float = math.nan
    reason: str = ""


def by_hand() -> Spec:
    """Cells for somebody who runs `bench_timing` without a spec: every method that does the Panda."""
    robot = load("panda")
    able = [name for name in methods.names() if methods.get(name).supports(robot) is None]
    cells = [
        Cell("panda", name, "inverse_dynamics", mode, rows)
        for mode, rows in (("call", 1), ("unchecked", 1), ("batch", 1000))
        for name in able
        if "inverse_dynamics" in methods.get(name).computes
    ]
    return Spec(tuple(cells), passes=(0, 1))


def run(
    spec: Spec, cell_timeout: float = 60.0, step: Callable[[str, bool], None] | None = None, folder: Path | None = None
) -> list[Timing]:
    """Time all cells of ``spec``; one `Timing` for each, in order.

    Parameters
    ----------
    cell_timeout : float
        Seconds after which a cell that says nothing is given up, with its process.
    step
        Called with a cell's key and whether it failed, once per cell and pass.
    folder : Path
        Where pytest-benchmark's own JSON files are kept (``pytest-benchmark compare`` reads them); default: nowhere.
    """
    reasons: dict[str, str] = {}
    found: dict[str, list[dict[str, Any]]] = {cell.key: [] for cell in spec.cells}
    with tempfile.TemporaryDirectory(prefix="dynbench-") as name:
        for number in spec.passes:
            while True:
                left = tuple(cell for cell in spec.cells if cell.key not in reasons)
                if not left:
                    break
                one = replace(spec, cells=left, passes=(number,), status=str(Path(name) / "status"))
                answers, stopped = _one_pass(one, Path(name), cell_timeout, step or (lambda key, failed: None), folder)
                if stopped is None:
                    break
                key, reason = stopped
                culprit = next(cell for cell in left if cell.key == key)
                reasons[key] = reason
                for cell in left:
                    if (cell.robot, cell.method) == (culprit.robot, culprit.method):
                        reasons.setdefault(cell.key, f"not run: {key} {reason}")
            if not left:
                break
            for key, answer in answers.items():
                if isinstance(answer, str):
                    reasons[key] = answer
                else:
                    found[key].append(answer)
    return with_noise([merge(cell, found[cell.key], reasons.get(cell.key, "")) for cell in spec.cells])


def _one_pass(
    spec: Spec, temporary: Path, cell_timeout: float, step: Callable[[str, bool], None], folder: Path | None
) -> tuple[dict[str, dict[str, Any] | str], tuple[str, str] | None]:
    """Run one process; return what it measured or why not, by key, and the cell it died or hung at, if it did."""
    status, result = Path(spec.status), temporary / "result.json"
    status.write_text("", encoding="utf-8")
    result.unlink(missing_ok=True)
    spec.write(temporary / "spec.json")
    (temporary / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    log = temporary / "log"
    command = [
        *(sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *("-c", str(temporary / "pytest.ini"), "--rootdir", str(temporary), "--import-mode=importlib"),
        *("--benchmark-only", "--benchmark-disable-gc", "--benchmark-quiet", f"--benchmark-json={result}"),
        *(f"--benchmark-max-time={spec.max_time}", f"--benchmark-min-rounds={spec.min_rounds}"),
        *("--benchmark-min-time=0.0001", "--benchmark-warmup=off"),
        str(Path(__file__).with_name("bench_timing.py")),
    ]
    # not a worker of the test run that may have started this one: pytest-benchmark measures nothing in those
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**outside, "DYNBENCH_TIMING": str(temporary / "spec.json")}
    events: list[dict[str, Any]] = []
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        try:
            hung = _watch(process, status, events, cell_timeout, step)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    started = [event["key"] for event in events if event["event"] == "start"]
    ended = {event["key"] for event in events if event["event"] != "start"}
    if hung or process.returncode not in (0, 1):
        open_cells = [key for key in started if key not in ended]
        if not open_cells:
            tail = " ".join(log.read_text(encoding="utf-8", errors="replace").split()[-60:])
            raise RuntimeError(f"pytest-benchmark ended with status {process.returncode} outside of any cell: {tail}")
        reason = f"timed out after {cell_timeout:g} s" if hung else f"crashed (status {process.returncode})"
        return {}, (open_cells[0], reason)
    answers: dict[str, dict[str, Any] | str] = {}
    if result.exists() and result.stat().st_size:
        text = result.read_text(encoding="utf-8")
        answers.update({bench["extra_info"]["key"]: bench for bench in json.loads(text)["benchmarks"]})
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"pass{spec.passes[0]}.json").write_text(text, encoding="utf-8")
    answers.update({event["key"]: event["reason"] for event in events if event["event"] == "failed"})
    return answers, None


def _watch(
    process: subprocess.Popen[bytes],
    status: Path,
    events: list[dict[str, Any]],
    cell_timeout: float,
    step: Callable[[str, bool], None],
) -> bool:
    """Follow the status file until the process ends (False) or says nothing for too long (True)."""
    heard = time.monotonic()
    with open(status, encoding="utf-8") as file:
        text = ""
        while True:
            ended = process.poll() is not None
            text += file.read()
            *lines, text = text.split("\n")
            for line in lines:
                event = json.loads(line)
                events.append(event)
                heard = time.monotonic()
                if event["event"] != "start":
                    step(event["key"], event["event"] == "failed")
            if ended:
                return False
            inside = bool(events) and events[-1]["event"] == "start"  # else imports, or pytest-benchmark's own work
            if time.monotonic() - heard > cell_timeout + (0.0 if inside else OUTSIDE):
                return True
            time.sleep(0.1)


def merge(cell: Cell, passes: Sequence[dict[str, Any]], reason: str = "") -> Timing:
    """Return one `Timing` from pytest-benchmark's records of a cell, one per pass."""
    if reason or not passes:
        return Timing(cell, reason=reason or "pytest-benchmark returned no measurement")
    rows = min(record["extra_info"]["timed_rows"] for record in passes)
    medians = [record["stats"]["median"] / record["extra_info"]["timed_rows"] for record in passes]
    spreads = [record["stats"]["iqr"] / record["extra_info"]["timed_rows"] for record in passes]
    rounds = sum(record["stats"]["rounds"] for record in passes)
    return Timing(
        cell,
        min(medians),
        statistics.median(medians),
        min(medians),
        max(medians),
        statistics.median(spreads),
        rows,
        rounds,
        len(passes),
    )


def noise(pairs: Iterable[tuple[float, float]]) -> float:
    """Return how far two measurements of the same code are apart, relative: the 95 % quantile over A/A pairs.

    With few pairs that is the largest. Never below `FEWEST`.
    """
    apart = sorted(abs(math.log(a / b)) for a, b in pairs)
    if not apart:
        return math.nan
    return max(FEWEST, math.expm1(apart[math.ceil(0.95 * len(apart)) - 1]))


def with_noise(timings: Sequence[Timing]) -> list[Timing]:
    """Fill in the noise of each: of the A/A pairs of its mode, or of all modes where its own has none."""
    by_key = {timing.cell.key: timing for timing in timings}
    pairs: dict[str, list[tuple[float, float]]] = {}
    for timing in timings:
        first = by_key.get(replace(timing.cell, again=False).key)
        if timing.cell.again and first and not timing.reason and not first.reason:
            pairs.setdefault(timing.cell.mode, []).append((first.seconds, timing.seconds))
    everything = noise(pair for found in pairs.values() for pair in found)
    of_mode = {mode: noise(found) for mode, found in pairs.items()}
    return [
        timing if timing.reason else replace(timing, noise=of_mode.get(timing.cell.mode, everything))
        for timing in timings
    ]


def verdict(a: float, b: float, noise: float) -> str:
    """Say which of two times is shorter: "faster" (a is), "slower", or "within the noise".

    Parameters
    ----------
    a, b : float
        Seconds.
    noise : float
        Relative; NaN (never measured) allows no verdict.
    """
    if not (a > 0.0 and b > 0.0 and noise >= 0.0):
        return "within the noise" if a > 0.0 and b > 0.0 else "not measured"
    if abs(math.log(a / b)) <= math.log1p(noise):
        return "within the noise"
    return "faster" if a < b else "slower"
