"""The page: self-contained, complete for every kind of run, the same for the same rows, harmless whatever names say."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from made_runs import add_traced

from dynbench.benchmarks.results import schema, tables
from dynbench.reports import content, html, publication, rows, verdict
from dynbench.robots.errors import DynbenchError

SECTIONS = (
    "fastest", "agree", "grow", "arithmetic", "rivals", "compared", "reproduce", "papers", "simulations", "problems",
    "limits",
)  # fmt: skip
SCRIPT, FORMULA = "<script>alert(1)</script>", "=cmd()"
LARGEST = 2.5e6  # bytes


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


def packed(folder: Path) -> dict[str, Any]:
    """What the script of a page reads."""
    text = (folder / "report.html").read_text(encoding="utf-8")
    coded = re.search(r'<script type="application/gzip" id="data">([^<]*)', text)
    assert coded is not None
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(coded[1])))
    return found


def test_the_page_has_all_sections_in_order(report: Path) -> None:
    ids = re.findall(r'<h2 id="([\w-]+)"', (report / "report.html").read_text(encoding="utf-8"))
    assert tuple(ids) == SECTIONS


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
    figures = re.findall(r'<figure class="plot[^"]*" id="figure-([\w-]+)"[^>]*>(.*?)</figure>', text, re.DOTALL)
    assert len(figures) >= 2
    stored = packed(report)["figures"]
    assert set(stored) == {name for name, _ in figures}
    for name, body in figures:
        assert len(re.search(r"<figcaption>(.*?)</figcaption>", body, re.DOTALL)[1]) > 30, name  # type: ignore[index]
        assert f'data-csv="{name}"' in body
        assert f'data-svg="{name}"' in body
        assert stored[name]["csv"] == (report / "figures" / f"{name}.csv").read_text(encoding="utf-8")
        assert "var(--" in stored[name]["svg"]
    files = {path.stem for path in (report / "figures").iterdir()}
    assert {name for name, _ in figures} < files  # those that the script draws are files too
    assert {"agreement", "speed-inverse-dynamics", "scaling-chain-inverse-dynamics"} <= files
    for path in (report / "figures").iterdir():
        assert path.stat().st_size > 50


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
    assert tuple(re.findall(r'<h2 id="([\w-]+)"', text)) == SECTIONS
    assert not re.search(r"<t[dh][^>]*>(nan|None|inf)<", text)


def test_no_cell_of_a_table_is_blank(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    body = text[text.index('id="matrix"') : text.index('<h2 id="limits"')]
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
    assert found == ["reproduce", "papers", "limits"]
    assert 'href="#fastest"' not in text
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
    assert [tag for tag in read.all("script") if tag.get("type") != "application/gzip"] == [{}, {}]
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
        "approx",
    }
    for path in (injected / "tables").glob("*.tex"):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"\\([a-zA-Z]+)", text)) <= ours, path
        assert not re.search(r"(?<!\\)[$#_]", text), path


def test_without_a_script_verdict_matrix_and_tables_are_there(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    found = packed(report)
    robot, quantity, mode, code = found["first"]
    view = found["views"]["\n".join((robot, quantity, mode, code))]
    before = text[: text.index('<h2 id="fastest"')]
    for sentence in view["said"]:
        assert escape(sentence, quote=False) in before
    assert before.count("<tr>") >= 1 + len(found["robots"])  # the matrix: a head and a line for each robot
    for method in ("newton-euler", "gibbs-appell", "pinocchio"):
        assert f">{method}</th>" in before
    body = text[text.index('<h2 id="fastest"') :]
    for caption in (
        "Times of one state",
        "Errors of pairs",
        "Time of one state by size N",
        "operations of one evaluation",
        "Times faster than other engines",
        "a-paper: statements",
        "a-paper: errata",
        "Methods by robots",
    ):
        assert f"<caption>{caption}</caption>" in body
    timed = tables.read(report / "timing.csv")
    lines = body[body.index("<caption>Times of one state</caption>") : body.index("</table>")]
    assert lines.count("<tr") == 1 + sum(bool(row["seconds"]) for row in timed)


def test_what_is_judged_on_the_page_is_judged_by_the_rules(report: Path) -> None:
    run = rows.read(report)
    found = packed(report)["views"]
    for (robot, quantity, *tier), ranking in run.fastest().items():
        view = found["\n".join((robot, quantity, "batch", *(tier or [""])))]
        assert (tuple(view["fastest"]), view["best"]) == (ranking.fastest, pytest.approx(ranking.best, rel=1e-3))
    stored = {(r["robot"], r["quantity"], r["mode"], r["label"]): r for r in run["timing"] if r["mode"] != "engine"}
    for place, view in found.items():
        robot, quantity, mode, _ = place.split("\n")
        for entry in view["entries"]:
            label = entry["method"] + " (again)" * (entry["kind"] == "again")
            row = stored.get((robot, quantity, entry.get("mode", mode), label))
            if row is not None and entry.get("time") and mode in ("batch", "unchecked"):
                assert entry["verdict"] == row["verdict"]


def test_a_wrapper_makes_no_headline(made: Callable[..., Any], tmp_path: Path) -> None:
    """A planted ratio of our wrapper, 280 times, is in no sentence of page, terminal, summary.md or LaTeX."""
    folder = made(robots=("panda",), simulations=False).write(tmp_path)
    for table in (schema.RATIOS, schema.TIMING):
        planted = []
        for row in table.read(folder):
            if table is schema.RATIOS:
                planted.append({**row, "ratio": "280", "low": "279", "high": "281", "peer_call": "our wrapper"})
            elif not row["mode"].startswith("engine"):  # the engine has no call of its own, and its wrapper is fast
                fast = {"seconds": "1e-9", "low": "0.99e-9", "high": "1.01e-9"} if row["method"] == "pinocchio" else {}
                planted.append({**row, **fast})
        table.write(folder, planted)
    text = page(folder)
    found = packed(folder)
    said = [sentence for view in found["views"].values() for sentence in view["said"]]
    said += [group["said"] for group in found["ratios"].values()]
    said += verdict.sentences(rows.read(folder))
    said += re.findall(r'<span class="[vt]">([^<]*)', text)  # the cards
    assert any("the fastest" in sentence or "tied" in sentence for sentence in said)
    assert not [sentence for sentence in said if "pinocchio" in sentence or "280" in sentence]
    assert "pinocchio" not in [name for view in found["views"].values() for name in view["fastest"]]
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert "280" not in summary
    assert "pinocchio 1 ns" not in summary
    for path in (folder / "tables").glob("*.tex"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "280" in line and "caption" not in line:
                assert path.stem.endswith("-wrapper") or path.stem == "targets", path  # named as what it is
    with pytest.raises(DynbenchError, match="no row of this run fits"):
        publication.table(folder, "ratios", publication.Choice(), "latex")
    latex = publication.table(folder, "times", publication.Choice(), "latex")
    assert "pinocchio" not in latex


def test_tiers_of_code_are_never_mixed(made: Callable[..., Any], tmp_path: Path) -> None:
    folder = add_traced(made(robots=("panda",), simulations=False).write(tmp_path))
    text = page(folder)
    found = packed(folder)
    assert found["codes"] == ["generic", "traced"]
    assert '<fieldset class="seg" id="code">' in text
    views = {place.split("\n")[3]: view for place, view in found["views"].items() if "\nbatch\n" in place}
    times = {code: min(e["time"][0] for e in view["entries"] if e["kind"] == "method" and e.get("time"))
             for code, view in views.items()}  # fmt: skip
    assert times["traced"] == pytest.approx(0.5 * times["generic"], rel=1e-3)
    for view in views.values():
        ours = [entry["method"] for entry in view["entries"] if entry["kind"] == "method" and entry.get("time")]
        assert len(ours) == len(set(ours))
        assert sum(entry["kind"] == "own" for entry in view["entries"]) == 1
    assert '<fieldset class="seg" id="code">' not in page(made(robots=("panda",)).write(tmp_path / "one"))


def test_a_method_that_alone_was_timed_is_not_called_the_fastest(tmp_path: Path, made: Callable[..., Any]) -> None:
    """The default run times the checked call of one method: nothing else was there to be slower."""
    folder = made(methods=("newton-euler", "pinocchio", "null")).write(tmp_path)
    text = page(folder)
    views = packed(folder)["views"]
    assert views
    for view in views.values():
        assert view["only"] is (view["fastest"] == ["newton-euler"])
        assert "newton-euler is the fastest" not in view["said"][0]
    assert any("newton-euler is the only formulation timed" in view["said"][0] for view in views.values())
    assert "no other timed" in text
    complete = made().write(tmp_path / "complete")
    page(complete)
    assert not any(view["only"] for view in packed(complete)["views"].values())


def test_papers_that_were_not_run_are_not_counted(tmp_path: Path, made: Callable[..., Any]) -> None:
    """A placeholder is no statement, and no errata were looked for."""
    folder = made().write(tmp_path)
    run = rows.read(folder)
    assert "not run" not in verdict.claims(run)
    placeholder = {**dict.fromkeys(run["claims"][0], ""), "paper": "other", "verdict": "not run", "outcome": "left out"}
    counted = verdict.claims(run).split(",")[0]
    run["claims"].append(placeholder)
    said = verdict.claims(run)
    assert said.startswith(counted)
    assert said.endswith("The experiments of 1 paper were not run; `dynbench papers` runs them.")
    run["claims"][:] = [placeholder]
    assert verdict.claims(run) == "The experiments of 1 paper were not run; `dynbench papers` runs them."


def test_numbers_of_the_script_are_rounded_to_three_digits_as_those_of_the_tables() -> None:
    """46.152 ns was 46.2 ns in a table, and 46.1 ns beside it: 46.15 in between."""
    for text in ("4.615218e-08", "17.4511", "1.0849"):
        assert f"{content.sig(text):.3g}" == f"{float(text):.3g}"
