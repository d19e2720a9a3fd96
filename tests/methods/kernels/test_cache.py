"""A kernel in a plugin of its own: cached between processes, and never stale when a file it uses is edited."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dynbench.methods.kernels import cache

HELPER = """
from dynbench.methods.kernels.scalar import generic

FACTOR = 2.0

@generic
def scaled(x):
    return FACTOR * x
"""

METHOD = """
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernels.scalar import generic, load, store
from .helper import scaled

@generic
def twice(tag, model, q, out, work):
    store(tag, out, 0, scaled(load(tag, q, 0)))

class Twice(KernelMethod):
    name = "twice"
    title = reference = "test"
    kernels = {"mass_matrix": twice}

    def work_size(self, robot, quantity):
        return 1
"""

RUN = """
from dynbench.robots import load
from tiny.method import Twice

print(Twice().prepare(load("pendulum")).mass_matrix([21.0])[0, 0])
"""


@pytest.fixture
def plugin(tmp_path):
    package = tmp_path / "tiny"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text(HELPER)
    (package / "method.py").write_text(METHOD)
    return package


def run(plugin: Path, program: str = RUN) -> tuple[float, bool]:
    """The kernel's result in a new process, and whether that process compiled something to keep."""
    folder = plugin.parent / "cache"
    env = {
        **os.environ,
        "PYTHONPATH": str(plugin.parent),
        "PYTHONDONTWRITEBYTECODE": "1",  # two edits within a second would look the same to Python's own cache
        "NUMBA_CACHE_DIR": str(folder),
    }
    before = machine_code(folder)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return float(done.stdout), machine_code(folder) != before


def machine_code(folder: Path) -> dict[Path, int]:
    """numba's files of compiled code, with the time they were written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


def test_a_second_process_finds_the_kernel_and_an_edited_helper_is_never_stale(plugin):
    assert run(plugin) == (42.0, True)
    assert run(plugin) == (42.0, False)
    helper = plugin / "helper.py"
    helper.write_text(HELPER.replace("FACTOR * x", "FACTOR * x + 100.0"))
    assert run(plugin) == (142.0, True)
    helper.write_text(HELPER)
    assert run(plugin) == (42.0, False)  # as it was: the first machine code is still there


def test_what_was_loaded_before_an_edit_is_not_kept_for_the_edited_files(plugin):
    """The digest would be that of the new files, the machine code that of the old."""
    new = HELPER.replace("FACTOR * x", "FACTOR * x + 100.0")
    edit = f"import tiny.method, pathlib; pathlib.Path({str(plugin / 'helper.py')!r}).write_text({new!r})\n"
    assert run(plugin, edit + RUN) == (42.0, False)
    assert run(plugin) == (142.0, True)


def test_the_digest_covers_every_source_a_kernel_can_reach():
    import dynbench.methods.kernels.compiled
    import dynbench.methods.newton_euler.rnea  # noqa: F401

    reached = cache.sources("dynbench.methods.newton_euler.rnea")
    own = ("newton_euler.rnea", "kernels.sweeps", "kernels.tree", "kernels.vectors")
    for name in (*own, "kernels.pack", "kernels.memory", "kernels.tiles"):
        assert f"dynbench.methods.{name}" in reached
    assert "dynbench.robots.joints" in reached  # the codes of the joints are compiled in


LOADED_LATER = """
import dynbench.methods.kernels.compiled
from dynbench import methods
from dynbench.methods.kernels import cache
names = ("kane", "denoc", "newton_euler.derivatives", "maggi")
modules = [f"dynbench.methods.{name}" for name in names]
methods.get("maggi"), methods.get("kane"), methods.get("denoc")
before = [cache.digest(module) for module in modules]
import dynbench.methods.kernels.dual, dynbench.methods.traced.code
cache.digest.cache_clear()
print(before == [cache.digest(module) for module in modules], len(set(before)))
"""


def test_the_digest_does_not_depend_on_what_else_the_process_has_loaded():
    """Traced code, dual numbers and the counting of operations are imported by functions, when they are needed."""
    ended = subprocess.run([sys.executable, "-c", LOADED_LATER], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["True", "4"]


def test_a_folder_that_cannot_be_made_means_no_cache_and_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    with cache.numba_cache("dynbench.methods.newton_euler.rnea") as writable:
        assert not writable


def test_folders_unused_for_a_month_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    old, recent = tmp_path / "kernels-0123456789ab", tmp_path / "kernels-ba9876543210"
    for path in (old, recent):
        path.mkdir()
    long_ago = old.stat().st_mtime - (cache.UNUSED_DAYS + 1) * 86400
    os.utime(old, (long_ago, long_ago))
    made = cache.folder("dynbench.methods.newton_euler.rnea")
    assert made.is_dir()
    assert recent.is_dir()
    assert not old.exists()


FULL_DISK = """
import resource, warnings
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # every write to a file fails, as on a full disk
import numpy as np
from dynbench import methods, robots
from dynbench.methods.kernels import cache
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    robot = robots.load("pendulum")
    for code in ("generic", "traced"):
        solver = methods.get("newton-euler").prepare(robot, code=code)
        print(solver.inverse_dynamics(np.ones(1), np.ones(1), np.ones(1)))
said = [str(one.message) for one in caught if issubclass(one.category, cache.CacheWarning)]
print(len(said), said[0])
print(cache.unwritable())
"""


def test_on_a_full_disk_code_stays_in_memory_and_that_is_said_once(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    ended = subprocess.run(
        [sys.executable, "-c", FULL_DISK], capture_output=True, text=True, env=environment, timeout=600
    )
    assert ended.returncode == 0, ended.stderr
    first, second, said, reason = ended.stdout.splitlines()
    assert first == second
    assert said.startswith("1 compiled code cannot be kept in ")
    assert "File too large; it is compiled in memory" in said
    assert said[2:] == reason
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size]
