"""Building a robot: numbering, order, merging of fixed bodies, loops, and what is rejected."""

import pickle
import re

import numpy as np
import pytest
from made_bodies import build, link

from dynbench.robots import Body, Fixed, Free, JointKind, Loop, Prismatic, Revolute, Robot, Spherical
from dynbench.robots.errors import RobotError, RobotWarning
from dynbench.robots.families.trees import random_inertia, random_rotation

# ---------------------------------------------------------------------- numbering and order


def test_numbering_of_q_and_v():
    robot = build(
        link("a", joint=Free()),
        link("b", "a", joint=Prismatic([1, 0, 0])),
        link("c", "b", joint=Spherical()),
        link("d", "c"),
    )
    assert (robot.n, robot.nq, robot.nv) == (4, 13, 11)
    assert robot.iq.tolist() == [0, 7, 8, 12]
    assert robot.iv.tolist() == [0, 6, 7, 10]
    assert robot.kind.tolist() == [
        JointKind.FREE,
        JointKind.PRISMATIC,
        JointKind.SPHERICAL,
        JointKind.REVOLUTE,
    ]
    assert robot.actuated.tolist() == list(range(11))
    assert robot.quaternions == ((3, 0), (8, 2))
    assert robot.is_floating
    assert robot.is_tree
    assert not robot.is_elastic


def test_order_is_kept_when_parents_come_first():
    names = ["z", "a", "m", "b"]
    robot = build(link("z"), link("a", "z"), link("m", "z"), link("b", "a"))
    assert list(robot.body_names) == names
    assert robot.parent.tolist() == [-1, 0, 0, 1]


def test_parents_are_moved_before_their_children():
    robot = build(link("hand", "arm"), link("other"), link("arm", "base"), link("base"))
    assert robot.body_names == ("base", "arm", "hand", "other")
    assert robot.parent.tolist() == [-1, 0, 1, -1]


def test_joint_names_default_to_the_bodies():
    robot = build(link("a"), link("b", "a", joint=Revolute([1, 0, 0], name="elbow")))
    assert robot.joint_names == ("a", "elbow")


def test_axes_are_normalised_and_empty_for_spherical():
    robot = build(link("a", joint=Revolute([0, 3, 4])), link("b", "a", joint=Spherical()))
    np.testing.assert_allclose(robot.axis, [[0, 0.6, 0.8], [0, 0, 0]])


def test_rounded_rotation_becomes_a_rotation():
    c = round(np.sqrt(0.5), 7)
    robot = build(link(placement=([[c, -c, 0], [c, c, 0], [0, 0, 1]], [0, 0, 0])))
    np.testing.assert_allclose(robot.rotation[0].T @ robot.rotation[0], np.eye(3), atol=1e-15)
    np.testing.assert_allclose(robot.rotation[0][0, 0], c, atol=1e-7)


# ---------------------------------------------------------------------- merging of fixed bodies


def composed(parts):
    """Mass, com and inertia about the com of placed parts, by the parallel-axis theorem about the origin."""
    mass = sum(m for m, *_ in parts)
    com = sum(m * (R @ c + p) for m, c, _, R, p in parts) / mass
    about_origin = np.zeros((3, 3))
    for m, c, inertia, R, p in parts:
        x = R @ c + p
        about_origin += R @ inertia @ R.T + m * (x @ x * np.eye(3) - np.outer(x, x))
    return mass, com, about_origin - mass * (com @ com * np.eye(3) - np.outer(com, com))


def test_fixed_bodies_merge_with_the_mass_com_and_inertia_of_the_whole():
    rng = np.random.default_rng(3)
    R1, R2 = random_rotation(rng), random_rotation(rng)
    p1, p2 = rng.standard_normal((2, 3))
    masses = [1.5, 0.7, 2.2]
    coms = rng.standard_normal((3, 3))
    inertias = [random_inertia(rng, m) for m in masses]
    link_, tool, tip = (
        {"mass": m, "com": c, "inertia": i} for m, c, i in zip(masses, coms, inertias, strict=True)
    )
    robot = build(
        Body(name="tip", parent="tool", joint=Fixed(), placement=(R2, p2), **tip),
        Body(name="link", joint=Revolute([0, 0, 1]), **link_),
        Body(name="tool", parent="link", joint=Fixed(), placement=(R1, p1), **tool),
    )
    mass, com, inertia = composed(
        [
            (masses[0], coms[0], inertias[0], np.eye(3), np.zeros(3)),
            (masses[1], coms[1], inertias[1], R1, p1),
            (masses[2], coms[2], inertias[2], R1 @ R2, R1 @ p2 + p1),
        ]
    )
    assert robot.body_names == ("link",)
    np.testing.assert_allclose(robot.mass[0], mass, rtol=1e-14)
    np.testing.assert_allclose(robot.com[0], com, rtol=1e-13)
    np.testing.assert_allclose(robot.inertia[0], inertia, rtol=1e-12)
    assert [(frame.name, frame.body) for frame in robot.frames] == [("tool", 0), ("tip", 0)]
    np.testing.assert_allclose(robot.frames[1].rotation, R1 @ R2, atol=1e-15)
    np.testing.assert_allclose(robot.frames[1].translation, R1 @ p2 + p1, atol=1e-15)


def test_children_of_a_fixed_body_hang_on_its_carrier():
    rng = np.random.default_rng(4)
    R1, R2 = random_rotation(rng), random_rotation(rng)
    p1, p2 = rng.standard_normal((2, 3))
    robot = build(
        Body(name="stand", joint=Fixed(), placement=(R1, p1), mass=9.0, inertia=[1, 1, 1]),
        link("arm", "stand", placement=(R2, p2)),
    )
    assert robot.parent.tolist() == [-1]
    assert robot.frames[0].body == -1
    np.testing.assert_allclose(robot.rotation[0], R1 @ R2, atol=1e-15)
    np.testing.assert_allclose(robot.translation[0], R1 @ p2 + p1, atol=1e-15)
    assert robot.mass.tolist() == [1.0]  # a body fixed to the ground does not move


def test_massless_fixed_bodies_change_nothing():
    bare = build(link())
    framed = build(link(), Body(name="tcp", parent="link", joint=Fixed(), placement=(np.eye(3), [1, 2, 3])))
    for field in ("mass", "com", "inertia"):
        np.testing.assert_array_equal(getattr(framed, field), getattr(bare, field))
    assert framed != bare  # it has a frame more


# ---------------------------------------------------------------------- errors name the body and the value


NAN = float("nan")
WRONG = {
    "mass nan": ({"mass": NAN}, "mass is nan, expected finite"),
    "com inf": ({"com": [0, float("inf"), 0]}, r"com is [0.0, inf, 0.0], expected finite"),
    "inertia nan": ({"inertia": [NAN, 1, 1]}, "inertia is [[nan"),
    "translation nan": ({"placement": (np.eye(3), [0, NAN, 0])}, "placement translation is [0.0, nan, 0.0]"),
    "rotation nan": ({"placement": (NAN * np.eye(3), [0, 0, 0])}, "placement rotation is [[nan"),
    "axis nan": ({"joint": Revolute([NAN, 0, 0])}, "joint axis is [nan, 0.0, 0.0]"),
    "negative mass": ({"mass": -2.5}, "mass is -2.5, expected >= 0"),
    "not symmetric": ({"inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "not symmetric, by 0.1"),
    "not psd": ({"inertia": [1, 1, -0.5]}, "its principal moments are (-0.5, 1, 1)"),
    "triangle": ({"inertia": [1, 1, 2.1]}, "principal moments (1, 1, 2.1), which no body has"),
    "zero axis": ({"joint": Prismatic([0, 0, 0])}, "joint axis is [0.0, 0.0, 0.0]"),
    "not orthonormal": ({"placement": (2 * np.eye(3), [0, 0, 0])}, "not orthonormal"),
    "reflection": ({"placement": (-np.eye(3), [0, 0, 0])}, "is a reflection"),
    "unknown parent": ({"parent": "bse"}, "has parent 'bse', which no body defines; did you mean 'base'?"),
    "own parent": ({"parent": "link"}, "is its own ancestor: link -> link"),
    "no inertia": ({"mass": 0.0, "inertia": [0, 0, 0]}, "joint 'link' (revolute) moves a subtree of mass 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_bodies_are_rejected_by_name(case):
    changes, sentence = WRONG[case]
    with pytest.raises(RobotError, match=re.escape(sentence)) as error:
        build(link("base"), link("link", **({"parent": "base"} | changes)))
    assert "'arm'" in str(error.value)
    assert "'link'" in str(error.value)


@pytest.mark.parametrize("where", ["link", "fixed"])
def test_inertias_are_judged_before_merging(where):
    """A wrong small body is not hidden by the large one that carries it."""
    joint = Fixed() if where == "fixed" else Revolute([1, 0, 0])
    with pytest.raises(RobotError, match=r"'wrong'.*triangle"):
        build(link(inertia=[100, 100, 100]), link("wrong", "link", joint=joint, inertia=[1, 1, 3]))


def test_triangle_tolerance_is_one_in_a_million():
    build(link(inertia=[1, 1, 2 + 1e-6]))
    with pytest.raises(RobotError, match="triangle"):
        build(link(inertia=[1, 1, 2 + 5e-6]))


def test_not_strict_warns_of_unphysical_inertias():
    with pytest.warns(RobotWarning, match=r"'link'.*triangle"):
        robot = build(link(inertia=[1, 1, 2.1]), strict=False)
    assert robot.inertia[0, 2, 2] == 2.1
    with pytest.raises(RobotError, match="mass is -1"):
        build(link(mass=-1), strict=False)


def test_cycles_are_shown():
    with pytest.raises(RobotError, match="is its own ancestor: a -> c -> b -> a"):
        build(link("a", "c"), link("b", "a"), link("c", "b"))


def test_duplicate_names():
    with pytest.raises(RobotError, match="two bodies are named 'a'"):
        build(link("a"), link("a"))
    with pytest.raises(RobotError, match="two joints are named 'hinge'"):
        build(*(link(name, joint=Revolute([0, 0, 1], name="hinge")) for name in "ab"))


def test_nothing_that_moves():
    with pytest.raises(RobotError, match="'arm': bodies is empty"):
        build()
    with pytest.raises(RobotError, match="'arm': no body moves"):
        build(link(joint=Fixed()))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"com": [1, 2]}, "body 'link': com has shape (2,), expected (3,)"),
        ({"inertia": 1.0}, "body 'link': inertia has shape (), expected (3, 3) or (3,)"),
        ({"mass": "heavy"}, "body 'link': mass is 'heavy', expected a number"),
        ({"placement": np.eye(4)}, "body 'link': placement is"),
        ({"placement": (np.eye(2), [0, 0, 0])}, "body 'link': placement rotation has shape (2, 2)"),
        ({"joint": "revolute"}, "body 'link': joint is 'revolute', expected Revolute(axis)"),
    ],
)
def test_wrong_shapes_and_types_are_rejected_by_the_body(changes, sentence):
    with pytest.raises(RobotError, match=re.escape(sentence)):
        link(**changes)


def test_axis_of_wrong_length():
    with pytest.raises(RobotError, match=r"Revolute: axis has shape \(2,\), expected \(3,\)"):
        Revolute([0, 1])


def test_robots_have_a_name():
    for name in ("", None):
        with pytest.raises(RobotError, match="a robot's name is"):
            Robot.from_bodies(name, [link()])


def test_gravity_must_be_a_finite_vector():
    with pytest.raises(RobotError, match="gravity has shape"):
        build(link(), gravity=9.81)
    with pytest.raises(RobotError, match=r"'arm': gravity is \[0.0, 0.0, nan\]"):
        build(link(), gravity=(0, 0, NAN))


# ---------------------------------------------------------------------- massless bodies


def test_massless_intermediate_bodies_are_legal():
    """A universal joint: two crossed axes with a massless body between."""
    robot = build(
        Body(name="cross", joint=Revolute([1, 0, 0])),
        Body(name="bob", parent="cross", joint=Revolute([0, 1, 0]), mass=1.0, com=[0, 0, -1]),
    )
    assert robot.mass.tolist() == [0.0, 1.0]


ON_AXIS = [0.6, 0.0, 0.8]
SINGULAR = {
    "collinear axes": [Body(name="bad", joint=Revolute([0, 0, 1])), link("bob", "bad")],
    "mass on its axis": [Body(name="bad", joint=Revolute(ON_AXIS), mass=1.0, com=ON_AXIS)],
    "ball joint on a rod": [link("bad", joint=Spherical(), com=[0, 0, 0], inertia=[0, 1, 1])],
    "free point mass": [link("bad", joint=Free(), inertia=[0, 0, 0])],
    "massless slider": [link("base"), Body(name="bad", parent="base", joint=Prismatic([1, 0, 0]))],
}


@pytest.mark.parametrize("case", SINGULAR)
def test_joints_that_move_no_inertia_are_rejected(case):
    with pytest.raises(RobotError, match=r"'arm': body 'bad'.*would be singular"):
        build(*SINGULAR[case])


# ---------------------------------------------------------------------- loops


def four_bar(**options):
    at = {"coupler": [0.5, 0, 0], "rocker": [1, 0, 0]}
    bodies = [
        Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), placement=(np.eye(3), at.get(name, [0, 0, 0])),
             mass=1, inertia=[1, 1, 1])
        for name, parent in (("crank", None), ("coupler", "crank"), ("rocker", None))
    ]  # fmt: skip
    bodies.append(Body(name="pin", parent="coupler", joint=Fixed(), placement=(np.eye(3), [1, 0, 0])))
    closes = (True, True, False, False, False, False)
    loop = Loop(body1="pin", body2="rocker", placement2=(np.eye(3), [0, 0.9, 0]), closes=closes)
    return Robot.from_bodies("four-bar", bodies, loops=[loop], **options)


def test_loops_close_on_the_bodies_that_carry_them():
    robot = four_bar(actuated=["crank"])
    assert not robot.is_tree
    assert robot.actuated.tolist() == [0]
    assert (robot.loops.body1.tolist(), robot.loops.body2.tolist()) == ([1], [2])
    assert robot.loops.translation1.tolist() == [[1, 0, 0]]
    assert robot.loops.translation2.tolist() == [[0, 0.9, 0]]
    assert robot.loops.rows.tolist() == [[1, 1, 0, 0, 0, 0]]
    assert robot == four_bar(actuated=[0])
    assert pickle.loads(pickle.dumps(robot)) == robot


def test_loops_are_checked():
    with pytest.raises(RobotError, match="'four-bar' has loops: expected actuated="):
        four_bar()
    with pytest.raises(
        RobotError, match="actuated has 'crnk', which is not the name of a joint; did you mean 'crank'"
    ):
        four_bar(actuated=["crnk"])
    with pytest.raises(RobotError, match=r"actuated is \[7\], expected different indices into v"):
        four_bar(actuated=[7])
    with pytest.raises(RobotError, match="loop 0 closes on body 'c', which no body defines"):
        build(link("a"), link("b"), loops=[Loop(body1="a", body2="c")], actuated=[0])
    with pytest.raises(RobotError, match="loop 0 joins 'a' and 'a'"):
        build(link("a"), link("b"), loops=[Loop(body1="a", body2="a")], actuated=[0])
    with pytest.raises(RobotError, match="closes is"):
        Loop(body1="a", body2=None, closes=(True, True))
    with pytest.raises(RobotError, match=r"actuated is \[0\], expected None"):
        build(link("a"), link("b"), actuated=["a"])


def test_looped_robots_sample_states_on_their_loops():
    robot = four_bar(actuated=[0])
    q, v, _ = robot.sample(5)
    assert np.abs(robot.loop_residual(q)).max() < 1e-12
    assert np.abs(np.einsum("smc,sc->sm", robot.loop_jacobian(q), v)).max() < 1e-12
