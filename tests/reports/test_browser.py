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

import pytest
from pace import NEVER, wait_until

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="needs chromium and chromedriver: apt install chromium chromium-driver"
)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
]
AXE = "4.14.0"
PHONE, DESK = 400, 1280


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
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get("about:blank")
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(path.absolute().as_uri() + fragment)
        self.run("return typeof data === 'undefined' || data.then(() => true)")  # the page has unpacked what it has

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
VISIBLE = "const shown = (e) => e.getClientRects().length > 0;"


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
    assert evil in browser.run("return document.querySelector('#compared').parentElement.innerText")
    # and were one to get in, it would not run
    browser.run(
        "const s = document.createElement('script'); s.textContent = 'window.owned = 1'; document.body.append(s)"
    )
    assert browser.run("return window.owned") is None


def test_tables_sort_by_number_and_back(browser: Browser, page: Path) -> None:
    browser.open(page)
    column = """
        const tables = [...document.querySelectorAll("table")];
        const table = tables.find((t) => t.caption.textContent.includes("per state in a batch"));
        const head = table.tHead.rows[0].cells[1];
        if (arguments[0]) head.querySelector("button").click();
        const values = [...table.tBodies[0].rows].map((r) => Number(r.cells[1].dataset.value));
        return [head.getAttribute("aria-sort"), values];"""
    _, unsorted = browser.run(column, False)
    assert browser.run(column, True) == ["ascending", sorted(unsorted)]
    assert browser.run(column, True) == ["descending", sorted(unsorted, reverse=True)]


def test_tables_filter_by_words(browser: Browser, page: Path) -> None:
    browser.open(page)
    counts = browser.run("""
        const table = document.querySelector("#agreement ~ .block table.tidy");
        const rows = [...table.tBodies[0].rows];
        const input = table.closest(".block").querySelector("input");
        const match = (r) => ["panda", "pinocchio"].every((word) => r.textContent.includes(word));
        const wanted = rows.filter(match).length;
        input.value = "panda pinocchio";
        input.dispatchEvent(new Event("input"));
        return [wanted, rows.filter((r) => r.getClientRects().length).length, rows.length];""")
    assert 0 < counts[0] == counts[1] < counts[2]


def test_a_method_is_switched_off_everywhere(browser: Browser, page: Path) -> None:
    browser.open(page)
    script = (
        VISIBLE
        + """
        for (const details of document.querySelectorAll("main details")) details.open = true;
        const tagged = [...document.querySelectorAll("main [data-method]")];
        const mine = tagged.filter((e) => [e.dataset.method, e.dataset.other].includes("gibbs-appell"));
        const rest = tagged.filter((e) => !mine.includes(e) && !mine.some((m) => m.contains(e)));
        const figures = new Set(mine.map((e) => e.closest("svg")?.id));
        const heads = mine.filter((e) => e.matches("thead th"));
        const column = (e) => [...e.closest("table").tBodies[0].rows].map((row) => row.cells[e.cellIndex]);
        const below = heads.flatMap(column);
        return [mine.length, mine.filter(shown).length, rest.filter(shown).length, figures.size,
                below.length, below.filter(shown).length];"""
    )
    box = "document.querySelector('#methods input[value=\"gibbs-appell\"]').click()"
    count, before, others, figures, cells, in_columns = browser.run(script)
    assert before == count > 50
    assert figures > 6
    assert in_columns == cells > 10
    browser.run(box)
    assert browser.run(script)[1:] == [0, others, figures, cells, 0]  # a column goes with its head
    assert browser.run("return document.getElementById('shown').textContent") == "5 of 6"
    browser.shot("without-gibbs-appell")
    browser.run(box)
    assert browser.run(script)[1] == count
    browser.run("document.getElementById('none').click()")
    assert browser.run(script)[1] == 0


@pytest.mark.parametrize("name", ["pendulum", "tower"])
def test_the_motion_plays_pauses_and_scrubs(browser: Browser, page: Path, name: str) -> None:
    browser.open(page)
    where = f"const f = document.getElementById('motion-{name}');"
    where += "const c = f.querySelector('canvas'), r = f.querySelector('input');"
    first = browser.run(where + "c.scrollIntoView(); return c.toDataURL()")
    paused = """
        const b = f.querySelector('.play'), playing = b.getAttribute('aria-pressed') === 'true';
        const due = playing && Number(r.value) > 5;
        if (due || !playing) b.click();  // not playing: not begun, or at the end before anybody looked
        return due;"""
    browser.until(where + paused)
    state = where + "return [c.toDataURL(), r.value, f.querySelector('.play').getAttribute('aria-pressed')]"
    stopped = browser.run(state)
    assert stopped[0] != first
    assert stopped[2] == "false"
    time.sleep(0.2)
    assert browser.run(state) == stopped
    frame = (int(stopped[1]) + 20) % 60
    browser.run(where + f"r.value = {frame}; r.dispatchEvent(new Event('input'))")
    assert browser.run(state)[0] != stopped[0]
    assert browser.run(where + "return f.querySelector('output').textContent") == f"{0.02 * frame:.2f} s"
    browser.run(where + "f.querySelector('.play').click()")
    browser.until(where + "return Number(r.value) === Number(r.max)")
    assert browser.run(where + "return f.querySelector('.play').firstChild.textContent") == "Play"


def test_the_worst_case_opens_from_the_matrix_and_by_keyboard(browser: Browser, page: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open(page)
    cell = browser.driver.find_element(
        By.CSS_SELECTOR, '.pairs g[data-method="newton-euler"][data-other="pinocchio"][role="button"]'
    )
    cell.send_keys(Keys.ENTER)
    text = browser.run("return document.getElementById('case').innerText")
    assert browser.run("return document.getElementById('case').open")
    for wanted in ("newton-euler and pinocchio", "Noise floor", "tolerance 1e-10"):
        assert wanted in text
    browser.shot("worst-case")
    browser.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not browser.run("return document.getElementById('case').open")
    browser.run("document.querySelector('[data-case]').click()")
    assert browser.run("return document.getElementById('case').open")


def test_a_figure_downloads_as_an_svg_that_stands_alone(browser: Browser, page: Path) -> None:
    browser.open(page, dark=True)  # a file is for paper, whatever the screen
    text = browser.run("""
        const made = [];
        URL.createObjectURL = (blob) => { made.push(blob); return "data:,"; };
        document.querySelector('[data-download="agreement"]').click();
        return made[0].text();""")
    assert text.startswith("<svg")
    assert "var(--" not in text
    assert "fill: #1d2127" in text
    assert "newton-euler" in text


def test_the_data_of_every_figure_download_as_the_file_beside_the_page(browser: Browser, page: Path) -> None:
    browser.open(page)
    found: dict[str, str] = browser.run("""
        const { figures } = await data;
        const ready = (link) => link.href.startsWith("blob:") && link.getClientRects().length;
        const links = [...document.querySelectorAll(".tools a")].filter(ready);
        return Object.fromEntries(links.map(({ download }) => [download, figures[download]]));""")
    stored = {path.name: path.read_text(encoding="utf-8") for path in page.parent.glob("figures/*.csv")}
    assert found == stored != {}


def test_the_raised_numbers_of_tables_say_what_they_mean(browser: Browser, page: Path) -> None:
    browser.open(page)
    said = browser.run("return [...document.querySelectorAll('td sup')].map((e) => e.title)")
    assert said
    assert all(said)


def test_dark_is_dark_and_can_be_chosen(browser: Browser, page: Path) -> None:
    colours = "return ['backgroundColor', 'color'].map((k) => getComputedStyle(document.body)[k])"
    browser.open(page)
    light = browser.run(colours)
    browser.run("const t = document.getElementById('theme'); t.value = 'dark'; t.dispatchEvent(new Event('change'))")
    chosen = browser.run(colours)
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
    assert browser.run("return document.querySelectorAll('details.notes:not([open])').length") == 0
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    (browser.shots / "print.pdf").write_bytes(base64.b64decode(printed))
    assert len(printed) > 100_000


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_shows_it_without_sideways_scrolling(browser: Browser, page: Path, dark: bool) -> None:
    browser.open(page, width=PHONE, dark=dark)
    browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
    widths = browser.run("return [document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]")
    assert max(widths) == PHONE
    outside = """
        const elements = [...document.querySelectorAll("main p, h2, summary, button, input, canvas, figcaption")];
        const free = elements.filter((e) => shown(e) && !e.closest(".scroll") && !e.closest(".aside"));
        const out = free.filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
        return out.map((e) => e.outerHTML.slice(0, 80));"""
    assert browser.run(VISIBLE + outside) == []
    browser.shot(f"phone-{'dark' if dark else 'light'}")


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
    ("width", "dark"), [(DESK, False), (DESK, True), (PHONE, False)], ids=["light", "dark", "phone"]
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
