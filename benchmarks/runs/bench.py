"""The whole benchmark: agreement, then timing, then the files and a summary for the terminal.

    query        which robots plugins support
    compile      the kernels that will be called, on all processors
    try out      each method once on each robot, to find crashes and hangs
    check        all pairs and invariants; a method that does not agree is not timed
    time         interleaved passes of pytest-benchmark, with the scaling families
    start up     prepare, first call in a new process, memory
    count        operations of the timed source, polynomials, the machine's peak
    papers       experiments and claims; their simulations, and work against precision

Each is a function of `checking` or `stages`. Finished cells are in the journal of the folder, and a resumed run does
not repeat them.
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dynbench import methods
from dynbench.benchmarks import papers
from dynbench.benchmarks.papers import recordings, sweeps
from dynbench.benchmarks.processes.executors import executor
from dynbench.benchmarks.processes.jobs import NO_LIMITS, Limits
from dynbench.benchmarks.processes.journal import Journal
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import environment, tables
from dynbench.benchmarks.results.summary import disagreements
from dynbench.benchmarks.results.verdicts import Ranking, grouped, rank_records, shown_rows
from dynbench.benchmarks.runs import checking, outputs, stages
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.plan import Matrix, Plan
from dynbench.benchmarks.timing import loop_ratios, ratios

SHOWN = 6  # disagreements in the summary; all are in disagreements.json


def run(
    plan: Plan,
    journal: Journal,
    whole: bool = True,
    command: Sequence[str] | None = None,
    limits: Limits = NO_LIMITS,
    scheduler: str | None = None,
) -> Findings:
    """Run every stage and write the tables to the folder of ``journal``.

    An interrupt (Ctrl-C or SIGTERM) ends the running jobs; the tables then have what was finished, and a note.

    Parameters
    ----------
    whole : bool
        False leaves out what does not depend on the chosen robots: the scaling families and the papers.
    limits : Limits
        Of each process.
    scheduler : str, optional
        Address of a cluster that runs the jobs; default: processes of this machine.
    """
    about = environment.describe(command)
    with executor(scheduler) as runner, terminated_as_interrupted():
        findings = Findings(plan, Matrix(plan), about, journal, runner, limits)
        try:
            _stages(findings, journal.folder, whole)
        except KeyboardInterrupt:  # once more, with the cells of the journal only
            findings = Findings(plan, Matrix(plan), about, journal, runner, limits, interrupted=True)
            _stages(findings, journal.folder, whole)
    if findings.interrupted:
        done = findings.asked - findings.unanswered
        findings.notes.insert(0, f"interrupted: {done} of {findings.asked} cells; --resume continues this run")
    outputs.write(journal.folder, findings)
    if not findings.interrupted:
        journal.finish()
    return findings


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C; does nothing outside the main thread."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stages(findings: Findings, folder: Path, whole: bool) -> None:
    plan = findings.plan
    findings.notes += findings.journal.notes
    findings.notes += [f"{name}: {reason}" for name, reason in plan.left_out.items()]
    findings.notes += [f"{name}: {reason}" for name, reason in methods.available()[1].items()]
    stages.query_plugin_support(findings, whole)
    stages.compile_kernels(findings)
    stages.try_out(findings)
    checking.check_robots(findings)
    findings.environment["load before timing"] = environment.load()
    stages.time_cells(findings, whole, folder)
    stages.time_loops(findings, whole)
    findings.environment["load after timing"] = environment.load()
    stages.start_up(findings)
    stages.count(findings, whole)
    if whole:
        stages.run_papers(findings)
        if plan.quick:
            findings.notes.append("simulations that take more than a few seconds were left to the full run")
        recordings.run(folder, papers.names(), plan.quick, findings.ask)
        sweeps.run(folder, papers.names(), plan.quick, findings.ask)
    else:
        recordings.run(folder, ())
        sweeps.run(folder, ())
        findings.notes.append("scaling families and papers were left out: the run was restricted to some robots")


def agreed(findings: Findings) -> bool:
    """Whether nothing disagreed, nothing failed, and no job was lost."""
    ended = [*(row.outcome for row in findings.checks), *(timing.outcome for timing in findings.timings)]
    return not any(outcome.failure or outcome is Outcome.INTERRUPTED for outcome in ended)


def screen(findings: Findings) -> str:
    """The summary: the fastest method of each robot and quantity, ratios to peers, and what went wrong."""
    looped = loop_ratios.screen(findings.compared)
    parts = [best(findings), headline(findings), looped, noise(findings), claims(findings), wrong(findings)]
    return "\n\n".join(part for part in parts if part)


def best(findings: Findings) -> str:
    """For each robot and quantity, the fastest exact method per state in batches on one thread."""
    rows = list(outputs.times(findings))
    count = shown_rows(row["rows"] for row in rows if row["mode"] == "batch")
    facts = outputs.method_facts(findings.plan)
    found = {
        (robot, quantity): rank_records(group, facts)
        for (robot, quantity, mode, size), group in grouped(rows).items()
        if (mode, size) == ("batch", str(count))
    }
    quantities = [q for q in findings.plan.quantities if any(r.fastest for (_, name), r in found.items() if name == q)]
    lines = [
        [robot, *(_winner(found.get((robot, quantity))) for quantity in quantities)] for robot in findings.plan.robots
    ]
    title = f"fastest exact method per state, one thread, batches of {count} (~: others within the noise)"
    return title + "\n" + tables.aligned(["robot", *quantities], lines, "  ")


def _winner(ranking: Ranking | None) -> str:
    return f"{ranking.text} {tables.time_text(ranking.best)}" if ranking is not None and ranking.fastest else "-"


def headline(findings: Findings) -> str:
    """The ratios of newton-euler to Pinocchio that have targets."""
    found = ratios.headline(findings.compared)
    if not found:
        return ""
    rows = [
        [
            f"{r.robot} {r.quantity}, {r.mode}",
            f"{r.ratio:.2f}" if not r.reason else r.reason[:40],
            f"{100 * r.noise:.0f} %" if r.noise == r.noise else "-",
            f"{r.target:.2f}",
            r.met,
        ]
        for r in found
    ]
    width = environment.instruction_set(findings.environment)
    title = f"newton-euler, times faster than pinocchio's own calls (targets for {width})"
    return title + "\n" + tables.aligned(["", "ratio", "noise", "target", "met"], rows, "  ")


def noise(findings: Findings) -> str:
    """The noise of each mode, from pairs of the same code, and the machine's limit."""
    of_mode = {t.cell.mode: t.noise for t in findings.timings if not t.reason and not math.isnan(t.noise)}
    text = ", ".join(f"{mode} {100 * value:.0f} %" for mode, value in of_mode.items()) or "not measured"
    peak = f"{findings.peak.value / 1e9:.1f} GFLOP/s" if findings.peak.value else findings.peak.reason
    return f"noise of A/A pairs: {text}\nfloating-point peak of one thread: {peak}"


def claims(findings: Findings) -> str:
    """How many claims of each paper were reproduced."""
    lines = []
    for paper in findings.claimed:
        counts: dict[str, int] = {}
        for claim in paper.claims:
            counts[claim["verdict"]] = counts.get(claim["verdict"], 0) + 1
        found = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        lines.append(f"  {paper.name}: {found}; {len(paper.errata)} errata")
    return "\n".join(["papers' claims", *lines]) if lines else ""


def wrong(findings: Findings) -> str:
    """The disagreements and failures, or a sentence that there is none."""
    pairs = sum(bool(row.other) for row in findings.checks)
    differing = disagreements(findings.checks, SHOWN)
    failed = sorted({f"  {t.cell.key}: {t.outcome}: {t.reason}" for t in findings.timings if t.outcome.failure})
    parts = [differing] if differing else [f"{pairs} comparisons of pairs: no disagreement"]
    if failed:
        parts.append("\n".join(["not timed:", *failed[:SHOWN], *(["  ..."] if len(failed) > SHOWN else [])]))
    return "\n".join(parts)
