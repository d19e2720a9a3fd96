"""The page in a real browser: Debian's Chromium, headless, driven by selenium; screenshots stay in pytest's folder.

What only a browser can tell: that the script runs, that nothing is fetched, that things can be seen and reached.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import again_oracle
import pytest
from made_runs import add_derivatives, add_traced
from pace import NEVER, wait_until

from dynbench.reports import rows, style

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="needs chromium and chromedriver: apt install chromium chromium-driver"
)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
]
AXE = "4.14.0"
PHONE, DESK = 360, 1300
WIDTHS = (PHONE, 800, DESK, 1900)


class Browser:
    """A page that is open, and the few things tests do with it."""

    def __init__(self, profile: Path, shots: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
        self.driver.set_script_timeout(NEVER)
        self.shots = shots

    def open(self, path: Path, width: int = DESK, dark: bool = False, fragment: str = "") -> None:
        """Load a page afresh, as on a screen so wide."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get("about:blank")
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(path.absolute().as_uri() + fragment)
        self.run("return typeof ready === 'undefined' || ready.then(() => true)")  # the page has drawn itself

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def shot(self, name: str) -> None:
        """Keep a picture of the whole page, or of its first part."""
        height = min(self.run("return document.documentElement.scrollHeight"), 9000)
        clip = {"x": 0, "y": 0, "width": self.run("return innerWidth"), "height": height, "scale": 1}
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (self.shots / f"{name}.png").write_bytes(base64.b64decode(taken["data"]))

    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith(("data:", "about:"))]

    def until(self, script: str) -> None:
        """Wait for a script to return something true."""
        wait_until(lambda: self.run(script))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    shots = tmp_path_factory.mktemp("screenshots")
    found = Browser(tmp_path_factory.mktemp("profile"), shots)
    yield found
    found.driver.quit()
    keep = os.environ.get("DYNBENCH_SCREENSHOTS")  # where CI collects its artefacts
    if keep:
        shutil.copytree(shots, keep, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def page(report: Path) -> Path:
    return report / "report.html"


# checkVisibility() calls groups of SVG visible that are not displayed
VISIBLE = "const shown_ = (e) => e.getClientRects().length > 0;"
PARTS = (
    *("verdict", "cards", "matrix", "fastest-chart", "agree-grid", "worst"),
    *("grow-chart", "arithmetic-chart", "rivals-chart"),
)
INNER = f"return {list(PARTS)}.map((id) => document.getElementById(id).innerHTML)"
FIND = "const find = (name) => [...document.querySelectorAll('table')].find((t) => t.caption.textContent === name);"


def errors(browser: Browser) -> list[dict[str, Any]]:
    """What the console says, but for notes of the browser itself."""
    return [entry for entry in browser.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def copied(browser: Browser, selector: str) -> str:
    """What a button copies."""
    browser.run(f"document.querySelector({selector!r}).click()")
    browser.until(f"return document.querySelector({selector!r}).textContent === 'Copied'")
    found: str = browser.run(f"return document.querySelector({selector!r}).dataset.copied")
    return found


def test_it_loads_without_errors_and_without_requests(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.requests() == [page.absolute().as_uri()]
    assert browser.driver.get_log("browser") == []
    browser.shot("light")


def test_the_policy_lets_no_foreign_script_run(browser: Browser, made: Callable[..., Any], tmp_path: Path) -> None:
    from dynbench.reports import html

    evil = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    run = made(
        robots=(evil,),
        methods=("newton-euler", "gibbs-appell", "null"),
        titles={"newton-euler": evil},
        simulations=False,
    )
    browser.open(html.write_report(run.write(tmp_path)))
    assert browser.run("return document.title") == "dynbench: 3 methods on 1 robot"
    assert browser.requests() == [(tmp_path / "report.html").absolute().as_uri()]
    assert evil in browser.run("return document.getElementById('verdict').innerText")
    # and were one to get in, it would not run
    browser.run(
        "const s = document.createElement('script'); s.textContent = 'window.owned = 1'; document.body.append(s)"
    )
    assert browser.run("return window.owned") is None


def test_every_view_draws_without_errors(browser: Browser, page: Path) -> None:
    browser.open(page)
    bad = browser.run(f"""
        const bad = [];
        const some = ["", "newton-euler", "pinocchio", "lagrange-stewart-lumped"];
        for (const robot of Object.keys(D.robots)) for (const quantity of Object.keys(D.quantities))
          for (const mode of Object.keys(D.modes)) for (const method of some) {{
            set({{ robot, quantity, mode, method }});
            const text = {list(PARTS)}.map((id) => document.getElementById(id).textContent).join(" ");
            if (/NaN|undefined|Infinity/.test(text)) bad.push([robot, quantity, mode, method]);
            if (document.querySelector('svg [x="NaN"], svg [cx="NaN"], svg [d*="NaN"]')) bad.push([robot, mode, "svg"]);
          }}
        return bad;""")
    assert bad == []
    assert errors(browser) == []


def test_selectors_drive_every_part_and_the_address(browser: Browser, page: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    browser.open(page)
    before = browser.run(INNER)
    Select(browser.driver.find_element(By.ID, "robot")).select_by_visible_text("gough-stewart")
    Select(browser.driver.find_element(By.ID, "quantity")).select_by_value("forward_dynamics")
    browser.run("document.querySelector('#mode input[value=unchecked]').click()")
    after = browser.run(INNER)
    changed = [one != two for one, two in zip(before, after, strict=True)]
    assert changed == [True] * 6 + [False] + [True] * 2  # growth is of families
    address = browser.driver.current_url
    for part in ("robot=gough-stewart", "quantity=forward_dynamics", "mode=unchecked"):
        assert part in address
    assert "forward dynamics of gough-stewart, one call without checks" in browser.run(
        "return document.getElementById('verdict').textContent"
    )
    # the tables behind "show the numbers" have the lines of what is chosen, or of the whole run
    lines = (
        FIND
        + """
        const table = find("Times of one state");
        table.closest("details").open = true;
        const rows = [...table.tBodies[0].rows].filter((r) => r.getClientRects().length);
        return rows.map((r) => [0, 2, 3].map((k) => r.cells[k].textContent));"""
    )
    shown = browser.run(lines)
    assert {tuple(line[:2]) for line in shown} == {("gough-stewart", "forward dynamics")}
    assert {line[2] for line in shown} == {"unchecked", "engine"}
    browser.run("set({ wide: true })")
    assert len(browser.run(lines)) > 10 * len(shown)


def test_the_tier_is_chosen_and_never_mixed(browser: Browser, made: Callable[..., Any], tmp_path: Path) -> None:
    from dynbench.reports import html

    folder = add_traced(made(robots=("panda",), claims=False, simulations=False).write(tmp_path))
    browser.open(html.write_report(folder))
    time_of = "return entryOf(viewOf(state.robot), 'newton-euler').time[0]"
    assert browser.run("return all('#code input').map((e) => e.value)") == ["generic", "traced"]
    generic = browser.run(time_of)
    browser.run("document.querySelector('#code input[value=traced]').click()")
    assert browser.run(time_of) == pytest.approx(0.5 * generic, rel=1e-3)
    assert "code=traced" in browser.driver.current_url
    assert "traced code" in browser.run("return $('matrix').textContent")
    codes = (
        FIND
        + """
        const table = find("Times of one state");
        table.closest("details").open = true;
        const rows = [...table.tBodies[0].rows].filter((r) => r.getClientRects().length);
        const place = [...table.tHead.rows[0].cells].findIndex((c) => c.dataset.by === "code");
        return [...new Set(rows.map((r) => r.cells[place].textContent))].sort();"""
    )
    assert browser.run(codes) == ["traced", "–"]  # those of engines have no tier
    row = "#fastest-chart g[data-key='time-newton-euler method']"
    browser.run(f'document.querySelector("{row}").dispatchEvent(new Event("click"))')
    assert copied(browser, '[data-key="time-command"]').endswith("--mode batch --rows 1000 --code traced")
    assert errors(browser) == []


def test_a_link_holds_the_state(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("set({ robot: 'chain-30', mode: 'call', method: 'gibbs-appell', hidden: new Set(['lagrange-euler']) })")
    state = "return [JSON.stringify({ ...state, hidden: [...state.hidden] }), $('verdict').textContent]"
    address, before = browser.driver.current_url, browser.run(state)
    browser.open(page, fragment="#" + address.partition("#")[2])
    assert browser.run(state) == before
    assert browser.run("return document.getElementById('robot').value") == "chain-30"
    assert "gibbs-appell:" in before[1]
    browser.open(page, fragment="#robot=unknown&mode=%3Cscript%3E&hide=x")  # unknown names give the first view
    assert browser.run("return [state.robot, state.mode, state.hidden.size]") == ["panda", "batch", 0]
    browser.open(page, fragment="#grow")  # a plain link to a section
    browser.until("const y = document.getElementById('grow').getBoundingClientRect().top; return y > 0 && y < 300")


def test_the_matrix_is_one_tab_stop_with_arrows_and_keeps_the_focus(browser: Browser, page: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open(page)
    stops = "return document.querySelectorAll('#matrix td.cell[tabindex=\"0\"]').length"
    assert browser.run(stops) == 1
    browser.driver.find_element(By.CSS_SELECTOR, "#matrix td.cell[tabindex='0']").send_keys(Keys.ARROW_RIGHT)
    browser.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    now = browser.driver.switch_to.active_element
    label = now.get_attribute("aria-label")
    assert label.startswith("gibbs-appell, chain-30, ")
    assert "digits" in label
    assert browser.run("return [tip.hidden, tip.textContent.startsWith('gibbs-appell, chain-30')]") == [False, True]
    now.send_keys(Keys.ENTER)
    assert browser.run("return [state.robot, state.method]") == ["chain-30", "gibbs-appell"]
    assert browser.driver.switch_to.active_element.get_attribute("aria-label").startswith("gibbs-appell, chain-30, ")
    assert browser.run(stops) == 1
    browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert browser.run("return tip.hidden")


def test_reasons_are_on_dots(browser: Browser, page: Path) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    browser.open(page)
    selector = '#matrix td.none[data-method="lagrange-stewart-lumped"][data-robot="panda"]'
    cell = browser.driver.find_element(By.CSS_SELECTOR, selector)
    ActionChains(browser.driver).move_to_element(cell).perform()
    browser.until("return !tip.hidden")
    assert "it is no Gough-Stewart platform" in browser.run("return tip.textContent")
    assert "it is no Gough-Stewart platform" in cell.get_attribute("aria-label")
    coverage = browser.run(
        FIND
        + """
        const table = find("Methods by robots");
        return [...table.querySelectorAll(".dot")].map((e) => [e.dataset.tip, e.querySelector(".why").textContent]);"""
    )
    assert coverage
    assert all(tip and tip == text for tip, text in coverage)


def test_points_of_charts_have_tooltips_and_names(browser: Browser, page: Path) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    browser.open(page)
    for chart in ("fastest-chart", "grow-chart", "arithmetic-chart", "rivals-chart"):
        browser.run(f"document.getElementById('{chart}').scrollIntoView({{ behavior: 'instant', block: 'center' }})")
        browser.run("hideTip()")
        mark = browser.driver.find_element(By.CSS_SELECTOR, f"#{chart} g[tabindex][data-tip]")
        ActionChains(browser.driver).move_to_element(mark).perform()
        browser.until("return !tip.hidden")
        text = browser.run("return tip.textContent")
        assert any(name in text for name in ("newton-euler", "gibbs-appell", "lagrange-euler", "pinocchio")), chart
    bare = "return all('.chart g[tabindex]').filter((g) => !(g.getAttribute('aria-label') || g.textContent)).length"
    assert browser.run(bare) == 0


def test_a_time_can_be_copied_as_command_and_as_python(browser: Browser, page: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open(page)
    row = browser.driver.find_element(By.CSS_SELECTOR, '#fastest-chart g[data-key="time-pinocchio own"]')
    browser.run("arguments[0].focus()", row)
    row.send_keys(Keys.ENTER)
    command = copied(browser, '[data-key="time-command"]')
    assert command == "dynbench time -r panda -m pinocchio --quantity inverse_dynamics --mode batch --rows 1000"
    python = copied(browser, '[data-key="time-python"]')
    assert 'cases.Cell("panda", "pinocchio", "inverse_dynamics", "engine-batch", 1000)' in python
    compile(python, "copied", "exec")
    run = rows.read(page.parent)
    for line in run["timing"]:
        if (line["robot"], line["method"], line["quantity"], line["mode"]) == (
            "panda",
            "pinocchio",
            "inverse_dynamics",
            "engine-batch",
        ):
            assert (again_oracle.time_command(run, line), again_oracle.time_python(run, line)) == (command, python)
    every = browser.run(
        FIND
        + """
        const table = find("Times of one state");
        const rows = [...table.tBodies[0].rows];
        rows[7].querySelector(".again button").click();
        return [rows.length, rows.filter((r) => r.querySelectorAll(".again button").length === 2).length];"""
    )
    assert every[0] == every[1] > 50
    browser.until("return document.querySelector('.again [data-copied]')")
    line = next(
        row
        for k, row in enumerate(r for r in run["timing"] if r["outcome"] not in ("unsupported", "left out"))
        if k == 7
    )
    found = browser.run("return document.querySelector('.again [data-copied]').dataset.copied")
    assert found == again_oracle.time_command(run, line)


def test_the_worst_case_of_a_pair_can_be_copied(browser: Browser, page: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open(page)
    cell = browser.driver.find_element(
        By.CSS_SELECTOR, '#agree-grid td[data-method="pinocchio"][data-other="newton-euler"]'
    )
    browser.run("arguments[0].focus()", cell)
    cell.send_keys(Keys.ENTER)
    text = browser.run("return document.getElementById('worst').innerText")
    for wanted in ("newton-euler", "pinocchio", "noise floor", "state 5 of 16, seed 0, component 2", "1.25"):
        assert wanted in text
    assert "pair=newton-euler" in browser.driver.current_url
    python = copied(browser, '[data-key="worst-python"]')
    run = rows.read(page.parent)
    (case,) = [
        w
        for w in run.worst
        if (w["robot"], w["method"], w["other"], w["quantity"])
        == ("panda", "newton-euler", "pinocchio", "inverse_dynamics")
    ]
    assert python == again_oracle.check_python(run, case)
    compile(python, "copied", "exec")
    assert copied(browser, '[data-key="worst-command"]') == again_oracle.check_command(run, case)
    browser.shot("worst-case")


def test_tables_sort_by_number_and_back(browser: Browser, page: Path) -> None:
    browser.open(page)
    column = (
        FIND
        + """
        const table = find("Times of one state");
        const head = [...table.tHead.rows[0].cells].find((c) => c.textContent.startsWith("seconds"));
        if (arguments[0]) head.querySelector("button").click();
        const values = [...table.tBodies[0].rows].map((r) => Number(r.cells[head.cellIndex].dataset.value));
        return [head.getAttribute("aria-sort"), values];"""
    )
    _, unsorted = browser.run(column, False)
    assert browser.run(column, True) == ["ascending", sorted(unsorted)]
    assert browser.run(column, True) == ["descending", sorted(unsorted, reverse=True)]


def test_tables_filter_by_words(browser: Browser, page: Path) -> None:
    browser.open(page)
    counts = browser.run(
        FIND
        + """
        const table = find("Errors of pairs");
        set({ wide: true });
        table.closest("details").open = true;
        const rows = [...table.tBodies[0].rows];
        const input = table.closest(".block").querySelector("input[type=search]");
        const match = (r) => ["panda", "pinocchio"].every((word) => r.textContent.includes(word));
        const wanted = rows.filter(match).length;
        input.value = "panda pinocchio";
        input.dispatchEvent(new Event("input"));
        return [wanted, rows.filter((r) => r.getClientRects().length).length, rows.length];"""
    )
    assert 0 < counts[0] == counts[1] < counts[2]


def test_a_method_is_switched_off_everywhere(browser: Browser, page: Path) -> None:
    browser.open(page)
    script = (
        VISIBLE
        + """
        set({ wide: true });
        for (const details of document.querySelectorAll("main details")) details.open = true;
        const tagged = [...document.querySelectorAll("main [data-method], #matrix [data-method]")];
        const mine = tagged.filter((e) => [e.dataset.method, e.dataset.other].includes("gibbs-appell"));
        return [mine.length, mine.filter(shown_).length];"""
    )
    box = "document.querySelector('#methods input[value=\"gibbs-appell\"]').click()"
    count, before = browser.run(script)
    assert count >= before > 50
    browser.run(box)
    assert browser.run(script)[1] == 0
    assert browser.run("return document.getElementById('shown').textContent") == "5 of 6"
    assert "hide=gibbs-appell" in browser.driver.current_url
    browser.shot("without-gibbs-appell")
    browser.run(box)
    assert browser.run(script)[1] == before
    browser.run("document.querySelector('[data-set=exact]').click()")
    assert browser.run("return [...state.hidden]") == ["lagrange-stewart-lumped"]
    browser.run("document.querySelector('[data-set=none]').click()")
    assert browser.run(
        "return [D.methods.length - state.hidden.size, document.querySelectorAll('#matrix td').length < 3]"
    ) == [0, True]
    assert errors(browser) == []


@pytest.mark.parametrize("name", ["pendulum", "tower"])
def test_the_motion_plays_loops_pauses_and_is_dragged(browser: Browser, page: Path, name: str) -> None:
    browser.open(page, fragment=f"#show=simulation-{name}")
    where = f"const f = document.getElementById('motion-{name}');"
    where += "const c = f.querySelector('canvas'), r = f.querySelector('input[type=range]');"
    first = browser.run(where + "c.scrollIntoView({ behavior: 'instant' }); return c.toDataURL()")
    browser.run(where + "f.querySelector('.play').click()")
    browser.until(where + "return Number(r.value) > 5")
    browser.run(where + "f.querySelector('.play').click()")
    state = where + "return [c.toDataURL(), r.value, f.querySelector('.play').getAttribute('aria-pressed')]"
    stopped = browser.run(state)
    assert stopped[0] != first
    assert stopped[2] == "false"
    time.sleep(0.2)
    assert browser.run(state) == stopped
    frame = (int(stopped[1]) + 20) % 60
    browser.run(where + f"r.value = {frame}; r.dispatchEvent(new Event('input'))")
    assert browser.run(state)[0] != stopped[0]
    assert browser.run(where + "return f.querySelector('output').textContent") == f"{0.02 * frame:.2f} s of 1.18 s"
    # trails are of where it has been, and can be left out
    browser.run(where + "r.value = 59; r.dispatchEvent(new Event('input'))")
    with_trails = browser.run(state)[0]
    browser.run(where + "f.querySelector('.trails').click()")
    assert browser.run(state)[0] != with_trails
    # at the end it begins again
    browser.run(where + "r.value = 56; r.dispatchEvent(new Event('input')); f.querySelector('.play').click()")
    browser.until(where + "return Number(r.value) > 3 && Number(r.value) < 50")
    assert browser.run(where + "return f.querySelector('.play').firstChild.textContent") == "Pause"
    # dragging a planar motion moves it in time, dragging a spatial one turns the view
    drag = """
        const held = { buttons: 1, movementY: 3, bubbles: true };
        const send = (type, movementX) => c.dispatchEvent(new PointerEvent(type, { ...held, movementX }));
        f.querySelector('.play').click();
        r.value = 20; r.dispatchEvent(new Event('input'));
        const before = c.toDataURL();
        send('pointermove', c.clientWidth / 4);
        return [Number(r.value), c.toDataURL() !== before];"""
    moved, changed = browser.run(where + drag)
    assert changed
    assert (moved > 25) == (name == "pendulum")


def test_each_paper_links_to_its_motion(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelector('#papers-strips a').click()")
    assert browser.run("return state.show") == "simulation-pendulum"
    shown = (
        "return [...document.querySelectorAll('.simulation')].filter((e) => e.getClientRects().length).map((e) => e.id)"
    )
    assert browser.run(shown) == ["simulation-pendulum"]
    claims = browser.run("return [...document.querySelectorAll('.claim')].map((e) => e.getAttribute('aria-label'))")
    assert len(claims) == 7
    browser.run("document.querySelectorAll('.claim')[1].click()")
    text = browser.run("return document.getElementById('claim').innerText")
    assert "statement 1" in text
    assert "because" in text


def test_a_figure_downloads_as_an_svg_that_stands_alone(browser: Browser, page: Path) -> None:
    browser.open(page, dark=True)  # a file is for paper, whatever the screen
    for name in ("pendulum-motion", "fastest-chart", "grow-chart"):
        text = browser.run(f"""
            const made = [];
            URL.createObjectURL = (blob) => {{ made.push(blob); return "data:,"; }};
            document.querySelector('[data-svg="{name}"]').click();
            return made[0].text();""")
        assert text.startswith("<svg")
        assert "var(--" not in text
        assert "#1d2127" in text or "#535c66" in text
        assert "newton-euler" in text


def test_the_data_of_every_figure_download_as_the_file_beside_the_page(browser: Browser, page: Path) -> None:
    browser.open(page)
    found: dict[str, str] = browser.run("""
        const found = {};
        const blobs = [];
        URL.createObjectURL = (blob) => { blobs.push(blob); return "data:,"; };
        for (const button of document.querySelectorAll("figure [data-csv]")) {
          button.click();
          found[`${button.dataset.csv}.csv`] = await blobs.at(-1).text();
        }
        return found;""")
    stored = {name: (page.parent / "figures" / name).read_text(encoding="utf-8") for name in found}
    assert found == stored != {}


def test_dark_is_dark_and_can_be_chosen(browser: Browser, page: Path) -> None:
    colours = "return ['backgroundColor', 'color'].map((k) => getComputedStyle(document.body)[k])"
    browser.open(page)
    light = browser.run(colours)
    browser.run("document.getElementById('theme').click()")
    chosen = browser.run(colours)
    browser.run("localStorage.clear()")
    browser.open(page, dark=True)
    assert browser.run(colours) == chosen != light
    text = browser.run("return getComputedStyle(document.querySelector('.sheet svg text')).fill")
    assert text == "rgb(230, 232, 235)"
    browser.shot("dark")


def test_it_prints_on_white_and_whole(browser: Browser, page: Path) -> None:
    browser.open(page, dark=True)
    media = {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    colours = "return ['--page', '--ink'].map((k) => getComputedStyle(document.documentElement).getPropertyValue(k))"
    cut = "return [...document.querySelectorAll('.scroll')].filter((e) => e.scrollHeight > e.clientHeight + 1).length"
    assert browser.run(colours) == ["#ffffff", "#1d2127"]
    assert browser.run(cut) == 0
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("return document.querySelectorAll('details.num:not([open])').length") == 0
    hidden = "return ['.bar', '.tools', '.controls', '#tip'].every((s) => !all(s)[0].getClientRects().length)"
    assert browser.run(hidden)
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    (browser.shots / "print.pdf").write_bytes(base64.b64decode(printed))
    assert len(printed) > 100_000


def test_without_a_script_the_tables_are_there(browser: Browser, page: Path) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(page)
        text = browser.driver.find_element("tag name", "body").text
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    for wanted in ("Time relative to the fastest", "The figures need JavaScript", "Show the numbers", "For batches"):
        assert wanted in text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_width_scrolls_sideways_or_hides_a_heading(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width=width, dark=dark)
    browser.shot(f"{width}-{'dark' if dark else 'light'}")
    anchors = browser.run("""
        const bar = document.querySelector(".bar");
        return [...document.querySelectorAll("main h2")].map((h) => {
          h.scrollIntoView({ behavior: "instant" });
          return [h.id, h.getBoundingClientRect().top >= bar.getBoundingClientRect().bottom];
        }).filter(([, below]) => !below);""")
    assert anchors == []  # none is under the bar
    browser.run("for (const d of document.querySelectorAll('main details')) d.open = true")
    browser.run("for (const s of document.querySelectorAll('select')) s.add(new Option('a long name, '.repeat(6)))")
    widths = browser.run("return [document.documentElement.scrollWidth, document.body.scrollWidth]")
    assert max(widths) <= width
    outside = """
        const elements = all("main p, h1, h2, summary, button, input, select, canvas, figcaption, .panel");
        const free = elements.filter((e) => shown_(e) && !e.closest(".scroll, .aside, .pop"));
        const out = free.filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
        return out.map((e) => e.outerHTML.slice(0, 80));"""
    assert browser.run(VISIBLE + outside) == []
    # no half-empty width: the page is as wide as the window, up to its largest
    assert browser.run("return document.querySelector('main').getBoundingClientRect().width") >= 0.93 * min(width, 1780)


def test_the_first_screen_holds_the_picture_the_verdict_and_the_quiet_line(
    browser: Browser, made: Callable[..., Any], tmp_path: Path
) -> None:
    from dynbench.benchmarks.results import schema
    from dynbench.reports import html

    robots = ("panda", "chain-30", "rp3", "space-dual-arm", "3rrr", "gough-stewart", "elastic-rp1")
    names = [name for name in style.PLACES if name not in ("drake", "exudyn", "mujoco")]
    run = made(robots=robots, methods=names, scaling=False, claims=False, simulations=False)
    folder = run.write(tmp_path)
    facts = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    said = {"quiet": False, "sentence": "disturbed: load 6.8 on 2 cores; 14 % of the turns dropped and repeated"}
    (folder / "environment.json").write_text(json.dumps({**facts, "timing": said}), encoding="utf-8")
    schema.SCALING.write(folder, [])
    browser.open(html.write_report(folder), width=1300)
    boxes = browser.run("""
        const parts = ["#quiet", "#verdict", "#cards", "#matrix table"].map((s) => document.querySelector(s));
        return parts.map((part) => part.getBoundingClientRect()).map((r) => [r.top, r.bottom]);""")
    assert all(0 <= top < bottom <= 900 for top, bottom in boxes), boxes
    assert "Disturbed run" in browser.run("return document.getElementById('quiet').innerText")
    assert browser.run("return document.querySelectorAll('#matrix tbody tr').length") == len(robots)


def test_a_page_about_a_robot_and_a_method_is_four_screens(browser: Browser, page: Path) -> None:
    folded = "return all('details.fold').map((d) => d.open)"
    browser.open(page)
    assert browser.run(folded) == [True] * 3
    browser.open(page, fragment="#robot=panda&method=gibbs-appell")
    assert browser.run(folded) == [False] * 3
    assert browser.run("return document.documentElement.scrollHeight") <= 4 * 900
    # of the pairs, those of the method
    assert browser.run("return all('#agree-grid tbody tr').length") == 1
    browser.run("document.querySelector('.bar a[href=\"#papers\"]').click()")  # a link opens what it leads to
    assert browser.run(folded) == [True, False, False]
    browser.run("set({ method: '' })")
    assert browser.run(folded) == [True] * 3
    assert errors(browser) == []


def test_derivatives_follow_the_bar(browser: Browser, made: Callable[..., Any], tmp_path: Path) -> None:
    from dynbench.reports import html

    run = add_derivatives(made(claims=False, simulations=False, scaling=False).write(tmp_path))
    (tmp_path / "report.html").write_text(html.page_alone(run), encoding="utf-8")
    browser.open(tmp_path / "report.html")
    lines = FIND + """
        const rows = [...find("What derivatives and regressors cost").tBodies[0].rows];
        return rows.filter((r) => r.getClientRects().length).map((r) => r.dataset.method);"""
    assert sorted(browser.run(lines)) == ["gibbs-appell", "lagrange-euler", "newton-euler", "pinocchio"]
    assert "computeRNEADerivatives" in browser.run("return $('derivatives-say').textContent")
    browser.run("set({ method: 'gibbs-appell' })")
    assert sorted(browser.run(lines)) == ["gibbs-appell", "pinocchio"]
    browser.run("set({ robot: 'chain-30', method: '' })")
    assert browser.run(lines) == []
    assert browser.run("return $('derivatives-say').textContent") == "None were timed of chain-30 in this choice."
    assert errors(browser) == []


def test_controls_have_names_and_headings_an_order(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    bare = browser.run("""
        const named = (e) => e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.[0]?.textContent.trim();
        return [...document.querySelectorAll('button, select, input, summary, a, canvas, [tabindex="0"]')]
            .filter((e) => !named(e)).map((e) => e.outerHTML.slice(0, 100));""")
    assert bare == []
    assert browser.run("""
        const levels = [...document.querySelectorAll("h1, h2, h3")].map((e) => Number(e.tagName[1]));
        return levels[0] === 1 && levels.every((level, k) => !k || level <= levels[k - 1] + 1);""")
    assert browser.run(
        "const ids = [...document.querySelectorAll('[id]')].map((e) => e.id); return ids.length === new Set(ids).size"
    )


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core, from npm, kept below build/."""
    folder = Path(__file__).parents[2] / "build" / f"axe-core-{AXE}"
    source = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not source.is_file():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("needs npm, to fetch axe-core")
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", f"axe-core@{AXE}"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
    return source.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("width", "dark"),
    [(DESK, False), (DESK, True), (PHONE, False), (1900, True)],
    ids=["light", "dark", "phone", "wide"],
)
def test_axe_finds_nothing_to_complain_about(browser: Browser, page: Path, axe: str, width: int, dark: bool) -> None:
    browser.open(page, width=width, dark=dark)
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    browser.run(axe)
    found = browser.driver.execute_async_script(
        """
        const done = arguments[arguments.length - 1];
        const said = (node) => `${node.html.slice(0, 160)} ${node.failureSummary}`;
        axe.run(document, { resultTypes: ["violations"] }).then((found) =>
            done(found.violations.map((v) => [v.id, v.impact, v.nodes.slice(0, 3).map(said)])));"""
    )
    assert found == []
    assert browser.run("return axe.version") == AXE
