"""Read every robot file of Python packages, and compare each with the engine of its format.

    python tests/sweep_files.py FOLDER...        # packages, unpacked; `nox -s files` gets them

URDF files (.urdf) are compared with Pinocchio's own reading of the file, MJCF files (.xml with <mujoco>) with MuJoCo's:
the number of velocities, the mass that moves, damping and friction of the joints, and inverse dynamics with armatures
at random states, to 1e-9 of the largest force. A file that is refused must be refused for a reason that the engine or
the text of the file confirms.

Prints a table of counts by package, and every file that is not as it should be. The exit code is the number of these,
99 at most.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
from mjcf_reference import Reference

from dynbench import methods
from dynbench.robots import extras
from dynbench.robots.errors import RobotError
from dynbench.robots.files.mjcf import from_mjcf
from dynbench.robots.files.urdf import from_urdf
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

TOLERANCE = 1e-9
STATES = 3
LIMITED = ("revolute", "prismatic")
NO_INERTIA = "a joint moves no inertia: the mass matrix is singular"
SINGULAR = 1e-11  # smallest over largest eigenvalue of a mass matrix with a unit diagonal

Verdict = tuple[str, str]  # one of WORDS, and what there is to say
WORDS = ("equal", "refused", "only here", "DIFFERS")


def main(folders: list[str]) -> int:
    """Sweep the packages below each folder, print what was found, return how many files are not as they should be."""
    wrong = 0
    print(f"{'package':24} format  files" + "".join(f"{word:>10}" for word in WORDS))
    for folder in map(Path, folders):
        for format, files, judge in (("URDF", urdf_files(folder), urdf), ("MJCF", mjcf_files(folder), mjcf)):
            found = {path: judged(judge, path) for path in files}
            if not found:
                continue
            count = Counter(word for word, _ in found.values())
            counts = "".join(f"{count[word]:10}" for word in WORDS)
            print(f"{folder.name:24} {format:6} {len(found):6}{counts}")
            for (word, reason), times in Counter(found.values()).most_common():
                if word in WORDS[1:3]:
                    print(f"    {times:5} {word}: {reason}")
            for path, (word, said) in found.items():
                if word == "DIFFERS":
                    print(f"    DIFFERS {path.relative_to(folder)}: {said}")
            sys.stdout.flush()
            wrong += count["DIFFERS"]
    return min(wrong, 99)


def judged(judge: Callable[[Path], Verdict], path: Path) -> Verdict:
    with warnings.catch_warnings(), silent():
        warnings.simplefilter("ignore")
        try:
            return judge(path)
        except Exception as error:  # of the reader or of this script: either is to be looked at
            return "DIFFERS", f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Without what engines print about a file."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def urdf_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.urdf"))


def mjcf_files(folder: Path) -> list[Path]:
    found = [*folder.rglob("*.xml"), *folder.rglob("*.mjcf")]
    return sorted(path for path in found if re.search(rb"<mujoco[\s>]", path.read_bytes()[:100_000]))


# ---------------------------------------------------------------------- URDF


def urdf(path: Path) -> Verdict:
    """Compare a file with its base fixed, unless nothing moves then, and with its base free."""
    model, theirs = read_by_pinocchio(path)
    found = []
    for base in (False, True):
        if model is not None and base:
            model, _ = read_by_pinocchio(path, pin.JointModelFreeFlyer())
        try:
            robot = from_urdf(path, floating_base=base, mimic="independent", strict=False)
        except RobotError as error:
            if model is not None and model.nv == 0 and "no body moves" in str(error):
                continue
            found.append(refused_urdf(str(error).replace(str(path), ""), path, model))
            continue
        found.append(same_as_pinocchio(robot, model) if model else ("only here", f"Pinocchio refuses it: {theirs}"))
    return max(found, key=lambda verdict: WORDS.index(verdict[0]))


def read_by_pinocchio(path: Path, *root: Any) -> tuple[Any, str]:
    """Return Pinocchio's model, or None and why. Limits that its parser demands, effort and velocity too, are added."""
    text = path.read_bytes()
    with contextlib.suppress(ElementTree.ParseError):
        tree = ElementTree.fromstring(text)
        for joint in tree.iter("joint"):
            limit = joint.find("limit")
            if limit is None and joint.get("type") in LIMITED:
                limit = ElementTree.SubElement(joint, "limit")
            for key in ("lower", "upper", "effort", "velocity") if limit is not None else ():
                limit.attrib.setdefault(key, "1")
        text = ElementTree.tostring(tree)
    try:
        return pin.buildModelFromXML(text.decode("utf-8", errors="replace"), *root), ""
    except Exception as error:  # it refuses the file too, for whatever reason: that is what is asked here
        return None, str(error).partition("\n")[0] or type(error).__name__


def elements(path: Path, inside: str, tag: str) -> list[int]:
    """Return how many elements `tag` each element `inside` of a file has."""
    return [len(one.findall(tag)) for one in ElementTree.fromstring(path.read_bytes()).iter(inside)]


def malformed(path: Path) -> bool:
    try:
        ElementTree.fromstring(path.read_bytes())
    except ElementTree.ParseError:
        return True
    return False


def refused_urdf(said: str, path: Path, model: Any) -> Verdict:
    """Judge a refusal: does what Pinocchio reads, or the text of the file, confirm it?"""
    text = path.read_text(encoding="utf-8", errors="replace")
    if model is None:
        return "refused", "Pinocchio refuses it, too"
    for words, reason, holds in (
        ("not well-formed XML", "not well-formed XML", lambda: malformed(path)),
        ("with no inertia in", NO_INERTIA, lambda: singular(model)),
        ("contains xacro macros", "xacro, not expanded", lambda: "xacro" in text),
        ("<inertial> has no <mass>", "an inertia without a mass", lambda: 0 in elements(path, "inertial", "mass")),
        ("expected one <inertial>", "two inertias of a link", lambda: max(elements(path, "link", "inertial")) > 1),
        ("expected one <axis>", "two axes of a joint", lambda: max(elements(path, "joint", "axis")) > 1),
        ("mass must not be negative", "a negative mass", lambda: min(x.mass for x in model.inertias) < 0),
    ):
        if words in said:
            return ("refused", reason) if holds() else ("DIFFERS", f"refused, not confirmed: {said}")
    return "DIFFERS", f"refused, and Pinocchio reads it: {said}"


def singular(model: Any) -> bool:
    data = model.createData()
    M = pin.crba(model, data, pin.randomConfiguration(model))
    return near_singular(np.triu(M) + np.triu(M, 1).T)


def near_singular(M: FloatArray) -> bool:
    d = np.diag(M)
    return bool(d.min() <= 0.0 or np.linalg.eigvalsh(M / np.sqrt(np.outer(d, d)))[0] < SINGULAR)


def same_as_pinocchio(robot: Robot, model: Any) -> Verdict:
    if robot.nv != model.nv:
        return "DIFFERS", f"nv {robot.nv}, Pinocchio has {model.nv}"
    mass = float(pin.computeTotalMass(model))
    if abs(robot.mass.sum() - mass) > TOLERANCE * max(mass, 1e-12):
        return "DIFFERS", f"mass {robot.mass.sum():.12g}, Pinocchio has {mass:.12g}"
    names = [name for name in robot.joint_names if not name.endswith(("/x", "/y"))]
    if tuple(model.names)[1:] != tuple(names):
        return "DIFFERS", f"joints {names}, Pinocchio has {list(model.names)[1:]}"
    for ours, theirs in ((robot.extras.damping, model.damping), (robot.extras.friction, friction(model))):
        if not np.allclose(ours, theirs, rtol=1e-12, atol=0.0):
            return "DIFFERS", f"damping or friction {ours}, Pinocchio has {theirs}"
    rng = np.random.default_rng(0)
    inertia = np.where(robot.kind == JointKind.FREE, 0.0, rng.uniform(0.1, 1.0, robot.n))
    robot = dataclasses.replace(robot, armature=inertia)
    model.armature = robot.extras.armature.copy()
    data = model.createData()
    q, v, a = robot.sample(STATES, seed=1)
    tau = methods.get("newton-euler").prepare(robot).inverse_dynamics(q, v, a) - extras.losses(robot, v)
    worst = 0.0
    for k in range(STATES):
        x, map_v, bias = in_pinocchio(robot, model, q[k], v[k])
        right = map_v.T @ pin.rnea(model, data, x, map_v @ v[k], map_v @ a[k] + bias)
        worst = max(worst, float(np.abs(tau[k] - right).max() / np.abs(right).max()))
    return ("equal", "") if worst <= TOLERANCE else ("DIFFERS", f"forces differ by {worst:.1e}")


def friction(model: Any) -> FloatArray:
    return np.asarray(model.friction if hasattr(model, "friction") else model.upperDryFrictionLimit)


def in_pinocchio(robot: Robot, model: Any, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return q as Pinocchio has it, T with its v = T v, and T' v.

    Continuous joints are cosine and sine there. The velocity of a planar joint is that of the body, in its own axes.
    """
    x, T, bias = np.zeros(model.nq), np.eye(robot.nv), np.zeros(robot.nv)
    i = 0
    for joint in list(model.joints)[1:]:
        at, to, k = int(robot.iq[i]), joint.idx_q, int(robot.iv[i])
        if joint.shortname() == "JointModelPlanar":
            c, s, w = np.cos(q[at + 2]), np.sin(q[at + 2]), v[k + 2]
            x[to : to + 4] = q[at], q[at + 1], c, s
            T[k : k + 2, k : k + 2] = [[c, s], [-s, c]]
            bias[k : k + 2] = w * np.array([[-s, c], [-c, -s]]) @ v[k : k + 2]
            i += 3
            continue
        width = 7 if robot.kind[i] == JointKind.FREE else 1
        x[to : to + joint.nq] = [np.cos(q[at]), np.sin(q[at])] if joint.nq == 2 else q[at : at + width]
        i += 1
    return x, T, bias


# ---------------------------------------------------------------------- MJCF


def mjcf(path: Path) -> Verdict:
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except Exception:  # MuJoCo refuses the file, which must then be refused here as well
        model = None
    try:
        robot = from_mjcf(path, couplings="coupled", strict=False)
    except RobotError as error:
        said = str(error).replace(str(path), "")
        if model is None:
            return "refused", "MuJoCo refuses it, too"
        try:
            robot = from_mjcf(path, couplings="independent", strict=False)
        except RobotError:
            return refused_mjcf(said, path, model)
        verdict = same_as_mujoco(path, robot)
        return refused_mjcf(said, path, model) if verdict[0] == "equal" else verdict
    if model is None:
        return "DIFFERS", "read here, and refused by MuJoCo"
    return same_as_mujoco(path, robot)


def singular_in_mujoco(model: Any) -> bool:
    data = mujoco.MjData(model)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, M)
    return near_singular(M)


def held_in_mujoco(model: Any) -> bool:
    """Whether the equalities of a model leave no freedom at its reference configuration."""
    data = mujoco.MjData(model)
    model.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
    mujoco.mj_forward(model, data)
    rows = np.asarray(data.efc_J).reshape(-1, model.nv)[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
    return bool(np.linalg.matrix_rank(rows) == model.nv)


def refused_mjcf(said: str, path: Path, model: Any) -> Verdict:
    active = [e for e in range(model.neq) if model.eq_active0[e]]
    kinds = [int(model.eq_type[e]) for e in active]
    polynomial = [e for e, kind in zip(active, kinds, strict=True) if kind == 2 and model.eq_data[e, 2:5].any()]
    single = [e for e, kind in zip(active, kinds, strict=True) if kind == 2 and model.eq_obj2id[e] < 0]
    site = int(mujoco.mjtObj.mjOBJ_SITE)
    for words, reason, holds in (
        ("no body moves", "nothing moves", lambda: model.nv == 0),
        ("bodies is empty", "nothing moves", lambda: model.nbody == 1),
        ("is between sites", "an equality between sites", lambda: any(model.eq_objtype[e] == site for e in active)),
        ("by the polynomial", "a polynomial between joints", lambda: bool(polynomial)),
        ("expected two joints", "an equality holds one joint", lambda: bool(single)),
        ("with no inertia in", NO_INERTIA, lambda: singular_in_mujoco(model)),
        ("leave no freedom", "equalities leave no freedom", lambda: held_in_mujoco(model)),
    ):
        if words in said:
            return ("refused", reason) if holds() else ("DIFFERS", f"refused, not confirmed: {said}")
    return "DIFFERS", f"refused, and MuJoCo reads it: {said}"


def same_as_mujoco(path: Path, robot: Robot) -> Verdict:
    """Compare the spanning tree; MuJoCo's constraints are off."""
    tree = dataclasses.replace(robot, loops=None, couplings=None, actuated=None, home=None, force_weights=None)
    reference = Reference(str(path), tree)
    if tree.nv != reference.model.nv:
        return "DIFFERS", f"nv {tree.nv}, MuJoCo has {reference.model.nv}"
    if abs(tree.mass.sum() - reference.mass) > TOLERANCE * max(reference.mass, 1e-12):
        return "DIFFERS", f"mass {tree.mass.sum():.12g}, MuJoCo has {reference.mass:.12g}"
    q, v, a = tree.sample(STATES, seed=1)
    tau = methods.get("newton-euler").prepare(tree).inverse_dynamics(q, v, a)
    right = np.array([reference.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)])
    worst = float((np.abs(tau - right).max(axis=1) / np.abs(right).max(axis=1)).max())
    return ("equal", "") if worst <= TOLERANCE else ("DIFFERS", f"forces differ by {worst:.1e}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
