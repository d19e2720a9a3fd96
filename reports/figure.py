"""A figure: what it shows, how to read it, its data, and how to draw it; rendered as SVG, PDF and CSV.

Everything that belongs to a method is tagged as it is drawn (`Sheet.tag`). In the SVG a tag becomes a group with the
attributes ``data-method`` and ``data-other``, by which the page's script hides a method in all figures at once.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynbench.benchmarks.results import tables
from dynbench.reports import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

WIDTH = 8.2  # inches
COORDINATES = re.compile(r'( (?:d|x|y|points|transform)=")([^"]*)"')
DECIMALS = re.compile(r"(\.\d\d)\d+")
GROUP = re.compile(r'<g id="([^"]*)"')
UNTURNED = re.compile(r' transform="rotate\(-?0 [^)]*\)"')
FONTS = "'DejaVu Sans', sans-serif"  # as matplotlib writes those of `style`
GROUPS = re.compile(r"(</?g\b[^>]*>\n)")
TAG = re.compile(r"tag-(\d+)")


@dataclass
class Sheet:
    """A matplotlib figure, and the methods that its artists belong to."""

    canvas: Canvas
    tags: list[tuple[str, str]] = field(default_factory=list)

    def tag(self, artist: Any, method: str, other: str = "") -> None:
        """Say that an artist belongs to a method, or to a pair of them."""
        artist.set_gid(f"tag-{len(self.tags)}")
        self.tags.append((method, other))

    def axes(self, rows: int = 1, columns: int = 1, **options: Any) -> list[Axes]:
        """Return so many pairs of axes, row by row."""
        return list(self.canvas.subplots(rows, columns, squeeze=False, **options).flat)

    def legend(self, methods: Sequence[str], names: dict[str, str] | None = None, lines: bool = True) -> None:
        """Put a legend of methods below, each tagged; ``lines`` False where dashes mean something else."""
        from matplotlib.lines import Line2D

        handles = []
        for method in methods:
            look = style.look(method)
            label = (names or {}).get(method, method)
            dash: Any = look.dash if lines else ""
            handles.append(Line2D([], [], color=look.colour, marker=look.marker, linestyle=dash, label=label))
        if not handles:
            return
        columns = min(len(handles), 4 if max(len(str(handle.get_label())) for handle in handles) < 30 else 2)
        legend = self.canvas.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=2.6)
        for method, handle, text in zip(methods, legend.legend_handles, legend.get_texts(), strict=True):
            self.tag(handle, method)
            self.tag(text, method)


@dataclass(frozen=True)
class Figure:
    """One figure; nothing is drawn before `render`."""

    name: str  # of its files
    title: str
    caption: str  # says how to read it
    columns: Sequence[str]  # of its data, with units
    rows: Sequence[Sequence[Any]]
    draw: Callable[[Sheet], None]
    height: float = 3.2  # inches
    width: float = WIDTH
    pairs: bool = False  # cells are pairs of methods, which the page lets one open


@dataclass(frozen=True)
class Rendered:
    """A figure in all its forms."""

    figure: Figure
    inline: str  # SVG for the page: colours by CSS variables
    svg: str
    pdf: bytes
    csv: str

    def write(self, folder: Path) -> None:
        """Write the three files."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.figure.name}.svg").write_text(self.svg, encoding="utf-8")
        (folder / f"{self.figure.name}.pdf").write_bytes(self.pdf)
        (folder / f"{self.figure.name}.csv").write_text(self.csv, encoding="utf-8")


def render(figure: Figure) -> Rendered:
    """Draw a figure: the same rows give the same bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    with style.applied(figure.name):
        canvas = Canvas(figsize=(figure.width, figure.height), layout="constrained")
        FigureCanvasAgg(canvas)
        sheet = Sheet(canvas)
        figure.draw(sheet)
        svg, pdf = io.StringIO(), io.BytesIO()
        canvas.savefig(svg, format="svg", metadata={"Date": None, "Creator": None, "Title": figure.title})
        canvas.set_layout_engine("none")  # what was laid out once stays, at half the time
        canvas.savefig(pdf, format="pdf", metadata={"CreationDate": None, "Creator": None, "Title": figure.title})
    text = _tidy(svg.getvalue(), figure, sheet.tags)
    return Rendered(
        figure, style.themed(_inline(text, figure)), text, pdf.getvalue(), tables.text(figure.columns, figure.rows)
    )


def _tidy(svg: str, figure: Figure, tags: Sequence[tuple[str, str]]) -> str:
    """Without prolog and metadata; tags as attributes; no ids but those of definitions, which are the figure's own."""

    def group(match: re.Match[str]) -> str:
        tag = TAG.fullmatch(match[1])
        if tag is None:
            return "<g"
        method, other = tags[int(tag[1])]
        second = f' data-other="{escape(other)}"' if other else ""
        return f'<g data-method="{escape(method)}"{second}'

    def shortened(match: re.Match[str]) -> str:
        return match[1] + DECIMALS.sub(r"\1", " ".join(match[2].split())) + '"'

    svg = svg[svg.index("<svg ") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style type=\"text/css\">.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*</defs>", "", svg)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace(f" font-family: {FONTS};", "").replace(
        "<svg ", f'<svg style="stroke-linejoin: round; font-family: {FONTS.replace(",", ", system-ui,", 1)}" ', 1
    )
    svg = UNTURNED.sub("", COORDINATES.sub(shortened, svg))
    return ungrouped(GROUP.sub(group, re.sub(r">\s+<", ">\n<", svg)))


def ungrouped(svg: str) -> str:
    """The SVG without groups that say nothing; neighbours that say the same become one. A third of a large figure."""
    kept: list[str] = []
    within: list[str] = []  # the groups that are open, "" for those that are left out
    ended = ""  # the last that was closed
    for piece in GROUPS.split(svg):
        if piece == "</g>\n":
            group = within.pop()
            if group:
                kept.append(piece)
                ended = group
        elif piece == "<g>\n":
            within.append("")
        elif piece.startswith("<g "):
            if piece == ended and kept[-1] == "</g>\n":
                kept.pop()
            else:
                kept.append(piece)
            within.append(piece)
        elif piece and piece != "<g/>\n":
            kept.append(piece)
    return "".join(kept)


def _inline(svg: str, figure: Figure) -> str:
    """For the page: as wide as it may be, and with a name that is read out."""
    head, rest = svg[: svg.index(">")], svg[svg.index(">") :]
    head = re.sub(r' (width|height)="[^"]*"', "", head)
    role = "group" if figure.pairs else "img"
    return f'{head} role="{role}" aria-label="{escape(figure.title)}" id="svg-{escape(figure.name)}"{rest}'
