"""``dynbench list``: the robots, methods, scenarios and papers there are, and why what is not available is not."""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import Any

from dynbench.benchmarks.cli.catalogue import Listing, remembered

Entry = dict[str, Any]
SECTIONS = ("robots", "methods", "scenarios", "papers")


def add(verbs: Any) -> None:
    """Add the verb to the command."""
    verb = verbs.add_parser("list", help="robots, methods, scenarios, papers; what is unavailable, with the reason")
    verb.add_argument("what", nargs="?", choices=SECTIONS, help="one of these only; default: all")
    verb.add_argument("--json", action="store_true", help="as JSON")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the sections asked for."""
    listing = remembered(everything)
    wanted = {what: listing[what] for what in ([args.what] if args.what else SECTIONS)}
    if args.json:
        print(json.dumps(wanted, indent=1))
    else:
        print("\n\n".join(text(what, entries) for what, entries in wanted.items() if entries or args.what))
    return 0


def everything() -> Listing:
    """All sections."""
    scenarios = scenario_entries()
    return {
        "robots": robot_entries(),
        "methods": method_entries(),
        "scenarios": scenarios,
        "papers": paper_entries(scenarios),
    }


def robot_entries() -> list[Entry]:
    """The zoo, by name; nothing is loaded."""
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
    """The papers' experiments: the first line of each docstring, read without importing what it is of."""
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


def text(what: str, entries: list[Entry]) -> str:
    """A section as text: a paragraph of what has nothing but a name, then the others one by one."""
    names = ", ".join(entry["name"] for entry in entries if set(entry) == {"name"})
    wrapped = textwrap.wrap(names if entries else "none", 110, break_on_hyphens=False)
    rest = [entry for entry in entries if set(entry) != {"name"}]
    width = max((len(entry["name"]) for entry in rest), default=0)
    listed = [line for entry in rest for line in lines(entry, width)]
    return "\n".join([what, *(f"  {line}" for line in wrapped), *listed])


def lines(entry: Entry, width: int) -> list[str]:
    """One entry: name and title, below it what is known of it."""
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
