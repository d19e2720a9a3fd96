"""How numba compiles kernels: the options of drivers, which Python calls, and of helpers, which only drivers reach.

numba optimizes every function with all that it calls, and makes machine code of it, before it compiles the function
that calls it. A kernel is some sixty helpers in six layers, so most of that work was done several times and thrown
away: only the machine code of the driver is ever run. Here the code of a helper stays as it is until a driver links all
helpers that it reaches, each once, and optimizes them together. Compiling takes four fifths of the time (30 kernels in
one process: 67 s before, 55 s after), and the machine code is as fast (144 kernels on five robots: 0.78 to 1.09 times
as long, geometric mean 1.00).

A library is numba's name for the LLVM code of one function with what it must be linked with.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

from numba.core import codegen, compiler

FLAGS = ("contract", "nsz", "arcp")  # of floating-point instructions: never nnan or ninf, a NaN must be seen


class _NoEnvironment:
    """Stands for numba's compiler where a helper would be given its Python objects; kernels use none."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing: numba does the same for functions inside code that it reads from its cache."""


class HelperLibrary(codegen.JITCodeLibrary):
    """The code of one helper, not optimized, without what it calls."""

    _whole: Any = None

    @property
    def codegen(self) -> Any:
        return _NoEnvironment

    def add_llvm_module(self, module: Any) -> None:
        """Take the code as it is."""
        module.data_layout = self._codegen._data_layout
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Make no machine code."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code, so no function has an address."""
        self._ensure_finalized()
        return 0

    def own_module(self) -> Any:
        """Return the code of this helper alone, for linking."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the code with all that it calls, as libraries of numba's own expect it."""
        if self._whole is None:
            whole = self.own_module().clone()
            for library in reached(self._linking_libraries):
                whole.link_in(_module(library), preserve=True)
            self._whole = whole
        return self._whole


class DriverLibrary(codegen.JITCodeLibrary):
    """The code of a driver, which is linked with all helpers that it reaches, optimized and made machine code."""

    def finalize(self) -> None:
        for library in reached(self._linking_libraries):
            if again := getattr(library, "_reload_init", None):  # of newer numba: to be run when read from the cache
                self._reload_init.update(again)
            self._final_module.link_in(_module(library), preserve=True)
        self._linking_libraries: list[Any] = []
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Run LLVM's passes once: numba runs them twice, to find counts of references that cancel."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


def _module(library: Any) -> Any:
    return library.own_module() if isinstance(library, HelperLibrary) else library._get_module_for_linking()


def reached(libraries: list[Any]) -> Iterator[Any]:
    """Yield libraries and all that they must be linked with, each once, callers before what they call.

    LLVM's linker leaves out functions that nothing refers to yet.
    """
    done: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if library not in done:
            for needed in library._linking_libraries if isinstance(library, HelperLibrary) else ():
                visit(needed)
            done[library] = None

    for library in libraries:
        visit(library)
    yield from reversed(done)


class _Compiler(compiler.Compiler):
    """numba's compiler, with another class for the code."""

    library_class: Any

    def define_pipelines(self) -> Any:
        state = self.state
        if state.library is None:
            state.library = self.library_class(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return super().define_pipelines()


class HelperCompiler(_Compiler):
    library_class = HelperLibrary


class DriverCompiler(_Compiler):
    library_class = DriverLibrary


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Leave out garbage collection while a kernel is compiled.

    numba makes some hundred thousand objects a kernel and few cycles of them, but each collection looks at all objects
    of the process, which takes a seventh of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_COMMON: dict[str, Any] = {"fastmath": set(FLAGS), "error_model": "numpy", "boundscheck": False}
DRIVER: dict[str, Any] = {**_COMMON, "pipeline_class": DriverCompiler}
# wrappers for Python and C, which helpers need none of, take a sixth of the time
HELPER: dict[str, Any] = {
    **_COMMON, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": HelperCompiler,
}  # fmt: skip
