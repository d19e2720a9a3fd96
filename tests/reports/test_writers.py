"""CSV, LaTeX, Markdown and the style: small writers, each with what it must not do."""

from __future__ import annotations

import math

import pytest

from dynbench.benchmarks.results import tables
from dynbench.reports import markdown, style, tex
from dynbench.reports.figure import Figure, Sheet, render, ungrouped
from dynbench.reports.grids import Cell, Grid, Head, Line


@pytest.mark.parametrize("text", ["=cmd()", "+1+1", "-2", "@x", "\t=1", "\r=1", "'=1"])
def test_cells_that_a_spreadsheet_would_run_are_neutralised(text: str) -> None:
    head, _, cell = tables.text(["a"], [[text]]).partition("\n")
    assert (head, cell.strip('"\n')) == ("a", f"'{text}".replace("\r", "\n"))


def test_numbers_stay_numbers_and_nan_is_empty() -> None:
    assert (
        tables.text(["a (m)", "b", "c"], [[-1.5, math.nan, None], [3, True, "x,y"]])
        == 'a (m),b,c\n-1.5,,\n3,yes,"x,y"\n'
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a_b & 5 %", r"a\_b \& 5 \%"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("$x^2$ #1 ~", r"\$x\textasciicircum{}2\$ \#1 \textasciitilde{}"),
        ("<b>", r"\textless{}b\textgreater{}"),
        ("1 µs × 2\nnext\x00", r"1 \ensuremath{\mu}s \ensuremath{\times} 2 next"),
    ],
)
def test_latex_prints_text_as_it_is(text: str, wanted: str) -> None:
    assert tex.escape(text) == wanted


def test_a_table_in_latex_has_rules_and_notes() -> None:
    grid = Grid("t", "a_b", [Head("x"), Head("y")])
    grid.lines.append(Line([Cell("r"), grid.absent("5 % short")]))
    text = tex.table(grid)
    for wanted in (
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"r & --\textsuperscript{1} \\",
        r"\textsuperscript{1} 5 \% short",
        r"\caption{a\_b}",
    ):
        assert wanted in text


def test_markdown_shows_text_as_it_is() -> None:
    assert markdown.escape("<b>|`x`\n*y*") == r"&lt;b&gt;\|\`x\` \*y\*"


def test_a_method_looks_the_same_everywhere_and_methods_differ() -> None:
    assert style.look("somebody-elses") == style.look("somebody-elses")
    looks = [style.look(name) for name in style.PLACES]
    assert len(set(looks)) == len(looks)
    assert all(look.place < len(style.LIGHT) for look in looks)
    assert len(style.LIGHT) == len(style.DARK)


def test_plugins_of_a_run_differ_from_ours_and_from_each_other_in_print() -> None:
    names = [f"plugin-{k}" for k in range(11)]
    style.assign([*style.PLACES, *names])
    looks = [style.look(name) for name in names]
    assert len({(look.marker, look.dash) for look in looks}) == len(names)  # without colours
    ours = {(look.marker, look.dash) for look in map(style.look, style.PLACES)}
    assert not ours & {(look.marker, look.dash) for look in looks}
    alone = style.look(names[3])
    style.assign(reversed(names))
    assert style.look(names[3]) == alone  # the order of a run does not matter
    many = [f"other-{k}" for k in range(100)]
    style.assign(many)
    assert len(set(map(style.look, many))) == len(many)
    style.assign(())


def contrast(one: str, two: str) -> float:
    """The ratio of luminances of two colours, as WCAG defines it."""

    def luminance(colour: str) -> float:
        channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("colours", "dark"), [(style.LIGHT, False), (style.DARK, True)])
def test_colours_of_methods_stand_out_from_the_page(colours: tuple[str, ...], dark: bool) -> None:
    page = style.page_colours(dark)["--page"]
    for colour in colours:
        assert contrast(colour, page) >= 3.0, colour


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_of_the_page_can_be_read(dark: bool) -> None:
    colours = style.page_colours(dark)
    pairs = [(f"--t{k}", f"--s{k}") for k in range(6)] + [(f"--e{k}", f"--d{k}") for k in range(4)]
    plain = ("--page", "--panel", "--good", "--tie", "--bad", "--none", "--warn-page", "--ok-page", "--faint")
    pairs += [("--ink", surface) for surface in plain]
    pairs += [("--soft", surface) for surface in ("--page", "--panel", "--faint")]
    pairs += [("--warn", "--warn-page"), ("--ok", "--ok-page"), ("--link", "--page"), ("--alarm", "--page")]
    assert {pair: contrast(*(colours[name] for name in pair)) for pair in pairs
            if contrast(*(colours[name] for name in pair)) < 4.5} == {}  # fmt: skip
    steps = [contrast(colours[f"--s{k}"], colours["--page"]) for k in range(6)]
    assert steps == sorted(steps, reverse=True)  # told apart by lightness


def _line(sheet: Sheet) -> None:
    (ax,) = sheet.axes()
    (line,) = ax.plot([0, 1], [0, 1], color=style.look("kane").colour)
    sheet.tag(line, 'a"<b>')
    ax.set_title("costs $5 & <more>")


def test_a_figure_is_tagged_escaped_themed_and_repeatable() -> None:
    figure = Figure("one", "A & B", "caption", ["x (m)"], [[1.0]], _line)
    first, second = render(figure), render(figure)
    assert first == second
    assert 'data-method="a&quot;&lt;b&gt;"' in first.svg
    assert "costs $5 &amp; &lt;more&gt;" in first.svg
    assert "var(--c2)" in first.inline
    assert "var(" not in first.svg
    assert 'aria-label="A &amp; B"' in first.inline
    assert first.pdf.startswith(b"%PDF")
    assert first.csv == "x (m)\n1.0\n"


def test_groups_that_say_nothing_go_and_neighbours_that_say_the_same_are_one() -> None:
    of_a, of_b = '<g data-method="a">\n', '<g data-method="b">\n'
    end = "</g>\n"
    nested = f"<svg>\n<g>\n<g/>\n{of_a}<g>\n1\n{end}{end}{end}{of_a}2\n{end}"
    nested += f"{of_b}3\n{of_b}4\n{end}{end}5\n{of_b}6\n{end}</svg>"
    assert ungrouped(nested) == f"<svg>\n{of_a}1\n2\n{end}{of_b}3\n{of_b}4\n{end}{end}5\n{of_b}6\n{end}</svg>"
