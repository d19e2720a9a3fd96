"""The verdict in a few sentences: do they agree, which is fastest, do the claims of papers hold, what of problems."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dynbench.benchmarks.papers.registry import NOT_RUN
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.best_runs import applied, best, grouped
from dynbench.benchmarks.results.verdicts import OWN_CALLS
from dynbench.reports.agreement import compared, wrong
from dynbench.reports.rows import (
    Record,
    StoredRun,
    in_tier,
    known,
    listed,
    number,
    outcome,
    plural,
    seconds,
    unique,
    words,
)

SOLVED, NAMED = 1e-6, 3  # error of a problem that is solved; how many that are not are named


def sentences(run: StoredRun) -> list[str]:
    """Return the sentences; each says so where the run has nothing to say. Problems have one where they were run."""
    if "only problems" in run.facts:
        return [problems(run)]
    return [agreement(run), speed(run), claims(run), *([problems(run)] if run["problems"] else [])]


def agreement(run: StoredRun) -> str:
    """Whether all pairs agree, and how well."""
    pairs, bad = compared(run), wrong(run)
    if not pairs and not bad:
        return "No two methods were compared, so there is no result about agreement."
    held = [row for row in pairs if row["status"] == "agrees"]
    robots = plural(len(unique(row["robot"] for row in pairs)), "robot")
    if bad:
        first = bad[0]
        both = (in_tier(first["method"], first["code"]), in_tier(first["other"], first["other_code"]))
        whose = listed([name for name in both if name])
        return (
            f"{plural(len(bad), 'check')} of {len(run['agreement'])} did not pass, the first being {whose} on "
            f"{first['robot']} ({first['measure']}); what does not agree is not timed."
        )
    if not held:
        return f"{plural(len(pairs), 'comparison')} of methods on {robots} were reported; none is of two exact methods."
    worst = max(held, key=lambda row: number(row["value"]))
    return (
        f"All exact methods agree: {plural(len(held), 'comparison')} of pairs on {robots}, the largest relative error "
        f"{number(worst['value']):.0e} ({in_tier(worst['method'], worst['code'])} and "
        f"{in_tier(worst['other'], worst['other_code'])}, {words(worst['quantity'])} of "
        f"{worst['robot']})."
    )


def speed(run: StoredRun) -> str:
    """For each tier, which method is fastest most often in batches, and by how much an engine's own call is slower."""
    return " ".join(dict.fromkeys(_speed(run.of_tier(tier), tier) for tier in run.tiers))


def _speed(run: StoredRun, tier: str) -> str:
    count, rankings = run.batch_size, list(run.fastest().values())
    if not rankings:
        disturbed = any(outcome(row) is Outcome.DISTURBED for row in run["timing"])
        return "Every time was disturbed, so no method is called the fastest." if disturbed else "Nothing was timed."
    wins = Counter(ranking.fastest[0] for ranking in rankings if len(ranking.fastest) == 1)
    ties = Counter(name for ranking in rankings if len(ranking.fastest) > 1 for name in ranking.fastest)
    best = max([*wins, *ties], key=lambda name: (wins[name], ties[name]))
    parts = [f"the fastest in {wins[best]}"] * bool(wins[best])
    parts += [f"tied for the fastest in {ties[best]}"] * bool(ties[best])
    where = f"{listed(parts)} of {len(rankings)} pairs of robot and quantity"
    of = f"{tier} code, " * bool(tier)
    said = f"In {of}batches of {count} on one thread, {best} is {where}"
    against: dict[str, list[Record]] = {}
    for row in run["ratios"]:
        mine = (row["method"], row["mode"], row["rows"]) == (best, "batch", count)
        if mine and known(row["ratio"]) and row["peer_call"] in OWN_CALLS and not row["reason"]:
            against.setdefault(row["peer"], []).append(row)
    if against:
        peer = min(against, key=lambda peer: _mean(against[peer]))  # the fastest of the others
        top = max(against[peer], key=lambda row: number(row["ratio"]))
        return (
            f"{said}; it is {_mean(against[peer]):.1f} times faster than {peer}'s own calls in the geometric mean, at "
            f"most {number(top['ratio']):.1f} times ({words(top['quantity'])} of {top['robot']}, {top['peer_call']})."
        )
    fastest = min(
        (r for r in run["timing"] if r["method"] == best and r["mode"] == "batch" and known(r["seconds"])),
        key=lambda r: number(r["seconds"]),
    )
    tail = "" if run.peers else ", and no other engine was there to compare with"
    least = seconds(number(fastest["seconds"]))
    return f"{said}, down to {least} a state ({words(fastest['quantity'])} of {fastest['robot']}){tail}."


def _mean(rows: Sequence[Record]) -> float:
    """The geometric mean of ratios."""
    return math.exp(sum(math.log(number(row["ratio"])) for row in rows) / len(rows))


def claims(run: StoredRun) -> str:
    """What became of the papers' statements, and of our own checks."""
    missing = unique(row["paper"] for row in run["claims"] if row["verdict"] == NOT_RUN)
    tested = [row for row in run["claims"] if row["verdict"] != NOT_RUN]
    rows = [row for row in tested if row.get("kind") != "check"]
    checks = [row for row in tested if row.get("kind") == "check"]
    left = f"The experiments of {plural(len(missing), 'paper')} were not run; `dynbench papers` runs them."
    if not rows and not checks:
        return left if missing else "No paper's statements were tested."
    verb = {"differs": "differ", "depends": "depend on what is not given", "not reproducible": "cannot be decided"}
    said = unique(row["verdict"] for row in rows)
    found = listed([f"{sum(row['verdict'] == one for row in rows)} {verb.get(one, one)}" for one in said])
    papers = plural(len(unique(row["paper"] for row in rows)), "paper")
    errata = f"{len(run['errata'])} errat{'um' if len(run['errata']) == 1 else 'a'}"
    held = sum(row["verdict"] == "reproduced" for row in checks)
    own = f"; {held} of {plural(len(checks), 'check')} of our own hold" if checks else ""
    said_of_all = f"Of {plural(len(rows), 'statement')} of {papers}, {found}{own}; {errata} found on the way."
    return f"{said_of_all} {left}" if missing else said_of_all


def problems(run: StoredRun) -> str:
    """How many digits exact methods reached on the benchmark problems, and what did not reach the end."""
    inexact = {name for name, about in run.facts["methods"].items() if about.get("exact") is False}
    exact = [row for row in run["problems"] if applied(row) and row["method"] not in inexact | set(run.peers)]
    by_pair = [best(rows).row for by_method in grouped(exact).values() for rows in by_method.values()]
    if not by_pair:
        return "No exact method was run on a benchmark problem."
    short = [row for row in by_pair if not (known(row["error"]) and number(row["error"]) <= SOLVED)]
    named = [f"{row['method']} on {row['problem']}" for row in short[:NAMED]]
    more = f" and {len(short) - NAMED} more" if len(short) > NAMED else ""
    rest = f"; not {listed(named) if not more else ', '.join(named) + more}" if short else ""
    return (
        f"On {plural(len(grouped(exact)), 'benchmark problem')} with known answers, {len(by_pair) - len(short)} of "
        f"{len(by_pair)} pairs of problem and exact method reach an error of {SOLVED:.0e}{rest}."
    )
