"""The page: self-contained, complete for every kind of run, the same for the same rows, harmless whatever names say."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dynbench.reports import html
from dynbench.robots.errors import DynbenchError

SECTIONS = ("compared", "coverage", "agreement", "speed", "scaling", "counts", "precision", "problems", "simulations",
            "papers", "invariants", "limitations", "reproduce")  # fmt: skip
SCRIPT, FORMULA = "<script>alert(1)</script>", "=cmd()"
LARGEST = 5e6  # bytes


class Reader(HTMLParser):
    """Collects tags with their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def page(folder: Path) -> str:
    return html.write_report(folder).read_text(encoding="utf-8")


def test_the_page_has_all_sections_in_order(report: Path) -> None:
    ids = re.findall(r'<h2 id="([\w-]+)"', (report / "report.html").read_text(encoding="utf-8"))
    assert tuple(ids) == (*SECTIONS, "case-title")


def test_the_page_asks_for_nothing_and_is_small(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    read = Reader(text)
    keys = ("href", "src", "xlink:href")
    links = [value for _, attributes in read.tags for key in keys if (value := attributes.get(key))]
    assert links
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"@import|url\((?!#)", text)
    policy = next(tag["content"] for tag in read.all("meta") if tag.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_ids_are_unique_and_labels_point_somewhere(report: Path) -> None:
    read = Reader((report / "report.html").read_text(encoding="utf-8"))
    ids = [value for _, attributes in read.tags if (value := attributes.get("id"))]
    assert len(ids) == len(set(ids))
    anchors = [value[1:] for tag in read.all("a") if (value := tag.get("href")) and value.startswith("#")]
    assert set(anchors) <= set(ids)


def test_every_figure_has_a_caption_its_files_and_its_data(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    figures = re.findall(r'<figure class="plot[^"]*" id="figure-([\w-]+)">(.*?)</figure>', text, re.DOTALL)
    assert len(figures) >= 8
    for name, body in figures:
        assert len(re.search(r"<figcaption>(.*?)</figcaption>", body, re.DOTALL)[1]) > 30, name  # type: ignore[index]
        assert f'download="{name}.csv"' in body
        assert f'data-download="{name}"' in body
        for ending in ("svg", "pdf", "csv"):
            assert (report / "figures" / f"{name}.{ending}").stat().st_size > 50
    assert {path.stem for path in (report / "figures").iterdir()} == {name for name, _ in figures}


def test_the_same_rows_give_the_same_bytes(made: Callable[..., Any], tmp_path: Path) -> None:
    folders = [made(robots=("panda",)).write(tmp_path / name / "run") for name in ("one", "two")]
    for folder in folders:
        html.write_report(folder)
    one, two = ({p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders)
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


def test_a_report_is_rebuilt_without_running_a_method(report: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from dynbench.reports import html; html.write_report(Path(sys.argv[1]));"
        "print([name for name in ('numba', 'pinocchio', 'scipy', 'dynbench.methods') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code, str(report)], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


VARIANTS: dict[str, tuple[dict[str, Any], str]] = {
    "failures": ({"disagree": True, "robots": ("panda",), "simulations": False}, "did not pass"),
    "crashes": ({"broken": True, "robots": ("panda",), "simulations": False}, "no luck &lt;b&gt;today&lt;/b&gt;"),
    "one method": ({"methods": ("newton-euler",)}, "No two methods were compared"),
    "one robot": (
        {"robots": ("panda",), "scaling": False, "claims": False, "simulations": False},
        "No simulation was run",
    ),
    "no peers": ({"methods": ("newton-euler", "gibbs-appell", "null"), "robots": ("panda",)}, "no ratios to peers"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_kind_of_run_renders(made: Callable[..., Any], tmp_path: Path, name: str) -> None:
    options, phrase = VARIANTS[name]
    text = page(made(**options).write(tmp_path))
    assert phrase in text
    assert tuple(re.findall(r'<h2 id="([\w-]+)"', text))[:-1] == SECTIONS
    assert not re.search(r"<t[dh][^>]*>(nan|None|inf)<", text)


def test_no_cell_of_a_table_is_blank(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    body = text[text.index('id="coverage"') : text.index('id="limitations"')]
    assert not re.search(r"<td[^>]*>\s*</td>", body)


def test_claims_alone_make_a_page(made: Callable[..., Any], tmp_path: Path) -> None:
    whole = made().write(tmp_path / "whole")
    for name in ("claims.csv", "errata.csv"):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    text = page(tmp_path)
    assert "Of 7 statements of 1 paper" in text
    assert "Nothing was timed" in text


def test_a_run_of_papers_alone_omits_empty_sections(made: Callable[..., Any], tmp_path: Path) -> None:
    whole = made().write(tmp_path / "whole")
    for name in ("claims.csv", "errata.csv"):
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    (tmp_path / "environment.json").write_text('{"only papers": ["a-paper"], "cpu": "a processor"}', encoding="utf-8")
    text = page(tmp_path)
    found = re.findall(r'<h2 id="([\w-]+)"', text)
    assert found[:-1] == ["papers", "limitations", "reproduce"]
    assert 'href="#speed"' not in text
    assert "a processor" in text
    assert "our own checks" not in text  # there are none


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DynbenchError, match="holds no run"):
        html.write_report(tmp_path)


def test_a_broken_file_is_named(made: Callable[..., Any], tmp_path: Path) -> None:
    made().write(tmp_path)
    (tmp_path / "environment.json").write_text("{", encoding="utf-8")
    with pytest.raises(DynbenchError, match=r"environment\.json"):
        html.write_report(tmp_path)


@pytest.fixture(scope="module")
def injected(made: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose names are attacks."""
    evil = f"evil{SCRIPT}"
    run = made(
        robots=(SCRIPT, '"><img src=x onerror=alert(1)>', "panda"),
        methods=("newton-euler", evil, FORMULA, "$x_1$ \\input{a}", "null"),
        titles={"newton-euler": FORMULA, evil: SCRIPT},
    )
    folder: Path = run.write(tmp_path_factory.mktemp("injected"))
    html.write_report(folder)
    return folder


def test_names_with_html_are_shown_not_run(injected: Path) -> None:
    text = (injected / "report.html").read_text(encoding="utf-8")
    read = Reader(text)
    assert [tag for tag in read.all("script") if tag.get("type") != "application/gzip"] == [{}]
    assert not read.all("img")
    assert not [attributes for _, attributes in read.tags if any(key.startswith("on") for key in attributes)]
    assert SCRIPT in "".join(read.text)  # shown
    assert text.count("alert(1)</script>") == 0


def test_names_with_html_are_harmless_in_figure_files(injected: Path) -> None:
    for path in (injected / "figures").glob("*.svg"):
        assert "<script" not in path.read_text(encoding="utf-8")


def test_csv_cells_are_no_formulas(injected: Path) -> None:
    for path in injected.rglob("*.csv"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not line.startswith(("=", "+", "@")), path
            assert ",=" not in line, path
            assert '"=' not in line, path


def test_tex_tables_have_no_foreign_commands(injected: Path) -> None:
    ours = {
        "usepackage",
        "begin",
        "centering",
        "caption",
        "toprule",
        "midrule",
        "bottomrule",
        "end",
        "par",
        "medskip",
        "footnotesize",
        "textsuperscript",
        "textbf",
        "textless",
        "textgreater",
        "textbackslash",
        "textquotedbl",
        "textasciicircum",
        "textasciitilde",
        "textbar",
        "ensuremath",
        "times",
        "mu",
        "pm",
    }
    for path in (injected / "tables").glob("*.tex"):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"\\([a-zA-Z]+)", text)) <= ours, path
        assert not re.search(r"(?<!\\)[$#_]", text), path
