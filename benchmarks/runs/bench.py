"""The whole benchmark: agreement, then timing, then the rest; tables after each of the long stages.

    query        which robots plugins support
    compile      the kernels that will be called, on all processors
    try out      each method once on each robot, to find crashes and hangs
    check        all pairs and invariants; a method that does not agree is not timed
    time         paired rounds, through pytest-benchmark, with the scaling families
    start up     prepare, first call in a new process, memory
    count        operations of the timed source, polynomials, the machine's peak
    papers       experiments and claims; their simulations, and work against precision
    problems     benchmark problems with known answers, in a full run

Each is a function of `checking` or `stages`. Finished cells are in the journal of the folder, and a resumed run does
not repeat them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dynbench import methods
from dynbench.benchmarks.papers import recordings, sweeps
from dynbench.benchmarks.processes.executors import executor
from dynbench.benchmarks.processes.interrupts import interruptible
from dynbench.benchmarks.processes.jobs import NO_LIMITS, Limits
from dynbench.benchmarks.processes.journal import Journal
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results import environment
from dynbench.benchmarks.runs import checking, outputs, short, stages
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.plan import Matrix, Plan

AFTER_CHECK = ("timing", "start-up", "operation counts", "papers and problems")  # stages that follow
AFTER_TIMING = AFTER_CHECK[1:]


def run(
    plan: Plan,
    journal: Journal,
    whole: bool = True,
    command: Sequence[str] | None = None,
    limits: Limits = NO_LIMITS,
    scheduler: str | None = None,
    publish: Callable[[str], None] = lambda stage: None,
    about: Mapping[str, Any] = MappingProxyType({}),
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
    publish : callable
        Called with a stage's name when the folder has its tables: a page of the unfinished run can be written.
    about
        Further facts for environment.json.
    """
    facts = {**environment.describe(command), **about}
    with executor(scheduler) as runner, interruptible():
        findings = Findings(plan, Matrix(plan), facts, journal, runner, limits)
        try:
            _stages(findings, journal.folder, whole, publish)
        except KeyboardInterrupt:  # once more, with the cells of the journal only
            findings = Findings(plan, Matrix(plan), facts, journal, runner, limits, interrupted=True)
            _stages(findings, journal.folder, whole)
    if findings.interrupted:
        done = findings.asked - findings.unanswered
        findings.notes.insert(0, f"interrupted: {done} of {findings.asked} cells; --resume continues this run")
    outputs.write(journal.folder, findings)
    if not findings.interrupted:
        journal.finish()
    return findings


def _stages(
    findings: Findings, folder: Path, whole: bool, publish: Callable[[str], None] = lambda stage: None
) -> None:
    plan = findings.plan
    findings.notes += findings.journal.notes
    findings.notes += [f"{name}: {reason}" for name, reason in plan.left_out.items()]
    findings.notes += [f"{name}: {reason}" for name, reason in methods.available()[1].items()]
    findings.notes += [
        f"{name}: its joints have damping or friction, which methods here compute and engines' own calls leave out"
        for name, robot in plan.robots.items()
        if plan.peers and (robot.damping.any() or robot.friction.any())
    ]
    findings.left = list(short.left_out(findings.matrix))
    findings.notes += findings.left
    stages.query_plugin_support(findings, whole)
    stages.compile_kernels(findings)
    stages.try_out(findings)
    checking.check_robots(findings)
    _show(findings, folder, "the check", AFTER_CHECK, publish)
    findings.environment["load before timing"] = environment.load()
    stages.time_cells(findings, whole, folder)
    stages.time_loops(findings, whole)
    findings.environment["load after timing"] = environment.load()
    if not plan.short:  # there, not much follows
        _show(findings, folder, "timing", AFTER_TIMING, publish)
    stages.start_up(findings)
    stages.count(findings, whole)
    if whole:
        stages.run_papers(findings, folder)
        stages.run_problems(findings, folder)
    else:
        recordings.run(folder, ())
        sweeps.run(folder, ())
        stages.no_problems(folder)
        left = "scaling families, papers and problems"
        findings.notes.append(f"{left} were left out: the run was restricted to some robots")


def _show(
    findings: Findings, folder: Path, stage: str, following: Sequence[str], publish: Callable[[str], None]
) -> None:
    """Write the tables so far, with a note on what is still missing, and have a page made of them."""
    if not findings.interrupted:
        note = f"this run is not finished: {', '.join(following)} are still to come"
        findings.notes.insert(0, note)
        outputs.write(folder, findings)
        publish(stage)
        findings.notes.remove(note)


def agreed(findings: Findings) -> bool:
    """Whether nothing disagreed, nothing failed, and no job was lost."""
    ended = [*(row.outcome for row in findings.checks), *(timing.outcome for timing in findings.timings)]
    return not any(outcome.failure or outcome is Outcome.INTERRUPTED for outcome in ended)
