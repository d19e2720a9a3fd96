"""Exports: C that compiles without a warning and checks itself, LaTeX of closed forms, refusals in sentences."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.cli import main
from dynbench.methods.traced.export_c import export_c
from dynbench.methods.traced.export_latex import export_latex
from dynbench.robots.errors import NotComputedError, UnsupportedError

CC = shutil.which("cc")
FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic")
needs_compiler = pytest.mark.skipif(CC is None, reason="no C compiler (cc) is installed")


def compiled(tmp_path, text: str) -> str:
    source = tmp_path / "export.c"
    source.write_text(text)
    program = tmp_path / "export"
    command = [CC, *FLAGS, "-DDYNBENCH_MAIN", str(source), "-o", str(program), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return str(program)


@needs_compiler
@pytest.mark.parametrize(("robot", "method", "quantity"), [
    ("panda", "newton-euler", "inverse_dynamics"), ("panda", "newton-euler", "forward_dynamics"),
    ("panda", "gibbs-appell", "mass_matrix"), ("ur5", "gibbs-appell", "inverse_dynamics"),
    ("puma560", "newton-euler", "inverse_dynamics"), ("3rrr", "newton-euler", "inverse_dynamics"),
    ("3rrr", "newton-euler", "forward_dynamics"), ("space-dual-arm", "newton-euler", "bias"),
    ("pendulum", "kane", "inverse_dynamics"),
])  # fmt: skip
def test_exported_c_compiles_without_a_warning_and_agrees(tmp_path, robot, method, quantity):
    program = compiled(tmp_path, export_c(methods.get(method), robots.load(robot), quantity))
    done = subprocess.run([program, "1000"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    error = float(re.search(r"largest relative error (\S+)", done.stdout)[1])
    assert error < (1e-9 if quantity == "forward_dynamics" else 1e-12)
    assert "ns a call" in done.stdout


@needs_compiler
def test_an_exported_program_notices_a_wrong_number(tmp_path):
    text = export_c(methods.get("newton-euler"), robots.load("two-link"), "inverse_dynamics")
    wrong = re.sub(r"out\[0\] = (t\d+);", r"out[0] = \1 * (1.0 + 1e-9);", text)
    assert wrong != text
    assert subprocess.run([compiled(tmp_path, wrong)], capture_output=True).returncode == 1


@needs_compiler
def test_an_exported_function_refuses_bad_states(tmp_path):
    text = export_c(methods.get("newton-euler"), robots.load("3rrr"), "inverse_dynamics")
    off = re.sub(r"(given_q\[\d+\]\[\d+\] = \{\n    \{)", r"\g<1>0.3 + ", text)
    done = subprocess.run([compiled(tmp_path, off)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "state 0 is refused\n")
    nan = re.sub(r"(given_v\[\d+\]\[\d+\] = \{\n    \{)", r"\g<1>NAN + ", text)
    assert subprocess.run([compiled(tmp_path, nan)], capture_output=True).returncode == 1


def value(text: str, q, v, a) -> np.ndarray:
    """The right-hand sides of exported LaTeX as numbers."""
    rows = []
    for line in text.splitlines():
        if "&=" not in line:
            continue
        right = line.split("&=")[1].replace(r"\\", "").replace(r"\,", "*")
        right = re.sub(r"\\cdot 10\^\{(-?\d+)\}", r"* 1e\1", right)
        for word, name in ((r"\\ddot q", "a"), (r"\\dot q", "v"), ("q", "q"), (r"\\tau", "a")):
            right = re.sub(word + r"_\{(\d+)\}", rf"{name}[\1 - 1]", right)
        right = re.sub(r"\^\{(\d+)\}", r"**\1", right).replace(r"\sin", "np.sin").replace(r"\cos", "np.cos")
        right = re.sub(r"(\d)q\[", r"\1*q[", right)
        rows.append(eval(right, {"np": np, "q": q, "v": v, "a": a}))
    return np.array(rows)


@pytest.mark.parametrize("robot", ["pendulum", "two-link", "rp-1"])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "bias"])
def test_exported_latex_says_what_the_solver_computes(robot, quantity):
    robot = robots.load(robot)
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    q, v, a = (x[0] for x in robot.sample(1, seed=3))
    arguments = {"inverse_dynamics": (q, v, a), "mass_matrix": (q,), "bias": (q, v)}[quantity]
    right = getattr(solver, quantity)(*arguments).ravel()
    found = value(export_latex(methods.get("newton-euler"), robot, quantity), q, v, a)
    np.testing.assert_allclose(found, right, rtol=2e-5, atol=1e-5 * np.abs(right).max())  # six digits are written


def test_the_closed_form_of_two_links_is_that_of_the_textbooks():
    text = export_latex(methods.get("kane"), robots.load("two-link"), "inverse_dynamics")
    assert r"\cos(q_{1} + q_{2})" in text
    assert text == export_latex(methods.get("lagrange-euler"), robots.load("two-link"), "inverse_dynamics").replace(
        "lagrange-euler", "kane"
    )


def test_what_cannot_be_exported_is_refused_in_a_sentence():
    panda, two_link = robots.load("panda"), robots.load("two-link")
    with pytest.raises(UnsupportedError, match=r"has (more than )?\d+ terms, the closed form is written for at most"):
        export_latex(methods.get("newton-euler"), panda, "inverse_dynamics")
    with pytest.raises(UnsupportedError, match="divides by an expression"):
        export_latex(methods.get("newton-euler"), two_link, "forward_dynamics")
    with pytest.raises(UnsupportedError, match="not made of kernels"):
        export_c(methods.get("lagrange-elastic"), robots.load("elastic-rp1"), "inverse_dynamics")
    with pytest.raises(NotComputedError, match=r"exports inverse_dynamics, bias, .*derivatives of robot 'panda'"):
        export_c(methods.get("kane"), panda, "mass_matrix")
    with pytest.raises(UnsupportedError, match="operations"):
        export_c(methods.get("lagrange-euler"), robots.load("chain-30"), "inverse_dynamics")


def test_the_verb_writes_files_or_prints(tmp_path, capsys):
    file = tmp_path / "arm.c"
    assert main(["export", "two-link", "--method", "kane", "--quantity", "inverse_dynamics", "-o", str(file)]) == 0
    assert "int two_link_inverse_dynamics(" in file.read_text()
    assert "int two_link_inverse_dynamics(" in (tmp_path / "arm.h").read_text()
    assert "arm.h" in capsys.readouterr().err
    assert main(["export", "pendulum", "--lang", "latex"]) == 0
    assert r"\begin{align*}" in capsys.readouterr().out
    assert main(["export", "3rrr", "-o", str(tmp_path / "absent" / "x.c")]) == 2
    assert "cannot write" in capsys.readouterr().err
    assert main(["export", "panda", "--lang", "latex"]) == 2
    assert "terms" in capsys.readouterr().err
