"""Campaigns: every cell has its row, whoever computed it and however often the run was ended on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import Executor, Future
from pathlib import Path

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.campaigns import kinds, reading, running
from dynbench.benchmarks.checks.agreement import relative
from dynbench.benchmarks.checks.sampling import draw
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.processes import journal as store
from dynbench.benchmarks.processes.jobs import Answer, loads
from dynbench.benchmarks.processes.journal import Journal
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.processes.progress import Progress
from dynbench.benchmarks.results import tables

EXAMPLES = Path(__file__).parents[2] / "examples" / "campaigns"
SWEEP = """
[campaign]
name = "pendula"
kind = "agreement"
robots = ["pendulum", "two-link"]
methods = ["kane"]
quantities = ["inverse_dynamics"]
seeds = { from = 0, to = 999 }
states = 2
"""


# The command, which is killed in the middle of writing down its fourth block
KILLED = """
import os, signal, sys
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.processes.journal import Journal

def append(self, data):
    if len(self) == 3:
        os.write(self._file, data[:40])
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, data)

real, Journal._append = Journal._append, append
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(autouse=True, scope="module")
def _own_locks(tmp_path_factory):
    """Nobody who times on this machine is waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYNBENCH_LOCKS", str(tmp_path_factory.mktemp("locks")))
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The results of the sweep, run in one go by the command."""
    folder = tmp_path_factory.mktemp("whole")
    assert main(["campaign", str(written(folder)), "--output", str(folder / "out"), "--processes", "2"]) == 0
    return folder / "out"


def written(folder, text=SWEEP):
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def table(folder):
    rows = tables.read(folder / "campaign.csv")
    assert all(row["host"] or row["reason"].startswith("not run") for row in rows)
    return [{name: value for name, value in row.items() if name not in ("host", "seconds")} for row in rows]


def test_two_thousand_cells_stream_to_a_table(whole):
    rows = table(whole)
    assert [(row["robot"], int(row["seed"])) for row in rows] == [
        (robot, seed) for robot in ("pendulum", "two-link") for seed in range(1000)
    ]
    assert {row["status"] for row in rows} == {"agrees"}
    # a cell is what one finds by hand at the states of its seed
    robot = robots.load("two-link")
    inputs = draw(robot, 2, seed=7).inputs("inverse_dynamics")
    one, two = (methods.get(name).prepare(robot).inverse_dynamics(**inputs) for name in ("kane", "newton-euler"))
    assert float(rows[1007]["error"]) == relative(one, two).max()


def test_the_examples_of_the_documentation(tmp_path, capsys):
    assert main(["campaign", str(EXAMPLES / "recursions.toml"), "--output", str(tmp_path)]) == 0
    assert "1200 cells, 1200 with a number" in capsys.readouterr().out
    assert main(["campaign", str(EXAMPLES / "springs.toml"), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "springs: 2160 cells of kind simulation" in said
    assert "3rrr, denoc, seed 0, solver RK45, rtol 0.001" in said


@pytest.mark.long
def test_a_killed_campaign_goes_on_to_the_same_table(tmp_path, whole, capsys):
    path = written(tmp_path)
    command = [sys.executable, "-P", "-c", KILLED, "campaign", str(path), "--output", str(tmp_path / "cut")]
    process = subprocess.run(command, capture_output=True, check=False)
    assert process.returncode == -signal.SIGKILL, process.stderr
    journal = tmp_path / "cut" / store.NAME
    kept = journal.read_bytes()
    assert kept.count(b"\n") == 3  # of eight blocks
    assert not (tmp_path / "cut" / "campaign.csv").exists()

    assert main(["campaign", str(path), "--output", str(tmp_path / "cut"), "--resume"]) == 0
    assert "2000 cells, 2000 with a number, 0 failed, 0 differ" in capsys.readouterr().out
    assert table(tmp_path / "cut") == table(whole)
    done = [loads(line.decode())["key"] for line in journal.read_bytes().splitlines() if line.endswith(b"}")]
    assert len(set(done)) == len(done)  # nothing finished was done again
    assert journal.read_bytes().startswith(kept.rpartition(b"\n")[0])


def test_a_longer_range_of_seeds_finds_the_shorter_one(tmp_path):
    short, long = (written(tmp_path, SWEEP.replace("999", last)) for last in ("511", "767"))
    assert short == long
    keys = []
    for last in ("511", "767"):
        campaign = reading.read(written(tmp_path, SWEEP.replace("999", last)))
        keys.append({running.key(campaign.job(block)) for block in campaign.blocks()})
    assert len(keys[0]) == 4
    assert keys[0] < keys[1]


def test_an_interrupt_leaves_a_table_of_what_is_there(tmp_path, capsys):
    class Interrupted(Stand):
        def submit(self, fn, job):
            if len(self.asked) == 5:
                raise KeyboardInterrupt
            return super().submit(fn, job)

    campaign = reading.read(written(tmp_path))
    with Journal(tmp_path / "out") as journal:
        tally, interrupted = running.run(campaign, journal, Interrupted())
    assert interrupted
    assert "stopped in" in capsys.readouterr().err
    rows = table(tmp_path / "out")
    missing = [row for row in rows if row["reason"] == "not run: the run was interrupted"]
    assert len(rows) == tally.cells == 2000
    assert 0 < len(missing) == tally.failed
    with Journal(tmp_path / "out", resume=True) as journal:
        assert not running.run(campaign, journal, Stand())[1]
    assert not any(row["reason"] for row in table(tmp_path / "out"))


DEAD = Answer(None, "killed by signal 11 (SIGSEGV)", "ouch", "there", outcome=Outcome.CRASHED)


class Stand(Executor):
    """Answers jobs at once, as processes would of which those with a fatal seed die."""

    def __init__(self, fatal=()):
        self.fatal = fatal
        self.asked: list[int] = []  # cells of each job

    def submit(self, fn, job):
        self.asked.append(len(job.arguments["cells"]))
        future: Future[Answer] = Future()
        seeds = [seed for seed, _ in job.arguments["cells"]]
        if any(seed in self.fatal for seed in seeds):
            future.set_result(DEAD)
        else:
            future.set_result(Answer([{"error": 0.0, "status": "agrees", "reason": ""} for _ in seeds], host="here"))
        return future


def run_with(executor, tmp_path, text=SWEEP, **how):
    campaign = reading.read(written(tmp_path, text))
    with Journal(tmp_path / "out", **how) as journal:
        one = running.CampaignRun(campaign, journal)
        with Progress("test", len(campaign)) as progress:
            one.compute(executor, progress)
        journal.retry_failed = False
        tally = one.write(tmp_path / "out")
    assert progress.count == progress.total
    return tally, table(tmp_path / "out")


def test_the_cell_that_kills_is_alone_to_be_named(tmp_path):
    tally, rows = run_with(Stand(fatal={37, 700}), tmp_path)
    dead = [row for row in rows if row["reason"]]
    assert [(row["robot"], row["seed"]) for row in dead] == [
        (robot, seed) for robot in ("pendulum", "two-link") for seed in ("37", "700")
    ]
    assert {row["reason"] for row in dead} == {"killed by signal 11 (SIGSEGV); it printed: ouch"}
    assert (tally.cells, tally.failed, tally.well) == (2000, 4, False)
    assert "2 x kane: killed by signal 11" not in tally.screen()
    assert "4 x kane: killed by signal 11 (SIGSEGV); it printed: ouch" in tally.screen()

    again = Stand(fatal={37, 700})
    assert run_with(again, tmp_path, resume=True)[1] == rows
    assert again.asked == []  # a failure is a result
    healed = Stand()
    _, rows = run_with(healed, tmp_path, resume=True, retry_failed=True)
    assert not any(row["reason"] for row in rows)


def test_what_always_dies_is_given_up(tmp_path):
    executor = Stand(fatal=range(10_000))
    tally, rows = run_with(executor, tmp_path)
    assert tally.failed == len(rows) == 2000
    assert len(executor.asked) < 60
    assert {row["outcome"] for row in rows} == {"crashed"}
    assert sum(row["reason"].startswith("not run: ") and "jobs of kane on" in row["reason"] for row in rows) > 1900


def test_a_simulation_has_errors_evaluations_and_tolerances():
    cells = [(seed, "RK45", rtol) for seed in (0, 1) for rtol in (1e-3, 1e-7)]
    found = kinds.simulation("newton-euler", {}, 0.3, 40_000, cells, reference="newton-euler", robot="two-link")
    loose, tight = found[0], found[1]
    assert tight["error"] < 1e-5 * max(loose["error"], 1e-6) or tight["error"] < 1e-7
    assert tight["evaluations"] > loose["evaluations"] > 0
    assert found[2]["error"] != loose["error"]
    (other,) = kinds.simulation("kane", {}, 0.3, 40_000, cells[:1], reference="newton-euler", robot="two-link")
    assert other["reason"] == "kane does not compute forward_dynamics"
    hard = [(0, "RK45", 1e-12)]
    (short,) = kinds.simulation("newton-euler", {}, 0.3, 100, hard, reference="newton-euler", robot="two-link")
    assert short["reason"].startswith("more than 100 right-hand sides")


def test_counts_are_those_of_the_source():
    found = kinds.counts("chain-3", "newton-euler", {}, [("inverse_dynamics",), ("multipliers",)])
    assert found[0]["flops"] > found[0]["additions"] > 0
    assert found[1] == {"outcome": "unsupported", "reason": "newton-euler does not compute multipliers"}
    assert kinds.counts("3rrr", "lagrange-stewart", {}, [("inverse_dynamics",)])[0]["reason"]


def test_what_a_method_does_not_do_is_said_in_its_cells():
    found = kinds.agreement("two-link", "virtual-spring-denoc", {}, "newton-euler", 2, [(0, "forward_dynamics")])
    assert found[0]["status"] == "unsupported"
    assert "loops" in found[0]["reason"]
    found = kinds.agreement("two-link", "kane", {}, "newton-euler", 2, [(0, "mass_matrix"), (0, "inverse_dynamics")])
    assert found[0]["reason"] == "kane does not compute mass_matrix"
    assert np.isfinite(found[1]["error"])
