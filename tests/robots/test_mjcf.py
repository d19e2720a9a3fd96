"""MJCF files: the numbers are MuJoCo's own of the same file; what is not read is listed, what cannot be is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mjcf_reference import Reference

from dynbench import methods, robots
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernels.count import run_counting
from dynbench.robots.errors import RobotError

pytest.importorskip("mujoco")

BOX = '<geom type="box" size="0.1 0.05 0.2" pos="0.03 0.02 0.1" euler="10 20 30"/>'
ARM = f"""<mujoco model="arm"><compiler angle="degree"/><option gravity="1 2 -9"/>
<default><joint armature="0.2" damping="0.3"/><default class="rough"><joint frictionloss="0.4"/></default></default>
<worldbody><geom type="plane" size="1 1 1"/>
<body name="base" pos="0.1 0.2 0.3" euler="10 0 40">{BOX}
  <body name="plate">{BOX}
  <body name="universal" pos="0 0 0.4" euler="0 30 0">
    <joint name="x" axis="1 0 0" pos="0.1 0 0.05" class="rough"/><joint name="y" axis="0 1 1" pos="0 0.2 0" ref="20"/>
    <joint name="along" type="slide" axis="0 0 1" ref="0.1" pos="0.1 0.1 0.1"/>{BOX}
    <body name="ball" pos="0 0 0.3"><joint name="b" type="ball" pos="0.05 0 0"/>{BOX}
      <body name="tip" pos="0 0 0.2"><joint axis="0 1 0" range="-90 90" limited="true"/>{BOX}
        <body name="tool" pos="0.1 0 0"/></body></body></body></body></body>
</worldbody>
<actuator><motor joint="x"/></actuator></mujoco>"""
FLOATING = f"""<mujoco model="dog"><worldbody>
<body name="trunk" pos="0 0 1"><freejoint name="root"/>{BOX}
  <body name="leg" pos="0.2 0 0" quat="1 0.2 0.3 0.1"><joint name="hip" axis="1 1 0" armature="0.1"/>{BOX}</body></body>
<body name="other" pos="0 2 0"><joint name="spin" axis="0 0 1"/>{BOX}</body></worldbody></mujoco>"""
FOUR_BAR = """<mujoco model="four"><worldbody>
<body name="a"><joint name="j1" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.3"/>
  <body name="b" pos="0 0 0.3"><joint name="j2" axis="0 1 0"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0.1"/></body></body>
<body name="c" pos="0.5 0 0"><joint name="j3" axis="0 1 0"/>
  <geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.4"/></body></worldbody>
<equality><connect body1="b" body2="c" anchor="0.5 0 0.1"/></equality>
<actuator><motor joint="j1"/></actuator></mujoco>"""


def write(folder: Path, text: str) -> Path:
    path = folder / "file.xml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("text", [ARM, FLOATING], ids=["arm", "floating"])
def test_numbers_are_mujocos(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    robot = robots.load(path)
    reference = Reference(str(path), robot)
    assert robot.nv == reference.model.nv
    assert robot.mass.sum() == pytest.approx(reference.mass, rel=1e-12)
    method = methods.get("newton-euler")
    assert isinstance(method, KernelMethod)
    for seed in range(3):
        q, v, a = (x[0] for x in robot.sample(1, seed=seed))
        expected = reference.inverse_dynamics(q, v, a)
        tau = np.array(run_counting(method, robot, "inverse_dynamics", seed=seed)[1])
        assert np.abs(tau - expected).max() <= 1e-11 * np.abs(expected).max()
        M = np.array(run_counting(method, robot, "mass_matrix", seed=seed)[1]).reshape(robot.nv, robot.nv)
        assert np.abs(M - reference.mass_matrix(q)).max() <= 1e-11 * np.abs(M).max()


def test_a_frame_of_inertia_that_mujoco_takes_for_the_bodys(tmp_path: Path) -> None:
    """MuJoCo neglects an offset of the centre of mass that is due to rounding, as of meshes."""
    inertial = '<inertial pos="1e-8 2e-8 0" mass="3" diaginertia="1 2 1.5"/>'
    path = write(tmp_path, f'<mujoco><worldbody><body name="b"><freejoint/>{inertial}</body></worldbody></mujoco>')
    robot = robots.load(path)
    reference = Reference(str(path), robot)
    assert reference.model.body_ipos[1].any()
    assert not robot.com.any()
    q, v, a = (x[0] for x in robot.sample(1, seed=0))
    method = methods.get("newton-euler")
    assert isinstance(method, KernelMethod)
    tau = np.array(run_counting(method, robot, "inverse_dynamics", seed=0)[1])
    assert np.abs(tau - reference.inverse_dynamics(q, v, a)).max() <= 1e-13 * np.abs(tau).max()


def test_bodies_keep_their_frames(tmp_path: Path) -> None:
    import mujoco

    path = write(tmp_path, ARM)
    robot, reference = robots.load(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(reference)
    mujoco.mj_forward(reference, data)
    for name in ("base", "universal", "ball", "tip", "tool"):
        R, p = robot.frame_pose(name, robot.neutral())
        np.testing.assert_allclose(p, data.body(name).xpos, atol=1e-12)
        np.testing.assert_allclose(R.ravel(), data.body(name).xmat, atol=1e-12)


def test_extras_limits_and_what_is_ignored(tmp_path: Path) -> None:
    robot = robots.load(write(tmp_path, ARM))
    x = robot.joint_names.index("x")
    assert (robot.armature[x], robot.damping[x], robot.friction[x]) == (0.2, 0.3, 0.4)
    found = robot.inspect()
    assert "1 actuators" in found.ignored
    assert "-1.571 to 1.571" in str(found) or "-1.5708 to 1.5708" in str(found)
    assert "fixed, as the file says" in str(found)
    np.testing.assert_array_equal(robot.gravity, [1, 2, -9])


def test_locked_joints_and_fixed_bases(tmp_path: Path) -> None:
    path = write(tmp_path, FLOATING)
    assert robots.load(path).is_floating
    assert robots.load(path, base="fixed").nv == 2
    assert robots.load(path, locked=["hip", "spin"]).nv == 6


def test_a_connect_closes_a_loop(tmp_path: Path) -> None:
    robot = robots.load(write(tmp_path, FOUR_BAR))
    assert (robot.nv, robot.loop_analysis.rank, len(robot.actuated)) == (3, 2, 1)
    assert np.abs(robot.loop_residual(robot.neutral())).max() < 1e-12


def test_a_freedom_without_a_motor_counts_as_actuated(tmp_path: Path) -> None:
    """As mechanisms that files hold by a weld to a body of the mouse; the joints with motors come first."""
    none = robots.load(write(tmp_path, FOUR_BAR.replace('<actuator><motor joint="j1"/></actuator>', "")))
    assert [none.joint_names[k] for k in none.actuated] == ["j1"]
    assert "that no motor drives j1, counted as actuated" in none.inspect().ignored
    beside = '<body name="door" pos="0 1 0"><joint name="hinge" axis="0 0 1"/><geom size="0.1"/></body></worldbody>'
    other = robots.load(write(tmp_path, FOUR_BAR.replace("</worldbody>", beside).replace('joint="j1"', 'joint="j3"')))
    assert [other.joint_names[k] for k in other.actuated] == ["j3", "hinge"]
    both = '<motor joint="j1"/><motor joint="j2"/>'
    more = robots.load(write(tmp_path, FOUR_BAR.replace('<motor joint="j1"/>', both)))
    assert [more.joint_names[k] for k in more.actuated] == ["j1", "j2"]
    assert not any("motor" in said for said in more.inspect().ignored)


def test_a_weld_closes_all_directions(tmp_path: Path) -> None:
    text = FOUR_BAR.replace('<connect body1="b" body2="c" anchor="0.5 0 0.1"/>', '<weld body1="b" body2="c"/>')
    with pytest.raises(RobotError, match="leave no freedom"):
        robots.load(write(tmp_path, text))
    joints = '<joint name="j3" type="ball"/>' + "".join(
        f'<joint type="slide" axis="{axis}"/>' for axis in ("0 0 1", "1 0 0", "0 1 0")
    )
    more = text.replace('<joint name="j3" axis="0 1 0"/>', joints)
    robot = robots.load(write(tmp_path, more.replace('joint="j1"/>', 'joint="j1"/><motor joint="j2"/>')))
    assert (robot.nv, robot.loop_analysis.rank) == (8, 6)
    assert np.abs(robot.loop_residual(robot.neutral())).max() < 1e-12


@pytest.mark.parametrize("pose", ["", 'relpose="0.4 0.5 0.6 0.9 0.1 0.2 0.3"'])
def test_a_weld_holds_what_mujocos_holds(pose: str, tmp_path: Path) -> None:
    """A weld with an anchor: where its residual is zero, MuJoCo's is."""
    import mujoco

    path = write(
        tmp_path,
        f"""<mujoco><worldbody>
<body name="a" pos="0.1 0.2 0.3" euler="10 20 30"><joint name="turn" axis="1 2 3"/>{BOX}</body>
<body name="b" pos="0.5 0.2 0.1" euler="40 20 30"><freejoint name="root"/>{BOX}</body></worldbody>
<equality><weld body1="a" body2="b" anchor="0.3 0.1 0.2" {pose}/></equality></mujoco>""",
    )
    robot, model = robots.load(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    q = robot.sample(3, seed=1)[0]
    assert np.abs(robot.loop_residual(q)).max() < 1e-10
    for one in q:
        data.qpos[:] = np.concatenate([one[:4], np.roll(one[4:], 1)])
        mujoco.mj_forward(model, data)
        assert np.abs(data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]).max() < 1e-9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco><worldbody/></mujoco>", "expected at least one body"),
        ("<mujoco><worldbody><bodi/></worldbody></mujoco>", "MuJoCo does not read it: .*bodi"),
        ("<sdf/>", "expected the outermost element <mujoco>"),
        (
            FLOATING.replace(
                "</mujoco>", '<equality><joint joint1="hip" joint2="spin" polycoef="0 1 2 0 0"/></equality></mujoco>'
            ),
            "equality 0 couples joints 'hip' and 'spin' by the polynomial .*, expected a linear one; lock it",
        ),
        (
            FLOATING.replace("</mujoco>", '<equality><joint joint1="hip"/></equality></mujoco>'),
            "equality 0 holds joint 'hip', expected two joints",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(RobotError, match=message):
        robots.load(write(tmp_path, text))


def test_an_equality_of_joints_is_a_coupling(tmp_path: Path) -> None:
    equality = '<equality><joint joint1="hip" joint2="spin" polycoef="0.2 -3 0 0 0"/></equality></mujoco>'
    robot = robots.load(write(tmp_path, FLOATING.replace("</mujoco>", equality)))
    hip, spin = (robot.joint_names.index(name) for name in ("hip", "spin"))
    assert [x.tolist() for x in robot.couplings] == [[hip], [spin], [-3.0], [0.2]]
    assert len(robot.actuated) == robot.nv - 1
    assert not any("coupling" in said for said in robot.inspect().ignored)


def test_couplings_are_left_out_on_request(tmp_path: Path) -> None:
    text = FLOATING.replace("</mujoco>", '<equality><joint joint1="hip" joint2="spin"/></equality></mujoco>')
    path = write(tmp_path, text)
    assert robots.load(path, mimic="independent").nv == 8
    assert "equality 0, a coupling" in robots.load(path, mimic="independent").inspect().ignored
    assert robots.load(path, locked=["hip"]).nv == 7
    with pytest.raises(RobotError, match="joint 'hip' follows 'spin', which is locked; lock it too"):
        robots.load(path, locked=["spin"])
    with pytest.raises(RobotError, match="equality 0 couples joints 'hip' and 'spin'; lock it"):
        robots.load(path, mimic="refuse")


def test_what_mujoco_says_is_a_warning_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, FLOATING.replace("<worldbody>", '<compiler settotalmass="7"/><worldbody>', 1))
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match="MuJoCo says: .*settotalmass"):
        robots.load(path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
