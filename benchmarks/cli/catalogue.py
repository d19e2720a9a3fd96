"""What there is to list, remembered from one run to the next.

Asking every method who it is means importing every method, and numpy with it: most of a second. So the answer is kept
in the user's cache folder together with what it came from: the sources that were read and the folders on the path. It
is given again only while all of these are as they were; a plugin that comes, goes or changes is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Listing = dict[str, list[dict[str, Any]]]
Stamps = dict[str, list[int] | None]


def remembered(make: Callable[[], Listing]) -> Listing:
    """Return what ``make`` returned last time if nothing it depends on has changed, else what it returns now."""
    path = place()
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["path"] == sys.path and all(stamp(file) == seen for file, seen in kept["stamps"].items()):
            found: Listing = kept["listing"]
            return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # not there, or not ours to read
    listing = make()
    if not any("broken" in entry for entries in listing.values() for entry in entries):
        keep(path, {"path": sys.path, "stamps": stamps(), "listing": listing})
    return listing


def keep(path: Path, content: dict[str, Any]) -> None:
    """Write the file whole or not at all; a folder that cannot be written to costs time, nothing else."""
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(content), encoding="utf-8")
        os.replace(draft, path)
    except OSError:
        pass


def place() -> Path:
    """One file for each Python environment."""
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    key = hashlib.sha256(f"{sys.prefix} {sys.version} {__file__}".encode()).hexdigest()[:12]
    return Path(home) / "dynbench" / f"listing-{key}.json"


def stamps() -> Stamps:
    """Everything the listing depends on: the folders on the path, the scenarios, and the modules that were loaded."""
    scenarios = Path(__file__).parents[1] / "scenarios"
    modules = [getattr(module, "__file__", None) for name, module in sorted(sys.modules.items()) if ours(name)]
    files = [*filter(os.path.isdir, sys.path), scenarios, *scenarios.rglob("*.py"), *filter(None, modules)]
    return {str(file): stamp(str(file)) for file in files}


def ours(module: str) -> bool:
    """Whether a change of this module could change the listing."""
    top = module.partition(".")[0]
    return top not in sys.stdlib_module_names and top != "numpy" and not top.startswith("__editable__")


def stamp(file: str) -> list[int] | None:
    """What changes when a file is written, or a folder gains or loses an entry."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]
