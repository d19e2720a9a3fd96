"""The Robot: model data as flat arrays. All conventions of the project are stated here.

Units and frames
    SI units, radians. Rotation matrices are active, child to parent: ``x_parent = R x_child + p``.
    Body frame i is joint frame i after the joint's motion; the placement ``(rotation[i], translation[i])``
    is joint frame i in the parent *body's* frame at zero. The ground is the world, index -1.

Configuration ``q``, velocity ``v`` (bodies in order, each body's numbers together)
    ============ ======================================== ==================================================
    joint        q                                        v
    ============ ======================================== ==================================================
    revolute     1: angle about ``axis``                  1: its rate
    prismatic    1: travel along ``axis``                 1: its rate
    spherical    4: unit quaternion x y z w, child to     3: angular velocity of the child relative to the
                 parent joint frame                       parent, child axes
    free         7: position of the origin, then unit     6: linear velocity of the origin, then angular
                 quaternion x y z w, in the joint frame   velocity, both relative to the parent, child axes
                 (the world's, for a base on the ground)
    ============ ======================================== ==================================================
    A quaternion and its negative are the same configuration. At `neutral` every joint is at zero.

Acceleration ``a``, force ``tau``
    ``a`` is the time derivative of the *components* of ``v`` (so a free body's linear ``a`` is not its
    classical acceleration: that has an additional omega x v). ``tau`` is dual to ``v``: power is tau . v.
    These are Pinocchio's conventions, so results can be compared directly.

Inertia, gravity, wrenches
    ``com`` in body axes from the body's origin; ``inertia`` about the com, body axes. ``gravity`` is a
    3-vector in world axes, (0, 0, -9.81) unless given. Twists and wrenches are six numbers, linear
    (force) then angular (moment), at the body's frame origin, body axes unless stated otherwise.

Joint extras
    A joint may have an armature (inertia of its rotor, gear ratio squared), viscous damping and Coulomb friction. They
    act on the joint's own coordinates: ``tau`` includes ``armature a + damping v + friction sign(v)``, the mass matrix
    ``armature`` on its diagonal, the kinetic energy ``armature v^2 / 2``. Joint reactions do not include them: what a
    motor spends on its rotor and on friction does not reach the body. An armature leaves out that the rotor turns with
    the body that carries it; `dynbench.robots.rotors` makes rotors bodies of their own.

Composite joints
    A universal or an R-P joint is modelled as two 1-DoF joints with a massless body in between. A body on a Fixed joint
    is merged into the body that carries it; `Robot.frames` keeps its frame.

Closed loops
    A robot is a spanning tree plus loop closures. ``q, v, a`` are those of the tree and satisfy the loops;
    forces belong to the ``actuated`` coordinates, at least as many as the loops leave free. In a tree every
    coordinate counts as actuated (a free base too: its six numbers are the residual wrench). ``home`` is a
    configuration that satisfies the loops and selects the assembly mode.

Couplings
    A joint may follow another, ``q[joint] = multiplier q[follows] + offset`` (`Coupling`). q, v and a have the
    coordinates of both and satisfy the coupling; forces, and the rows of the mass matrix, are those of the joints that
    follow no other. A coupling is treated as one more equation of the loops.

Springs
    A spring with damper acts between points of two bodies (`Spring`). Its forces are part of the robot's dynamics, as
    gravity is: of forward and inverse dynamics, bias and reactions, and of `energy`.

Elastic links
    An elastic arm slides through a sleeve and bends (`Elastic`). Its modal amplitudes follow its joint coordinate in q,
    v, a and tau; this coordinate l is the length outside the sleeve, 0 < l < L. The arm's body frame is that of its
    deformed tip. At `neutral` half of the arm is outside.

Batches
    The state axis comes first: q (N, nq), v (N, nv), C-contiguous; anything else is accepted and copied.
    Functions accept a single state or a batch and distinguish them by shape.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import content, extras, inertial, kinematics, manifold, states
from dynbench.robots import frames as named_frames
from dynbench.robots.arrays import FloatArray, IntArray, frozen
from dynbench.robots.body import (
    EXTRAS,
    Body,
    Coupling,
    Couplings,
    Elastic,
    Frame,
    Loop,
    Loops,
    Spring,
    Springs,
)
from dynbench.robots.build import robot_fields
from dynbench.robots.content import frozen_content
from dynbench.robots.errors import UnknownNameError, near
from dynbench.robots.extras import Extras
from dynbench.robots.frames import Axes
from dynbench.robots.joints import NQ, NV, JointKind
from dynbench.robots.loops import assembly, mobility
from dynbench.robots.loops import closures as loop_equations
from dynbench.robots.loops import platform as platform_motion
from dynbench.robots.origin import Origin
from dynbench.robots.validate import check_robot

if TYPE_CHECKING:
    from dynbench.robots.inspection import Inspection

__all__ = [
    "Body",
    "Coupling",
    "Couplings",
    "Elastic",
    "FloatArray",
    "Frame",
    "IntArray",
    "Loop",
    "Loops",
    "Robot",
    "Spring",
    "Springs",
]


@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """A tree of n rigid bodies (with loops, elastic links, if any) as read-only arrays.

    Build one with `Robot.from_bodies`. Robots are equal, and hash alike, when their content is equal;
    `digest` is the same in every process.
    """

    name: str
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    parent: IntArray  # (n,) parents before children, -1 = ground
    kind: IntArray  # (n,) JointKind
    axis: FloatArray  # (n, 3) unit, joint frame; zeros for spherical and free
    rotation: FloatArray  # (n, 3, 3) joint frame in the parent body's frame at zero
    translation: FloatArray  # (n, 3)
    mass: FloatArray  # (n,)
    com: FloatArray  # (n, 3)
    inertia: FloatArray  # (n, 3, 3) about the com, body axes
    gravity: FloatArray  # (3,) world axes
    loops: Loops = None  # type: ignore[assignment]  # None stands for no loops
    actuated: IntArray = None  # type: ignore[assignment]  # None stands for all coordinates
    elastic: Elastic = None  # type: ignore[assignment]  # None stands for rigid links
    frames: tuple[Frame, ...] = ()
    platform: int = -1  # body that `state_from_platform` moves, -1 = none
    home: FloatArray = None  # type: ignore[assignment]  # (nq,) on the loops; None stands for the nearest to neutral
    springs: Springs = None  # type: ignore[assignment]  # None stands for no springs
    force_weights: FloatArray = None  # type: ignore[assignment]  # (na,) see `Robot.from_bodies`; none: all equal
    armature: FloatArray = None  # type: ignore[assignment]  # (n,) of each joint, kg m^2 or kg; None stands for zeros
    damping: FloatArray = None  # type: ignore[assignment]  # (n,) N m s/rad or N s/m
    friction: FloatArray = None  # type: ignore[assignment]  # (n,) N m or N
    couplings: Couplings = None  # type: ignore[assignment]  # None stands for no couplings
    origin: Origin | None = None  # what is known of its file; no part of its identity

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        for name, value in frozen_content(self).items():
            put(name, value)
        put("actuated", frozen(np.arange(self.nv) if self.actuated is None else self.actuated, np.int64))
        check_robot(self)
        put("home", frozen(assembly.assemble(self, self.home), np.float64))
        if not self.is_tree:
            self.loop_analysis  # noqa: B018  (a RobotError if the loops or the actuated coordinates are wrong)

    @classmethod
    def from_bodies(
        cls,
        name: str,
        bodies: Iterable[Body],
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        loops: Sequence[Loop] = (),
        actuated: Sequence[str | int] | IntArray | None = None,
        strict: bool = True,
        platform: str | None = None,
        home: ArrayLike | None = None,
        springs: Sequence[Spring] = (),
        force_weights: ArrayLike | None = None,
        origin: Origin | None = None,
        couplings: Sequence[Coupling] = (),
    ) -> "Robot":
        """Build a robot from its bodies.

        Parameters
        ----------
        name : str
            Name of the robot.
        bodies : iterable of Body
            In any order; the given order is kept if parents come before children.
            Bodies on Fixed joints are merged into the one that carries them.
        gravity : array_like, shape (3,)
            Acceleration of gravity, world axes, m/s^2.
        loops : sequence of Loop
            Closures that turn the tree into a closed-loop robot.
        actuated : sequence of joint names or indices into v
            Actuated coordinates, at least as many as the loops leave degrees of freedom; required with loops, not
            allowed for a tree. With couplings and no loops: by default all but the joints that follow others.
        strict : bool
            Whether an inertia that no rigid body can have (negative principal moment, triangle inequality)
            is an error; otherwise a RobotWarning. Published robot files often contain some.
        platform : str
            Body that `state_from_platform` moves.
        home : array_like, shape (nq,)
            With loops: a configuration near which they can be closed, in the desired assembly mode.
            Default: neutral, then random configurations, are tried.
        springs : sequence of Spring
            Springs and dampers between points of two bodies.
        force_weights : array_like, shape (na,)
            With more actuated coordinates than degrees of freedom, inverse dynamics returns the forces with the least
            sum of weight times force squared. Default: ones.
        origin : Origin
            What is known of the robot's file, for `inspect`.
        couplings : sequence of Coupling
            Joints that follow others.

        Raises
        ------
        RobotError
            If the description is invalid; names the robot, the body and the value.
        """
        fields = robot_fields(name, bodies, gravity, loops, actuated, strict, platform, springs, couplings)
        return cls(**fields, home=home, force_weights=force_weights, origin=origin)  # type: ignore[arg-type]

    # ------------------------------------------------------------------ derived quantities, computed once

    @property
    def n(self) -> int:
        """Number of moving bodies."""
        return len(self.body_names)

    @cached_property
    def nq(self) -> int:
        """Length of q."""
        return int(NQ[self.kind].sum()) + len(self.elastic.body)

    @cached_property
    def nv(self) -> int:
        """Length of v, a and tau."""
        return int(NV[self.kind].sum()) + len(self.elastic.body)

    @cached_property
    def iq(self) -> IntArray:
        """First index in q of each body's joint, shape (n,)."""
        return self._first(NQ)

    @cached_property
    def iv(self) -> IntArray:
        """First index in v of each body's joint, shape (n,)."""
        return self._first(NV)

    def _first(self, width: IntArray) -> IntArray:
        widths = width[self.kind] + np.bincount(self.elastic.body, minlength=self.n)
        return frozen(np.cumsum(widths) - widths, np.int64)

    @cached_property
    def quaternions(self) -> tuple[tuple[int, int], ...]:
        """First index in q, and body, of every unit quaternion."""
        bodies = np.flatnonzero(self.kind >= JointKind.SPHERICAL)
        return tuple((int(self.iq[i]) + (3 if self.kind[i] == JointKind.FREE else 0), int(i)) for i in bodies)

    @property
    def is_tree(self) -> bool:
        """Whether the robot has no loop closures and no couplings."""
        return len(self.loops.body1) == 0 and not self.has_couplings

    @property
    def has_couplings(self) -> bool:
        """Whether there are joints that follow others."""
        return len(self.couplings.joint) > 0

    @property
    def is_elastic(self) -> bool:
        """Whether any link is elastic."""
        return len(self.elastic.body) > 0

    @property
    def has_extras(self) -> bool:
        """Whether any joint has armature, damping or friction."""
        return any(getattr(self, name).any() for name in EXTRAS)

    @cached_property
    def extras(self) -> Extras:
        """Armature, damping and friction by coordinate, shapes (nv,)."""
        return extras.by_coordinate(self)

    @cached_property
    def is_floating(self) -> bool:
        """Whether a free joint connects a body to the ground."""
        return bool(np.any((self.kind == JointKind.FREE) & (self.parent == -1)))

    @property
    def has_springs(self) -> bool:
        """Whether there are springs or dampers between bodies."""
        return len(self.springs.body1) > 0

    @cached_property
    def loop_rows(self) -> loop_equations.LoopRows:
        """The equations of the loop closures, see `dynbench.robots.loops.closures`."""
        return loop_equations.loop_rows(self)

    @cached_property
    def loop_analysis(self) -> mobility.LoopAnalysis:
        """Rank, freedoms and redundancy of the loops."""
        return mobility.analyse(self)

    def body_index(self, name: str) -> int:
        """Return the index of the body called ``name``."""
        if name not in self.body_names:
            raise UnknownNameError(f"robot {self.name!r} has no body {name!r}; {near(name, self.body_names)}")
        return self.body_names.index(name)

    # ------------------------------------------------------------------ states

    def neutral(self) -> FloatArray:
        """Return the configuration with every joint at zero (elastic arms half out), shape (nq,)."""
        return manifold.neutral(self)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> FloatArray:
        """Return the configuration reached from ``q`` along the constant velocity ``dv`` in unit time."""
        return manifold.integrate(self, q, dv)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> FloatArray:
        """Return the shortest ``dv`` with ``integrate(q0, dv) == q1``."""
        return manifold.difference(self, q0, q1)

    def normalise(self, q: ArrayLike) -> FloatArray:
        """Return ``q`` with its quaternions scaled to unit length."""
        return manifold.normalise(self, q)

    def sample(
        self, N: int, seed: int = 0, regime: str = "fast"
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return N random states Q (N, nq), V (N, nv), A (N, nv); regime "rest", "slow" or "fast"."""
        return states.sample(self, N, seed, regime)

    def loop_residual(self, q: ArrayLike) -> FloatArray:
        """Return the residual of the loop closures, shape (m,) or (N, m), metres and radians."""
        return loop_equations.residual(self, q)

    def loop_jacobian(self, q: ArrayLike) -> FloatArray:
        """Return A, shape (m, nv) or (N, m, nv): the residual's rate is A v."""
        return loop_equations.jacobian(self, q)

    def loop_rate(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return A' v, shape (m,) or (N, m): the residual's second derivative is A a + A' v."""
        return loop_equations.rate(self, q, v)

    def project(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> FloatArray | tuple[FloatArray, ...]:
        """Return the state on the loops nearest to a given one: as many of q, v, a as are given."""
        return assembly.project(self, q, v, a)

    def close(self, q: ArrayLike) -> FloatArray:
        """Return ``q`` with its actuated coordinates kept and the others moved until the loops are closed."""
        return assembly.close(self, q)

    def state_from_actuated(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the state (q, v, a) from the actuated coordinates, their rates and accelerations."""
        return assembly.state_from_actuated(self, q, v, a, guess)

    def state_from_platform(
        self, pose: Any, twist: Any = None, acceleration: Any = None, guess: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the state (q, v, a) in which the platform moves as given: ``(R, p)`` or ``(x, y, phi)``."""
        return platform_motion.state_from_platform(self, pose, twist, acceleration, guess)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of all frames: the bodies', then those fixed to a body."""
        return named_frames.names(self)

    def frame_pose(self, name: str, q: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return R and p of a frame or body in world, (3, 3) and (3,), or (N, ...): ``x_world = R x_frame + p``."""
        return named_frames.pose(self, name, q)

    def frame_jacobian(self, name: str, q: ArrayLike, axes: Axes = "world") -> FloatArray:
        """Return J, (6, nv) or (N, 6, nv): J v is the twist of a frame or body at its origin, linear then angular.

        ``axes`` are those of the world, or of the frame itself ("local").
        """
        return named_frames.jacobian(self, name, q, axes)

    def frame_velocity(self, name: str, q: ArrayLike, v: ArrayLike, axes: Axes = "world") -> FloatArray:
        """Return the twist of a frame or body at its origin, (6,) or (N, 6): linear then angular."""
        return named_frames.velocity(self, name, q, v, axes)

    def inertial_parameters(self) -> FloatArray:
        """Return theta, shape (10 n,): m, m c (3), J_xx, J_xy, J_yy, J_xz, J_yz, J_zz of each body, body axes.

        J is about the origin of the body's frame. The regressor Y of a solver gives forces as ``Y @ theta``;
        `dynbench.robots.base_parameters` says which combinations of the parameters matter.
        """
        return inertial.inertial_parameters(self)

    def internal_forces(self, q: ArrayLike) -> FloatArray:
        """Return actuator forces that move nothing, shape (na, k) or (N, na, k), k = na - dof, orthonormal columns.

        With more actuators than degrees of freedom, they may be added to the forces of inverse dynamics.
        """
        (q,), single = states.check_state(self, q=q)
        found = mobility.internal_forces(self, np.atleast_2d(q))
        return found[0] if single else found

    def energy(self, q: ArrayLike, v: ArrayLike) -> float | FloatArray:
        """Return kinetic plus potential energy (springs included) in joules: a float, or shape (N,) for a batch."""
        return kinematics.energy(self, q, v)

    def dissipation(self, q: ArrayLike, v: ArrayLike) -> float | FloatArray:
        """Return the power lost in joints and in the dampers of springs, watts: a float, or shape (N,) for a batch."""
        return kinematics.dissipation(self, q, v)

    # ------------------------------------------------------------------ for people

    def inspect(self) -> "Inspection":
        """Return what was read: bodies, joints, base, masses, frames, what was ignored, suspicious values."""
        from dynbench.robots.inspection import inspect

        return inspect(self)

    def plot(self, q: ArrayLike | None = None, ax: Any = None, frames: bool = True) -> Any:
        """Draw a stick figure in one configuration (default: home) and return the matplotlib axes."""
        from dynbench.robots.plotting import plot

        return plot(self, q, ax, frames)

    def _repr_html_(self) -> str:
        return self.inspect()._repr_html_()

    # ------------------------------------------------------------------ identity

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content in hexadecimal, the same in every process: a cache key."""
        return content.digest(self)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Robot) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writable; going through the constructor freezes them again.
        return Robot, tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def __repr__(self) -> str:
        parts = {"loops": len(self.loops.body1), "couplings": len(self.couplings.joint)}
        shape = ", ".join(f"{count} {word}" for word, count in parts.items() if count) or "tree"
        base = "floating" if self.is_floating else "fixed"
        return f"<Robot {self.name!r}: {self.n} bodies, nq={self.nq}, nv={self.nv}, {base} base, {shape}>"
