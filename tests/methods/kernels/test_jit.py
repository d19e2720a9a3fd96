"""Helpers have no machine code of their own; drivers and functions of numba's own link all that they reach."""

from __future__ import annotations

import numba
import numpy as np
from numba.extending import register_jitable

from dynbench import methods
from dynbench.methods.kernels import jit, scalar
from dynbench.methods.kernels.compiled import compile_kernel
from dynbench.methods.kernels.jit import DRIVER, HELPER, DriverLibrary, HelperLibrary, reached


@register_jitable(**HELPER)
def lowest(x):
    return x + 1.0


@register_jitable(**HELPER)
def left(x):
    return 2.0 * lowest(x)


@register_jitable(**HELPER)
def right(x):
    return 3.0 * lowest(x) + left(x)


def top(x):
    return left(x) - right(x) + np.sum(np.array([x, lowest(x)]))


def library(function):
    (compiled,) = function.overloads.values()
    return compiled.library


def test_a_driver_links_what_it_reaches_once_and_in_any_order():
    driver = numba.njit(nogil=True, **DRIVER)(top)
    assert driver(5.0) == top(5.0)
    assert isinstance(library(driver), DriverLibrary)


def test_functions_of_numbas_own_can_call_helpers():
    assert numba.njit(top)(5.0) == top(5.0)


def test_callers_come_before_what_they_call():
    class Named(HelperLibrary):
        def __init__(self, *needs):
            self._linking_libraries = list(needs)

    bottom = Named()
    one = Named(bottom)
    two = Named(one, bottom)
    order = list(reached([bottom, two, one]))
    assert sorted(map(id, order)) == sorted(map(id, (bottom, one, two)))
    assert [order.index(each) for each in (two, one, bottom)] == [0, 1, 2]


def test_a_kernel_is_optimized_once(monkeypatch, tmp_path):
    """A helper that were optimized by itself, as numba does it, would be counted too."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    optimized = []

    def record(owner):
        original = owner._optimize_final_module

        def recorded(library):
            optimized.append(type(library))
            original(library)

        monkeypatch.setattr(owner, "_optimize_final_module", recorded)

    record(jit.codegen.JITCodeLibrary)
    record(DriverLibrary)  # has its own
    kernel = methods.get("kane").kernels["inverse_dynamics"]
    copy = scalar.generic(scalar.with_globals(kernel, "kane_again", kernel.__module__, {}))
    compile_kernel(copy, "state", batch=False)
    assert optimized.count(DriverLibrary) == 1
    assert HelperLibrary not in optimized
