"""What a page gives to be copied runs: commands are parsed by the command line, Python gives the numbers again."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import again_oracle
import numpy as np
import pytest

from dynbench.benchmarks import cli
from dynbench.reports import again, rows

CASE = {"robot": "two-link", "method": "newton-euler", "other": "gibbs-appell", "states": "8", "seed": "3",
        "state": 5, "component": 1}  # fmt: skip


@pytest.fixture(scope="module")
def run(made: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> rows.StoredRun:
    return rows.read(made(simulations=False).write(tmp_path_factory.mktemp("again")))


def printed(code: str) -> list[str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "copied", "exec"), {})
    return out.getvalue().split("\n")


@pytest.mark.parametrize(
    ("quantity", "measure"),
    [("inverse_dynamics", "error"), ("inverse_dynamics", "error with wrenches"), ("forward_dynamics", "error")],
)
def test_a_worst_case_in_python_gives_the_numbers_of_the_check(
    run: rows.StoredRun, quantity: str, measure: str
) -> None:
    from dynbench import methods, robots
    from dynbench.benchmarks.checks.sampling import draw, with_forces

    robot = robots.load("two-link")
    solvers = [methods.get(name).prepare(robot) for name in (CASE["method"], CASE["other"])]
    sample = with_forces(draw(robot, 8, 3), solvers)
    inputs = sample.inputs(quantity, "wrench" in measure)
    wanted = [float(np.ravel(getattr(solver, quantity)(**inputs)[5])[1]) for solver in solvers]
    tau = {"tau": sample.tau[5].tolist()} if quantity == "forward_dynamics" else {}
    case = {**CASE, "quantity": quantity, "measure": measure, "inputs": tau}
    first, error, *_ = printed(again_oracle.check_python(run, case))
    assert [float(number) for number in first.split()] == wanted  # to the bit
    assert float(error.split()[-1]) < 1e-12


def test_a_time_in_python_runs_the_call_that_was_timed(run: rows.StoredRun) -> None:
    row = {"robot": "two-link", "method": "newton-euler", "quantity": "inverse_dynamics", "mode": "batch", "rows": "16"}
    code, spent, *_ = printed(again_oracle.time_python(run, row))
    assert code == "solver.inverse_dynamics(q, v, a, out=out)"
    assert 0.0 < float(spent.split()[0]) < 1e-3


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        ("call", ["--mode", "call"]),
        ("engine", ["--mode", "unchecked"]),
        ("batch", ["--mode", "batch", "--rows", "1000"]),
        ("engine-batch", ["--mode", "batch", "--rows", "1000"]),
    ],
)
def test_the_command_of_a_row_is_one_that_the_command_line_takes(
    run: rows.StoredRun, mode: str, wanted: list[str]
) -> None:
    row = {"robot": "a b's", "method": "x;y", "quantity": "bias", "mode": mode, "rows": "1000"}
    words = shlex.split(again_oracle.time_command(run, row))
    assert words == ["dynbench", "time", "-r", "a b's", "-m", "x;y", "--quantity", "bias", *wanted]
    args = cli.parser().parse_args(words[1:])
    assert (args.robot, args.method, args.mode) == ("a b's", ["x;y"], wanted[1])
    case = {**CASE, "quantity": "bias", "measure": "error", "robot": "$(x)"}
    words = shlex.split(again_oracle.check_command(run, case))
    args = cli.parser().parse_args(words[1:])
    assert (args.robot, args.method, args.states, args.seed) == (["$(x)"], ["newton-euler", "gibbs-appell"], 8, 3)


def test_a_robot_of_a_file_is_named_by_the_file(run: rows.StoredRun) -> None:
    facts = {**run.facts, "robots": {"arm": {"source": "my robots/arm.urdf"}}}
    found = rows.StoredRun(run.path, facts, run.tables, [], [], [])
    row = {"robot": "arm", "method": "kane", "quantity": "bias", "mode": "call", "rows": "1"}
    assert "-r 'my robots/arm.urdf'" in again_oracle.time_command(found, row)
    assert 'Cell("my robots/arm.urdf"' in again_oracle.time_python(found, row)


def test_names_cannot_leave_their_quotes(run: rows.StoredRun) -> None:
    evil = '"); import os; os.abort()  #\n\\'
    row = {"robot": evil, "method": evil, "quantity": evil, "mode": "call", "rows": "1"}
    tree = compile(again_oracle.time_python(run, row), "copied", "exec", 1024)  # ast.PyCF_ONLY_AST
    constants = [
        node.value for node in __import__("ast").walk(tree) if hasattr(node, "value") and isinstance(node.value, str)
    ]
    assert constants.count(evil) == 3


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_script_of_the_page_fills_templates_as_python_does(run: rows.StoredRun) -> None:
    """The page has its own quoting: the same texts must come out."""
    values: dict[str, Any] = {"robot": "a b's $x", "method": 'q"\\', "other": "ü", "quantity": "bias", "states": 8,
                              "seed": 3, "state": 5, "component": 1, "wrench": True}  # fmt: skip
    script = (Path(again.__file__).parent / "templates" / "report.js").read_text(encoding="utf-8")
    start, end = script.index("const shell ="), script.index("const BATCHES =")
    program = f"const D = {{again: {json.dumps(again.TEMPLATES)}}};\n{script[start:end]}\n"
    program += f"const v = {json.dumps(values)}; for (const k of ['forces', 'code', 'other_code']) v[k] = new Code('');"
    program += "console.log(JSON.stringify(['check', 'check_python'].map((name) => template(name, v))));"
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True)
    wanted = [
        again_oracle.filled(name, **values, **dict.fromkeys(("forces", "code", "other_code"), again_oracle.Code("")))
        for name in ("check", "check_python")
    ]
    assert json.loads(done.stdout) == wanted
