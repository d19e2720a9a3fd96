"""Malformed input of a stranger: a clear error or a right answer, never a traceback, a hang, or a file outside touched.

Run more of it by ``DYNBENCH_FUZZ=5000 pytest tests/test_fuzz.py``; a failure names the seed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import fuzzing
import fuzzing_folders
import numpy as np
import pytest
from noisy import write_run
from pace import NEVER

from dynbench import methods, robots
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.results import tables
from dynbench.reports import figure, gallery
from dynbench.robots.errors import DynbenchError

COUNT = int(os.environ.get("DYNBENCH_FUZZ", "200"))
ROBOTS = COUNT * 2 // 5  # of each format; the rest are folders, which take longer
SECONDS = 30  # of processor time that an input may take; the slowest takes about two on a quiet machine
MEGABYTES = 700  # that all of it may add to the process
JUDGED = 12  # accepted robots whose dynamics are worked out by two methods


@contextlib.contextmanager
def limited(what: object) -> Iterator[None]:
    """Raise in the middle of whatever hangs."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"{what} took more than {SECONDS} s, or waits for something")

    clocks = {signal.ITIMER_PROF: (signal.SIGPROF, SECONDS), signal.ITIMER_REAL: (signal.SIGALRM, NEVER)}
    before = {number: signal.signal(number, stop) for number, _ in clocks.values()}
    for clock, (_, seconds) in clocks.items():
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for clock in clocks:
            signal.setitimer(clock, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


def said(arguments: list[str]) -> tuple[int, str]:
    """Run the command in this process; return its exit code and what it said on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of matplotlib, for glyphs it lacks
        code = main(arguments)
    return code, err.getvalue()


def refused(arguments: list[str], seed: object) -> None:
    """Assert that the command ends with one line, short enough to read and free of control characters."""
    code, err = said(arguments)
    assert code == 2, (seed, err)
    assert err.count("\n") == 1, (seed, err)
    assert len(err) < 2000, seed
    assert err.strip().isprintable(), (seed, err)


@pytest.fixture(autouse=True)
def memory() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1024 * MEGABYTES


@pytest.mark.parametrize(("suffix", "make"), [("urdf", fuzzing.urdf), ("toml", fuzzing.toml)])
def test_robot_files(tmp_path: Path, suffix: str, make: Callable[[Random], bytes]) -> None:
    path = tmp_path / f"robot.{suffix}"
    accepted: list[tuple[str, robots.Robot]] = []
    for seed in range(ROBOTS):
        path.write_bytes(make(Random(f"{suffix} {seed}")))
        with limited(f"{suffix} {seed}"):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a file may ask for strict = false; numpy says what overflows
                    robot = robots.load(path)
            except DynbenchError:
                refused(["check", "-r", str(path), "-m", "newton-euler", "--states", "1"], seed)
            else:
                accepted.append((f"{suffix} {seed}", robot))
    distinct = list({robot: seed for seed, robot in accepted}.items())
    assert len(accepted) < 0.75 * ROBOTS  # else nothing was malformed
    for robot, seed in distinct:
        assert np.isfinite(robot.energy(robot.neutral() if robot.is_tree else robot.home, np.ones(robot.nv))), seed
    for robot, seed in [one for one in distinct if one[0].is_tree and not one[0].is_elastic and one[0].n < 50][:JUDGED]:
        agree(robot, seed)  # may have to compile


def agree(robot: robots.Robot, seed: str) -> None:
    """Two formulations give the same forces for what was accepted."""
    q, v, a = robot.sample(4, seed=1)
    one, two = (methods.get(name).prepare(robot).inverse_dynamics(q, v, a) for name in ("newton-euler", "kane"))
    assert np.isfinite(one).all(), seed
    assert np.abs(one - two).max() <= 1e-8 * np.abs(one).max(), seed


@pytest.mark.parametrize("name", fuzzing.attacks())
def test_attacks_on_xml(tmp_path: Path, name: str) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(fuzzing.attacks()[name])
    with limited(name):
        if name in ("wide", "utf-16", "include"):  # strange, and harmless: nothing is included
            assert robots.load(path).n == 2
        else:
            refused(["check", "-r", str(path), "-m", "newton-euler"], name)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small results folder with a bit of everything."""
    compared = ("newton-euler", "kane", "pinocchio")
    one = {"robots": ("panda",), "quantities": ("inverse_dynamics",), "methods": compared}
    folder = write_run(tmp_path_factory.mktemp("sound") / "run", 0, **one)  # type: ignore[arg-type]
    head = {"robot": "panda", "quantity": "inverse_dynamics", "method": "kane"}
    content: dict[str, list[dict[str, Any]]] = {
        "agreement": [{**head, "measure": "error", "other": "newton-euler", "value": 1e-14, "status": "agrees",
                       "noise": 1e-15, "tolerance": 1e-10, "reason": "tolerance"}],
        "ratios": [{**head, "mode": "batch", "rows": 1000, "peer": "pinocchio", "ratio": 3.5, "noise": 0.1, "target": 2,
                    "verdict": "faster", "met": "yes"}],
        "scaling": [{"family": "chain", "size": n, "method": "kane", "quantity": "inverse_dynamics", "low": n * 1e-8,
                     "measure": "time per state", "value": n * 1e-8, "high": n * 2e-8, "unit": "s"} for n in (4, 8)],
        "counts": [{**head, "additions": 700, "flops": 1866, "rate": 1e10, "fraction": 0.2}],
        "startup": [{**head, "measure": "prepare", "value": 0.1, "unit": "s"}],
        "claims": [{"paper": "p", "statement": "s", "printed": "1", "measured": 1.0, "unit": "s", "verdict": "agrees"}],
        "errata": [{"paper": "p", "where": "(1)", "printed": "x", "correct": "y"}],
    }  # fmt: skip
    for name, rows in content.items():
        tables.write(folder / f"{name}.csv", list(rows[0]), rows)
    worst = {**content["agreement"][0], "state": 1, "inputs": {"q": [0.1]}}
    (folder / "worst.json").write_text(json.dumps({"rows": [worst]}))
    series = {"label": "q1", "method": "kane", "x": [0.1, 1.0], "y": [1.0, 2.0]}
    plot = {"name": "motion", "title": "t", "caption": "c", "xlabel": "x", "xscale": "log", "yscale": "log",
            "panels": [{"title": "", "ylabel": "y", "series": [series]}]}  # fmt: skip
    motion = {"t": [0.0], "points": [[0.0, 0.0, 0.0]], "lines": [], "dots": [[0, "ground"]], "planar": True}
    simulation = {"name": "swing", "paper": "p", "title": "t", "robot": "r", "plots": [plot], "reason": ""}
    (folder / "simulations").mkdir()
    (folder / "simulations" / "swing.json").write_text(json.dumps({**simulation, "motion": motion}))
    return folder


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw figures without laying them out and writing them, which takes a second each."""

    def render(one: figure.Figure) -> figure.Rendered:
        from matplotlib.figure import Figure as Canvas

        one.draw(figure.Sheet(Canvas()))
        return figure.Rendered(one, "<svg></svg>", "<svg></svg>", b"%PDF", "")

    monkeypatch.setattr(gallery, "render", render)
    monkeypatch.setattr(gallery, "FEW", 1_000_000)  # in this process, where it is replaced


def test_results_folders(tmp_path: Path, sound: Path, drawn: None) -> None:
    outside = tmp_path / "precious" / "thesis.csv"
    outside.parent.mkdir()
    said(["compare", str(sound), str(sound)])  # what is slow the first time is no fault of an input
    codes: dict[int, int] = {}
    for seed in range(COUNT - 2 * ROBOTS):
        random = Random(f"folder {seed}")
        outside.write_text("years of work")
        box = tmp_path / str(seed)
        box.mkdir()
        fuzzing_folders.folder(random, box / "run", sound, outside)
        command = random.choice((["report", str(box / "run")], ["compare", str(sound), str(box / "run")],
                                 ["merge", str(box / "out"), str(sound), str(box / "run")]))  # fmt: skip
        with limited(f"folder {seed}, {command[0]}"):
            code, err = said(command)
        codes[code] = codes.get(code, 0) + 1
        assert code in ((0, 1, 2) if command[0] == "compare" else (0, 2)), (seed, err)
        if code == 2:
            assert err.count("\n") == 1, (seed, err)
            assert len(err) < 2000, seed
            assert err.strip().isprintable(), (seed, err)
        page = box / ("out" if command[0] == "merge" else "run") / "report.html"
        if page.is_file() and not page.is_symlink():
            text = page.read_text(encoding="utf-8")
            assert "<script>alert" not in text, seed
            assert "<img" not in text, seed
        assert sorted(path.name for path in box.iterdir()) in (["run"], ["out", "run"]), seed
        assert [path.name for path in outside.parent.iterdir()] == ["thesis.csv"], seed
        assert outside.read_text() == "years of work", seed
    assert codes.get(2, 0) > 0.3 * (COUNT - 2 * ROBOTS)  # else nothing was malformed
    assert codes.get(0, 0) > 0
