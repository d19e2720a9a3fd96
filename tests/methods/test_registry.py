"""Methods by name: plugins of other packages, broken ones, names taken twice, options, near matches."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from dynbench import methods
from dynbench.methods import registry
from dynbench.methods.base import Method
from dynbench.robots.errors import MethodError, UnknownNameError

PLUGIN = """
from dynbench.methods import Method, function_solver

class Mine(Method):
    name = "{name}"
    title = "A plugin"
    reference = "a test"

    def prepare(self, robot):
        return function_solver(self, robot, {{"inverse_dynamics": lambda q, v, a, wrench: 0.0 * a}})

class Abstract(Method):
    name, title, reference = "abstract", "No prepare", "a test"

class Older(Mine):
    name, contract = "mumbling", 0

class Newer(Mine):
    name, contract = "mumbling", 2

class Mumbling(Mine):
    name, computes = "mumbling", ("inverse_dinamics",)

a_number = 3
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that puts a distribution with entry points on sys.path, as pip would."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)

    def put(package: str, source: str, **points: str) -> None:
        module = package.replace("-", "_")
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
        info = folder / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
        lines = [f"{name.replace('_', '-')} = {module}:{target}" for name, target in points.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{registry.GROUP}]", *lines, ""]), encoding="utf-8")
        registry._scan.cache_clear()

    yield put
    registry._scan.cache_clear()
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).is_relative_to(folder):
            del sys.modules[name]


def test_ours_are_there_and_none_is_broken():
    found, broken = methods.available()
    assert {"newton-euler", "null", "pinocchio"} <= set(found) == set(methods.names())
    assert not broken
    assert all(method.name == name for name, method in found.items())


def test_a_plugin_is_found_and_runs(install):
    install("my-dynamics", PLUGIN.format(name="mine"), mine="Mine")
    from dynbench.robots import chain

    assert "mine" in methods.names()
    solver = methods.get("mine").prepare(chain(2))
    assert solver.inverse_dynamics([0.1, 0.2], [0, 0], [1, 1]).tolist() == [0.0, 0.0]
    assert solver.computes == ("inverse_dynamics", "bias")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("Absent", "AttributeError"),
        ("a_number", "expected a subclass of dynbench.methods.Method, got 3"),
        ("Abstract", "Abstract lacks prepare"),
        ("Mumbling", "did you mean 'inverse_dynamics' or 'inverse_dynamics_derivatives'?"),
        ("Older", "written for version 0 of the contract of methods, this dynbench has version 1: a newer release"),
        ("Newer", "written for version 2 of the contract of methods, this dynbench has version 1: a newer dynbench"),
        ("Mine", "it is registered as 'mumbling', but Mine.name is 'mine'"),
    ],
)
def test_a_plugin_that_is_no_method_is_listed_with_the_reason(install, target, said):
    install("my-dynamics", PLUGIN.format(name="mine"), mumbling=target)
    found, broken = methods.available()
    assert "newton-euler" in found
    assert "mumbling" not in found
    assert said in broken["mumbling"]
    assert "my-dynamics" in broken["mumbling"]
    with pytest.raises(MethodError, match="'mumbling' cannot be used"):
        methods.get("mumbling")


@pytest.mark.parametrize("source", ["import a_module_that_is_not_there", "1 / 0", "def f(:", "raise SystemExit(3)"])
def test_a_plugin_that_does_not_import_stops_nothing(install, source):
    install("broken-dynamics", source, broken="Mine")
    found, broken = methods.available()
    assert "newton-euler" in found
    assert list(broken) == ["broken"]
    assert "Error" in broken["broken"] or "SystemExit" in broken["broken"]


def test_nobody_takes_a_name_of_ours(install):
    install("a-dynamics", PLUGIN.format(name="newton-euler"), newton_euler="Mine")
    found, broken = methods.available()
    assert found["newton-euler"].__module__.startswith("dynbench.")
    (reason,) = broken.values()
    assert "'newton-euler' is taken by the package 'dynbench'" in reason
    assert "'a-dynamics' must register a_dynamics:Mine under another" in reason


def test_of_two_other_packages_the_first_has_the_name(install):
    install("b-dynamics", PLUGIN.format(name="mine"), mine="Mine")
    install("a-dynamics", PLUGIN.format(name="mine"), mine="Mine")
    found, broken = methods.available()
    assert found["mine"].__module__ == "a_dynamics"
    assert list(broken) == ["mine (b-dynamics)"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("newton-eulr", "did you mean 'newton-euler'"), ("Newton-Euler", "did you mean 'newton-euler'"), ("x", "known: ")],
)
def test_an_unknown_name_gets_near_ones(name, hint):
    with pytest.raises(UnknownNameError) as error:
        methods.get(name)
    assert str(error.value).startswith(f"no method is called {name!r}; {hint}")


def test_underscores_are_dashes():
    assert methods.get("newton_euler").name == "newton-euler"


@dataclass(frozen=True)
class Optional(Method):
    name: ClassVar[str] = "optional"
    title: ClassVar[str] = "With options"
    reference: ClassVar[str] = "a test"
    stiffness: float = 1.0
    form: str = "a"

    def __post_init__(self):
        if self.form not in "ab":
            raise ValueError(f"form is {self.form!r}, wanted 'a' or 'b'")

    def prepare(self, robot):
        raise NotImplementedError


@pytest.fixture
def with_options(monkeypatch):
    monkeypatch.setattr(registry, "_scan", lambda: ({"optional": Optional}, {}))


def test_options_are_keyword_arguments(with_options):
    assert methods.get("optional", stiffness=2.0) == Optional(stiffness=2.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stifness": 2.0}, "has no option 'stifness': its options are stiffness, form; did you mean 'stiffness'?"),
        ({"form": "c"}, "with (form='c'): form is 'c', wanted 'a' or 'b'; its options are stiffness, form"),
    ],
)
def test_a_wrong_option_is_answered_with_those_there_are(with_options, options, said):
    with pytest.raises(MethodError) as error:
        methods.get("optional", **options)
    assert said in str(error.value)


def test_a_method_without_options_says_so():
    with pytest.raises(MethodError, match="'newton-euler' has no option 'fast': it has no options"):
        methods.get("newton-euler", fast=True)
