"""The command line: exit codes, what goes to stdout, stderr and files, and that `list` is instant."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from installing import processor_seconds
from pace import pace
from planted import Planted, install

from dynbench.benchmarks.cli import main
from dynbench.methods import registry
from dynbench.methods.base import Method

HEAVY = ("numba", "llvmlite", "scipy", "pandas", "matplotlib", "pinocchio", "numpy")


PLUGIN = """
import ctypes
from planted import Planted, off_by

class Wrong(Planted):
    name = "wrong"  # by a millionth, although it claims to be exact
    def prepare(self, robot):
        return Planted({"inverse_dynamics": off_by(1e-6)}).prepare(robot)

class NotHere(Planted):
    name, requires = "not-here", ("an_engine_that_is_not_installed",)

def crash(call, *state):
    print("reading address zero", flush=True)
    ctypes.string_at(0)

class Crashes(Planted):
    name = "crashes"
    def prepare(self, robot):
        return Planted({"mass_matrix": crash}).prepare(robot)

class Leaves(Planted):
    name = "leaves"
    def supports(self, robot):
        import os
        os._exit(0)
"""


class NotHere(Planted):
    name: ClassVar[str] = "not-here"
    requires: ClassVar[tuple[str, ...]] = ("an_engine_that_is_not_installed",)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Nothing is remembered from other runs, and nothing left for them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def register(monkeypatch):
    """Return a function that adds methods to those registered."""
    found, broken = registry.available()

    def add(*more: type[Method], **reasons: str) -> None:
        scanned = ({**found, **{method.name: method for method in more}}, {**broken, **reasons})
        monkeypatch.setattr(registry, "_scan", lambda: scanned)

    return add


@pytest.fixture
def plugins(monkeypatch, tmp_path):
    """Methods of another package, which worker processes find too."""
    install(
        monkeypatch, tmp_path / "plugin", PLUGIN, wrong="Wrong", not_here="NotHere", crashes="Crashes", leaves="Leaves"
    )


CHECK = ["check", "-r", "two-link", "-m", "newton-euler", "--states", "5"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("chek -r panda", "unknown verb 'chek'; did you mean 'check'?"),
        ("check panda", "a robot is given as -r panda"),
        ("check chain-7", "a robot is given as -r chain-7"),
        ("check -r panda kane", "a method is given as -m kane"),
        ("check something", "robots are given as -r ROBOT, methods as -m METHOD"),
    ],
)
def test_misuse_is_answered_with_what_was_meant(line, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(line.split())
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_no_comparison_is_no_agreement():
    from dynbench.benchmarks.results.summary import verdict

    assert verdict([]).endswith("nothing can be said about agreement")


def test_a_single_method_of_bench_gets_the_reference_beside_it():
    from dynbench.benchmarks.runs.plan import choose

    assert set(choose(["two-link"], ["kane"], None).methods) == {"kane", "newton-euler"}
    assert choose(["two-link"], ["newton-euler"], None).methods == ("newton-euler",)


def test_check_exits_0_when_all_agree(capsys):
    assert main([*CHECK, "-m", "kane"]) == 0
    out, err = capsys.readouterr()
    assert "two-link" in out
    assert out.rstrip().endswith("all agree")
    assert "two-link: newton-euler, kane" in err
    assert len(out.splitlines()) < 24
    assert max(map(len, out.splitlines())) <= 120


@pytest.mark.usefixtures("plugins")
def test_check_exits_1_on_a_planted_fault_and_says_where(capsys):
    assert main([*CHECK, "-m", "wrong", "--seed", "3"]) == 1
    out, _ = capsys.readouterr()
    assert re.search(r"DIFFERS  two-link: newton-euler and wrong: inverse_dynamics error: 1e-06 relative", out)
    assert re.search(r"seed 3, state \d: -?\d", out)
    assert "!" in out
    assert out.rstrip().endswith("do not agree")


@pytest.mark.usefixtures("plugins")
def test_check_writes_every_row_with_its_worst_state(tmp_path):
    file = tmp_path / "rows.json"
    assert main([*CHECK, "-m", "wrong", "--json", str(file)]) == 1
    content = json.loads(file.read_text())
    assert (content["states"], content["seed"]) == (5, 0)
    assert all(row["value"] is not None or row["reason"] for row in content["rows"])
    worst = next(row for row in content["rows"] if row["status"] == "differs")["worst"]
    assert len(worst["value"]) == len(worst["other"]) == len(worst["inputs"]["q"]) == 2
    assert {row["measure"] for row in content["rows"]} >= {"error", "noise floor", "power balance", "M symmetric"}


def test_one_method_is_compared_with_newton_euler(capsys):
    assert main(["check", "-r", "two-link", "-m", "kane", "--states", "5"]) == 0
    assert "two-link: kane, newton-euler" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "-r", "pandda"], "no robot is called 'pandda'; did you mean 'panda'"),
        (["check", "-m", "newton-eulr"], "no method is called 'newton-eulr'; did you mean 'newton-euler'"),
        (["check", "-r", "nowhere.urdf", "-m", "kane"], "nowhere.urdf"),
        (["check", "--json", "/no/such/folder/rows.json"], "the folder /no/such/folder does not exist"),
        (["check", "-r", "two-link", "-m", "null"], "nothing was checked of null on two-link: it is the baseline"),
    ],
)
def test_misuse_exits_2_with_one_line(capsys, arguments, said):
    assert main(arguments) == 2
    _, err = capsys.readouterr()
    line = err.strip().splitlines()[-1]
    assert line.startswith("dynbench check: ")
    assert said in line
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [[], ["chek"], ["check", "--states", "0"], ["check", "--x"], ["list", "z"]])
def test_arguments_that_make_no_sense_exit_2(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: dynbench")


@pytest.mark.usefixtures("plugins")
def test_a_plugin_that_crashes_costs_its_own_rows_only(capsys, tmp_path):
    file = tmp_path / "rows.json"
    chosen = ["-m", "crashes", "-m", "leaves", "-m", "kane", "--json", str(file)]
    assert main([*CHECK, *chosen]) == 1  # the process of the command itself is alive
    out, err = capsys.readouterr()
    rows = json.loads(file.read_text())["rows"]
    reasons = {row["method"]: row["reason"] for row in rows if row["status"] == "failed"}
    assert reasons == {
        "crashes": "did not finish: killed by signal 11 (SIGSEGV); it printed: reading address zero",
        "leaves": "did not finish: exited (exit status 0)",
    }
    others = [row for row in rows if row["method"] not in reasons and row["other"] not in reasons]
    assert {"newton-euler", "kane"} == {row["method"] for row in others}
    assert any(row["other"] == "kane" and row["status"] == "agrees" for row in others)
    assert "SIGSEGV" in out
    assert "checking agreement: 4 of 4, 2 failed done" in err
    # the rest of the check is what it is without them
    alone = tmp_path / "alone.json"
    assert main([*CHECK, "-m", "kane", "--json", str(alone)]) == 0
    assert json.loads(alone.read_text())["rows"] == others


@pytest.mark.usefixtures("plugins")
def test_an_unavailable_method_that_was_asked_for_is_misuse(capsys):
    assert main([*CHECK, "-m", "not-here"]) == 2
    assert "an_engine_that_is_not_installed is not installed" in capsys.readouterr().err


def test_list_names_what_there_is_and_why_the_rest_is_not(capsys, register):
    register(NotHere, shattered="ImportError: planted")
    assert main(["list"]) == 0
    out, _ = capsys.readouterr()
    for word in ("robots", "panda", "chain-N", "methods", "newton-euler", "Newton-Euler (RNEA, CRBA, ABA)", "O(n)"):
        assert word in out
    assert "unavailable: an_engine_that_is_not_installed is not installed" in out
    assert "unavailable: ImportError: planted" in out


def test_list_one_section_as_json(capsys):
    assert main(["list", "methods", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert list(content) == ["methods"]
    (entry,) = [entry for entry in content["methods"] if entry["name"] == "newton-euler"]
    assert entry["exact"]
    assert "forward_dynamics" in entry["computes"]
    assert entry["reference"].startswith("Featherstone")


def test_what_was_listed_is_remembered_until_something_changes(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    main(["list", "methods"])
    first = capsys.readouterr().out
    called = []
    monkeypatch.setattr("dynbench.benchmarks.cli.listing.everything", lambda: called.append(1) or {"methods": []})
    main(["list", "methods"])
    assert capsys.readouterr().out == first
    assert not called
    (folder / "new_package.py").touch()  # as an installation would: the folder's time changes
    main(["list", "methods"])
    assert called


def test_papers_and_problems_are_listed_anew_when_one_of_them_changes():
    """Their docstrings are read, and the modules not imported: they must be among what the cached list depends on."""
    from dynbench.benchmarks.cli import listing
    from dynbench.benchmarks.papers import plugins
    from dynbench.benchmarks.problems import registry as problems

    stamped = listing.stamps()
    read = [str(path) for path in (*(path for _, path in plugins.ours()), *problems.ours().values())]
    assert len(read) > 10
    for path in (*read, *(str(Path(module.__file__).parent) for module in (plugins, problems))):
        assert stamped[path] is not None, path


def test_a_broken_plugin_is_never_remembered(capsys, register):
    register(shattered="ImportError: planted")
    main(["list", "methods"])
    register()
    capsys.readouterr()
    main(["list", "methods"])
    assert "shattered" not in capsys.readouterr().out


def test_a_spoilt_memory_is_no_harm(capsys):
    from dynbench.benchmarks.cli.listing import cache_file

    cache_file().parent.mkdir(parents=True)
    for content in ("", "{", "[]", '{"path": 3}'):
        cache_file().write_text(content)
        assert main(["list", "robots"]) == 0
        assert "panda" in capsys.readouterr().out


def run_list(*flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *flags, "-P", "-m", "dynbench.benchmarks", "list"]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_list_does_not_import_what_it_need_not():
    """The first time the methods themselves, and numpy with them; the second time nothing of the sort."""
    for allowed in ({"numpy"}, set()):
        log = run_list("-X", "importtime").stderr
        imported = {line.rpartition("|")[2].strip() for line in log.splitlines() if line.startswith("import time:")}
        assert "dynbench.benchmarks.cli.listing" in imported, "the log of imports could not be read"
        assert imported & set(HEAVY) <= allowed


def test_list_is_instant(tmp_path):
    command = (sys.executable, "-m", "dynbench.benchmarks", "list")
    seconds = [processor_seconds(*command, cwd=tmp_path) for _ in range(5)]
    assert min(seconds) < 0.5 * pace(), f"dynbench list took {seconds} s"


def test_list_into_a_pipe_that_closes_is_no_error():
    program = f"{sys.executable} -m dynbench.benchmarks list methods --json | head -1"
    run = subprocess.run(["bash", "-o", "pipefail", "-c", program], capture_output=True, text=True, check=False)
    assert run.stdout == "{\n"
    assert run.stderr == ""


def test_test_method_says_what_is_kept_and_what_is_broken(capsys, register):
    class Forgetful(Planted):
        name: ClassVar[str] = "forgetful"
        computes: ClassVar[tuple[str, ...]] = (*Planted.computes, "reactions")

        def prepare(self, robot):
            return Planted().prepare(robot)

    register(Planted, Forgetful)
    assert main(["test-method", "planted", "-r", "two-link"]) == 0
    assert re.search(r"\n(\d+) of \1 kept; next: dynbench check -m planted\n$", capsys.readouterr().out)
    assert main(["test-method", "forgetful", "-r", "two-link"]) == 1
    out, _ = capsys.readouterr()
    assert "BROKEN  A solver has the quantities its method declares" in out
    assert main(["test-method", "planted", "-r", "elastic-rp1"]) == 2
    assert "planted does not handle elastic links" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert re.fullmatch(r"dynbench \d+\.\d+\.\d+\n", capsys.readouterr().out)
