"""The whole benchmark: agreement first, then the clock, then the files; a screen of summary comes back.

    compile      what will be called, on all processors
    try out      each method once on each robot; what crashes or hangs is known from here on
    check        all pairs and invariants; what does not agree is not timed
    time         interleaved passes of pytest-benchmark, with the scaling families
    start up     prepare, first call in a new process, memory
    count        operations of the timed source, polynomials, the machine's peak
    papers       experiments and claims; their simulations, and work against precision

Each is a function of `checking` or `stages`. What is finished is in the journal of the folder (`store`), and a run that
resumes does not do it again.
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
from dynbench.benchmarks.processes.jobs import FAILURES, NO_LIMITS, Limits
from dynbench.benchmarks.processes.journal import Store
from dynbench.benchmarks.results import environment, tables
from dynbench.benchmarks.results.summary import disagreements
from dynbench.benchmarks.results.verdicts import verdict
from dynbench.benchmarks.runs import checking, outputs, stages
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.plan import Matrix, Plan
from dynbench.benchmarks.timing import loop_ratios, ratios
from dynbench.benchmarks.timing.passes import Timing

SHOWN = 6  # disagreements on the screen; all are in disagreements.json


def run(
    plan: Plan,
    store: Store,
    whole: bool = True,
    command: Sequence[str] | None = None,
    limits: Limits = NO_LIMITS,
    scheduler: str | None = None,
) -> Findings:
    """Run every stage and write the tables to the folder of ``store``.

    An interrupt (Ctrl-C, or SIGTERM) ends what is running; the tables then have what was finished, and a note.

    Parameters
    ----------
    whole : bool
        False leaves out what is not about the chosen robots: the scaling families and the papers.
    limits : Limits
        What a process may take.
    scheduler : str, optional
        Address of a cluster that runs the jobs; default: processes of this machine.
    """
    about = environment.describe(command)
    with executor(scheduler) as runner, terminated_as_interrupted():
        findings = Findings(plan, Matrix(plan), about, store, runner, limits)
        try:
            _stages(findings, store.folder, whole)
        except KeyboardInterrupt:  # once more, with what the journal has alone
            findings = Findings(plan, Matrix(plan), about, store, runner, limits, interrupted=True)
            _stages(findings, store.folder, whole)
    if findings.interrupted:
        done = findings.asked - findings.missing
        findings.notes.insert(0, f"interrupted: {done} of {findings.asked} cells; --resume continues this run")
    outputs.write(store.folder, findings)
    if not findings.interrupted:
        store.finish()
    return findings


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Take a request to terminate (SIGTERM) as Ctrl-C is taken; outside the main thread, leave it alone."""

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
    findings.notes += findings.store.notes
    findings.notes += [f"{name}: {reason}" for name, reason in plan.left_out.items()]
    findings.notes += [f"{name}: {reason}" for name, reason in methods.available()[1].items()]
    stages.ask_whom(findings, whole)
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
        recordings.run(folder, recordings.QUICK if plan.quick else tuple(recordings.SIMULATIONS), findings.ask)
        sweeps.run(folder, papers.names(), plan.quick, findings.ask)
    else:
        recordings.run(folder, ())
        sweeps.run(folder, ())
        findings.notes.append("scaling families and papers were left out: the run was restricted to some robots")


def agreed(findings: Findings) -> bool:
    """Whether nothing disagreed and nothing failed."""
    failed = any(t.reason.startswith(FAILURES) for t in findings.timings)
    return all(row.ok for row in findings.checks) and not failed


def screen(findings: Findings) -> str:
    """The summary: the best method of each robot and quantity, ratios to peers, whatever went wrong."""
    looped = loop_ratios.screen(findings.compared)
    parts = [best(findings), headline(findings), looped, noise(findings), claims(findings), wrong(findings)]
    return "\n\n".join(part for part in parts if part)


def best(findings: Findings) -> str:
    """For each robot and quantity, the fastest exact method per state in batches on one thread."""
    plan = findings.plan
    wanted = [q for q in plan.quantities if any(t.cell.quantity == q and may_win(t) for t in findings.timings)]
    rows = []
    for robot, source in plan.sources.items():
        row = [robot]
        for quantity in wanted:
            timed = [
                t
                for t in findings.timings
                if (t.cell.robot, t.cell.quantity) == (source, quantity) and may_win(t)
            ]
            row.append(_winner(timed))
        rows.append(row)
    count = max((t.cell.rows for t in findings.timings if t.cell.mode == "batch"), default=0)
    title = f"fastest exact method per state, one thread, batches of up to {count} (~: others within the noise)"
    return title + "\n" + tables.aligned(["robot", *wanted], rows, "  ")


def may_win(timing: Timing) -> bool:
    """Whether a time is that of a batch, of a method that can be the fastest."""
    cell = timing.cell
    return cell.mode in ("batch", "engine-batch") and not cell.again and not timing.reason and outputs.may_win(cell)


def _winner(timed: list[Timing]) -> str:
    if not timed:
        return "-"
    first = min(timed, key=lambda t: t.seconds)
    others = [t for t in timed if t.cell.method != first.cell.method]
    tied = any(verdict(t.seconds, first.seconds, max(t.noise, first.noise)) != "slower" for t in others)
    return f"{first.cell.method}{'~' * tied} {tables.time_text(first.seconds)}"


def headline(findings: Findings) -> str:
    """The ratios to Pinocchio that newton-euler is held to."""
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
        found = ", ".join(f"{count} {said}" for said, count in counts.items())
        lines.append(f"  {paper.name}: {found}; {len(paper.errata)} errata")
    return "\n".join(["papers' claims", *lines]) if lines else ""


def wrong(findings: Findings) -> str:
    """Every disagreement and failure, or the sentence that there is none."""
    pairs = sum(bool(row.other) for row in findings.checks)
    said = disagreements(findings.checks, SHOWN)
    failed = sorted({f"  {t.cell.key}: {t.reason}" for t in findings.timings if t.reason.startswith(FAILURES)})
    parts = [said] if said else [f"{pairs} comparisons of pairs: no disagreement"]
    if failed:
        parts.append("\n".join(["not timed:", *failed[:SHOWN], *(["  ..."] if len(failed) > SHOWN else [])]))
    return "\n".join(parts)
