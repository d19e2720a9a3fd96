"""Scenarios of other packages: found, listed and run by name; a broken one is a sentence and stops nothing."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from types import SimpleNamespace

import pytest
from planted import entry_points

from dynbench.benchmarks import papers
from dynbench.benchmarks.cli import listing
from dynbench.benchmarks.papers import plugins as scenario_plugins
from dynbench.benchmarks.papers import recordings
from dynbench.benchmarks.processes.workers import Answer
from dynbench.robots import registry
from dynbench.robots.errors import DynbenchError

SOURCE = '''"""A plugin's experiment.

More about it.
"""
from dynbench.benchmarks.papers.claims import Claim


def claims():
    return [Claim("mine", "it holds", "1", 1.0, "m", "reproduced", "exactly")]


def moves():
    from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve

    panel = Panel("", "x (m)", [curve("x", "newton-euler", [0.0, 1.0], [2.0, 3.0])])
    return Simulation("sliding-rods", "my-paper", "Theirs", "two-link", [Plot("x", "X", "It moves.", "t (s)", [panel])])


def fails():
    raise ValueError("no such motion")


def simulations():
    return {"sliding-rods": moves, "fails": fails}
'''


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    (tmp_path / "my_paper.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "my_broken_paper.py").write_text("import nothing_of_that_name\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    points = {"my-paper": "my_paper", "absent": "no_such_module", "broken": "my_broken_paper"}
    points["gibbs-appell-rp"] = "my_paper"
    with entry_points(monkeypatch, scenario_plugins, **points):
        yield
    sys.modules.pop("my_paper", None)


def test_a_plugin_is_a_paper_and_runs(plugins):
    assert "my-paper" in papers.names()
    (claim,) = papers.job("my-paper")["claims"]
    assert claim["verdict"] == "reproduced"
    assert "my_paper" in sys.modules


def test_simulations_of_a_plugin_are_stored_beside_ours(plugins, tmp_path):
    def ask(stage, jobs):
        return [Answer(*run_here(job)) for job in jobs]

    recordings.run(tmp_path, ["my-paper", "gibbs-appell-rp", "broken"], ask=ask)
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in (tmp_path / "simulations").glob("*.json")}
    assert set(found) == {"my-paper-sliding-rods", "gibbs-appell-rp-sliding-rods", "fails", "broken"}
    assert found["my-paper-sliding-rods"]["plots"][0]["panels"][0]["series"][0]["y"] == [2.0, 3.0]
    assert "no such motion" in found["fails"]["reason"]
    assert "cannot be imported" in found["broken"]["reason"]


def run_here(job):
    """The answer of a job that is run in this process: its value, and the reason of a failure."""
    module, _, name = job.function.partition(":")
    try:
        return getattr(import_module(module), name)(**job.arguments), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def test_listing_reads_the_first_line_and_imports_nothing(plugins):
    entries = {entry["name"]: entry for entry in listing.scenario_entries()}
    assert entries["my-paper"]["title"] == "A plugin's experiment."
    assert "my_paper" not in sys.modules
    assert "no such module" in entries["absent"]["unavailable"]
    assert "gibbs-appell-rp" in papers.names()
    assert scenario_plugins.load("gibbs-appell-rp").__name__.startswith("dynbench.")  # our names are reserved


def test_a_plugin_that_does_not_import_is_a_sentence(plugins):
    with pytest.raises(DynbenchError, match=r"scenario 'broken' .* cannot be imported: ModuleNotFoundError"):
        papers.job("broken")


def test_a_robot_whose_name_is_taken_is_listed_with_the_reason(monkeypatch):
    dist = SimpleNamespace(name="their-robots")
    taken = SimpleNamespace(name="panda", value="theirs:panda", dist=dist)
    monkeypatch.setattr(registry, "entry_points", lambda group: [taken])
    registry.plugins.cache_clear()
    try:
        (entry,) = (entry for entry in listing.robot_entries() if "broken" in entry)
        assert "'panda' is taken by dynbench; 'their-robots' must register theirs:panda" in entry["unavailable"]
        text = listing.text("robots", listing.robot_entries())
        assert "pendulum, two-link" in text
        assert "unavailable: the name 'panda' is taken" in text
    finally:
        registry.plugins.cache_clear()
