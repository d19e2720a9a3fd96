r"""Tables for a paper: booktabs, everything escaped, one ``tables/<name>.tex`` to be taken in with ``\input``."""

from __future__ import annotations

from pathlib import Path

from dynbench.reports.grids import Cell, Grid

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "×": r"\ensuremath{\times}",
    "µ": r"\ensuremath{\mu}",
    "±": r"\ensuremath{\pm}",
    "✗": r"\ensuremath{\times}",
    "≈": r"\ensuremath{\approx}",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "\n": " ",
    "\r": " ",
    "\t": " ",
}


def escape(text: str) -> str:
    """Return text that LaTeX prints as it is; control characters are dropped."""
    return "".join(SPECIAL.get(c, c if c.isprintable() else "") for c in text)


def table(grid: Grid, label: str = "") -> str:
    """Return a grid as a ``table`` with its title as caption, a label, and its notes below."""
    heads = " & ".join(escape(head.text) for head in grid.heads)
    lines = [" & ".join(_cell(cell) for cell in line.cells) + r" \\" for line in grid.lines]
    notes = [rf"\textsuperscript{{{k}}} {escape(note)}" for k, note in enumerate(grid.notes, 1)]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape(grid.title)}}}",
            *([rf"\label{{{key(label)}}}"] if label else []),
            rf"\begin{{tabular}}{{l{'r' * (len(grid.heads) - 1)}}}",
            r"\toprule",
            rf"{heads} \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            *([r"\par\medskip\footnotesize", r"\\ ".join(notes)] if notes else []),
            r"\end{table}",
            "",
        ]
    )


def _cell(cell: Cell) -> str:
    mark = rf"\textsuperscript{{{cell.note}}}" if cell.note else ""
    text = escape(cell.text)
    return (rf"\textbf{{{text}}}" if cell.fastest else rf"\textit{{{text}}}" if cell.look == "same" else text) + mark


def key(label: str) -> str:
    """Return a label with the characters that LaTeX takes in one."""
    return "".join(c if c.isascii() and (c.isalnum() or c in ":-.") else "-" for c in label)


def write(folder: Path, grids: list[Grid]) -> None:
    """Write one file a grid that has lines."""
    folder.mkdir(parents=True, exist_ok=True)
    for grid in grids:
        if grid.lines:
            name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in grid.name)
            (folder / f"{name}.tex").write_text(table(grid), encoding="utf-8")
