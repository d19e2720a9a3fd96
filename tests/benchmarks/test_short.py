"""The default run: chosen by rule, with a budget that holds however many methods there are, and says what it leaves."""

from __future__ import annotations

import functools
from concurrent.futures import Executor, Future
from dataclasses import replace
from importlib import import_module

import pytest
from made_findings import pretend

from dynbench import methods
from dynbench.benchmarks import papers
from dynbench.benchmarks.processes.jobs import Answer, Job
from dynbench.benchmarks.processes.journal import Journal
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.runs import kept, outputs, screen, short, stages
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.plan import Matrix, Plan, choose
from dynbench.benchmarks.tiers import GENERIC, TRACED, Variant
from dynbench.benchmarks.timing import scaling

OTHERS = [name for name in methods.names() if not short.timed(name)]


@functools.cache
def default() -> Plan:
    return choose(None, None, None, quick=True)


@functools.cache
def matrix() -> Matrix:
    return Matrix(default())


def test_every_method_is_checked_somewhere():
    checked = {variant.method for _, variant in matrix().run()}
    able = {name for name in default().methods if any(methods.get(name).supports(r) is None for r in
                                                      default().robots.values())}  # fmt: skip
    assert checked == able
    for name in set(OTHERS) & able:
        assert [variant.code for _, variant in matrix().run() if variant.method == name] == [TRACED]


def test_the_rule_is_of_names_and_times_the_reference_and_the_papers():
    wanted, refused = matrix().cells()
    timed = {cell.method for cell in wanted}
    assert {"newton-euler", "null", *short.PAPERS_METHODS} <= timed
    assert not timed & set(OTHERS)
    assert {"kane", "hollerbach", "screw"} <= set(OTHERS)
    for cell in refused:
        assert refused[cell].outcome in (Outcome.LEFT_OUT, Outcome.UNSUPPORTED)


def test_what_is_asked_for_is_timed():
    for given in ((["two-link"], None), (["3rrr"], ["kane"]), (None, ["kane"])):
        plan = choose(*given, ["inverse_dynamics"], quick=True)
        wanted, _ = Matrix(plan).cells()
        assert Variant("kane", GENERIC) in {cell.variant for cell in wanted}
        assert {cell.mode for cell in wanted if cell.method == "kane"} == {"call", "unchecked", "batch"}


def test_loops_compile_as_traced_code():
    kane, reference = (Variant(name, GENERIC) for name in ("kane", "newton-euler"))
    assert ("3rrr", reference) in matrix().not_run
    assert ("3rrr", replace_code(reference)) in matrix().run()
    assert ("panda", reference) in matrix().run()
    only = Matrix(choose(None, None, None, quick=True, code=GENERIC))
    assert ("3rrr", reference) in only.run()
    assert ("panda", kane) in only.run()
    assert ("panda", kane) in only.not_timed


def replace_code(variant: Variant) -> Variant:
    return variant._replace(code=TRACED)


def test_the_default_run_has_few_cells():
    wanted, _ = matrix().cells()
    grown, _ = scaling.cells([v for v in default().variants if short.scaled(default(), v)],
                             scaling.QUICK_QUANTITIES, quick=True)  # fmt: skip
    engines = ("pinocchio", "mujoco", "dynibo")  # of the extra `peers`, which the session `bench` installs
    counted = [cell for cell in wanted if cell.method not in default().peers or cell.method in engines]
    assert len(counted) < 1000
    assert len(grown) < 200
    assert {cell.code for cell in grown} <= {"", GENERIC}
    assert {cell.mode for cell in wanted} <= {"call", "unchecked", "batch", "engine", "engine-batch"}
    assert {cell.method for cell in wanted if cell.mode == "call"} == {"newton-euler"}


def test_the_full_run_times_everything_by_handle_and_in_batches_and_the_rest_by_rule():
    plan = choose(None, None, None)
    assert plan.whole
    full = Matrix(plan)
    wanted, refused = full.cells()
    able = {(robot, one, quantity) for robot, one in full.pairs() for quantity in full.able(robot, one)}
    able = {cell for cell in able if cell[2] != "bias"}  # inverse dynamics by the same code
    for mode, rows, those in (
        ("unchecked", 1, able),
        ("batch", 1000, able),
        ("call", 1, {cell for cell in able if cell[1].method not in OTHERS}),
    ):
        assert {(c.robot, c.variant, c.quantity) for c in wanted if (c.mode, c.rows) == (mode, rows)} == those
    bias = [cell for cell in refused if (cell.robot, cell.method, cell.quantity) == ("panda", "newton-euler", "bias")]
    left = [refused[cell] for cell in bias]
    assert {missing.outcome for missing in left} == {Outcome.LEFT_OUT}
    assert all("by the same code" in missing.reason for missing in left)
    others = [c for c in wanted if c.mode in ("batch", "threads") and (c.mode, c.rows) != ("batch", 1000)]
    assert {c.robot for c in others} == set(plan.robots) & {"panda", "chain-30", "talos"}
    assert {c.quantity for c in others} == set(short.QUANTITIES)
    assert not {c.method for c in others} & set(OTHERS)
    passes, budget = short.rounds(plan, len(wanted))
    assert len(passes) * budget.rounds * len(wanted) * short.TURN_SECONDS <= short.FULL_SECONDS
    assert len(passes) * budget.rounds >= budget.least
    # what is asked for has all sizes
    named = Matrix(choose(["two-link"], ["kane", "hollerbach"], None)).cells()[0]
    assert {c.mode for c in named if (c.method, c.quantity) == ("kane", "bias")} == {
        "call", "unchecked", "batch", "threads",
    }  # fmt: skip
    assert {c.rows for c in named if c.method == "hollerbach"} == {1, 10, 100, 1000, 10_000, 100_000}


@pytest.mark.parametrize("quick", [True, False])
def test_what_is_left_out_by_rule_is_not_called_given_up(quick):
    """The end of a run lists cells that were given up, each with its reason: those of the rules would be thousands."""
    _, refused = Matrix(choose(None, None, None, quick=quick)).cells()
    left = [missing.reason for missing in refused.values() if missing.outcome is Outcome.LEFT_OUT]
    assert left
    assert all(map(short.by_rule, left))
    assert not short.by_rule("1 state takes 2 s, more than the limit of 0.1 s")


def test_derivatives_are_of_one_robot_and_of_the_methods_that_are_timed():
    wanted, refused = matrix().cells()
    derived = [cell for cell in wanted if cell.quantity in short.ON_ONE_ROBOT]
    assert {cell.robot for cell in derived} == {"panda"}
    assert {cell.quantity for cell in derived} == set(short.ON_ONE_ROBOT)
    assert {cell.code for cell in derived if cell.method == "newton-euler"} == {TRACED}
    generic = Matrix(choose(None, None, None, quick=True, code=GENERIC)).cells()[0]
    assert {cell.quantity for cell in generic} > set(short.ON_ONE_ROBOT)
    assert not {cell.method for cell in derived} & set(OTHERS)
    others = [cell for cell in refused if cell.quantity in short.ON_ONE_ROBOT and cell.robot != "panda"]
    assert others
    assert {refused[cell].outcome for cell in others} <= {Outcome.LEFT_OUT, Outcome.UNSUPPORTED}
    for robot, variant in matrix().run():
        computed = set(methods.get(variant.method).computes_with(variant.code or GENERIC)) & set(short.ON_ONE_ROBOT)
        assert robot == "panda" or not computed & set(matrix().checked(robot, variant))
    # what is asked for is not left out
    asked = choose(None, None, ["regressor"], quick=True)
    assert {cell.robot for cell in Matrix(asked).cells()[0]} > {"panda", "3rrr"}
    assert not set(choose(["panda"], None, None, quick=True).quantities) & set(short.ON_ONE_ROBOT)


def test_more_methods_cost_nothing(monkeypatch):
    before, _ = matrix().cells()
    pretend(monkeypatch, [f"new-{k}" for k in range(40)])
    monkeypatch.setattr(short, "is_foreign", lambda method: False)
    after, _ = Matrix(choose(None, None, None, quick=True)).cells()
    assert len(after) == len(before)


@pytest.mark.parametrize("cells", [1, 100, 800, 1600, 3000])
@pytest.mark.parametrize("passes", [1, 3])
def test_rounds_fit_the_budget(cells, passes):
    found = short.budget(cells, passes)
    assert short.ROUNDS_AT_ONCE <= found.rounds <= short.MOST_ROUNDS
    assert found.least <= passes * found.rounds
    if found.rounds > short.ROUNDS_AT_ONCE:
        assert found.rounds * cells * passes * short.TURN_SECONDS <= short.TIMING_SECONDS


def test_what_is_left_is_said_in_the_terminal_and_in_the_facts(tmp_path):
    nothing = None
    findings = Findings(default(), matrix(), {}, nothing, nothing)
    findings.left = list(short.left_out(matrix()))
    assert any("times of" in line and "kane" in line for line in findings.left)
    assert any("closed loops" in line and "newton-euler" in line for line in findings.left)
    shown = screen.screen(findings)
    assert all(line in shown for line in findings.left)
    outputs.write(tmp_path, findings)
    assert "left to the full run: times of" in (tmp_path / "environment.json").read_text()
    assert list(short.left_out(Matrix(choose(["two-link"], ["kane"], None)))) == []


def test_trying_out_begins_with_the_loops_a_quantity_at_a_time(monkeypatch):
    plan = choose(["two-link", "3rrr"], ["denoc", "newton-euler"], None, quick=True)
    nothing = None
    findings = Findings(plan, Matrix(plan), {}, nothing, nothing)
    asked: list[Job] = []

    def ask(stage, jobs, name):
        asked.extend(jobs)
        return [Answer({}) for _ in jobs]

    monkeypatch.setattr(findings, "ask", ask)
    stages.try_out(findings)
    loops = [(job.arguments["robot"], job.arguments["code"]) == ("3rrr", GENERIC) for job in asked]
    assert loops == sorted(loops, reverse=True)
    assert sum(loops) == len(plan.quantities) * len(plan.methods)
    assert all(len(job.arguments["quantities"]) == 1 for job, one in zip(asked, loops, strict=True) if one)


PAPER = Job("dynbench.benchmarks.papers.registry:job", {"name": "gibbs-appell-rp", "quick": True})


@pytest.fixture
def answers(monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "answers")
    return tmp_path / "answers"


def test_answers_about_papers_are_kept(answers):
    calls = []

    def ask(stage, jobs):
        calls.extend(jobs)
        return [Answer({"claims": [1.0, float("nan")]}) for _ in jobs]

    used: list[Job] = []
    asking = kept.using(ask, used=used.append)
    (first,) = asking("papers", [PAPER])
    (second,) = asking("papers", [PAPER])
    assert (len(calls), len(used)) == (1, 1)
    assert first.value["claims"][0] == second.value["claims"][0] == 1.0
    (file,) = answers.iterdir()
    file.write_text("{ damaged")
    asking("papers", [PAPER])
    assert len(calls) == 2


def test_the_long_form_counts_for_the_short_one_and_not_the_reverse(answers):
    long = replace(PAPER, arguments={**PAPER.arguments, "quick": False})
    kept.keep(PAPER, Answer("short"))
    assert kept.find(long) is None
    kept.keep(long, Answer("long"))
    assert kept.find(PAPER).value == "long"


def test_counts_of_our_methods_are_kept_by_robot_and_tier(answers):
    count = Job("dynbench.benchmarks.timing.counts:count", {"robot": "two-link", "method": "kane", "code": ""})
    kept.keep(count, Answer({"bias": {"flops": 10}}))
    assert kept.find(count).value == {"bias": {"flops": 10}}
    for other in ({"robot": "panda"}, {"code": TRACED}, {"method": "screw"}):
        assert kept.find(replace(count, arguments={**count.arguments, **other})) is None
    kept.keep(replace(count, owner="a plugin", arguments={**count.arguments, "robot": "panda"}), Answer(1.0))
    assert len(list(answers.iterdir())) == 1


def test_failures_and_papers_of_other_packages_are_not_kept(answers):
    kept.keep(PAPER, Answer(reason="raised ValueError"))
    kept.keep(replace(PAPER, arguments={"name": "of-a-plugin", "quick": True}), Answer(1.0))
    assert not answers.exists()


def test_jobs_that_begin_too_late_are_left_out(tmp_path):
    plan = choose(["two-link"], ["kane"], None)
    started = []

    def run(job: Job) -> Answer:
        started.append(job)
        findings.began -= 10.0  # each takes ten seconds
        return Answer(1.0)

    class Here(Executor):
        def submit(self, function, job):
            future: Future[Answer] = Future()
            future.set_result(run(job))
            return future

    with Journal(tmp_path) as journal:
        findings = Findings(plan, Matrix(plan), {}, journal, Here())
        jobs = [replace(PAPER, arguments={"name": str(k), "quick": True}) for k in range(10)]
        answers = findings.ask("papers", jobs, until=25.0)
    begun = sum(answer.value == 1.0 for answer in answers)
    assert begun == len(started)
    assert 3 <= begun < 10
    assert all(answer.outcome is Outcome.LEFT_OUT for answer in answers[begun:])
    assert findings.unanswered == 0


def test_papers_that_are_expected_to_take_too_long_are_not_begun_and_the_shortest_come_first(tmp_path):
    plan = default()
    started: list[str] = []

    class Here(Executor):
        def submit(self, function, job):
            started.append(job.arguments["name"])
            findings.began -= 10.0  # each takes ten seconds
            future: Future[Answer] = Future()
            future.set_result(Answer(1.0))
            return future

    names = ["virtual-spring-denoc", "gibbs-appell-rp", "of another package", "lagrange-stewart", "dynibo-readme"]
    with Journal(tmp_path) as journal:
        findings = Findings(plan, Matrix(plan), {}, journal, Here())
        jobs = [replace(PAPER, arguments={"name": name, "quick": True}) for name in names]
        answers = findings.ask("papers", jobs, until=40.0, expected=short.paper_seconds(compiling=8.0))
    assert started == ["dynibo-readme", "lagrange-stewart", "gibbs-appell-rp"]
    assert [answer.outcome is Outcome.LEFT_OUT for answer in answers] == [True, False, True, False, False]
    figure = replace(PAPER, arguments={"paper": "boltzmann-hamel", "name": "swing"})
    assert short.paper_seconds(compiling=100.0)(figure) == 2.0 * short.FIGURE_SECONDS
    listing = Job("dynbench.benchmarks.papers.recordings:listed", {"papers": ["boltzmann-hamel"], "quick": True}, 1.0)
    assert short.paper_seconds(compiling=8.0)(listing) == 0.0


def test_a_first_run_has_more_time_for_papers():
    assert short.papers_until(compiling=100.0) == short.FIRST_RUN
    assert short.papers_until(compiling=8.0) == short.LATER_RUNS


def test_every_job_of_the_papers_has_a_time_in_a_default_run(tmp_path, monkeypatch):
    """Listings are run as they are; what they list gets no answer, and is asked for all the same."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))  # nothing is kept there
    asked: list[str] = []

    class Lists(Executor):
        def submit(self, function, job):
            asked.append(job.function.rpartition(":")[2])
            future: Future[Answer] = Future()
            listing = "papers" in job.arguments
            module, _, name = job.function.partition(":")
            value = getattr(import_module(module), name)(**job.arguments) if listing else None
            future.set_result(Answer(value) if listing else Answer(reason="not run", outcome=Outcome.FAILED))
            return future

    with Journal(tmp_path / "run") as journal:
        findings = Findings(default(), Matrix(default()), {}, journal, Lists())
        stages.run_papers(findings, tmp_path / "run")
    assert {"job", "listed"} <= set(asked)
    assert len(findings.claimed) == len(papers.names())
