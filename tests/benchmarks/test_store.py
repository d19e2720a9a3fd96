"""The journal: what was finished is found again, by content alone, and nothing damaged is ever used."""

from __future__ import annotations

import dataclasses
import errno
import itertools
import math
import os
import subprocess
import sys

import pytest

from dynbench import methods
from dynbench.benchmarks.problems import exudyn_judge, running
from dynbench.benchmarks.processes import journal as store
from dynbench.benchmarks.processes import keys
from dynbench.benchmarks.processes.jobs import Answer, Job
from dynbench.benchmarks.processes.journal import Journal
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import files
from dynbench.methods import registry
from dynbench.robots.errors import DynbenchError

JOB = Job("a:b", {"robot": "x", "long": "y" * 1000})
GOOD = Answer({"number": math.inf, "text": "=nan", "list": [1.5, None]}, "", "", "here", 0.25)
BAD = Answer(None, "timed out after 60 s", "its last words", "there", 60.0, Outcome.TIMED_OUT)
SLOW = Answer(None, "8 states take 9 s", "", "there", 60.0, Outcome.LEFT_OUT)


def fill(folder, **answers):
    with Journal(folder) as journal:
        for name, answer in answers.items():
            journal.put(name, JOB, answer)


def test_answers_come_back_as_they_were(tmp_path):
    fill(tmp_path, one=GOOD, two=BAD)
    with Journal(tmp_path, resume=True) as journal:
        assert journal.find("one") == GOOD
        assert journal.find("two") == BAD
        assert journal.find("three") is None
        assert journal.notes == []
    assert len((tmp_path / store.NAME).read_bytes()) < 1200  # long arguments are not written out


def test_what_was_interrupted_is_not_kept(tmp_path):
    fill(tmp_path, one=GOOD, two=Answer(None, "not run: the run was stopped", outcome=Outcome.INTERRUPTED))
    with Journal(tmp_path, resume=True) as journal:
        assert (journal.find("one"), journal.find("two")) == (GOOD, None)


def test_lines_of_versions_without_outcomes_are_not_used(tmp_path):
    fill(tmp_path, one=GOOD)
    path = tmp_path / store.NAME
    body = path.read_text().rpartition(',"checksum"')[0].replace('"outcome":"number",', "") + "}"
    path.write_text(f'{body[:-1]},"checksum":"{store._checksum(body)}"}}\n')
    with Journal(tmp_path, resume=True) as journal:
        assert journal.find("one") is None
        assert "1 line damaged or of an older version" in journal.notes[0]


def test_failures_are_tried_again_on_request_only(tmp_path):
    fill(tmp_path, one=GOOD, two=BAD, three=SLOW)
    with Journal(tmp_path, resume=True, retry_failed=True) as journal:
        assert journal.find("one") == GOOD
        assert journal.find("three") == SLOW  # left out by choice: no failure
        assert journal.find("two") is None
        journal.put("two", JOB, GOOD)
        assert journal.find("two") == GOOD
    with Journal(tmp_path, resume=True) as journal:
        assert journal.find("two") == GOOD  # the last line counts


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_costs_itself_alone(tmp_path, cut):
    fill(tmp_path, one=GOOD, two=BAD)
    path = tmp_path / store.NAME
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(tmp_path, resume=True) as journal:
        assert journal.find("one") == GOOD
        assert journal.find("two") is None
        assert "1 line damaged or of an older version" in journal.notes[0]
        journal.put("two", JOB, GOOD)
    with Journal(tmp_path, resume=True) as journal:
        assert (journal.find("one"), journal.find("two")) == (GOOD, GOOD)


def test_no_damage_of_a_byte_is_believed(tmp_path):
    """Every byte of a line changed in turn: the line is passed over, and the other is found."""
    fill(tmp_path, one=BAD, two=GOOD)
    path = tmp_path / store.NAME
    whole = path.read_bytes()
    first = whole.index(b"\n")
    for place in range(0, first + 1, 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x15]) + whole[place + 1 :])
        with Journal(tmp_path, resume=True) as journal:
            assert journal.find("one") is None, place
            if place < first:  # else both are on one line
                assert journal.find("two") == GOOD


def test_garbage_is_no_crash(tmp_path):
    rubbish = [b"\xff\xfe\x00", b"{}", b"[" * 5000, b'{"key":1,"checksum":"0"}', b"", b"null"]
    (tmp_path / store.NAME).write_bytes(b"\n".join(rubbish))
    with Journal(tmp_path, resume=True) as journal:
        assert len(journal) == 0
        assert "5 lines" in journal.notes[0]
        journal.put("one", JOB, GOOD)
        assert journal.find("one") == GOOD


def test_a_new_run_moves_the_old_journal_aside_and_resuming_takes_it_back(tmp_path):
    fill(tmp_path, one=GOOD)
    with Journal(tmp_path) as journal:
        assert journal.find("one") is None
        assert "--resume continues it" in journal.notes[0]
        journal.put("two", JOB, BAD)
    with Journal(tmp_path, resume=True) as journal:
        assert (journal.find("one"), journal.find("two")) == (GOOD, BAD)
        journal.finish()
    with Journal(tmp_path) as journal:
        assert journal.notes == []
        assert len(journal) == 0
    assert (tmp_path / "cells.old.jsonl").is_file()


def test_one_run_at_a_time(tmp_path):
    with Journal(tmp_path):
        program = (
            "from pathlib import Path; from dynbench.benchmarks.processes.journal import Journal; "
            f"Journal(Path({str(tmp_path)!r}))"
        )
        other = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
        assert f"is in use by another run (process {os.getpid()} on " in other.stderr.splitlines()[-1]
    Journal(tmp_path).close()


def test_a_folder_that_cannot_be_written_is_an_error_at_once(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(DynbenchError, match="file: File exists; results cannot be written there"):
        Journal(tmp_path / "file")
    with pytest.raises(DynbenchError, match="Not a directory"):
        Journal(tmp_path / "file" / "below")

    def refuse(*given, **named):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DynbenchError, match="Read-only file system"):
        Journal(tmp_path)


def test_a_full_disk_ends_the_run_and_keeps_what_was_finished(tmp_path, monkeypatch):
    real = os.write

    def partial(descriptor, data):
        monkeypatch.setattr(os, "write", full)
        return real(descriptor, data[:10])

    def full(descriptor, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Journal(tmp_path) as journal:
        journal.put("one", JOB, GOOD)
        monkeypatch.setattr(os, "write", partial)
        with pytest.raises(DynbenchError, match=r"No space left on device; the 1 cells .* are kept"):
            journal.put("two", JOB, GOOD)
        monkeypatch.setattr(os, "write", real)
        journal.put("three", JOB, GOOD)
    with Journal(tmp_path, resume=True) as journal:
        assert [journal.find(name) for name in ("one", "two", "three")] == [GOOD, None, GOOD]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.csv"
    files.write_text(path, "before")

    def fail() -> None:
        with files.replaced(path) as file:
            file.write("half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(DynbenchError, match=r"a.csv cannot be written: No space left"):
        fail()
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.csv"]


def cell(**changed) -> Job:
    arguments = {"robot": "two-link", "method": "newton-euler", "quantities": ["bias"], "seed": 0, **changed}
    return Job("dynbench.benchmarks.timing.counts:count", arguments)


def test_keys_do_not_depend_on_order():
    arguments = list(cell().arguments.items())
    found = {keys.key(Job(cell().function, dict(order))) for order in itertools.permutations(arguments)}
    assert len(found) == 1
    assert keys.key(dataclasses.replace(cell(), timeout=1.0, memory=1, owner="x")) in found


def test_keys_change_with_what_was_asked():
    changed = [cell(), cell(robot="panda"), cell(method="kane"), cell(quantities=["mass_matrix"]), cell(seed=1)]
    assert len({keys.key(job) for job in changed}) == 5


URDF = """<robot name="arm"><link name="base"/><link name="a"><inertial><origin xyz="0 0 0.5"/><mass value="1.0"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">
<parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint></robot>"""


def test_a_robot_is_known_by_its_content(tmp_path):
    path, other = tmp_path / "arm.urdf", tmp_path / "moved.urdf"
    path.write_text(URDF)
    other.write_text(f"<!-- moved -->{URDF}")
    first = keys.key(cell(robot=str(path)))
    assert keys.key(cell(robot=str(other))) == first
    other.write_text(URDF.replace('"1.0"', '"1.1"'))
    keys._robot.cache_clear()
    assert keys.key(cell(robot=str(other))) != first


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A method of another package, a folder with two files."""
    folder = tmp_path / "foreign_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "data.txt").write_text("1")
    (folder / "method.py").write_text(
        "from dataclasses import dataclass\nfrom dynbench.methods import Method\n"
        "@dataclass(frozen=True)\nclass Foreign(Method):\n"
        "    name, title, reference, stiffness = 'foreign', 'F', 'none', 1.0\n    stiffness: float = 1.0\n"
        "    def prepare(self, robot): raise NotImplementedError\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from foreign_package.method import Foreign

    known, broken = registry.available()
    monkeypatch.setattr(registry, "_scan", lambda: ({**known, "foreign": Foreign}, broken))
    yield folder, Foreign
    for name in ("foreign_package", "foreign_package.method"):
        sys.modules.pop(name)


def forget() -> None:
    for function in (keys._method, keys._tree, keys._closure):
        function.cache_clear()


def test_a_method_is_known_by_its_sources_options_and_engine(plugin, monkeypatch):
    folder, kind = plugin
    found = [keys.key(cell(method="foreign"))]

    def again() -> str:
        forget()
        return keys.key(cell(method="foreign"))

    assert again() == found[0]
    (folder / "data.txt").write_text("2")
    found.append(again())
    with (folder / "method.py").open("a") as file:
        file.write("# a comment is a change too: nobody can tell\n")
    found.append(again())
    monkeypatch.setattr(methods, "get", lambda name: kind(stiffness=2.0))
    found.append(again())
    monkeypatch.setattr(kind, "requires", ("numpy",))
    found.append(again())
    forget()
    assert len(set(found)) == 5


def test_a_method_of_ours_is_known_by_all_that_it_imports():
    """A change of a shared kernel is a change of every method that uses it, and of no other."""
    before = {name: keys._closure(f"dynbench.methods.{name}") for name in ("kane", "newton_euler")}
    assert before["kane"] != before["newton_euler"]
    real = keys._tree.__wrapped__
    try:
        keys._closure.cache_clear()
        keys._tree = lambda path: "changed" if path.name == "kane.py" else real(path)
        assert keys._closure("dynbench.methods.kane") != before["kane"]
        assert keys._closure("dynbench.methods.newton_euler") == before["newton_euler"]
        keys._closure.cache_clear()
        keys._tree = lambda path: "changed" if path.name == "compiled.py" else real(path)
        for name, digest in before.items():
            assert keys._closure(f"dynbench.methods.{name}") != digest
    finally:
        import functools

        keys._tree = functools.cache(real)
        keys._closure.cache_clear()


@pytest.mark.parametrize("package", ["numpy", "dynbench"])
def test_versions_are_part_of_the_key(package, monkeypatch):
    before = keys.key(cell())
    monkeypatch.setattr(keys, "package_version", lambda name: "0.0" if name == package else "1.0")
    after = keys.key(cell())
    monkeypatch.setattr(keys, "package_version", lambda name: "1.0")
    assert len({before, after, keys.key(cell())}) == 3


def test_timings_belong_to_a_processor_and_counts_do_not(monkeypatch):
    timed = Job("dynbench.benchmarks.timing.startup:prepare_seconds", {"robot": "two-link", "method": "kane"})
    before = keys.key(timed), keys.key(cell())
    monkeypatch.setattr(keys, "cpu_model", lambda: "another")
    assert keys.key(timed) != before[0]
    assert keys.key(cell()) == before[1]


def test_the_judge_of_problems_is_no_method_and_has_a_key():
    """A full run asks for it beside the methods."""
    problem = {"module": "pendulum", "name": "pendulum"}
    judged, run = (running.job_of(problem, name, True, 60.0) for name in (exudyn_judge.NAME, "newton-euler"))
    newer = dataclasses.replace(judged, arguments={**judged.arguments, "engine": "99"})
    assert len({keys.key(job) for job in (judged, run, newer)}) == 3
