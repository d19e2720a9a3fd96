"""A Dask cluster in place of local processes: the same rows, also when one of its machines is lost on the way."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pace import NEVER, wait_until

from dynbench import robots
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.processes import dask_cluster, hosts, keys
from dynbench.benchmarks.processes.executors import LocalExecutor, executor, in_order
from dynbench.benchmarks.processes.jobs import Job, here
from dynbench.benchmarks.processes.journal import Journal
from dynbench.benchmarks.results import tables
from dynbench.benchmarks.runs import checking
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.plan import Matrix, choose
from dynbench.robots.errors import DynbenchError

distributed = pytest.importorskip("distributed")

CAMPAIGN = """
[campaign]
kind = "agreement"
robots = ["pendulum", "two-link"]
methods = ["kane"]
quantities = ["inverse_dynamics"]
seeds = { from = 0, to = 2047 }
states = 4
"""
ARM = """
name = "arm"
[[bodies]]
name = "a"
joint = "revolute"
axis = [0, 0, 1]
mass = 1.0
com = [0.3, 0.0, 0.0]
inertia = [0.1, 0.1, 0.1]
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers, each a process; nobody who times on this machine is waited for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(hosts.FOLDER, str(tmp_path_factory.mktemp("locks")))
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as found:
            yield found


def checked(folder, runner):
    plan = choose(["two-link"], ["newton-euler", "kane"], ["inverse_dynamics"], quick=True)
    with runner, Journal(folder) as journal:
        findings = Findings(plan, Matrix(plan), {}, journal, runner)
        checking.check_robots(findings)
    return findings.checks


def test_the_agreement_rows_of_a_benchmark_are_those_of_a_local_run(cluster, tmp_path):
    far = checked(tmp_path / "far", executor(cluster.scheduler_address))
    near = checked(tmp_path / "near", LocalExecutor(2))
    assert far == near
    assert {row.robot for row in far if row.other and row.status == "agrees"} == {"two-link"}


def test_robot_files_travel_and_crashes_stay_in_their_process(cluster, tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text(ARM)
    digest = robots.load(file).digest
    parcel = dask_cluster.Parcel(Job("a:b", {"robot": str(file), "robots": ["panda", str(file)]}), {})
    parcel = replace(parcel, files=dask_cluster._files(parcel.job))
    file.unlink()
    arguments = dask_cluster._unpacked(parcel).arguments
    assert robots.load(arguments["robot"]).digest == digest
    assert arguments["robots"] == ["panda", arguments["robot"]]

    jobs = [Job("os:abort"), Job("os:getpid"), Job("math:sqrt", {"wrong": 1}), Job("os:_exit", {"status": 3})]
    with executor(cluster.scheduler_address) as runner:
        found = in_order(runner, jobs)
        assert len(cluster.workers) == 2
    assert [answer.reason.partition(";")[0] for answer in found] == [
        "killed by signal 6 (SIGABRT)",
        "",
        "raised TypeError: math.sqrt() takes no keyword arguments",
        "exited (exit status 3)",
    ]
    assert {answer.host for answer in found} == {here()}


def test_what_is_timed_stays_here(cluster):
    timed = Job("dynbench.benchmarks.timing.calibration:__name__")
    with executor(cluster.scheduler_address) as runner:
        workers = set(runner.client.run(os.getpid).values())
        (parent,) = in_order(runner, [Job("os:getppid")])
        assert parent.value in workers
        (alone,) = in_order(runner, [Job("os:getppid", alone=True)])
        assert alone.value == os.getpid()
    assert keys.timed(timed)
    assert not keys.timed(Job("dynbench.benchmarks.timing.counts:count"))
    assert not keys.timed(Job("dynbench.benchmarks.campaigns.kinds:simulation"))


def test_a_cluster_with_other_sources_is_refused(cluster, monkeypatch, tmp_path):
    monkeypatch.setattr(keys, "source_digest", lambda: "edited here")
    dask_cluster.fingerprint.cache_clear()
    try:
        with pytest.raises(DynbenchError, match=r"the worker tcp://\S+ has sources of dynbench \w+ \(expected edited"):
            executor(cluster.scheduler_address)
        sent = dask_cluster.Parcel(Job("os:getpid"), {**dask_cluster.fingerprint(), "numpy": "0.9"})
        with pytest.raises(dask_cluster.DifferentWorker, match=r"has numpy \S+ \(expected 0.9\)"):
            dask_cluster.run_there(sent)
        sent = dask_cluster.Parcel(Job("os:getpid", {"method": "kane"}), dask_cluster.fingerprint(), "other")
        with pytest.raises(dask_cluster.DifferentWorker, match="has different sources of the method 'kane'"):
            dask_cluster.run_there(sent)
    finally:
        monkeypatch.undo()
        dask_cluster.fingerprint.cache_clear()


def rows_of(folder):
    rows = tables.read(folder / "campaign.csv")
    assert {row.pop("host") for row in rows} == {here()}
    return rows


def test_a_worker_killed_on_the_way_changes_nothing(cluster, tmp_path, monkeypatch):
    path = tmp_path / "sweep.toml"
    path.write_text(CAMPAIGN)
    with distributed.Client(cluster, set_as_default=False) as client:
        before = client.run(os.getpid)
    put, finished = Journal.put, []

    def put_and_kill(self, *cell):
        put(self, *cell)
        finished.append(cell)
        if len(finished) == 1:  # of sixteen blocks
            os.kill(min(before.values()), signal.SIGKILL)

    monkeypatch.setattr(Journal, "put", put_and_kill)
    code = main(["campaign", str(path), "--output", str(tmp_path / "far"), "--scheduler", cluster.scheduler_address])
    monkeypatch.undo()
    assert code == 0
    assert len(finished) == 16
    assert main(["campaign", str(path), "--output", str(tmp_path / "near")]) == 0
    assert rows_of(tmp_path / "far") == rows_of(tmp_path / "near")
    assert len(rows_of(tmp_path / "far")) == 4096


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "http://here:1", ""])
def test_nobody_there_is_said_within_seconds(address, tmp_path, capsys, monkeypatch):
    real, patience = asyncio.wait_for, []
    monkeypatch.setattr(dask_cluster.asyncio, "wait_for", lambda it, s: patience.append(s) or real(it, s))
    path = tmp_path / "sweep.toml"
    path.write_text(CAMPAIGN)
    assert main(["campaign", str(path), "--output", str(tmp_path / "out"), "--scheduler", address]) == 2
    assert patience == [5.0]  # and nobody was asked without
    said = capsys.readouterr().err
    assert said.startswith(f"dynbench campaign: --scheduler {address}: no Dask scheduler answered there within 5 s")
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_extra_is_named_when_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DynbenchError, match=r"--scheduler tcp://x:1: .*pip install 'dynbench\[cluster\]'"):
        executor("tcp://x:1")


def test_a_scheduler_without_workers_is_refused(tmp_path):
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None, protocol="tcp") as empty,
        pytest.raises(DynbenchError, match="the scheduler has no workers"),
    ):
        dask_cluster.connect(empty.scheduler_address, patience=1.0)


def held(lock: Path) -> bool:
    """Whether a lock is held exclusively."""
    with open(lock, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_whoever_times_is_alone_and_does_not_wait_for_ever(tmp_path, monkeypatch):
    monkeypatch.setenv(hosts.FOLDER, str(tmp_path))
    heard: list[str] = []
    ready, leave = threading.Event(), threading.Event()

    def ordinary(name):
        with hosts.machine_lock(alone=False):
            heard.append(name)
            ready.set()
            leave.wait(NEVER)
        heard.append(f"{name} left")

    def timing():
        with hosts.machine_lock(alone=True):
            heard.append("timing")

    first = threading.Thread(target=ordinary, args=("first",))
    first.start()
    ready.wait(NEVER)
    with hosts.machine_lock(alone=False):
        pass  # they share
    second = threading.Thread(target=timing)
    second.start()
    wait_until(lambda: held(tmp_path / hosts.QUEUE))
    third = threading.Thread(target=ordinary, args=("third",))  # comes later, and must not go before
    third.start()
    time.sleep(0.2)  # for it to do what it must not
    assert heard == ["first"]
    leave.set()
    for thread in (first, second, third):
        thread.join(NEVER)
    assert heard.index("timing") < heard.index("third")
    assert set(heard) == {"first", "first left", "timing", "third", "third left"}
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == sorted([hosts.QUEUE, hosts.MACHINE])
