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

TESTS = Path(__file__).parent

# Files that take long, in the order in which they begin; one of them begun last would leave the other worker without
# work. Kernels are compiled once and then read from the disk, except that two workers may compile the same one at the
# same time. So while one begins with the kernels of trees, the other begins with those of loops; files with kernels of
# both follow.
FIRST = (
    "benchmarks/test_planted_faults.py",
    "methods/test_loops_judged.py",
    "methods/test_loops.py",
    "benchmarks/papers/test_virtual_spring_denoc.py",
    "methods/test_constraints.py",
    "benchmarks/test_loop_motion.py",
    "benchmarks/test_problems.py",
    "methods/traced/test_agreement.py",
    "test_conformance.py",
    "methods/test_extras.py",
    "methods/test_derivatives.py",
    "benchmarks/test_cli.py",
    "benchmarks/test_campaign.py",
    "test_packaging.py",
    "methods/test_couplings.py",
    "benchmarks/test_escaped.py",
    "reports/test_browser.py",
    "methods/test_lagrange_stewart.py",
    "benchmarks/papers/test_lagrange_stewart.py",
    "docs/test_docs.py",
    "benchmarks/test_timing.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Record what passes, once: workers of pytest-xdist report to the process that started them."""
    if not hasattr(config, "workerinput") and os.environ.get("DYNBENCH_EARLIER_USE") != "1":
        config.pluginmanager.register(earlier.Recorder())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files first, and leave the order as it is otherwise; leave out what another session passed."""
    earlier.leave_out(config, items)
    places = {TESTS / file: place for place, file in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path, len(FIRST)))


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
