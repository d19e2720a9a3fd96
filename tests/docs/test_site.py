"""The built documentation: no warning, equations typeset, links that lead somewhere, nothing loaded from elsewhere.

`nox -s docs` runs it, where Sphinx is installed; elsewhere it is skipped.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("sphinx", reason="the documentation is built in the session docs")
ROOT = Path(__file__).parent.parent.parent
CHROMIUM = shutil.which("chromium")


class Page(HTMLParser):
    """The links and anchors of a page, its equations, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.equations = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors.add(found.get("id", ""))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in ("script", "img") and "src" in found:
            self.loaded.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "preload"):
            self.loaded.append(found["href"])
        self.equations += "math" in found.get("class", "").split()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from sphinx.cmd.build import main

    folder = tmp_path_factory.mktemp("site")
    assert main(["-W", "--keep-going", "-q", str(ROOT / "docs"), str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert len(pages) > 40
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{path.name}: {link}"
        assert not [address for address in page.loaded if urlsplit(address).scheme or address.startswith("//")]


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt install chromium")
def test_every_equation_is_typeset(pages: dict[Path, Page]) -> None:
    with_equations = {path: page for path, page in pages.items() if page.equations}
    assert len(with_equations) > 4
    for path, page in with_equations.items():
        command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
        command += ["--virtual-time-budget=20000", "--dump-dom", path.as_uri()]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
        assert len(re.findall(r"<mjx-container", shown)) >= page.equations, path.name
        assert "mjx-merror" not in re.sub(r"<style.*?</style>", "", shown, flags=re.DOTALL), path.name
