"""Malformed untrusted input gives a clear error or a correct result: no traceback, no hang, no access to other files.

Examples are drawn by hypothesis, which shrinks a failing one to its cause. By default they are the same in every run;
``DYNBENCH_FUZZ=5000 pytest tests/test_fuzz.py`` draws that many new ones.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fuzzing
import fuzzing_folders
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from noisy import write_run
from pace import NEVER

from dynbench import methods, robots
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.results import tables
from dynbench.reports import figure, gallery
from dynbench.robots.errors import DynbenchError
from dynbench.robots.files.robotfile import write_robot
from dynbench.robots.text import LONGEST, is_unsafe

COUNT = int(os.environ.get("DYNBENCH_FUZZ", "400"))
ROBOTS = COUNT * 2 // 5  # of each format
FOLDERS = COUNT // 10  # fewer, since they take longer
SECONDS = 30  # of processor time per example; the slowest takes about two on a quiet machine
MEGABYTES = 700  # that a test may add to the process


def fuzz(examples: int) -> settings:
    """Return settings with a number of examples: always the same ones, unless DYNBENCH_FUZZ is set."""
    return settings(
        max_examples=examples,
        derandomize="DYNBENCH_FUZZ" not in os.environ,
        database=None,
        deadline=None,  # `limited` measures processor time instead
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise a TimeoutError if the block hangs."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"this example took more than {SECONDS} s, or waits for something")

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


def command(arguments: list[str]) -> tuple[int, str]:
    """Run the command in this process; return its exit code and its stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of matplotlib, for missing glyphs
        code = main(arguments)
    return code, err.getvalue()


def rejected(arguments: list[str]) -> None:
    """Assert that the command ends with exit code 2 and one readable line."""
    code, err = command(arguments)
    assert code == 2, err
    one_line(err)


def one_line(err: str) -> None:
    """Assert that an error is one line, short enough to read and without control characters."""
    assert err.count("\n") == 1, err
    assert len(err.strip()) <= LONGEST
    assert not any(map(is_unsafe, err.strip())), err


@pytest.fixture(autouse=True)
def memory() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1024 * MEGABYTES


FORMATS = {"urdf": fuzzing.urdf(), "toml": fuzzing.toml()}


@pytest.mark.parametrize("suffix", FORMATS)
def test_robot_files(tmp_path: Path, suffix: str) -> None:
    path, copy = tmp_path / f"robot.{suffix}", tmp_path / "copy.toml"
    drawn: set[bytes] = set()
    accepted: set[bytes] = set()

    @fuzz(ROBOTS)
    @given(FORMATS[suffix])
    def load(content: bytes) -> None:
        drawn.add(content)
        path.write_bytes(content)
        with limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a file may set strict = false; numpy warns of overflow
            try:
                robot = robots.load(path)
            except DynbenchError:
                rejected(["check", "-r", str(path), "-m", "newton-euler", "--states", "1"])
                return
        accepted.add(content)
        sound(robot)
        if not robot.is_elastic:
            write_robot(robot, copy)
            assert robots.load(copy) == robot

    load()
    assert accepted
    assert len(accepted) < 0.75 * len(drawn)  # otherwise too few were malformed


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_dh_tables(convention: Any) -> None:
    lengths: set[int] = set()

    @fuzz(ROBOTS)
    @given(fuzzing.dh_rows())
    def build(rows: list[dict[str, Any]]) -> None:
        with limited(), contextlib.suppress(DynbenchError):
            robot = robots.from_dh(rows, convention)
            assert robot.n == len(rows)
            lengths.add(robot.n)
            sound(robot)

    build()
    assert lengths >= {1, 2}


def sound(robot: robots.Robot) -> None:
    """Assert that energies are finite, and for a tree that two formulations agree."""
    q = robot.neutral() if robot.is_tree else robot.home
    assert np.isfinite(robot.energy(q, np.ones(robot.nv)))
    if robot.is_tree and not robot.is_elastic and robot.n < 50:
        q, v, a = robot.sample(4, seed=1)
        one, two = (methods.get(name).prepare(robot).inverse_dynamics(q, v, a) for name in ("newton-euler", "kane"))
        assert np.isfinite(one).all()
        assert np.abs(one - two).max() <= 1e-8 * np.abs(one).max()


VERBS = {
    "check": ["-r", "{}"], "bench": ["-r", "{}"], "inspect": ["{}"], "export": ["{}", "--method", "kane"],
    "test-method": ["{}"], "time": ["-r", "{}", "-m", "kane"], "report": ["{}"], "compare": ["{}", "{}"],
    "campaign": ["{}"], "papers": ["{}"], "new-method": ["{}"], "list": ["{}"], "{}": [],
}  # fmt: skip


def test_command_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verb with an argument that nothing is called, and options with values that do not fit."""
    monkeypatch.chdir(tmp_path)
    odd = st.sampled_from([*fuzzing.NAMES, *fuzzing.NUMBERS]) | st.text(st.characters(codec="utf-8"), max_size=30)
    names = odd.filter(lambda name: "\0" not in name and not name.startswith("-") and name.strip(". ") not in ("", "N"))
    flags = st.sampled_from(("--seed", "--states", "--output", "--json", "--lock", "--timeout", "--memory", "--colour"))

    @fuzz(FOLDERS)
    @given(st.sampled_from(list(VERBS)), names, st.lists(st.tuples(flags, odd), max_size=2))
    def call(verb: str, name: str, given: list[tuple[str, str]]) -> None:
        filled = [part.format(f"no {name}") for part in (verb, *VERBS[verb])]
        out, err = io.StringIO(), io.StringIO()
        with limited(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main([*filled, *(part for pair in given for part in pair)])
            except SystemExit as ended:
                code = int(ended.code or 0)
        assert code == 2, err.getvalue()
        last = err.getvalue().rstrip("\n").splitlines()[-1]
        assert last.startswith("dynbench")
        assert len(last) <= LONGEST
        assert not any(is_unsafe(c) for c in err.getvalue() if c != "\n")

    call()


@pytest.mark.parametrize("name", fuzzing.attacks())
def test_attacks_on_xml(tmp_path: Path, name: str) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(fuzzing.attacks()[name])
    with limited():
        if name in ("utf-16", "include"):  # unusual but harmless: nothing is included
            assert robots.load(path).n == 2
        else:
            rejected(["check", "-r", str(path), "-m", "newton-euler"])


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small valid results folder with every kind of file."""
    compared = ("newton-euler", "kane", "pinocchio")
    one = {"robots": ("panda",), "quantities": ("inverse_dynamics",), "methods": compared}
    folder = write_run(tmp_path_factory.mktemp("valid") / "run", 0, **one)  # type: ignore[arg-type]
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
    """Replace the rendering of figures, which takes a second each."""

    def render(one: figure.Figure) -> figure.Rendered:
        from matplotlib.figure import Figure as Canvas

        one.draw(figure.Sheet(Canvas()))
        return figure.Rendered(one, "<svg></svg>", "<svg></svg>", b"%PDF", "")

    monkeypatch.setattr(gallery, "render", render)
    monkeypatch.setattr(gallery, "FEW", 1_000_000)  # render in this process, where it is replaced


def test_results_folders(tmp_path: Path, valid: Path, drawn: None) -> None:
    outside = tmp_path / "precious" / "thesis.csv"
    outside.parent.mkdir()
    command(["compare", str(valid), str(valid)])  # imports and compiles, which is not part of an example's time
    verbs = st.sampled_from(("report", "compare", "merge"))
    codes: list[int] = []

    @fuzz(FOLDERS)
    @given(verbs, fuzzing_folders.changes(fuzzing_folders.contents(valid)))
    def read(verb: str, made: fuzzing_folders.Changes) -> None:
        outside.write_text("years of work")
        box = Path(tempfile.mkdtemp(dir=tmp_path))
        run, out = box / "run", box / "out"
        fuzzing_folders.apply(made, run, valid, outside)
        arguments = {"report": [run], "compare": [valid, run], "merge": [out, valid, run]}[verb]
        with limited():
            code, err = command([verb, *map(str, arguments)])
        codes.append(code)
        assert code in ((0, 1, 2) if verb == "compare" else (0, 2)), err
        if code == 2:
            one_line(err)
        page = (out if verb == "merge" else run) / "report.html"
        if page.is_file() and not page.is_symlink():
            text = page.read_text(encoding="utf-8")
            assert "<script>alert" not in text
            assert "<img" not in text
        assert sorted(path.name for path in box.iterdir()) in (["run"], ["out", "run"])
        assert [path.name for path in outside.parent.iterdir()] == ["thesis.csv"]
        assert outside.read_text() == "years of work"

    read()
    assert codes.count(2) > 0.3 * len(codes)  # otherwise too few were malformed
    assert codes.count(0) > 0
