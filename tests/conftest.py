"""What all tests share: a header that says which code and which compiled kernels are being tested.

The cache folder of the compiled kernels is not set here. ``dynbench.methods.kernels.cache`` keys it on a
digest of the sources, below $NUMBA_CACHE_DIR when that is set, so that an edited callee is never stale under
plain pytest either.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import earlier
import pytest
from installing import built, installed  # noqa: F401  (fixtures of the packaging tests)

import dynbench.methods
import dynbench.robots
from dynbench.methods.kernels import cache

EXAMPLES = Path(__file__).parent.parent / "examples"

# Files that take a minute and more. They go first: one of them begun last would leave the other worker without work.
LONG = (
    "test_packaging.py",
    "test_plugins.py",
    "test_planted_faults.py",
    "test_bench.py",
    "test_conformance.py",
    "test_boltzmann_hamel.py",
    "test_virtual_spring_denoc.py",
    "test_loops_judged.py",
    "test_loops.py",
    "test_boltzmann_hamel.py",
    "test_lagrange_stewart.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Record what passes, once: workers of pytest-xdist report to the process that started them."""
    if not hasattr(config, "workerinput") and os.environ.get("DYNBENCH_EARLIER_USE") != "1":
        config.pluginmanager.register(earlier.Recorder())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files first, and leave the order as it is otherwise; leave out what another session passed."""
    earlier.leave_out(config, items)
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


@pytest.fixture(scope="module")
def example(request: pytest.FixtureRequest) -> ModuleType:
    """The file of `examples` that a file of tests is named after."""
    name = request.path.stem.removeprefix("test_")
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True, scope="module")
def compilers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compiled baselines take seconds for every robot: only their own tests run a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.name not in ("test_native.py", "test_peers.py", "test_engines.py"):
            patch.setenv("DYNBENCH_COMPILERS", "off")
        yield


def pytest_report_header() -> list[str]:
    """Name the folders: a clone called dynbench in the current folder would shadow the installed package."""
    return [
        f"dynbench: {dynbench.robots.__path__[0]}, {dynbench.methods.__path__[0]}",
        f"compiled kernels: {cache.base()}",
    ]
