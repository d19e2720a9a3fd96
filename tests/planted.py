"""Methods with planted faults, made from newton-euler: what is supposed to find faults is tried on these."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dynbench import methods
from dynbench.methods import Method, Solver, function_solver, registry
from dynbench.robots.robot import Robot


@dataclass(frozen=True)
class Planted(Method):
    """newton-euler with some of its functions replaced: quantity -> f(right function, *arguments)."""

    name: ClassVar[str] = "planted"
    title: ClassVar[str] = "Newton-Euler with a fault"
    reference: ClassVar[str] = "a test"
    computes: ClassVar[tuple[str, ...]] = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
    cost: ClassVar[str] = "O(n)"
    faults: dict[str, Callable[..., Any]] = field(default_factory=dict, hash=False)

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        right = methods.get("newton-euler").prepare(robot)
        functions = {}
        for quantity in self.computes:
            fault = self.faults.get(quantity, lambda call, *state: call(*state))
            # A batch of one: the compiled kernels are then those of the agreement tests.
            functions[quantity] = _one_state(right.whole(quantity), fault)
        return function_solver(self, robot, functions)


def _one_state(call: Callable[..., Any], fault: Callable[..., Any]) -> Callable[..., Any]:
    def right(*state: Any) -> Any:
        *arrays, last = state
        if last is None or len(arrays) == 0:  # no wrench, or the mass matrix, which takes none
            arrays = arrays if arrays else [last]
            return call(*(x[None] for x in arrays))[0]
        return call(*(x[None] for x in arrays), wrench=last[None])[0]

    return lambda *state: fault(right, *state)


@dataclass(frozen=True)
class Rough(Planted):
    """The same, with no claim to be exact."""

    name: ClassVar[str] = "rough"
    exact: ClassVar[bool] = False


def off_by(relative: float) -> Callable[..., Any]:
    """A fault: the largest component is wrong by so much of itself."""

    def fault(call: Callable[..., Any], *state: Any) -> Any:
        right = call(*state)
        wrong = right.copy()
        k = int(np.argmax(np.abs(right)))
        wrong.reshape(-1)[k] *= 1.0 + relative
        return wrong

    return fault


@contextmanager
def entry_points(monkeypatch: Any, module: Any, **points: str) -> Iterator[None]:
    """Replace the entry points that a registry of plugins sees: names, with _ for -, and what they load."""
    made = [EntryPoint(name.replace("_", "-"), value, module.GROUP) for name, value in points.items()]
    monkeypatch.setattr(module, "entry_points", lambda group: made if group == module.GROUP else [])
    module.plugins.cache_clear()
    yield
    module.plugins.cache_clear()


def install(monkeypatch: Any, folder: Path, source: str, **points: str) -> None:
    """Make a plugin package of a source in ``folder``, known to this process and to worker processes.

    ``points`` are classes by the names of their methods, with _ for -. The source may import from this folder of tests.
    """
    info = folder / "planted_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planted_plugin\nVersion: 1.0\n")
    listed = "".join(f"{name.replace('_', '-')} = planted_plugin:{point}\n" for name, point in points.items())
    (info / "entry_points.txt").write_text(f"[dynbench.methods]\n{listed}")
    (folder / "planted_plugin.py").write_text(source)
    monkeypatch.syspath_prepend(folder)
    here = str(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), here, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.delitem(sys.modules, "planted_plugin", raising=False)
    monkeypatch.setattr(registry, "_scan", functools.cache(registry._scan.__wrapped__))
