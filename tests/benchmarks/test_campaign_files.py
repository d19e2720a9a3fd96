"""Campaign files: what is meant, and what is refused, with the file, the key, what was expected and what came."""

from __future__ import annotations

import pytest

from dynbench.benchmarks.campaigns import reading
from dynbench.benchmarks.cli import main
from dynbench.robots.errors import DynbenchError

HEAD = '[campaign]\nkind = "agreement"\n'
PLAIN = HEAD + 'robots = ["panda"]\nmethods = ["kane"]\n'
PRODUCT = """
[campaign]
kind = "simulation"
robots = ["3rrr"]
methods = ["denoc", {name = "virtual_spring_denoc", stiffness = [1000, 1e6], damping = 5}]
solver = ["RK45", "BDF"]
rtol = [1e-3, 1e-6, 1e-9]
seeds = {from = 10, to = 19}
"""
SIMULATION = '[campaign]\nkind = "simulation"\nmethods = ["denoc"]\n'


def read(tmp_path, text):
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    return reading.read(path)


def test_a_product_of_everything(tmp_path):
    found = read(tmp_path, PRODUCT)
    assert len(found) == 1 * 3 * 2 * 3 * 10 == sum(len(block) for block in found.blocks())
    assert [choice.label for choice in found.choices] == [
        "denoc",
        "virtual-spring-denoc (stiffness=1000.0, damping=5.0)",
        "virtual-spring-denoc (stiffness=1000000.0, damping=5.0)",
    ]
    cells = [cell for block in found.blocks() if block.choice.method == "denoc" for cell in block.cells]
    assert cells[:4] == [(10, "RK45", 1e-3), (10, "RK45", 1e-6), (10, "RK45", 1e-9), (10, "BDF", 1e-3)]
    assert len(set(cells)) == 60
    assert max(len(block) for block in found.blocks()) <= found.kind.block


def test_ranges_of_robots_and_files_beside_the_campaign(tmp_path):
    (tmp_path / "arm.toml").write_text('name = "arm"\n[[bodies]]\nname = "a"\njoint = "revolute"\naxis = [0, 0, 1]\n'
                                       "mass = 1.0\ninertia = [0.1, 0.1, 0.1]\n")  # fmt: skip
    found = read(tmp_path, PLAIN.replace('"panda"', '"chain-{2..10..4}", "tree-{3..4}", "arm.toml"'))
    assert " ".join(target.name for target in found.targets) == "chain-2 chain-6 chain-10 tree-3 tree-4 arm.toml"
    assert dict(found.targets[-1].arguments)["robot"] == str(tmp_path / "arm.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = ", "not valid TOML: "),
        ("x = " + "[" * 5000, "brackets nested too deep"),
        ("[campaign]\n" + ".".join("a" * 5000) + " = 1", "a key of more than 20 parts"),
        ("", "expected one table, [campaign]; there is none"),
        (PLAIN + "[more]\n", "expected one table, [campaign]; got 'more'"),
        ('[campaign]\nkind = "agrement"',
         "kind: expected a kind of campaign (did you mean 'agreement'?), got 'agrement'"),
        ("[campaign]", "kind: expected, and not there"),
        (PLAIN + "sedes = 3", "sedes: a campaign of kind 'agreement' has no such key; did you mean 'seeds'"),
        (PLAIN + 'solver = "RK45"', "solver: a campaign of kind 'agreement' has no such key"),
        (HEAD + 'methods = ["kane"]', "robots: expected at least one"),
        (HEAD + 'robots = ["panda"]', "methods: expected, and not there"),
        (HEAD + 'robots = []\nmethods = ["kane"]', "robots: expected at least one robot, got []"),
        (HEAD + 'robots = [3]\nmethods = ["kane"]', "robots: expected a text, got [3]"),
        (HEAD + 'robots = ["pandda"]\nmethods = ["kane"]',
         "robots: no robot is called 'pandda'; did you mean 'panda'?"),
        (HEAD + 'robots = ["arm.urdf"]\nmethods = ["kane"]', "robots: arm.urdf: no such file"),
        (HEAD + 'robots = ["chain-{5..2}"]\nmethods = ["kane"]',
         "robots: 'chain-{5..2}': expected a range of 1 to 1000 numbers"),
        (HEAD + 'robots = ["chain-{1..99999999}"]\nmethods = ["kane"]', "expected a range of 1 to 1000 numbers"),
        (HEAD + 'robots = ["chain-{a}"]\nmethods = ["kane"]', "expected a range such as {2..30} or {2..30..4}"),
        (HEAD + 'robots = ["chain-{1..900}", "tree-{1..900}"]\nmethods = ["kane"]',
         "expected a list of at most 1000 robots"),
        (HEAD + 'robots = ["panda", "panda"]\nmethods = ["kane"]', "robots: 'panda' is there twice"),
        (HEAD + 'robots = ["panda"]\nmethods = []', "methods: expected at least one method, got []"),
        (HEAD + 'robots = ["panda"]\nmethods = ["cane"]', "methods: no method is called 'cane'; did you mean 'kane'"),
        (HEAD + 'robots = ["panda"]\nmethods = [7]', "methods: expected a list of names or of tables"),
        (HEAD + 'robots = ["3rrr"]\nmethods = [{name = "virtual-spring-denoc", stifness = 3}]',
         "methods: method 'virtual-spring-denoc' has no option 'stifness'"),
        (HEAD + 'robots = ["3rrr"]\nmethods = [{name = "virtual-spring-denoc", stiffness = []}]',
         "methods: virtual-spring-denoc: stiffness: expected at least one value, got []"),
        (HEAD + 'robots = ["3rrr"]\nmethods = [{name = "virtual-spring-denoc", stiffness = nan}]', "got nan"),
        (HEAD + 'robots = ["3rrr"]\nmethods = [{name = "virtual-spring-denoc", stiffness = 2024-01-01}]',
         "methods: virtual-spring-denoc: stiffness: expected a text, number or truth value, got datetime.date"),
        (PLAIN + "seeds = {from = 9, to = 3}",
         "seeds: expected a range that is not empty (from <= to), got {'from': 9"),
        (PLAIN + "seeds = {from = 9}", "seeds: expected { from = FIRST, to = LAST }, got {'from': 9}"),
        (PLAIN + "seeds = [-1]", "seeds: expected a whole number from 0 to 4294967295, got [-1]"),
        (PLAIN + "seeds = true", "seeds: expected a whole number from 0 to 4294967295, got True"),
        (PLAIN + "seeds = []", "seeds: expected at least one seed, got []"),
        (PLAIN + "seeds = {from = 0, to = 4000000000}", "12000000003 cells, expected at most 10000000"),
        (PLAIN + "states = 0", "states: expected a whole number from 1 to 100000, got 0"),
        (PLAIN + 'quantities = ["inverse_dynamic"]',
         "quantities: expected a quantity (did you mean 'inverse_dynamics'"),
        (PLAIN + 'reference = "nobody"', "reference: no method is called 'nobody'"),
        (PLAIN + "name = 3", "name: expected a text, got 3"),
        (PLAIN + "timeout = inf", "timeout: expected a number from 1 to 1e+06, got inf"),
        (SIMULATION, "robots or scenarios: expected at least one"),
        (SIMULATION + 'robots = ["3rrr"]\nsolver = "RK54"', "solver: expected an integrator (did you mean 'RK45'"),
        (SIMULATION + 'robots = ["3rrr"]\nrtol = [1e-3, 1]',
         "rtol: expected a number from 1e-13 to 0.1, got [0.001, 1]"),
        (SIMULATION + 'robots = ["3rrr"]\nhorizon = 0', "horizon: expected a number from 0.001 to 10000, got 0"),
        (SIMULATION + 'scenarios = ["denoc-virtual-sprin"]',
         "scenarios: no paper is called 'denoc-virtual-sprin'; did you mean"),
        ('[campaign]\nkind = "counts"\nrobots = ["panda"]\nmethods = ["kane"]\nseeds = 3',
         "seeds: a campaign of kind 'counts'"),
    ],
)  # fmt: skip
def test_refused_with_file_key_expected_and_got(tmp_path, text, said):
    with pytest.raises(DynbenchError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'sweep.toml'}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_scenario_has_its_own_start_and_reference(tmp_path):
    def listed(job):
        return type("Answer", (), {"reason": "", "value": {"names": ["rose-replay"], "sources": "abc"}})

    path = tmp_path / "sweep.toml"
    path.write_text(SIMULATION + 'scenarios = ["virtual-spring-denoc/rose-replay"]\nhorizon = 0.5\n')
    found = reading.read(path, listed)
    (block,) = found.blocks()
    assert found.job(block).arguments == {
        "scenario": "virtual-spring-denoc/rose-replay",
        "sources": "abc",
        "method": "denoc",
        "options": {},
        "horizon": 0.5,
        "limit": 40_000,
        "cells": [[None, "DOP853", 1e-6]],
    }
    for more, said in (("seeds = 3", "seeds: a scenario has its own"), ('robots = ["3rrr"]', "one of the two")):
        path.write_text(SIMULATION + f'scenarios = ["virtual-spring-denoc"]\n{more}\n')
        with pytest.raises(DynbenchError, match=said):
            reading.read(path, listed)
    path.write_text(SIMULATION + 'scenarios = ["virtual-spring-denoc/rose"]\n')
    with pytest.raises(DynbenchError, match="no scenario of 'virtual-spring-denoc' is called 'rose'"):
        reading.read(path, listed)


def test_files_that_are_none(tmp_path, capsys):
    assert main(["campaign", str(tmp_path / "no.toml"), "--dry-run"]) == 2
    assert main(["campaign", str(tmp_path), "--dry-run"]) == 2
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    assert main(["campaign", str(tmp_path / "binary.toml"), "--dry-run"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2].removeprefix(str(tmp_path)) for line in said] == [
        "/no.toml: no such file",
        ": expected a campaign file (.toml), got a folder",
        "/binary.toml: not UTF-8 text: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
    ]
