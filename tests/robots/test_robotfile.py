"""Robot files: a written robot is read back bit for bit; errors name the place."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dynbench.robots import (
    Body,
    Fixed,
    Loop,
    Prismatic,
    Revolute,
    Robot,
    RobotError,
    RobotWarning,
    chain,
    from_dh,
    random_rotation,
    random_tree,
    read_robot,
    registry,
    tree,
)
from dynbench.robots.files import dh, robotfile
from dynbench.robots.files.robotfile import write_robot
from dynbench.robots.rotations import from_rpy


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arm.toml"


BODY = '[[bodies]]\nname = "tip"\njoint = "revolute"\naxis = [0, 0, 1]\nmass = 1\ninertia = [1, 1, 1]\n'


def read(path: Path, text: str) -> Robot:
    path.write_text(text, encoding="utf-8")
    return read_robot(path)


def refusal(path: Path, text: str) -> str:
    with pytest.raises(RobotError) as caught:
        read(path, text)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1
    return str(caught.value).removeprefix(f"{path}: ")


# ---------------------------------------------------------------------- round trip


@pytest.mark.parametrize("seed", range(8))
def test_a_written_robot_reads_back_equal(path: Path, seed: int) -> None:
    kinds = ("revolute", "prismatic", "spherical", "free")
    robot = random_tree(12, seed=seed, kinds=kinds, floating=bool(seed % 2), massless=seed > 3)
    write_robot(robot, path)
    assert read_robot(path) == robot


def test_frames_survive(path: Path) -> None:
    rng = np.random.default_rng(0)
    robot = Robot.from_bodies(
        "hand",
        [
            Body(name="table", joint=Fixed(), placement=(random_rotation(rng), [1, 2, 3]), mass=7),
            Body(
                name="arm",
                parent="table",
                joint=Revolute([1, 2, 3]),
                mass=0.1,
                com=[0.1, 0.2, 0.3],
                inertia=[1, 1, 1],
            ),
            Body(
                name="palm",
                parent="arm",
                joint=Fixed(),
                placement=(random_rotation(rng), [0.1, 0, 0]),
                mass=0.3,
            ),
            Body(name="tip", parent="palm", joint=Fixed(), placement=(random_rotation(rng), [0.1, 0, 0])),
        ],
    )
    write_robot(robot, path)
    assert [frame.name for frame in read_robot(path).frames] == ["table", "palm", "tip"]
    assert read_robot(path) == robot


def test_loops_and_actuators_survive(path: Path) -> None:
    rng = np.random.default_rng(1)
    solid = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [1, 1, 1]}
    robot = Robot.from_bodies(
        "loop",
        [
            Body(name="crank", joint=Revolute([0, 0, 1], name="motor"), **solid),
            Body(
                name="rod",
                parent="crank",
                joint=Revolute([0, 0, 1]),
                placement=(np.eye(3), [1, 0, 0]),
                **solid,
            ),
            Body(name="slider", joint=Prismatic([1, 0, 0]), **solid),
        ],
        loops=[
            Loop(
                body1="rod",
                body2="slider",
                placement1=(random_rotation(rng), [1, 0, 0]),
                closes=(True, True, False, False, False, False),
            ),
            # repeats that the rod's end is on the x axis: redundant closures are allowed
            Loop(body1=None, body2="rod", placement2=(np.eye(3), [1, 0, 0]), closes=(False, True, *[False] * 4)),
        ],
        actuated=["motor"],
        platform="slider",
        home=[0.4, -0.8, 1.8],
    )
    write_robot(robot, path)
    assert read_robot(path) == robot


def test_names_with_quotes_and_other_letters_survive(path: Path) -> None:
    name = 'a "quoted" \\ näme'
    joint = Revolute([0, 0, 1], name="می‌روم")
    robot = Robot.from_bodies(name, [Body(name="β", joint=joint, mass=1, inertia=[1, 1, 1])])
    write_robot(robot, path, source=f"{name}\t\x7f", licence="CC0", comment="two\n\nlines")
    assert read_robot(path) == robot
    assert path.read_text(encoding="utf-8").startswith("# two\n#\n# lines\nname = ")


def test_a_robot_that_is_not_physical_is_written_with_strict_false(path: Path) -> None:
    body = Body(name="link", joint=Revolute([0, 0, 1]), mass=1, inertia=[1, 1, 5])
    with pytest.warns(RobotWarning):
        robot = Robot.from_bodies("odd", [body], strict=False)
    write_robot(robot, path)
    assert "strict = false" in path.read_text(encoding="utf-8")
    with pytest.warns(RobotWarning):
        assert read_robot(path) == robot


# ---------------------------------------------------------------------- the format


def test_the_shortest_file(path: Path) -> None:
    robot = read(path, f'name = "short"\n{BODY}')
    expected = Body(name="tip", joint=Revolute([0, 0, 1]), mass=1, inertia=[1, 1, 1])
    assert robot == Robot.from_bodies("short", [expected])


def test_rpy_is_the_urdf_convention(path: Path) -> None:
    robot = read(path, f'name = "x"\n{BODY}rpy = [0, 0, 1.5707963267948966]\ntranslation = [1, 2, 3]\n')
    np.testing.assert_allclose(robot.rotation[0], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_array_equal(robot.translation[0], [1, 2, 3])


def test_a_file_can_call_a_family(path: Path) -> None:
    assert read(path, 'family = "chain"\n[arguments]\nn = 4\nseed = 2') == chain(4, seed=2)
    robot = read(path, 'name = "mine"\ngravity = [0, 0, -1.62]\nfamily = "tree"\n[arguments]\nn = 3\nbranching = 1')
    expected = tree(3, branching=1, gravity=(0, 0, -1.62))
    assert robot.name == "mine"
    np.testing.assert_array_equal(robot.rotation, expected.rotation)
    np.testing.assert_array_equal(robot.gravity, expected.gravity)


@pytest.mark.parametrize("name", registry.FAMILIES)
def test_every_family_can_be_called(path: Path, name: str) -> None:
    rods = "length = [1.0]\ndensity = [3.0]\n"
    arguments = {
        **dict.fromkeys(("chain", "tree", "random_tree", "space_arms", "elastic_modes"), "n = 3\n"),
        "rp_chain": rods + "inertia_density = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]]]\n",
        "elastic_rp_chain": rods + 'bending_z = [150.0]\nmodes = [[["y", 1]]]\n',
    }.get(name, "")
    assert read(path, f'family = "{name}"\n[arguments]\n{arguments}').n >= 1


def test_a_file_can_hold_a_dh_table(path: Path) -> None:
    text = """
    name = "scara"
    source = "drawing 12"
    licence = "CC0-1.0"
    [dh]
    convention = "modified"
    base = { translation = [0, 0, 1], rpy = [0.1, 0.2, 0.3] }
    [[dh.rows]]
    a = 0.3
    alpha = 0
    d = 0.2
    mass = 1
    com = [0.1, 0, 0]
    inertia = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    [[dh.rows]]
    a = 0.1
    alpha = 3.14
    type = "prismatic"
    theta = 0.5
    mass = 1
    com = [0.1, 0, 0]
    inertia = [1, 1, 1]
    """
    robot = read(path, text)
    link = {"mass": 1, "com": [0.1, 0, 0], "inertia": [1, 1, 1]}
    rows = [
        {"a": 0.3, "alpha": 0, "d": 0.2, **link},
        {"a": 0.1, "alpha": 3.14, "type": "prismatic", "theta": 0.5, **link},
    ]
    base = (from_rpy([0.1, 0.2, 0.3]), [0, 0, 1])
    assert robot == from_dh(rows, "modified", name="scara", base=base)


# ---------------------------------------------------------------------- errors

ONE = f'name = "x"\n{BODY}'

WRONG = {
    "syntax": ("name = ", "not valid TOML: Invalid value (at end of document)"),
    "line": ('name = "x"\nbodies = [[', "not valid TOML: Invalid value (at end of document)"),
    "repeated": (
        'name = "x"\nname = "y"\n\n',
        "not valid TOML: Cannot overwrite a value (at line 2, column 11)",
    ),
    "deep": ("name = " + "[" * 100_000, "not"),
    "empty": ("", "expected exactly one of 'bodies', 'family' and 'dh', got none"),
    "both": (
        f'family = "chain"\n{ONE}',
        "expected exactly one of 'bodies', 'family' and 'dh', got bodies and family",
    ),
    "name": (BODY, "the key 'name' (a string) is missing"),
    "name type": (f"name = 3\n{BODY}", "'name' must be a string, got 3"),
    "top": (f'name = "x"\ngravitty = [0, 0, 1]\n{BODY}', "unknown key 'gravitty'; did you mean 'gravity'?"),
    "source": (f"source = 1\n{ONE}", "'source' must be a string, got 1"),
    "gravity": (f"gravity = [0, 1]\n{ONE}", "'gravity' must be 3 finite numbers, got [0, 1]"),
    "infinite": (f"gravity = [0, 0, inf]\n{ONE}", "'gravity' must be 3 finite numbers, got [0, 0, inf]"),
    "strict": (f"strict = 1\n{ONE}", "'strict' must be true or false, got 1"),
    "no table": ('name = "x"\nbodies = [1]', "'bodies' must be a list of tables [[bodies]], got the entry 1"),
    "no list": ('name = "x"\n[bodies]', "'bodies' must be a list of tables [[bodies]], got {}"),
    "no body": ('name = "x"\nbodies = []', "robot 'x': bodies is empty"),
    "body key": (f"{ONE}inertias = 1\n", "bodies[0] 'tip': unknown key 'inertias'; did you mean 'inertia'?"),
    "text as number": (
        ONE.replace("mass = 1", 'mass = "1"'),
        "bodies[0] 'tip': 'mass' must be a finite number, got '1'",
    ),
    "bool as number": (
        ONE.replace("mass = 1", "mass = true"),
        "bodies[0] 'tip': 'mass' must be a finite number, got True",
    ),
    "ragged": (
        f"{ONE}com = [1, [2], 3]\n",
        "bodies[0] 'tip': 'com' must be 3 finite numbers, got [1, [2], 3]",
    ),
    "inertia": (
        ONE.replace("inertia = [1, 1, 1]", "inertia = [1, 1]"),
        "bodies[0] 'tip': 'inertia' must be 3 by 3 finite numbers or 3 finite numbers, got [1, 1]",
    ),
    "no joint": (
        ONE.replace('joint = "revolute"\n', ""),
        "bodies[0] 'tip': the key 'joint' (a string) is missing",
    ),
    "joint": (
        ONE.replace('"revolute"', '"revolut"'),
        "'joint' must be one of revolute, prismatic, spherical, free, fixed, got 'revolut'",
    ),
    "no axis": (
        ONE.replace("axis = [0, 0, 1]\n", ""),
        "bodies[0] 'tip': a revolute joint needs the key 'axis'",
    ),
    "zero axis": (ONE.replace("[0, 0, 1]", "[0, 0, 0]"), "body 'tip': joint axis is [0.0, 0.0, 0.0]"),
    "an axis": (ONE.replace('"revolute"', '"free"'), "bodies[0] 'tip': a free joint has no 'axis'"),
    "two rotations": (
        f"{ONE}rpy = [0, 0, 0]\nrotation = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n",
        "bodies[0] 'tip': expected 'rotation' or 'rpy', got both",
    ),
    "parent": (
        f'{ONE}parent = "tap"\n',
        "body 'tip' has parent 'tap', which no body defines; did you mean 'tip'?",
    ),
    "actuated": (f"actuated = [1.5]\n{ONE}", "'actuated' must hold joint names or indices into v, got 1.5"),
    "loop": (f'{ONE}[[loops]]\nbody3 = "tip"\n', "loops[0]: unknown key 'body3'; did you mean 'body"),
    "loop frame": (f"{ONE}[[loops]]\nplacement1 = {{ x = 1 }}\n", "loops[0]: placement1: unknown key 'x'"),
    "family": ('family = "chian"', "no family is called 'chian'; did you mean 'chain'"),
    "code": ('family = "os:system"', "no family is called 'os:system'"),
    "argument": ('family = "chain"\n[arguments]\nm = 3', "arguments: unknown key 'm'"),
    "no argument": ('family = "chain"', "family 'chain': missing a required argument: 'n'"),
    "argument type": ('family = "chain"\n[arguments]\nn = 2\nseed = "three"', "family 'chain'"),
    "size": ('family = "chain"\n[arguments]\nn = "three"', "chain: n is 'three', expected a whole number >= 1"),
    "argument value": ('family = "chain"\n[arguments]\nn = 0', "chain: n is 0, expected a whole number >= 1"),
    "strict family": ('family = "chain"\nstrict = false', "unknown key 'strict'"),
    "dh": ('name = "x"\n[dh]\nrows = []', "dh: the key 'convention' (a string) is missing"),
    "dh rows": ('name = "x"\n[dh]\nconvention = "standard"', "robot 'x': expected at least one row in the DH table"),
    "dh row": (
        'name = "x"\n[dh]\nconvention = "standard"\n[[dh.rows]]\na = 1\nalpha = 2\nd = 3',
        "robot 'x', DH row 1, of type revolute, lacks the key 'mass'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(path: Path, case: str) -> None:
    text, message = WRONG[case]
    assert message in refusal(path, text)


def test_missing_files_and_other_text(path: Path) -> None:
    with pytest.raises(RobotError, match=re.escape(f"{path}: no such file")):
        read_robot(path)
    path.write_bytes(b'name = "\xff"')
    with pytest.raises(RobotError, match="not UTF-8 text"):
        read_robot(path)
    with pytest.raises(RobotError, match="expected a robot file, got a folder"):
        read_robot(path.parent)


# ---------------------------------------------------------------------- the documentation

PAGE = Path(__file__).parents[2] / "docs" / "robot-files.md"


def test_every_example_of_the_documentation_is_a_robot(path: Path) -> None:
    examples = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 7
    for example in examples:
        assert read(path, example).n >= 1


def test_the_documentation_names_every_key_and_family() -> None:
    text = PAGE.read_text(encoding="utf-8")
    keys = {*robotfile._TOP, *robotfile._BODY, *robotfile._LOOP, *robotfile._ROTOR, *dh._KEYS, *registry.FAMILIES}
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []
