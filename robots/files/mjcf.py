"""MJCF files: ``from_mjcf("arm.xml") -> Robot``. Compiled by MuJoCo (extra ``peers``), so that defaults, includes,
composite bodies and inertias from geometry mean here what they mean there.

* A body with several joints becomes as many bodies, massless but for the last. A joint beside its body's origin gives a
  body ``BODY/JOINT`` at the joint, and the body's own frame on it keeps the name.
* Coordinates are zero in the file's reference configuration: q here is MuJoCo's ``qpos - qpos0`` for hinges and slides.
  Free joints have world coordinates, as in MuJoCo; conventions for quaternions and velocities are ours.
* Armature, damping and frictionloss of joints are read, except those of free joints.
* Equalities ``connect`` and ``weld`` close loops; joints with actuators are then the actuated ones, with as many others
  as determine the motion: a degree of freedom without a motor counts as actuated. Those of type ``joint`` couple two
  coordinates, if their polynomial is linear; see ``couplings``.
* Listed as ignored (`Robot.inspect`): contacts, limits, tendons, actuators, sensors, joint springs, fluid forces,
  gravity compensation.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dynbench.robots import quaternion
from dynbench.robots.arrays import FloatArray
from dynbench.robots.body import Body, Coupling, Loop
from dynbench.robots.edit import edited
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import NV, Fixed, Free, Joint, Prismatic, Revolute, Spherical
from dynbench.robots.loops.mobility import complement
from dynbench.robots.loops.newton import closures
from dynbench.robots.origin import Limits, Link, Origin
from dynbench.robots.robot import Robot
from dynbench.robots.sources import MIMICS, Options

EYE, ORIGIN = np.eye(3), np.zeros(3)
FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
CONNECT, WELD, JOINT = range(3)  # mjtEq
SAME_FRAME, SAME_AXES = 1, 3  # mjtSameFrame


def from_mjcf(
    path: str | os.PathLike[str],
    name: str | None = None,
    *,
    base: str | None = None,
    locked: Collection[str] = (),
    couplings: Literal["coupled", "independent", "refuse"] = "coupled",
    strict: bool = True,
) -> Robot:
    """Return the robot that an MJCF file describes.

    Parameters
    ----------
    path : path of the file
    name : str, optional
        Name of the robot; by default the file's own.
    base : "floating" or "fixed", optional
        By default as the file says. "fixed" holds a free joint on the ground at zero.
    locked : names of joints
        Joints held at the file's reference configuration: their bodies are merged with the parent.
    couplings : "coupled", "independent" or "refuse"
        An equality between joints becomes a `Coupling`, is left out, or is an error.
    strict : bool
        Whether an inertia that no rigid body has is an error, or only a RobotWarning.

    Raises
    ------
    RobotError
        If the file is invalid, or MuJoCo is not installed; says why.
    """
    if couplings not in MIMICS:
        raise RobotError(f"couplings must be {' or '.join(map(repr, MIMICS))}, got {couplings!r}")
    where = os.fspath(path)
    model = _compiled(where)
    read = _Reader(where, model, frozenset(locked), couplings)
    title = name or _text(model.names[: model.names.index(b"\0")]) or Path(path).stem
    try:
        robot = Robot.from_bodies(
            title,
            read.bodies(),
            gravity=ORIGIN if read.off("GRAVITY") else model.opt.gravity.copy(),
            loops=read.loops(),
            couplings=read.coupled(),
            strict=strict,
            origin=read.origin(),
            actuated=read.joint_names if read.closes_loops else None,
        )
        if read.closes_loops:
            robot = _driven(robot, read.driven())
        return edited(robot, Options(base, tuple(locked)))
    except RobotError as error:
        raise RobotError(f"{where}: {error}") from error


def _compiled(where: str) -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise RobotError(
            f"{where}: MJCF files are read by MuJoCo, which is not installed: `pip install mujoco`"
        ) from error
    if not os.path.isfile(where):
        raise RobotError(f"{where}: no such file")
    said: dict[str, None] = {}  # by default MuJoCo writes what it says to a file in the current folder
    handler = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: said.setdefault(" ".join(str(text).split())))
    try:
        return mujoco.MjModel.from_xml_path(where)
    except (ValueError, RuntimeError) as error:  # mujoco.FatalError is a RuntimeError
        raise RobotError(f"{where}: MuJoCo does not read it: {' '.join(str(error).split())}") from error
    finally:
        mujoco.set_mju_user_warning(handler)
        for text in said:
            warnings.warn(f"{where}: MuJoCo says: {text}", stacklevel=2)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="replace")


class _Reader:
    """A compiled model, and the names of what is in it."""

    def __init__(self, where: str, model: Any, locked: frozenset[str], couplings: str) -> None:
        self.where, self.model, self.locked, self.couplings = where, model, locked, couplings
        self.body_names = self._names("body", model.nbody)
        self.body_names[0] = "world"
        carriers = [f"{self.body_names[int(b)]}_joint" for b in model.jnt_bodyid]
        self.joint_names = self._names("joint", model.njnt, carriers)
        self.limits = {
            self.joint_names[j]: Limits(float(model.jnt_range[j, 0]), float(model.jnt_range[j, 1]), None, None)
            for j in range(model.njnt)
            if model.jnt_limited[j]
        }

    def _names(self, what: str, count: int, otherwise: list[str] | None = None) -> list[str]:
        """Return a name for each: the file's own, or one made up."""
        found: list[str] = []
        for k in range(count):
            one = getattr(self.model, what)(k).name or (f"{what}{k}" if otherwise is None else otherwise[k])
            while one in found:
                one += "'"
            found.append(one)
        return found

    def off(self, *flags: str) -> bool:
        """Whether the file disables one of these parts of the dynamics."""
        import mujoco

        kinds = mujoco.mjtDisableBit
        bits = [int(getattr(kinds, f"mjDSBL_{flag}", 0)) for flag in flags]
        return any(self.model.opt.disableflags & bit for bit in bits)

    # ------------------------------------------------------------------ bodies

    def bodies(self) -> Iterator[Body]:
        """Yield the bodies, parents first."""
        model = self.model
        for b in range(1, model.nbody):
            name, parent = self.body_names[b], self.body_names[int(model.body_parentid[b])]
            inertial = self._inertial(b)
            first, count = int(model.body_jntadr[b]), int(model.body_jntnum[b])
            placement = (_matrix(model.body_quat[b]), model.body_pos[b].copy())
            on = None if parent == "world" else parent
            if count == 0:
                yield Body(name=name, parent=on, joint=Fixed(), placement=placement, **inertial)
                continue
            if model.jnt_type[first] == FREE:  # alone, and on the world
                joint: Joint = Free(name=self.joint_names[first])
                yield Body(name=name, parent=None, joint=joint, **inertial)
                continue
            rotation, at = placement
            anchor = ORIGIN
            for j in range(first, first + count):
                here = model.jnt_pos[j].copy()
                place = (rotation, at + rotation @ (here - anchor))
                last = j == first + count - 1 and not here.any()
                between = name if last else f"{name}/{self.joint_names[j]}"
                extras, own = self._extras(j), inertial if last else {}
                yield Body(name=between, parent=on, joint=self._joint(j), placement=place, **extras, **own)
                on, rotation, at, anchor = between, EYE, ORIGIN, here
            if on != name:
                yield Body(name=name, parent=on, joint=Fixed(), placement=(EYE, -anchor), **inertial)

    def _inertial(self, b: int) -> dict[str, Any]:
        model = self.model
        same = int(model.body_sameframe[b])  # MuJoCo then takes the frame of inertia for the body's, though rounded
        turn = EYE if same in (SAME_FRAME, SAME_AXES) else _matrix(model.body_iquat[b])
        com = ORIGIN if same == SAME_FRAME else model.body_ipos[b].copy()
        inertia = turn @ np.diag(model.body_inertia[b]) @ turn.T
        inertia = 0.5 * (inertia + inertia.T)
        return {"mass": float(model.body_mass[b]), "com": com, "inertia": inertia}

    def _joint(self, j: int) -> Joint:
        kind, name = int(self.model.jnt_type[j]), self.joint_names[j]
        if kind == BALL:
            return Spherical(name=name)
        return (Revolute if kind == HINGE else Prismatic)(self.model.jnt_axis[j].copy(), name=name)

    def _extras(self, j: int) -> dict[str, float]:
        dof = int(self.model.jnt_dofadr[j])
        found = {"armature": float(self.model.dof_armature[dof])}
        if not self.off("PASSIVE", "DAMPER"):
            found["damping"] = float(self.model.dof_damping[dof])
        if not self.off("CONSTRAINT", "FRICTIONLOSS"):
            found["friction"] = float(self.model.dof_frictionloss[dof])
        return found

    # ------------------------------------------------------------------ loops

    def loops(self) -> list[Loop]:
        """Return the closures of connect and weld equalities; raise a RobotError for what cannot be one."""
        model, found = self.model, []
        for e in self._equalities():
            kind, data = int(model.eq_type[e]), model.eq_data[e]
            one, two = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
            if kind in (CONNECT, WELD):
                ends = [None if b == 0 else self.body_names[b] for b in self._bodies_of(e, one, two)]
                closes = (True, True, True, *(kind == WELD,) * 3)
                if kind == CONNECT:
                    places = [(EYE, data[:3].copy()), (EYE, data[3:6].copy())]
                else:  # data: anchor on body 2, its point of body 1, and the axes of body 2 in those of body 1
                    places = [(_matrix(data[6:10]), data[3:6].copy()), (EYE, data[:3].copy())]
                found.append(
                    Loop(body1=ends[0], body2=ends[1], placement1=places[0], placement2=places[1], closes=closes)
                )
        return found

    def _equalities(self) -> list[int]:
        """Return the numbers of the equalities that are active."""
        model = self.model
        return [] if self.off("CONSTRAINT", "EQUALITY") else [e for e in range(model.neq) if model.eq_active0[e]]

    def _bodies_of(self, e: int, one: int, two: int) -> tuple[int, int]:
        import mujoco

        if int(self.model.eq_objtype[e]) == int(mujoco.mjtObj.mjOBJ_SITE):
            raise RobotError(f"equality {e} is between sites, expected bodies")
        return one, two

    def coupled(self) -> list[Coupling]:
        """Return the couplings of equalities between joints; raise a RobotError for what cannot be one."""
        model, found = self.model, []
        for e in self._equalities():
            one, two = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
            if int(model.eq_type[e]) != JOINT or self.couplings == "independent":
                continue
            names = [self.joint_names[j] for j in (one, two) if j >= 0]
            if names[0] in self.locked:
                continue
            instead = (
                f"lock it (locked=['{names[0]}'], --lock {names[0]}) or leave the equality out "
                "(couplings='independent', --mimic independent)"
            )
            listed = " and ".join(map(repr, names))
            if self.couplings == "refuse":
                raise RobotError(f"equality {e} couples joints {listed}; {instead}, or couplings='coupled'")
            if len(names) == 1:
                raise RobotError(f"equality {e} holds joint {listed}, expected two joints; {instead}")
            polynomial = model.eq_data[e, :5]
            if polynomial[2:].any():
                raise RobotError(
                    f"equality {e} couples joints {listed} by the polynomial {polynomial.tolist()}, expected a linear "
                    f"one; {instead}"
                )
            # joint1 - its reference = polynomial(joint2 - its reference), and coordinates here are from the reference
            multiplier, offset = float(polynomial[1]), float(polynomial[0])
            found.append(Coupling(joint=names[0], follows=names[1], multiplier=multiplier, offset=offset))
        return found

    @property
    def closes_loops(self) -> bool:
        """Whether some equality closes a loop."""
        return any(self.model.eq_type[e] in (CONNECT, WELD) for e in self._equalities())

    def driven(self) -> list[str]:
        """Return the joints with actuators, and free ones."""
        model = self.model
        free = [self.joint_names[j] for j in range(model.njnt) if model.jnt_type[j] == FREE]
        driven = [self.joint_names[int(model.actuator_trnid[k, 0])] for k in range(model.nu) if _drives_joint(model, k)]
        return list(dict.fromkeys([*free, *driven]))

    # ------------------------------------------------------------------ origin

    def origin(self) -> Origin:
        """Return what is known of the file."""
        model = self.model
        links = tuple(
            Link(
                self.body_names[b],
                float(model.body_mass[b]),
                model.body_ipos[b].copy(),
                self._inertial(b)["inertia"],
                float(np.linalg.norm(model.body_pos[b])) if model.body_parentid[b] else 0.0,
                float(np.linalg.norm(model.body_pos[model.body_parentid == b], axis=1).max(initial=0.0)),
                moves=bool(model.body_jntnum[b]),
            )
            for b in range(1, model.nbody)
        )
        floats = bool((model.jnt_type == FREE).any())
        return Origin(
            self.where,
            "MJCF",
            base=f"{'floating' if floats else 'fixed'}, as the file says",
            ignored=tuple(self._ignored()),
            links=links,
            limits=self.limits,
        )

    def _ignored(self) -> Iterator[str]:
        model = self.model
        counts = {
            "shapes, and contacts between them": model.ngeom,
            "contact pairs": model.npair,
            "tendons": model.ntendon,
            "actuators": model.nu,
            "sensors": model.nsensor,
            "deformable bodies (flex)": getattr(model, "nflex", 0),
            "joint springs (stiffness)": int(np.count_nonzero(model.jnt_stiffness)),
            "bodies with gravity compensation": int(np.count_nonzero(model.body_gravcomp)),
        }
        yield from (f"{count} {what}" for what, count in counts.items() if count)
        if model.opt.density or model.opt.viscosity:
            yield "forces of the fluid"
        for j in range(model.njnt):
            dofs = slice(int(model.jnt_dofadr[j]), int(model.jnt_dofadr[j]) + 6)
            fields = ("dof_armature", "dof_damping", "dof_frictionloss")
            if model.jnt_type[j] == FREE and any(getattr(model, field)[dofs].any() for field in fields):
                yield f"armature, damping and frictionloss of the free joint '{self.joint_names[j]}'"
        for e in self._equalities():
            kind = int(model.eq_type[e])
            if kind not in (CONNECT, WELD) and not (kind == JOINT and self.couplings == "coupled"):
                yield f"equality {e}, a coupling"


def _driven(robot: Robot, driven: list[str]) -> Robot:
    """Return a robot with its driven joints actuated, and as many others as determine its motion; before, all were."""
    start = robot.loop_analysis.start[None]
    W = complement(robot, closures(robot)(start)[1])[0]
    joints = zip(robot.joint_names, robot.iv, NV[robot.kind], strict=True)
    each = {name: range(int(first), int(first + width)) for name, first, width in joints}
    chosen = [k for name in driven for k in each[name]]
    passive = []
    for name in robot.joint_names:
        for k in each[name]:
            if k not in chosen and np.linalg.matrix_rank(W[[*chosen, k]]) > np.linalg.matrix_rank(W[chosen]):
                chosen.append(k)
                passive.append(name)
    origin = robot.origin
    if passive and origin is not None:
        said = f"that no motor drives {', '.join(dict.fromkeys(passive))}, counted as actuated"
        origin = replace(origin, ignored=(*origin.ignored, said))
    return replace(robot, actuated=np.array(chosen), origin=origin)


def _drives_joint(model: Any, k: int) -> bool:
    return int(model.actuator_trntype[k]) in (0, 1)  # mjTRN_JOINT, mjTRN_JOINTINPARENT


def _matrix(wxyz: FloatArray) -> FloatArray:
    """Return the rotation of a quaternion w x y z."""
    unit = np.asarray(wxyz) / np.linalg.norm(wxyz)
    return quaternion.matrix(np.roll(unit, -1))
