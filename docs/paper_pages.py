"""Write what was found into the pages of the papers, so that they can be read in the repository itself.

    dynbench papers --output DIR
    python docs/paper_pages.py DIR

copies claims.csv, errata.csv, provenance.csv and the papers' figures from DIR to docs/papers/ and fills the pages: what
stands between ``<!-- begin PART -->`` and ``<!-- end PART -->`` is written anew, everything else is left as it is. A
test makes the pages from the stored tables once more and compares.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PAPERS = Path(__file__).parent / "papers"
TABLES = ("claims.csv", "errata.csv", "provenance.csv")
VERDICTS = ("reproduced", "differs", "depends", "not reproducible")
EXTRA = ("table-2", "step-controls", "constraints", "reactions", "without-stops", "errors", "balances")


def main(folder: Path) -> None:
    """Copy tables and figures of a run, then write the pages."""
    for name in TABLES:
        shutil.copy(folder / name, PAPERS / name)
    figures = PAPERS / "figures"
    shutil.rmtree(figures, ignore_errors=True)
    figures.mkdir()
    rows = []
    for path in sorted((folder / "simulations").glob("*.json")):
        simulation = json.loads(path.read_text(encoding="utf-8"))
        for plot in simulation["plots"]:
            if plot["name"].startswith("fig-") or plot["name"] in EXTRA:
                file = f"{simulation['name']}-{plot['name']}.svg"
                shutil.copy(folder / "figures" / file, figures / file)
                rows.append((simulation["paper"], file, plot["title"], plot["caption"]))
        if simulation["motion"]:
            schematic(simulation, figures / f"{simulation['paper']}-robot.svg")
    with (PAPERS / "figures.csv").open("w", encoding="utf-8", newline="") as file_:
        csv.writer(file_, lineterminator="\n").writerows([("paper", "file", "title", "caption"), *rows])
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """Return every page as it should be."""
    found = {}
    for page in sorted(PAPERS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        parts = index() if page.stem == "index" else paper(page.stem)
        for part, content in parts.items():
            text = between(text, part, content, page.name)
        found[page] = text
    return found


def between(text: str, part: str, content: str, page: str = "the page") -> str:
    """Return a page with what stands between the marks of a part written anew."""
    pattern = re.compile(rf"(<!-- begin {part} -->\n).*?(<!-- end {part} -->)", re.DOTALL)
    assert pattern.search(text), f"{page} has no place for {part}"
    return pattern.sub(lambda match: f"{match[1]}\n{content}\n\n{match[2]}", text)


def paper(name: str) -> dict[str, str]:
    """Return the parts of a paper's page; those that it has nothing for are left out."""
    claims = [row for row in read("claims.csv") if row["paper"] == name]
    stated = [row for row in claims if row["kind"] == "statement"]
    checks = [row for row in claims if row["kind"] == "check"]
    parts = {
        "statements": counted(stated)
        + "\n\n"
        + table(
            ("statement", "place and words", "printed", "ours", "verdict", "why"),
            (
                (
                    row["statement"],
                    f"{row['place']}: {row['quote']}",
                    row["printed"],
                    ours(row),
                    row["verdict"],
                    row["reason"],
                )
                for row in stated
            ),
        ),
        "checks": table(
            ("check", "ours", "verdict", "why"),
            ((row["statement"], ours(row), row["verdict"], row["reason"]) for row in checks),
        ),
        "figures": figures(name),
        "provenance": table(
            ("datum", "value", "it is", "note"),
            (
                (row["item"], row["value"], row["status"], row["note"])
                for row in read("provenance.csv")
                if row["paper"] == name
            ),
        ),
        "errata": errata(name),
    }
    empty = {
        "checks": not checks,
        "figures": not any(row["paper"] == name for row in read("figures.csv")),
        "errata": not any(row["paper"] == name for row in read("errata.csv")),
    }
    return {part: content for part, content in parts.items() if not empty.get(part)}


def index() -> dict[str, str]:
    """Return the parts of the index: how many statements of each paper have which verdict."""
    rows = []
    claims, misprints = read("claims.csv"), Counter(row["paper"] for row in read("errata.csv"))
    for name in dict.fromkeys(row["paper"] for row in claims):
        of = [row for row in claims if row["paper"] == name]
        verdicts = Counter(row["verdict"] for row in of if row["kind"] == "statement")
        checks = [row["verdict"] == "reproduced" for row in of if row["kind"] == "check"]
        held = f"{sum(checks)} of {len(checks)} hold" if checks else ""
        rows.append((f"[{name}]({name}.md)", *(verdicts[word] or "" for word in VERDICTS), held, misprints[name]))
    return {"papers": table(("paper", *VERDICTS, "our checks", "errata"), rows)}


def counted(rows: list[dict[str, str]]) -> str:
    """Return a sentence with the number of statements by verdict."""
    verdicts = Counter(row["verdict"] for row in rows)
    return (
        f"{len(rows)} statements: " + ", ".join(f"{verdicts[word]} {word}" for word in VERDICTS if verdicts[word]) + "."
    )


def figures(name: str) -> str:
    """Return the figures of a paper, in the order of their numbers."""

    def number(row: dict[str, str]) -> tuple[int, str]:
        found = re.match(r"Fig\. (\d+)", row["title"])
        return (int(found[1]) if found else 99, row["file"])

    rows = sorted((row for row in read("figures.csv") if row["paper"] == name), key=number)
    return "\n\n".join(
        f"**{row['title']}**\n\n![{row['title']}](figures/{row['file']})\n\n{row['caption']}" for row in rows
    )


def errata(name: str) -> str:
    """Return the errata that can be run, then those that are typographic."""
    found = [row for row in read("errata.csv") if row["paper"] == name]
    run = [row for row in found if row["test"]]
    rest = [row for row in found if not row["test"]]
    parts = []
    if run:
        heads = ("where", "printed", "correct", "evidence", "test")
        parts.append(table(heads, ([row[head] for head in heads] for row in run)))
    if rest:
        heads = ("where", "printed", "correct", "evidence")
        parts += ["Typographic, with nothing to run:", table(heads, ([row[head] for head in heads] for row in rest))]
    return "\n\n".join(parts) or "None was found."


def ours(row: dict[str, str]) -> str:
    """Return our number with its unit."""
    return f"{float(row['measured']):.4g} {row['unit']}".strip() if row["measured"] else "–"


def read(file: str) -> list[dict[str, str]]:
    """Return the rows of a stored table."""
    with (PAPERS / file).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table in Markdown; what would end a cell or start markup in it is escaped."""
    lines = [list(head), *([escaped(cell) for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(cell: object) -> str:
    """Return a cell as Markdown that shows it as it is."""
    text = " ".join(str(cell).removeprefix("'").split())  # the CSV keeps spreadsheets from reading +3 as a formula
    if not text.startswith("["):
        parts = text.split("`")  # every second one is code, which is shown as it is
        parts[::2] = [re.sub(r"([*_<>\[\]$~^\\])", r"\\\1", part) for part in parts[::2]]
        text = "`".join(parts)
    return text.replace("|", "\\|")


def schematic(simulation: dict[str, Any], path: Path) -> None:
    """Draw the robot of a simulation as it stands at the start."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "dynbench"
    import matplotlib.pyplot as plt
    import numpy as np

    motion = simulation["motion"]
    points = np.asarray(motion["points"][0], dtype=float).reshape(-1, 3)
    turn = np.deg2rad(35.0)
    if motion["planar"]:
        x, y = points[:, 0], points[:, 1]
    else:  # seen from the side, a little from above
        x = points[:, 0] * np.cos(turn) - points[:, 1] * np.sin(turn)
        y = points[:, 2] + 0.35 * (points[:, 0] * np.sin(turn) + points[:, 1] * np.cos(turn))
    figure, axes = plt.subplots(figsize=(4.0, 3.2))
    for i, j, *_ in motion["lines"]:
        axes.plot(x[[i, j]], y[[i, j]], color="#0072b2", linewidth=3.0, solid_capstyle="round")
    for i, kind in motion["dots"]:
        axes.plot(x[i], y[i], "s" if kind == "ground" else "o", color="#1d2127", markersize=6.0)
    axes.set_aspect("equal")
    axes.set_axis_off()
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
