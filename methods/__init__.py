"""Methods: formulations of robot dynamics behind one contract, by name: ``get("newton-euler").prepare(robot)``.

`dynbench.methods.base` states the contract; `KernelMethod`, `TreeMethod` and `function_solver` are the ways to fulfil
it. Importing this package compiles nothing: kernels are compiled when a quantity is first called.
"""

from .base import CONTRACT, QUANTITIES, Method, Quantity, Solver
from .compare import compare
from .derived import dual_derivatives
from .frame import frame
from .function_solver import function_solver
from .kernel_method import KernelMethod, TreeMethod
from .registry import available, get, names
from .rotors import compare_rotors

__all__ = [
    "CONTRACT",
    "QUANTITIES",
    "KernelMethod",
    "Method",
    "Quantity",
    "Solver",
    "TreeMethod",
    "available",
    "compare",
    "compare_rotors",
    "dual_derivatives",
    "frame",
    "function_solver",
    "get",
    "names",
]
