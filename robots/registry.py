"""The names of robots and families, and the function or file of each; listing them imports nothing.

To add a robot to the zoo, add a line to `ROBOTS`: the function "module:function" that returns it, or a file
of ``robots/models/``. A name that ends in ``-N`` takes the number from the name, and its function gets it as
the first argument. `FAMILIES` are the functions that a robot file may call by name, with arguments.

Another package adds both under the entry-point group ``dynbench.robots``, with the same spelling of names:

    [project.entry-points."dynbench.robots"]
    hexapod = "my_package.robots:hexapod"
    "caterpillar-N" = "my_package.robots:caterpillar"
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from dynbench.robots.errors import RobotError
from dynbench.robots.robot import Robot

Builder = Callable[..., Robot]

GROUP = "dynbench.robots"

ROBOTS: dict[str, str] = {
    "pendulum": "dynbench.robots.families.trees:pendulum",
    "two-link": "dynbench.robots.families.trees:two_link",
    "puma560": "puma560.toml",
    "puma560-geared": "dynbench.robots.rotors:puma560_geared",
    "panda": "panda.toml",
    "ur5": "ur5.toml",
    "four-bar": "dynbench.robots.families.parallel:four_bar",
    "five-bar": "dynbench.robots.families.parallel:five_bar",
    "3rrr": "dynbench.robots.families.parallel:planar_3rrr",
    "delta": "dynbench.robots.families.parallel:delta",
    "gough-stewart": "dynbench.robots.families.gough_stewart:gough_stewart",
    "parallel-ankle": "dynbench.robots.families.humanoid:parallel_ankle",
    "parallel-ankle-redundant": "dynbench.robots.families.humanoid:parallel_ankle_redundant",
    "knee-four-bar": "dynbench.robots.families.humanoid:knee_four_bar",
    "knee-four-bar-redundant": "dynbench.robots.families.humanoid:knee_four_bar_redundant",
    "chain-N": "dynbench.robots.families.trees:chain",
    "tree-N": "dynbench.robots.families.trees:tree",
    "space-dual-arm": "dynbench.robots.families.space_manipulator:space_dual_arm",
    "space-dual-arm-parallel": "dynbench.robots.families.space_manipulator:space_dual_arm_parallel",
    "space-arms-N": "dynbench.robots.families.space_manipulator:space_arms",
    "rp3": "dynbench.robots.families.rp_chain:rp3",
    "rp-N": "dynbench.robots.families.rp_chain:random_rp_chain",
    "elastic-rp1": "dynbench.robots.families.elastic_rp_chain:elastic_rp1",
    "elastic-rp-N": "dynbench.robots.families.elastic_rp_chain:elastic_rp_family",
    "elastic-modes-N": "dynbench.robots.families.elastic_rp_chain:elastic_modes",
}

FAMILIES: dict[str, str] = {
    "pendulum": "dynbench.robots.families.trees:pendulum",
    "two_link": "dynbench.robots.families.trees:two_link",
    "chain": "dynbench.robots.families.trees:chain",
    "tree": "dynbench.robots.families.trees:tree",
    "random_tree": "dynbench.robots.families.trees:random_tree",
    "four_bar": "dynbench.robots.families.parallel:four_bar",
    "five_bar": "dynbench.robots.families.parallel:five_bar",
    "planar_3rrr": "dynbench.robots.families.parallel:planar_3rrr",
    "delta": "dynbench.robots.families.parallel:delta",
    "gough_stewart": "dynbench.robots.families.gough_stewart:gough_stewart",
    "parallel_ankle": "dynbench.robots.families.humanoid:parallel_ankle",
    "knee_four_bar": "dynbench.robots.families.humanoid:knee_four_bar",
    "rp_chain": "dynbench.robots.families.rp_chain:rp_chain",
    "space_arms": "dynbench.robots.families.space_manipulator:space_arms",
    "random_space_manipulator": "dynbench.robots.families.space_manipulator:random_space_manipulator",
    "elastic_rp_chain": "dynbench.robots.families.elastic_rp_chain:elastic_rp_chain",
    "elastic_modes": "dynbench.robots.families.elastic_rp_chain:elastic_modes",
}


@cache
def plugins() -> dict[str, EntryPoint]:
    """Return the robots of other packages by name, not loaded. Names of the zoo cannot be overridden."""
    found = {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}
    return {name: point for name, point in found.items() if name not in ROBOTS}


def clashes() -> dict[str, str]:
    """Return the robots of other packages that are not available because their name is taken, with the reason."""
    found: dict[str, str] = {}
    for point in entry_points(group=GROUP):
        package = point.dist.name if point.dist is not None else "?"
        if point.name in ROBOTS:
            owner = "dynbench"
        elif plugins().get(point.name, point).value != point.value:
            owner = plugins()[point.name].value
        else:
            continue
        found[f"{point.name} ({package})"] = (
            f"the name {point.name!r} is taken by {owner}; {package!r} must register {point.value} under another"
        )
    return found


def builder(target: str) -> Builder:
    """Return the function that "module:function" names."""
    module, _, function = target.partition(":")
    found: Builder = getattr(import_module(module), function)
    return found


def plugin_builder(point: EntryPoint) -> Builder:
    """Return the function of another package; its errors are raised as RobotErrors that name the plugin."""
    try:
        found: object = point.load()
    except Exception as error:
        raise RobotError(
            f"the plugin '{point.name}' of group '{GROUP}' ({point.value}) cannot be imported: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not callable(found):
        raise RobotError(
            f"the plugin '{point.name}' of group '{GROUP}' ({point.value}) must be a function that returns "
            f"a Robot, got {type(found).__name__}"
        )

    def build(*args: object, **arguments: object) -> Robot:
        try:
            robot = found(*args, **arguments)
        except Exception as error:
            raise RobotError(
                f"the plugin '{point.name}' ({point.value}) failed: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(robot, Robot):
            raise RobotError(
                f"the plugin '{point.name}' ({point.value}) must return a Robot, got {type(robot).__name__}"
            )
        return robot

    return build


def family_names() -> tuple[str, ...]:
    """Return the families a robot file may name: ours, then those of other packages."""
    return (*FAMILIES, *(name.removesuffix("-N") for name in plugins()))


def family(name: str) -> Builder | None:
    """Return the function of a family, None if nothing has that name."""
    if name in FAMILIES:
        return builder(FAMILIES[name])
    point = plugins().get(name) or plugins().get(f"{name}-N")
    return plugin_builder(point) if point else None
