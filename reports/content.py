"""What the script of the page reads: views, pairs, curves, counts, claims, motions, as one packed piece of JSON.

Sentences and verdicts are made here, so that the page has no rules of its own.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from dynbench.benchmarks.results.schema import OPERATIONS
from dynbench.benchmarks.results.verdicts import FASTER, NO_DIFFERENCE, OWN_CALLS, SLOWER
from dynbench.reports import again, derivatives, style
from dynbench.reports.figure import Rendered
from dynbench.reports.figures import severity
from dynbench.reports.rows import Record, StoredRun, known, listed, number, outcome, plural, short, words
from dynbench.reports.views import GROUPS, LABELS, USES, Entry, View, Views, in_tier

SEPARATOR = "\n"  # between the parts of a key


def content(run: StoredRun, views: Views, drawn: Iterable[Rendered]) -> dict[str, Any]:
    """Return everything that the script reads."""
    return {
        "methods": [_method(run, views, name) for name in run.methods],
        "robots": {name: run.facts["robots"].get(name, {}).get("nv", "") for name in run.robots},
        "quantities": {name: words(name) for name in views.quantities},
        "modes": {
            mode: {"label": LABELS[mode], "use": USES[mode], "phrase": views.phrase(mode), "rows": int(rows)}
            for mode, rows in views.modes.items()
        },
        "codes": views.codes,
        "first": list(views.first),
        "groups": GROUPS,
        "views": {key(*view.key): _view(view) for view in views.found.values()},
        "agreement": {
            key(*where): {name: [sig(a.typical), sig(a.worst), a.partner, a.differs] for name, a in found.items()}
            for where, found in views.agreement.items()
            if where[0] in run.robots
        },
        "pairs": pairs(run, views.codes),
        "scaling": scaling(run, views.codes),
        "batches": batches(run, views.codes),
        "counts": counts(run, views.codes),
        "ratios": ratios(run, views),
        "derivatives": {key(*where): said for where, said in derivatives.sentences(run).items()},
        "claims": [{**row, "measured": short(row["measured"])} for row in run["claims"]],
        "errata": run["errata"],
        "motions": {one["name"]: one["motion"] for one in run.simulations if one["motion"]},
        "figures": {one.figure.name: {"svg": one.inline, "csv": one.csv} for one in drawn},
        "again": again.TEMPLATES,
        "sources": {name: again.source(run, name) for name in run.robots},
        "seed": int(run.facts.get("seed") or 0),
        "peak": run.facts.get("peak flop/s"),
    }


def packed(found: dict[str, Any]) -> str:
    """Return content as text of a tenth of its size."""
    text = json.dumps(found, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def key(*parts: str) -> str:
    """Return the key of a choice."""
    return SEPARATOR.join(parts)


def sig(value: float | str | None, figures: int = 6) -> float | None:
    """Return a number with more digits than the page shows, which rounds it again; None if it is not finite."""
    found = number(value) if isinstance(value, str) else math.nan if value is None else value
    return float(f"{found:.{figures}g}") if math.isfinite(found) else None


def _method(run: StoredRun, views: Views, name: str) -> dict[str, Any]:
    about, look = run.facts["methods"].get(name, {}), style.look(name)
    return {
        "name": name,
        "title": about.get("title") or "",
        "reference": about.get("reference") or "",
        "exact": about.get("exact") is not False,
        "kind": views.kinds[name],
        "looped": bool(about.get("looped")),
        "place": look.place,
        "marker": look.marker,
        "dash": style.SVG_DASHES[style.DASHES.index(look.dash)],
    }


def _view(view: View) -> dict[str, Any]:
    return {
        "fastest": list(view.fastest),
        "best": sig(view.best),
        "only": view.only,
        "said": list(view.said),
        "entries": [_entry(one) for one in view.entries],
    }


def _entry(entry: Entry) -> dict[str, Any]:
    row = entry.row
    found: dict[str, Any] = {"method": entry.method, "kind": entry.kind}
    if row["outcome"] != "number":
        found |= {"outcome": row["outcome"], "reason": row["reason"]}
    if entry.timed:
        cut = int(row["timed_rows"] or row["rows"])
        found |= {
            "time": [sig(row[name]) for name in ("seconds", "low", "high")],
            "ratio": [sig(entry.ratio), sig(entry.low), sig(entry.high)],
            "verdict": entry.verdict,
            "noise": sig(row["noise"], 2),
            "turns": f"{row['kept']} of {row['rounds']}" if row["kept"] else "",
            "mode": row["mode"],
            **({"code": row["code"]} if row.get("code") else {}),
        }
        found |= {"cut": cut} if cut < int(row["rows"]) else {}
    return found | ({"called": entry.called} if entry.called else {})


PAIR = ("robot", "quantity", "method", "code", "other", "other_code")


def pairs(run: StoredRun, codes: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """For each robot, quantity and tier, the worst row of each pair, with its state where it was stored."""
    stored = {tuple(w.get(name, "") for name in (*PAIR, "measure")): w for w in run.worst}
    worst: dict[tuple[str, ...], Record] = {}
    for row in run["agreement"]:
        if row["other"] and row["robot"] in run.robots:
            place = tuple(row.get(name, "") for name in PAIR)
            if place not in worst or severity(row) > severity(worst[place]):
                worst[place] = row
    found: dict[str, list[dict[str, Any]]] = {}
    for place, row in worst.items():
        robot, quantity, one, code, two, other_code = place
        state = stored.get((*place, row["measure"]), {})
        kept: dict[str, Any] = {k: state[k] for k in ("state", "component", "ours", "theirs") if k in state}
        tau = (state.get("inputs") or {}).get("tau")
        tier = next((c for c in codes if in_tier(row, c)), codes[0])
        found.setdefault(key(robot, quantity, tier), []).append(
            {
                "method": one,
                "other": two,
                **({"code": code, "other_code": other_code} if code or other_code else {}),
                "value": sig(row["value"], 3),
                "noise": sig(row["noise"], 2),
                "tolerance": sig(row["tolerance"], 2),
                "status": row["status"],
                "bad": outcome(row).failure,
                "measure": row["measure"],
                "reason": row["reason"],
                "states": int(number(row["states"])) if known(row["states"]) else 16,
                "seed": int(number(row["seed"])) if known(row["seed"]) else 0,
                **kept,
                **({"tau": tau} if tau else {}),
            }
        )
    return found


def scaling(run: StoredRun, codes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """For each family, quantity and code: points and exponents of each method, and what grows faster than N."""
    found: dict[str, dict[str, Any]] = {}
    for row in run["scaling"]:
        if not known(row["value"]):
            continue
        for code in _codes(codes, row):
            group = found.setdefault(key(row["family"], row["quantity"], code), {"lines": {}})
            line = group["lines"].setdefault(row["method"], {"points": [], "exponent": None})
            numbers = [sig(row[name]) for name in ("value", "low", "high")]
            if row["measure"] == "exponent":
                line["exponent"] = numbers
            else:
                line["points"].append([int(row["size"]), *numbers])
    for group in found.values():
        for line in group["lines"].values():
            line["points"].sort()
        group["said"] = _growth(group["lines"])
    return found


def _growth(lines: dict[str, dict[str, Any]]) -> str:
    """A method is said to be steeper than N only if the whole interval of its exponent is."""
    fitted = {name: line["exponent"] for name, line in lines.items() if line["exponent"]}
    if not fitted:
        return "There are fewer than three sizes, so no exponent was fitted."
    steep = {name: e for name, e in fitted.items() if e[1] is not None and e[1] > 1.0}
    ordered = sorted(steep, key=lambda name: -steep[name][0])
    parts = [f"{name} ({steep[name][1]:.2f} to {steep[name][2]:.2f})" for name in ordered[:4]]
    parts += [f"{len(ordered) - 4} more"] if len(ordered) > 4 else []
    if not parts:
        return "No method grows faster than N beyond doubt."
    rest = " The others grow as N or slower, as far as this run can tell." if len(steep) < len(fitted) else ""
    return f"Steeper than N, with the 95 % interval of the exponent: {listed(parts)}.{rest}"


def batches(run: StoredRun, codes: Sequence[str]) -> dict[str, dict[str, list[list[Any]]]]:
    """For each robot, quantity and code that was timed with several sizes of batches: points of each method."""
    found: dict[str, dict[str, list[list[Any]]]] = {}
    for row in run["timing"]:
        if row["mode"] == "batch" and known(row["seconds"]) and not row["reason"] and row["label"] == row["method"]:
            for code in _codes(codes, row):
                group = found.setdefault(key(row["robot"], row["quantity"], code), {})
                point = [int(row["rows"]), *(sig(row[name]) for name in ("seconds", "low", "high"))]
                group.setdefault(row["method"], []).append(point)
    several = {k: g for k, g in found.items() if len({p[0] for points in g.values() for p in points}) > 2}
    return {k: {name: sorted(points) for name, points in group.items()} for k, group in several.items()}


def counts(run: StoredRun, codes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """For each robot, quantity and code: the operations of each method and its share of the peak."""
    found: dict[str, dict[str, Any]] = {}
    for row in run["counts"]:
        if row["robot"] in run.robots and all(known(row[kind]) for kind in OPERATIONS):
            for code in _codes(codes, row):
                group = found.setdefault(key(row["robot"], row["quantity"], code), {"of": {}})
                group["of"][row["method"]] = [int(number(row[kind])) for kind in OPERATIONS] + [sig(row["fraction"])]
    for group in found.values():
        least = min(group["of"], key=lambda name: group["of"][name][5])
        group["said"] = f"{least} needs the fewest operations ({group['of'][least][5]:,} a state)."
    return found


def ratios(run: StoredRun, views: Views) -> dict[str, dict[str, Any]]:
    """For each robot, quantity, mode and code: ratios to engines; those on closed loops stand with batches."""
    found: dict[str, dict[str, Any]] = {}
    for row in run["ratios"]:
        mode = "batch" if row["mode"] == "loops" else row["mode"]
        if mode not in views.modes or row["rows"] != views.modes[mode] or not known(row["ratio"]):
            continue
        numbers = [sig(row[name]) for name in ("ratio", "low", "high")]
        for code in _codes(views.codes, row):
            group = found.setdefault(key(row["robot"], row["quantity"], mode, code), {"rows": []})
            group["rows"].append(
                {
                    "method": row["method"],
                    "peer": row["peer"],
                    "ratio": numbers,
                    "verdict": row["verdict"],
                    "called": row["peer_call"],
                    "own": row["peer_call"] in OWN_CALLS,
                    **({"reason": row["reason"]} if row["reason"] else {}),
                }
            )
    for group in found.values():
        group["said"] = _beside(group["rows"])
    return found


def _beside(rows: Sequence[dict[str, Any]]) -> str:
    """How many methods are faster than each engine's own call, and the largest ratio."""
    parts = []
    for peer, called in dict.fromkeys((row["peer"], row["called"]) for row in rows if row["own"]):
        mine = [r for r in rows if (r["peer"], r["called"]) == (peer, called) and "reason" not in r]
        if not mine:
            parts.append(f"{peer} ({called}): disturbed, not judged.")
            continue
        many = {verdict: sum(row["verdict"] == verdict for row in mine) for verdict in (FASTER, NO_DIFFERENCE, SLOWER)}
        top = max(mine, key=lambda row: row["ratio"][0])
        said = listed([f"{count} {'not different' if v == NO_DIFFERENCE else v}" for v, count in many.items() if count])
        low, high = (f"{bound:.3g}" if bound is not None else "?" for bound in top["ratio"][1:])
        parts.append(
            f"{peer} ({called}): of {plural(len(mine), 'method')} {said}, {top['method']} {top['ratio'][0]:.3g} times "
            f"[{low} to {high}]."
        )
    return " ".join(parts)


def _codes(codes: Sequence[str], row: Record) -> Sequence[str]:
    """The tiers that a row belongs to: its own, or all if it has none."""
    code = row.get("code", "")
    return [code] if code else codes
