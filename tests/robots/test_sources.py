"""Sources of robots with options: the base, locked joints, mimic joints, for names and files alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.cli import main
from dynbench.robots.errors import RobotError, UnknownNameError
from dynbench.robots.files.robotfile import write_robot
from dynbench.robots.sources import Options

BASE = """name = "cart"
[[bodies]]
name = "base"
joint = "fixed"
mass = 5.0
inertia = [1.0, 1.0, 1.0]
[[bodies]]
name = "arm"
parent = "base"
joint = "revolute"
axis = [0, 0, 1]
mass = 1.0
inertia = [1.0, 1.0, 1.0]
"""


def test_texts_are_read_as_written() -> None:
    for options in (Options(), Options("floating"), Options("fixed", ("a b", "c&d"), "independent")):
        assert Options.of(options.added_to("x.urdf")) == ("x.urdf", options)
    twice = Options("fixed", ("a",)).added_to("panda?base=floating&lock=b")
    assert Options.of(twice) == ("panda", Options("fixed", ("b", "a")))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("panda?bass=fixed", "no option is called 'bass'; did you mean 'base'"),
        ("panda?base=free", "base is 'free', expected 'floating' or 'fixed'"),
        ("panda?base=fixed&base=floating", "expected one base, got fixed, floating"),
        ("panda?base=floating", "cannot float: its description has no base body"),
        ("panda?mimic=independent", "for URDF and MJCF files only"),
    ],
)
def test_wrong_options_are_errors(source: str, message: str) -> None:
    with pytest.raises(RobotError, match=message):
        robots.load(source)


def test_joints_are_locked() -> None:
    robot = robots.load("panda")
    some = robots.load("panda", locked=["panda_joint3"])
    assert some == robots.load("panda?lock=panda_joint3")
    assert some.nv == 6
    Q, V, A = some.sample(3)
    full = [np.insert(x, 2, 0.0, axis=1) for x in (Q, V, A)]
    tau, whole = (
        methods.get("newton-euler").prepare(one).inverse_dynamics(*states)
        for one, states in ((some, (Q, V, A)), (robot, full))
    )
    np.testing.assert_allclose(tau, np.delete(whole, 2, axis=1), atol=1e-11)
    with pytest.raises(UnknownNameError, match="'panda_joint9' to lock; did you mean"):
        robots.load("panda", locked=["panda_joint9"])


def test_a_locked_loop_keeps_its_equations() -> None:
    robot = robots.load("delta")
    with pytest.raises(RobotError, match="joints that are actuated cannot be locked"):
        robots.load("delta", locked=[robot.joint_names[0]])


def test_bases_of_robot_files(tmp_path: Path) -> None:
    path = tmp_path / "cart.toml"
    path.write_text(BASE)
    assert not robots.load(path).is_floating
    floating = robots.load(path, base="floating")
    assert (floating.is_floating, floating.nv, floating.mass.sum()) == (True, 7, 6.0)
    assert robots.load(f"{path}?base=floating") == floating
    path.write_text('base = "floating"\n' + BASE)
    assert robots.load(path) == floating
    assert not robots.load(path, base="fixed").is_floating
    assert "floating, as asked for" in str(floating.inspect())


def test_a_floating_base_is_fixed() -> None:
    robot = robots.load("space-dual-arm", base="fixed")
    assert not robot.is_floating
    assert robot.nv == robots.load("space-dual-arm").nv - 6


def test_names_and_files_have_the_same_base(tmp_path: Path) -> None:
    if "go2" not in robots.names():
        pytest.skip("example-robot-data is not installed")
    from dynbench.robots.files import example_models

    folder = example_models.folder()
    assert folder is not None
    copy = tmp_path / "go2.urdf"
    copy.write_bytes((folder / "go2_description/urdf/go2.urdf").read_bytes())
    assert robots.load("go2").is_floating
    assert robots.load(copy).is_floating
    assert not robots.load(copy, base="fixed").is_floating
    copy.write_text(copy.read_text() + "<!-- changed -->")
    renamed = tmp_path / "dog.urdf"
    copy.rename(renamed)
    assert not robots.load(renamed).is_floating
    assert "a URDF file does not say" in str(robots.load(renamed).inspect())


def test_inspect_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cart.toml"
    path.write_text(BASE)
    assert main(["inspect", str(path), "--floating-base"]) == 0
    assert "floating, as asked for" in capsys.readouterr().out
    assert main(["inspect", "panda", "--lock", "panda_joint1"]) == 0
    assert "6 bodies" in capsys.readouterr().out
    assert main(["inspect", "puma560"]) == 1
    assert "triangle inequality" in capsys.readouterr().out
    assert main(["inspect", "pandda"]) == 2
    assert main(["check", "--fixed-base"]) == 2
    assert "for the robots of -r: none is given" in capsys.readouterr().err


def test_check_reads_files_with_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.toml"
    write_robot(robots.load("two-link"), path)
    joint = robots.load("two-link").joint_names[1]
    arguments = ["check", "-r", str(path), "-m", "newton-euler", "-m", "kane", "--states", "4", "--lock", joint]
    assert main(arguments) == 0
    assert f"{path}: base fixed, as the file says" in capsys.readouterr().err
