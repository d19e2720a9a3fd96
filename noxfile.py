"""Everything a contributor runs: ``nox`` for the checks, ``nox -s bench`` for the benchmark.

Arguments after ``--`` go to the tool of the session: ``nox -s tests -- tests/robots -k urdf``.

The sessions install the checkout as editable. The kernels then have one path whichever session compiles
them, so numba compiles once for all of them, and a report can name the commit it measured. That the
wheel is complete is for ``tests/test_packaging.py`` to show.
"""

from __future__ import annotations

from pathlib import Path

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "tests"]

ROOT = Path(__file__).parent
PACKAGES = ("robots", "methods", "benchmarks", "reports")
PYPROJECT = nox.project.load_toml("pyproject.toml")

# Two workers: compiling is bound by the CPU and two cores are what small CI machines have. A file stays
# with one worker, so that what its tests share is prepared once; tests/conftest.py puts the longest files first.
PARALLEL = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")


def group(name: str) -> list[str]:
    """Return the requirements of a dependency group of pyproject.toml."""
    return list(nox.project.dependency_groups(PYPROJECT, name))


def numba_cache(session: nox.Session) -> dict[str, str]:
    """Keep compiled kernels with nox's own files.

    Below this folder dynbench keys them on a digest of the sources they came from (methods/kernels/cache.py), so an
    edited callee is never stale and an edit elsewhere recompiles nothing.
    """
    return {"NUMBA_CACHE_DIR": str(Path(session.cache_dir).resolve() / "numba")}


def typing_view() -> None:
    """Show the four folders to type checkers and editors as one ``dynbench`` package.

    They cannot follow the import hook of an editable install of mapped folders.
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
    """Run the test suite, without any of the optional engines and models, and without what takes minutes."""
    session.install("-e", ".", *group("test"))
    session.run("pytest", *(session.posargs or (*PARALLEL, "-m", "not long")), env=numba_cache(session))


@nox.session(default=False)
def peers(session: nox.Session) -> None:
    """Run the test suite with the optional engines and models, so that none of it is skipped (the wheel's aside)."""
    session.install("-e", ".[peers,models,elastic,drake,cluster]", *group("test"))
    session.run("python", "-c", "import pinocchio; from dynbench import robots; robots.load('talos')")
    arguments = session.posargs or (*PARALLEL, "-m", "not packaging")
    session.run("pytest", "-rs", *arguments, env=numba_cache(session))


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Check the methods, time them beside other engines, and write the report: arguments go to `dynbench bench`."""
    try:
        session.install("-e", ".[peers,models]")
    except CommandFailed:
        session.warn("not everything can be installed here; trying part by part")
        session.install("-e", ".")
        for extra in ("peers", "models"):
            try:
                session.install("-e", f".[{extra}]")
            except CommandFailed:
                session.warn(f"the optional packages '{extra}' cannot be installed: the benchmark runs without them")
    session.run("dynbench", "bench", *session.posargs, env=numba_cache(session))


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation into build/docs; a warning fails it. ``-- serve`` shows it while it is written."""
    session.install("-e", ".", *group("docs"))
    typing_view()
    session.run("mkdocs", *(session.posargs or ("build", "--strict")), env={"NO_MKDOCS_2_WARNING": "1"})


if __name__ == "__main__":
    nox.main()
