"""The journal of a results folder: every finished cell as a line of ``cells.jsonl``, on disk before the next begins.

    {"key": ..., "what": {"function", "arguments"}, "answer": {"value", "reason", "said", "seconds"}, "host": ...,
     "checksum": ...}

Lines are only ever appended, each by one write that is followed by a sync, so a run that is killed at any moment has
lost nothing that was finished. A line that is torn, or was changed since, fails its checksum and is passed over. Plain
JSON, no pickle: reading a stranger's journal runs nothing. The last line of a key counts.

A cell is found again by its key (`keys`), which is made of contents, never of names or of the order of a run. One run
at a time has a folder: `Store` holds a lock on ``.lock`` while it is open.
"""

from __future__ import annotations

import datetime
import errno
import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from dynbench.benchmarks.processes.jobs import Answer, Job, dumps, here, loads
from dynbench.robots.errors import DynbenchError

NAME = "cells.jsonl"
LOCK = ".lock"
END = "end"  # key of the line that says that a run came to its end
ANSWER = {"value", "reason", "said", "seconds"}
LONG = 200  # characters of a text argument that are written out


class Store:
    """The finished cells of a folder; ``with Store(folder) as store: ...``.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    resume : bool
        Whether to find what earlier runs finished; else their journal is moved aside.
    retry_failed : bool
        Whether what failed in an earlier run counts as not there.

    Raises
    ------
    DynbenchError
        When the folder cannot be used: it is no folder, cannot be written, or another run has it.
    """

    def __init__(self, folder: Path, resume: bool = False, retry_failed: bool = False) -> None:
        self.folder = folder
        self.path = folder / NAME
        self.notes: list[str] = []  # what should be said about what was found
        self.retry_failed = retry_failed
        self._where: dict[str, tuple[int, int]] = {}  # key: offset and length of its line
        self._file = self._lock = -1
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder / LOCK)
            if not resume:
                self._move_aside()
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            self._whole = self._read()
            if not self._whole:
                self._append(b"\n")
            if resume:
                self._take_back()
        except OSError as error:
            self.close()
            raise DynbenchError(f"{folder}: {_said(error)}; results cannot be written there") from error
        except DynbenchError:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._where)

    def find(self, key: str) -> Answer | None:
        """Return what is known of a cell: its answer, also if that is a failure that is not to be tried again."""
        if key not in self._where:
            return None
        offset, length = self._where[key]
        line = _checked(os.pread(self._file, length, offset))
        if line is None:
            return None
        answer = Answer(**line["answer"], host=line["host"])
        return None if answer.reason and self.retry_failed else answer

    def put(self, key: str, job: Job, answer: Answer) -> None:
        """Write a finished cell; when this returns it is on disk."""
        told = {"value": answer.value, "reason": answer.reason, "said": answer.said, "seconds": answer.seconds}
        what = {"function": job.function, "arguments": {name: _short(x) for name, x in job.arguments.items()}}
        self._line({"key": key, "what": what, "answer": told, "host": answer.host or here()})

    def finish(self) -> None:
        """Write that the run came to its end."""
        self._line({"key": END, "what": {}, "answer": {"value": _now(), "reason": ""}, "host": here()})
        del self._where[END]

    def _line(self, content: dict[str, Any]) -> None:
        body = dumps(content)
        line = f'{body[:-1]},"checksum":"{_checksum(body)}"}}\n'.encode()
        self._where[content["key"]] = self._append(line if self._whole else b"\n" + line)

    def _append(self, data: bytes) -> tuple[int, int]:
        """Write at the end and sync; return offset and length."""
        try:
            start = os.lseek(self._file, 0, os.SEEK_END)
            self._whole = False
            written = os.write(self._file, data)
            if written < len(data):  # a full disk takes a part, and says why at the next try
                os.write(self._file, data[written:])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file)
            self._whole = True
            return start, written
        except OSError as error:
            kept = f"the {len(self)} cells that were finished before are kept"
            raise DynbenchError(f"{self.path} cannot be written: {error.strerror}; {kept}") from error

    def _read(self) -> bool:
        """Note where each cell is; return whether the file ends with a whole line."""
        offset = bad = 0
        line = b"\n"
        with open(self.path, "rb") as file:
            for line in file:
                found = _checked(line)
                if found is not None:
                    self._where[found["key"]] = offset, len(line)
                elif line.strip():
                    bad += 1
                offset += len(line)
        if bad:
            self.notes.append(f"{self.path}: {bad} line{'s' * (bad > 1)} torn or changed, and not used")
        self._where.pop(END, None)
        return line.endswith(b"\n")

    def _move_aside(self) -> None:
        if not self.path.is_file() or not self.path.stat().st_size:
            return
        with open(self.path, "rb") as file:
            last = None
            for line in file:
                last = line
        ended = _checked(last or b"")
        if ended is not None and ended["key"] == END:
            os.replace(self.path, self.path.with_name("cells.old.jsonl"))
            return
        stamp = datetime.datetime.fromtimestamp(self.path.stat().st_mtime, datetime.UTC).strftime("%Y%m%d-%H%M%S-%f")
        kept = self.path.with_name(f"cells-{stamp}.jsonl")
        os.replace(self.path, kept)
        self.notes.append(f"{self.folder} holds an unfinished run: --resume continues it (kept in {kept.name})")

    def _take_back(self) -> None:
        """Add what unfinished runs left that were moved aside."""
        for old in sorted(self.folder.glob("cells-*.jsonl"), reverse=True):
            with open(old, "rb") as file:
                for line in file:
                    found = _checked(line)
                    if found is not None and found["key"] not in self._where:
                        self._where[found["key"]] = self._append(line)
            old.unlink()

    def close(self) -> None:
        """Give the folder free."""
        for descriptor in (self._file, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._lock = -1

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _locked(path: Path) -> int:
    """Return a descriptor that holds the lock, which ends with this process, however that ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        import fcntl
    except ImportError:  # no such locks there
        return descriptor
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 100, 0).decode("utf-8", "replace").strip() or "unknown"
        os.close(descriptor)
        raise DynbenchError(
            f"{path.parent} is in use by another run (process {holder}); wait for it, or choose another --output"
        ) from None
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} on {here()}\n".encode(), 0)
    return descriptor


def _checked(line: bytes) -> dict[str, Any] | None:
    """The content of a line, None if it is not what was once written."""
    try:
        text = line.decode()
        body, mark, checksum = text.rstrip("\n").rpartition(',"checksum":"')
        if not mark or not text.endswith("\n") or checksum != f'{_checksum(body + "}")}"}}':
            return None
        found = loads(body + "}")
    except (UnicodeDecodeError, ValueError, RecursionError):
        return None
    whole = isinstance(found, dict) and isinstance(found.get("key"), str) and isinstance(found.get("answer"), dict)
    return found if whole and set(found["answer"]) <= ANSWER and isinstance(found.get("host"), str) else None


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def _short(value: Any) -> Any:
    """An argument as it is shown in the journal; the key has all of it."""
    if isinstance(value, str) and len(value) > LONG:
        return f"{value[:20]}... ({len(value)} characters, sha256 {hashlib.sha256(value.encode()).hexdigest()[:12]})"
    if isinstance(value, (list, tuple)):
        return [_short(item) for item in value]
    return value


def _said(error: OSError) -> str:
    return error.strerror or str(error)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
