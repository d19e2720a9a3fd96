"""From the text of LLVM IR to machine code in this process, and objects kept on disk.

An object is kept under a key that its maker chooses: everything the code depends on. The first bytes of a kept file
are a digest of the rest, so that a torn or damaged file is compiled again instead of being run.
"""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from dynbench.methods.kernels import cache

DIGEST = 32  # bytes of SHA-256 in front of an object
LOCK = threading.RLock()  # LLVM's global context is not for several threads at a time


class Library:
    """Functions of one object, alive as long as this is."""

    def __init__(self, code: bytes) -> None:
        import llvmlite.binding as llvm

        with LOCK:
            empty = llvm.parse_assembly("")
            # an engine takes its target machine with it when it goes, so each has one of its own
            self.engine: Any = llvm.create_mcjit_compiler(empty, _new_target_machine())
            self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self.engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function."""
        with LOCK:
            found: int = self.engine.get_function_address(name)
        if not found:
            raise LookupError(f"the compiled object has no function {name!r}")
        return found


def compile_text(text: str) -> bytes:
    """Return the object that the text of a module compiles to, for this processor."""
    import llvmlite.binding as llvm

    machine = _target_machine()
    with LOCK:
        module = llvm.parse_assembly(text)
        module.triple = llvm.get_process_triple()
        module.data_layout = str(machine.target_data)
        code: bytes = machine.emit_object(module)
        return code


@functools.cache
def _target_machine() -> Any:
    return _new_target_machine()


def _new_target_machine() -> Any:
    import llvmlite.binding as llvm

    with LOCK:
        with suppress(RuntimeError):  # newer releases have done so themselves
            llvm.initialize()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_triple(llvm.get_process_triple())
        return target.create_target_machine(cpu=cpu(), features=_features(), opt=3, reloc="default", jit=True)


@functools.cache
def cpu() -> str:
    """Return LLVM's name of this processor."""
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())


@functools.cache
def _features() -> str:
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_features().flatten())


def has(feature: str) -> bool:
    """Return whether this processor has a feature by LLVM's name, such as "avx512f"."""
    return f"+{feature}" in _features().split(",")


def target_key() -> str:
    """Return what decides how text is compiled here: releases, processor and its features."""
    import llvmlite

    return f"{llvmlite.__version__} {cpu()} {_features()}"


def attributes(name: str = "#0", width: int = 512) -> str:
    """Return an attribute group for functions: a stack on cache lines, vectors as wide as they are written."""
    return (
        f"attributes {name} = {{ nounwind alignstack=64 "
        f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}" "no-trapping-math"="true" }}\n'
    )


def hex_double(x: float) -> str:
    """Return a double as IR writes it, exact to the bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


# Objects on disk ----------------------------------------------------------------------------------------------------

UNUSED_DAYS = 30


def kept(folder: Path, key: str) -> bytes | None:
    """Return the object kept under a key, or None if there is none, or none that is whole."""
    try:
        data = _file(folder, key).read_bytes()
    except OSError:
        return None
    code = data[DIGEST:]
    return code if code and hashlib.sha256(code).digest() == data[:DIGEST] else None


def keep(folder: Path, key: str, code: bytes) -> None:
    """Keep an object; a folder that cannot be written to keeps nothing, which costs time only and is said once."""
    path = _file(folder, key)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_unused(path.parent)
        fresh.write_bytes(hashlib.sha256(code).digest() + code)
        fresh.replace(path)
    except OSError as error:
        cache.not_kept(error)
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def _file(folder: Path, key: str) -> Path:
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:40]}.o"


def _remove_unused(folder: Path) -> None:
    """Remove neighbours of a new folder that have not been written to for long."""
    prefix = folder.name.partition("-")[0]
    for old in folder.parent.glob(f"{prefix}-*"):
        if old != folder and time.time() - old.stat().st_mtime > UNUSED_DAYS * 86400:
            for file in old.glob("*.o*"):
                file.unlink(missing_ok=True)
            with suppress(OSError):
                old.rmdir()
