"""The report of a real run that is part of the site: its rows are stored, the page is made when the site is built.

    python docs/sample_report.py DIR        store the rows of the run in DIR, a folder that `dynbench bench` wrote

Only what a page is made from is kept, compressed (docs/sample/run.tar.xz): tables, environment, worst cases, recorded
motions. Numbers of tables and motions are rounded to five digits, which halves the file.
"""

from __future__ import annotations

import io
import json
import re
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

STORED = Path(__file__).parent / "sample" / "run.tar.xz"
LEFT_OUT = ("results.csv",)  # repeats what the others have
LONG = re.compile(r"(?<![\w.])-?\d+\.\d{3,}(?:e[+-]?\d+)?(?![\w.])")  # numbers, not versions or names
PRIVATE = ("folder",)  # of environment.json


def store(folder: Path, target: Path = STORED) -> None:
    """Pack the rows of a run: the same rows give the same bytes."""
    files = sorted([*folder.glob("*.csv"), folder / "worst.json", *folder.glob("simulations/*.json")])
    found = {file.relative_to(folder).as_posix(): rounded(file) for file in files if file.name not in LEFT_OUT}
    facts = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    kept = {name: value for name, value in facts.items() if name not in PRIVATE}
    found["environment.json"] = json.dumps(kept, indent=1).encode()
    target.parent.mkdir(exist_ok=True)
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for name, content in sorted(found.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def rounded(file: Path) -> bytes:
    """Return the content of a file with numbers of five digits; worst cases are two numbers that differ in the last."""
    text = file.read_text(encoding="utf-8")
    if file.name != "worst.json":
        text = LONG.sub(lambda found: f"{float(found[0]):.5g}", text)
    return text.encode()


def facts() -> dict[str, Any]:
    """Return the environment of the stored run."""
    with tarfile.open(STORED) as archive:
        file = archive.extractfile("environment.json")
        assert file is not None
        found: dict[str, Any] = json.load(file)
        return found


def write(folder: Path) -> Path:
    """Make the page of the stored run; nothing of it is run again."""
    from dynbench.reports import html

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.html"
    with tempfile.TemporaryDirectory() as place, tarfile.open(STORED) as archive:
        archive.extractall(place, filter="data")
        path.write_text(html.page_alone(Path(place)), encoding="utf-8")
    return path


def described() -> str:
    """Return what was run, where and when, and the link to the page, as text for a page of the site."""
    found = facts()
    timing = found.get("timing") or {}
    said = f" Timing was {timing['sentence']}." if "sentence" in timing else ""
    return (
        f"`{found['command']}`, {found['date'][:10]}, {found['cpu']}, {found['cores']} cores, commit "
        f"{found['commit']}.{said}\n\n"
        '<p><a href="sample/report.html"><b>Open the sample report</b></a></p>'
    )


if __name__ == "__main__":
    store(Path(sys.argv[1]))
    print(f"{STORED}: {STORED.stat().st_size / 1000:.0f} kB")
