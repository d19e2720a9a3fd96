"""A plugin that crashes or hangs when it is imported is found out in a process of its own, and stops nothing."""

from __future__ import annotations

import os
import subprocess
import sys

CRASHES = "import os, signal; print('here it comes', flush=True); os.kill(os.getpid(), signal.SIGSEGV)"
HANGS = "import time; time.sleep(600)"

PROGRAM = """
from dynbench.benchmarks.processes import plugins
from dynbench.benchmarks.processes.jobs import Job

def hurried(function, arguments, timeout, owner):
    return Job(function, arguments, 3.0 if owner == "hangs" else timeout, owner=owner)

plugins.Job = hurried
plugins.vet()
from dynbench import methods
found, broken = methods.available()
print("kane" in found, broken["crashes"], broken["hangs"], sep="|")
"""


def test_what_crashes_or_hangs_at_import_is_left_out_with_its_reason(tmp_path):
    info = tmp_path / "illtempered-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: illtempered\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[dynbench.methods]\ncrashes = crashing:Method\nhangs = hanging:Method\n")
    (tmp_path / "crashing.py").write_text(CRASHES)
    (tmp_path / "hanging.py").write_text(HANGS)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    kane, crashes, hangs = done.stdout.strip().split("|")
    assert kane == "True"
    assert "crashing:Method of the package 'illtempered': its import failed: killed by signal 11 (SIGSEGV)" in crashes
    assert "here it comes" in crashes
    assert "hanging:Method of the package 'illtempered': its import failed: timed out after 3 s" in hangs
