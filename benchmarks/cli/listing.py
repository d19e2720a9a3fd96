"""``dynbench list``: the available robots, methods, scenarios, papers and problems, and why the rest is unavailable.

Listing the methods imports all of them, and numpy, which takes most of a second. So the list is cached in the user's
cache folder, together with the time stamps of what it depends on: the sources that were read and the folders on the
path. It is used only while these are unchanged, so that a plugin that is installed, removed or edited is noticed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

from dynbench.benchmarks.terminal import say

Entry = dict[str, Any]
Listing = dict[str, list[Entry]]
SECTIONS = ("robots", "methods", "scenarios", "papers", "problems")


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    sections = ", ".join(SECTIONS)
    verb = verbs.add_parser("list", help=f"{sections}; what is unavailable, with the reason")
    verb.add_argument("what", nargs="?", choices=SECTIONS, help="one of these only; default: all")
    verb.add_argument("--json", action="store_true", help="as JSON")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one section, or all."""
    listing = cached_listing()
    wanted = {what: listing[what] for what in ([args.what] if args.what else SECTIONS)}
    if args.json:
        say(json.dumps(wanted, indent=1))
    else:
        say("\n\n".join(text(what, entries) for what, entries in wanted.items() if entries or args.what))
    return 0


def everything() -> Listing:
    """All sections."""
    scenarios = scenario_entries()
    return {
        "robots": robot_entries(),
        "methods": method_entries(),
        "scenarios": scenarios,
        "papers": paper_entries(scenarios),
        "problems": problem_entries(),
    }


def robot_entries() -> list[Entry]:
    """The names of the zoo; no robot is loaded."""
    from dynbench.robots import registry, zoo

    clashes = [{"name": name, "unavailable": why, "broken": True} for name, why in registry.clashes().items()]
    return [*({"name": name} for name in zoo.names()), *clashes]


def method_entries() -> list[Entry]:
    """Every registered method, then the plugins that cannot be used."""
    from dynbench.methods.registry import available, options_of

    found, broken = available()
    entries: list[Entry] = [
        {
            "name": name,
            "title": method.title,
            "reference": method.reference,
            "cost": method.cost,
            "computes": list(method.computes),
            "exact": method.exact,
            "options": {option: str(field.default) for option, field in options_of(method).items()},
            "unavailable": method.unavailable(),
        }
        for name, method in found.items()
    ]
    return entries + [{"name": name, "unavailable": reason, "broken": True} for name, reason in broken.items()]


def scenario_entries() -> list[Entry]:
    """The papers' experiments with the first line of their docstrings; no module is imported."""
    import ast

    from dynbench.benchmarks.papers import plugins

    entries = []
    for name, path in plugins.ours():
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        entries.append({"name": name, "title": docstring.partition("\n")[0]})
    return entries + plugin_scenarios()


def plugin_scenarios() -> list[Entry]:
    """The experiments of other packages; one whose source cannot be read is listed with the reason."""
    import ast

    from dynbench.benchmarks.papers import plugins

    entries: list[Entry] = []
    for name, point in plugins.plugins().items():
        tree = plugins.syntax(point)
        if isinstance(tree, str):
            entries.append({"name": name, "unavailable": tree, "broken": True})
        else:
            entries.append({"name": name, "title": (ast.get_docstring(tree) or "").partition("\n")[0]})
    return entries


def paper_entries(scenarios: list[Entry]) -> list[Entry]:
    """The scenarios that check what their paper claims."""
    from dynbench.benchmarks import papers

    return [entry for entry in scenarios if entry["name"] in papers.names()]


def problem_entries() -> list[Entry]:
    """The benchmark problems with the first line of their docstrings, then the plugins that cannot be read."""
    from dynbench.benchmarks.problems import registry

    found: list[Entry] = [{"name": name, "title": title} for name, title in registry.titles().items()]
    return found + [{"name": name, "unavailable": why, "broken": True} for name, why in registry.broken().items()]


def text(what: str, entries: list[Entry]) -> str:
    """A section as text: a paragraph of the entries that have only a name, then the others one by one."""
    names = ", ".join(entry["name"] for entry in entries if set(entry) == {"name"})
    wrapped = textwrap.wrap(names if entries else "none", 110, break_on_hyphens=False)
    rest = [entry for entry in entries if set(entry) != {"name"}]
    width = max((len(entry["name"]) for entry in rest), default=0)
    listed = [line for entry in rest for line in lines(entry, width)]
    return "\n".join([what, *(f"  {line}" for line in wrapped), *listed])


def lines(entry: Entry, width: int) -> list[str]:
    """One entry: name and title, below them the details."""
    indent = " " * (width + 4)
    first = f"  {entry['name']:<{width}}  {entry.get('title', '')}".rstrip()
    details = []
    if "computes" in entry:
        known = [entry["cost"] or "cost unknown", *([] if entry["exact"] else ["not exact"])]
        details.append(f"{', '.join(known)}: {', '.join(entry['computes'])}")
    if entry.get("options"):
        details.append("options: " + ", ".join(f"{name}={value}" for name, value in entry["options"].items()))
    if entry.get("unavailable"):
        details.append(f"unavailable: {entry['unavailable']}")
    return [first, *(indent + detail for detail in details)]


def cached_listing() -> Listing:
    """Return the cached list if nothing it depends on has changed, otherwise make and cache it."""
    path = cache_file()
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["path"] == sys.path and all(stamp(file) == seen for file, seen in kept["stamps"].items()):
            found: Listing = kept["listing"]
            return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # there is no file, or not a valid one
    listing = everything()
    if not any("broken" in entry for entries in listing.values() for entry in entries):
        _write(path, {"path": sys.path, "stamps": stamps(), "listing": listing})
    return listing


def _write(path: Path, content: dict[str, Any]) -> None:
    """Replace the file at once; a folder that cannot be written only costs time at the next call."""
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(content), encoding="utf-8")
        os.replace(draft, path)
    except OSError:
        pass


def cache_file() -> Path:
    """One file for each Python environment."""
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    key = hashlib.sha256(f"{sys.prefix} {sys.version} {__file__}".encode()).hexdigest()[:12]
    return Path(home) / "dynbench" / f"listing-{key}.json"


def stamps() -> dict[str, list[int] | None]:
    """The time stamps of what the list depends on: folders on the path, papers, problems, modules that were loaded."""
    from dynbench.benchmarks.papers import plugins
    from dynbench.benchmarks.problems import registry

    read = [*(path for _, path in plugins.ours()), *registry.ours().values()]  # but not imported
    folders = [Path(str(module.__file__)).parent for module in (plugins, registry)]
    modules = [getattr(module, "__file__", None) for name, module in sorted(sys.modules.items()) if _matters(name)]
    files = [*filter(os.path.isdir, sys.path), *folders, *read, *filter(None, modules)]
    return {str(file): stamp(str(file)) for file in files}


def _matters(module: str) -> bool:
    """Whether a change of this module could change the list."""
    top = module.partition(".")[0]
    return top not in sys.stdlib_module_names and top != "numpy" and not top.startswith("__editable__")


def stamp(file: str) -> list[int] | None:
    """What changes when a file is written, or a folder gains or loses an entry."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]
