"""The zoo: every name loads, unknown names get suggestions, plugins are added and cannot break anything."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from planted import entry_points

from dynbench.robots import (
    JointKind,
    Robot,
    RobotError,
    RobotWarning,
    UnknownNameError,
    chain,
    from_urdf,
    load,
    names,
    pendulum,
    registry,
    tree,
    zoo,
)
from dynbench.robots.files import example_models
from dynbench.robots.files.robotfile import write_robot

needs_models = pytest.mark.skipif(example_models.folder() is None, reason="needs example-robot-data")


def test_the_names_that_are_always_there() -> None:
    expected = {"pendulum", "two-link", "puma560", "panda", "ur5", "chain-N", "tree-N"}
    assert expected <= set(names())
    assert len(set(names())) == len(names())


@pytest.mark.parametrize("name", registry.ROBOTS)
def test_every_name_of_the_registry_loads_a_robot_of_that_name(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RobotWarning)
        robot = load(name.replace("-N", "-3"))
    assert robot.name == name.replace("-N", "-3")


def test_numbers_in_names() -> None:
    assert load("chain-7") == chain(7)
    assert load("tree-1") == tree(1)
    for number in ("0", "-3", "01", "1.5", "x", "", "²", "10001", "9" * 5000):
        with pytest.raises(UnknownNameError, match="N must be a whole number from 1 to 10000"):
            load(f"chain-{number}")
    with pytest.raises(UnknownNameError, match="in 'chain-N', N is a number: 'chain-10'"):
        load("chain-N")


def test_an_unknown_name_suggests_near_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"no robot is called 'pnda'; did you mean 'panda'"):
        load("pnda")
    with pytest.raises(UnknownNameError, match="no robot is called 'Chain'; did you mean 'chain-N'"):
        load("Chain")
    with pytest.raises(UnknownNameError, match="known: pendulum, two-link"):
        load("zzzzzz")
    with pytest.raises(UnknownNameError):
        load("")


def test_a_hyphen_may_be_an_underscore() -> None:
    assert load("two_link") == load("two-link")


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_robot(pendulum(), "swing.toml")
    assert load("swing.toml") == load(tmp_path / "swing.toml") == load("./swing.toml") == pendulum()
    (tmp_path / "arm").touch()
    (tmp_path / "panda").touch()  # a file that happens to be called like a robot
    assert load("panda").n == 7
    for path, message in {
        "none.toml": "none.toml: no such file",
        "none.urdf": "none.urdf: no such file",
        "sub/none": "sub/none: no such file",
        "none.xacro": "none.xacro: no such file",
        "arm": r"expected a \.urdf, \.xacro, \.xml \(MJCF\) or \.toml file, got 'no suffix'",
    }.items():
        with pytest.raises(RobotError, match=message):
            load(path)
    with pytest.raises(RobotError, match="expected a robot's name or file, got 3"):
        load(3)  # type: ignore[arg-type]


def test_listing_imports_no_parser_and_no_heavy_package() -> None:
    heavy = ("numba", "scipy", "pandas", "pinocchio", "defusedxml", "tomllib")
    code = f"import sys; from dynbench import robots; robots.names(); print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------------- shipped models


def test_the_panda_is_seven_revolute_joints_and_carries_its_hand() -> None:
    panda = load("panda")
    assert panda.joint_names == tuple(f"panda_joint{i}" for i in range(1, 8))
    assert set(panda.kind.tolist()) == {JointKind.REVOLUTE}
    assert panda.mass[6] == pytest.approx(0.735522 + 0.73 + 2 * 0.015)
    assert {"panda_hand", "panda_leftfinger", "panda_rightfinger"} <= {frame.name for frame in panda.frames}


@needs_models
def test_shipped_files_hold_the_numbers_of_the_urdfs() -> None:
    folder = example_models.folder()
    assert folder is not None
    fingers = ("panda_finger_joint1", "panda_finger_joint2")
    panda = from_urdf(folder / "panda_description/urdf/panda.urdf", name="panda", locked=fingers)
    ur5 = from_urdf(folder / "ur_description/urdf/ur5_robot.urdf", name="ur5")
    for robot in (panda, ur5):
        shipped = load(robot.name)
        assert shipped.joint_names == robot.joint_names
        for field in ("axis", "rotation", "translation", "mass", "com", "inertia", "gravity"):
            # 1e-15, not equal: sine and cosine in the last bit depend on the machine's C library
            np.testing.assert_allclose(getattr(shipped, field), getattr(robot, field), rtol=1e-14, atol=1e-15)
        assert [(f.name, f.body) for f in shipped.frames] == [(f.name, f.body) for f in robot.frames]


@needs_models
@pytest.mark.parametrize(("name", "locked"), [("panda", 2), ("ur5", 0)])
def test_shipped_files_are_what_pinocchio_reads(name: str, locked: int) -> None:
    pin = pytest.importorskip("pinocchio")
    folder = example_models.folder()
    assert folder is not None
    file = {"panda": "panda_description/urdf/panda.urdf", "ur5": "ur_description/urdf/ur5_robot.urdf"}[name]
    model = pin.buildModelFromUrdf(str(folder / file))
    if locked:
        model = pin.buildReducedModel(model, list(range(model.njoints - locked, model.njoints)), pin.neutral(model))
    robot = load(name)
    assert robot.joint_names == tuple(model.names)[1:]
    for i in range(robot.n):
        theirs = model.inertias[i + 1]
        np.testing.assert_allclose(robot.mass[i], theirs.mass, rtol=1e-14)
        np.testing.assert_allclose(robot.com[i], theirs.lever, atol=1e-14)
        np.testing.assert_allclose(robot.inertia[i], theirs.inertia, atol=1e-14)
        np.testing.assert_allclose(robot.rotation[i], model.jointPlacements[i + 1].rotation, atol=1e-11)
        np.testing.assert_allclose(robot.translation[i], model.jointPlacements[i + 1].translation, atol=1e-14)


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560"])
def test_shipped_files_name_their_source(name: str) -> None:
    text = (Path(zoo.__file__).with_name("models") / f"{name}.toml").read_text(encoding="utf-8")
    assert text.startswith("#")
    assert "\nsource = " in text
    assert name == "puma560" or "\nlicence = " in text


# ---------------------------------------------------------------------- example-robot-data


@needs_models
def test_every_robot_of_the_package_loads() -> None:
    warned = set()
    for name in example_models.names():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RobotWarning)
            robot = load(name)
        assert robot.name == name
        if caught:
            warned.add(name)
    assert warned <= {"icub", "icub-reduced", "romeo-small"}


@needs_models
def test_legged_robots_float_and_arms_stand() -> None:
    assert load("talos").is_floating
    assert load("talos").nv == 38
    assert load("anymal").is_floating
    assert not load("tiago").is_floating
    assert load("double_pendulum") == load("double-pendulum")


def test_without_the_package_its_names_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example_models, "names", lambda: ())
    with pytest.raises(UnknownNameError, match="'talos' is in the package example-robot-data, which is not"):
        load("talos")
    assert "talos" not in names()


# ---------------------------------------------------------------------- plugins


def hexapod() -> Robot:
    return pendulum(name="hexapod")


def caterpillar(n: int, length: float = 1.0) -> Robot:
    return pendulum(length=length, name=f"caterpillar-{n}")


def failing() -> Robot:
    raise OSError("no disk")


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = sys.modules[__name__]
    monkeypatch.setitem(sys.modules, "a_robot_plugin", module)
    points = {
        "hexapod": "a_robot_plugin:hexapod",
        "caterpillar-N": "a_robot_plugin:caterpillar",
        "panda": "a_robot_plugin:hexapod",
        "gone": "no_such_module_here:robot",
        "number": "a_robot_plugin:__name__",
        "noisy": "a_robot_plugin:failing",
        "list": "builtins:list",
    }
    with entry_points(monkeypatch, registry, **points):
        yield


@pytest.mark.usefixtures("plugins")
def test_plugins_are_added_and_cannot_override_names() -> None:
    assert {"hexapod", "caterpillar-N", "gone"} <= set(names())
    assert names().count("panda") == 1
    assert load("panda").n == 7
    assert load("hexapod").name == "hexapod"
    assert load("caterpillar-12").name == "caterpillar-12"


@pytest.mark.usefixtures("plugins")
def test_plugins_are_families_of_robot_files(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('family = "caterpillar"\n[arguments]\nn = 3\nlength = 2.0\n')
    assert load(tmp_path / "a.toml") == caterpillar(3, length=2.0)


@pytest.mark.usefixtures("plugins")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone", r"'gone' of group 'dynbench.robots' \(no_such_module_here:robot\) cannot be imported"),
        ("number", "must be a function that returns a Robot, got str"),
        ("noisy", r"'noisy' \(a_robot_plugin:failing\) failed: OSError: no disk"),
        ("list", "must return a Robot, got list"),
    ],
)
def test_a_broken_plugin_is_named_and_harms_nothing_else(name: str, message: str) -> None:
    with pytest.raises(RobotError, match=message):
        load(name)
    assert load("pendulum").n == 1
