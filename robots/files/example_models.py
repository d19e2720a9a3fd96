"""The robots of the `example-robot-data` package, when it is installed.

Its URDF files are located in the installation and read by `from_urdf`, so neither Pinocchio nor the package's
loaders are needed. As in those loaders, some robots have a floating base, and joints that mimic others get a
coordinate of their own. Not available are ``cassie`` (SDF), ``talos_legs`` (made by code, not a file) and ``romeo``
(its finger joints move massless links; ``romeo-small`` has no fingers). ``panda`` and ``ur5`` ship with dynbench.

Some of these files contain inertias that no rigid body has; they load with a RobotWarning.
"""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from pathlib import Path

from dynbench.robots.errors import UnknownNameError, near
from dynbench.robots.robot import Robot

_FIXED = {
    "alex-nub-hands": "alex_description/urdf/alex_nub_hands.urdf",
    "alex-psyonic-hands": "alex_description/urdf/alex_psyonic_hands.urdf",
    "alex-sake-hands": "alex_description/urdf/alex_sake_hands.urdf",
    "allegro-left-hand": "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "allegro-right-hand": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "asr-twodof": "asr_twodof_description/urdf/TwoDofs.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "double-pendulum": "double_pendulum_description/urdf/double_pendulum.urdf",
    "double-pendulum-continuous": "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "double-pendulum-simple": "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "finger-edu": "finger_edu_description/robots/finger_edu.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "panda-collision": "panda_description/urdf/panda_collision.urdf",
    "talos-arm": "talos_data/robots/talos_left_arm.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "tiago-dual": "tiago_description/robots/tiago_dual.urdf",
    "tiago-no-hand": "tiago_description/robots/tiago_no_hand.urdf",
    "tiago-pro": "tiago_pro_description/robots/tiago_pro.urdf",
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "ur3-gripper": "ur_description/urdf/ur3_gripper.urdf",
    "ur3-limited": "ur_description/urdf/ur3_joint_limited_robot.urdf",
    "ur5-gripper": "ur_description/urdf/ur5_gripper.urdf",
    "ur5-limited": "ur_description/urdf/ur5_joint_limited_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "ur10-limited": "ur_description/urdf/ur10_joint_limited_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
}

_FLOATING = {
    "a1": "a1_description/urdf/a1.urdf",
    "alexander": "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal-c": "anymal_c_simple_description/urdf/anymal.urdf",
    "anymal-kinova": "anymal_b_simple_description/robots/anymal-kinova.urdf",
    "b1": "b1_description/urdf/b1.urdf",
    "b1-z1": "b1_description/urdf/b1-z1.urdf",
    "bolt": "bolt_description/robots/bolt.urdf",
    "borinot": "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "centauro": "centauro_description/urdf/centauro.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "g1-with-hands": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "go1": "go1_description/urdf/go1.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "hector": "hector_description/robots/quadrotor_base.urdf",
    "hextilt": "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
    "human": "human_description/robots/human.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "icub-reduced": "icub_description/robots/icub_reduced.urdf",
    "iris": "iris_description/robots/iris_simple.urdf",
    "laikago": "laikago_description/urdf/laikago.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
    "quadruped": "quadruped_description/urdf/quadruped.urdf",
    "romeo-small": "romeo_description/urdf/romeo_small.urdf",
    "simple-humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "simple-humanoid-classical": "simple_humanoid_description/urdf/simple_humanoid_classical.urdf",
    "so100": "so_arm_description/urdf/so100.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "solo8": "solo_description/robots/solo.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "talos-box": "talos_data/robots/talos_reduced_box.urdf",
    "talos-full": "talos_data/robots/talos_full_v2.urdf",
    "talos-full-box": "talos_data/robots/talos_full_v2_box.urdf",
}

_FILES = dict(sorted({**_FIXED, **_FLOATING}.items()))


@cache
def folder() -> Path | None:
    """Return the folder ``robots`` of the installed package, None when it is not installed."""
    # pip puts it below cmeel.prefix beside the other packages; conda and system packages into share.
    shares = [Path(entry) / "cmeel.prefix" / "share" for entry in sys.path if entry]
    shares += [Path(sysconfig.get_path("data")) / "share"]
    for share in shares:
        robots = share / "example-robot-data" / "robots"
        if robots.is_dir():
            return robots
    return None


@cache
def names() -> tuple[str, ...]:
    """Return the names of the robots whose files are installed."""
    robots = folder()
    return () if robots is None else tuple(name for name, file in _FILES.items() if (robots / file).is_file())


def offers(name: str) -> bool:
    """Whether the package, when installed, has a robot of that name."""
    return name in _FILES


def load(name: str) -> Robot:
    """Return the robot of that name, from its URDF file."""
    from dynbench.robots.files.urdf import from_urdf

    robots = folder()
    if robots is None or name not in names():
        raise UnknownNameError(f"example-robot-data has no robot '{name}'; {near(name, names())}")
    file, floats = robots / _FILES[name], name in _FLOATING
    return from_urdf(file, floating_base=floats, name=name, mimic="independent", strict=False)
