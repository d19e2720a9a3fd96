"""The documentation, built by Sphinx: `nox -s docs` writes it into build/docs and fails on a warning.

Pages are Markdown (MyST) that also reads well where the repository is browsed: no directive of Sphinx stands in them.
Notebooks are executed when the site is built (myst-nb); an error in one is an error of the build.
Contents, and what is inserted from the sources, come from `hooks`. Equations are typeset by MathJax, which the package
sphinx-mathjax-offline brings along: the built pages load nothing from elsewhere, and they and their search open from
disk.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import hooks
import sample_report

project = "dynbench"
author = "the dynbench developers"
html_title = "dynbench"
extensions = [
    "myst_nb",  # with myst_parser
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
]
exclude_patterns = ["*.py", "**/*.csv"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_fence_as_directive = ["math"]  # the fence that code hosts typeset, too
myst_heading_anchors = 4
myst_links_external_new_tab = False

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # seconds a cell

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False


def _no_text_of_modules(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings of modules are plain text, which `hooks.api` shows as it is."""
    if what == "module":
        lines.clear()


def _write_sample(app: Any, error: Exception | None) -> None:
    """Put the sample report beside the pages; it is a page of its own, not one of Sphinx."""
    if error is None and app.builder.name == "html":
        sample_report.write(Path(app.outdir) / "sample")


def setup(app: Any) -> None:
    """Connect the hooks (called by Sphinx)."""
    app.connect("autodoc-process-docstring", _no_text_of_modules)
    app.connect("build-finished", _write_sample)
    app.connect("source-read", lambda app, name, source: source.__setitem__(0, hooks.page(name, source[0])))
