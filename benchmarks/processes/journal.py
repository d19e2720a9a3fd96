"""The journal of a results folder: every finished cell as a line of ``cells.jsonl``, on disk before the next begins.

    {"key": ..., "what": {"function", "arguments"}, "answer": {"value", "reason", "outcome", "output", "seconds"},
     "host": ..., "checksum": ...}

Lines are only appended, each by one write that is followed by a sync, so that a run that is killed loses nothing that
was finished. A line that is incomplete or was changed later fails its checksum and is ignored; so is a line without a
valid outcome, which an older version wrote (its key, which contains the sources, would not be found again anyway). The
file is JSON, not pickle: reading an untrusted journal executes nothing. The last line of a key counts.

A cell is found by its key (`keys`), a digest of contents that does not depend on names or on the order of a run. Only
one run at a time may use a folder: `Journal` holds a lock on ``.lock`` while it is open.
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
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.robots.errors import DynbenchError

NAME = "cells.jsonl"
LOCK = ".lock"
END = "end"  # key of the line that marks the end of a run
ANSWER = {"value", "reason", "outcome", "output", "seconds"}
LONG = 200  # characters of a text argument that are written out


class Journal:
    """The finished cells of a folder; ``with Journal(folder) as journal: ...``.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    resume : bool
        Whether to use the cells of earlier runs; otherwise their journal is renamed.
    retry_failed : bool
        Whether to ignore cells whose outcome is a failure.

    Raises
    ------
    DynbenchError
        If the folder cannot be used: it is not a folder, cannot be written, or another run uses it.
    """

    def __init__(self, folder: Path, resume: bool = False, retry_failed: bool = False) -> None:
        self.folder = folder
        self.path = folder / NAME
        self.notes: list[str] = []  # for the user, about what was found
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
                self._restore()
        except OSError as error:
            self.close()
            message = error.strerror or str(error)
            raise DynbenchError(f"{folder}: {message}; results cannot be written there") from error
        except DynbenchError:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._where)

    def find(self, key: str) -> Answer | None:
        """Return the answer of a cell, None if there is none or if it failed and failed cells are to be retried."""
        if key not in self._where:
            return None
        offset, length = self._where[key]
        line = _checked(os.pread(self._file, length, offset))
        if line is None:
            return None
        stored = line["answer"]
        answer = Answer(**{**stored, "outcome": Outcome(stored["outcome"])}, host=line["host"])
        return None if answer.outcome.failure and self.retry_failed else answer

    def put(self, key: str, job: Job, answer: Answer) -> None:
        """Write a finished cell to disk; one that was interrupted is not finished, and is not written."""
        if answer.outcome is Outcome.INTERRUPTED:
            return
        what = {"function": job.function, "arguments": {name: _short(x) for name, x in job.arguments.items()}}
        stored = {name: getattr(answer, name) for name in ANSWER}
        self._write({"key": key, "what": what, "answer": stored, "host": answer.host or here()})

    def finish(self) -> None:
        """Write that the run is complete."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        answer = {"value": now, "reason": "", "outcome": Outcome.NUMBER}
        self._write({"key": END, "what": {}, "answer": answer, "host": here()})
        del self._where[END]

    def _write(self, content: dict[str, Any]) -> None:
        body = dumps(content)
        line = f'{body[:-1]},"checksum":"{_checksum(body)}"}}\n'.encode()
        self._where[content["key"]] = self._append(line if self._whole else b"\n" + line)

    def _append(self, data: bytes) -> tuple[int, int]:
        """Write at the end and sync; return offset and length."""
        try:
            start = os.lseek(self._file, 0, os.SEEK_END)
            self._whole = False
            written = os.write(self._file, data)
            if written < len(data):  # a full disk takes a part, and raises the reason at the next write
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
            self.notes.append(f"{self.path}: {bad} line{'s' * (bad > 1)} damaged or of an older version, not used")
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

    def _restore(self) -> None:
        """Add the cells of unfinished runs whose journals were renamed."""
        for old in sorted(self.folder.glob("cells-*.jsonl"), reverse=True):
            with open(old, "rb") as file:
                for line in file:
                    found = _checked(line)
                    if found is not None and found["key"] not in self._where:
                        self._where[found["key"]] = self._append(line)
            old.unlink()

    def close(self) -> None:
        """Release the lock."""
        for descriptor in (self._file, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._lock = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _locked(path: Path) -> int:
    """Return a descriptor that holds the lock; the system releases it when this process ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        import fcntl
    except ImportError:  # no flock on this system
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
    """The content of a line, None if it is damaged or not of this version."""
    try:
        text = line.decode()
        body, mark, checksum = text.rstrip("\n").rpartition(',"checksum":"')
        if not mark or not text.endswith("\n") or checksum != f'{_checksum(body + "}")}"}}':
            return None
        found = loads(body + "}")
    except (UnicodeDecodeError, ValueError, RecursionError):
        return None
    whole = isinstance(found, dict) and isinstance(found.get("key"), str) and isinstance(found.get("answer"), dict)
    known = whole and set(found["answer"]) <= ANSWER and found["answer"].get("outcome") in set(Outcome)
    return found if known and isinstance(found.get("host"), str) else None


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def _short(value: Any) -> Any:
    """An argument as it is shown in the journal; the key depends on all of it."""
    if isinstance(value, str) and len(value) > LONG:
        return f"{value[:20]}... ({len(value)} characters, sha256 {hashlib.sha256(value.encode()).hexdigest()[:12]})"
    if isinstance(value, (list, tuple)):
        return [_short(item) for item in value]
    return value
