"""States: input validation, shared by all solvers, and seeded random sampling.

Validation accepts array-likes (lists, float32, views) and returns C-contiguous float64 arrays of the right
width, or raises a StateError that names the argument, the expected shape or value, and the one given. The
meaning of the numbers is stated in `dynbench.robots.robot`.
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import couplings
from dynbench.robots.arrays import FloatArray, is_count
from dynbench.robots.elastic.modes import TORSION, wave_number
from dynbench.robots.errors import StateError, UnknownNameError, near
from dynbench.robots.joints import JointKind

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

UNIT = 1e-6  # tolerance on a quaternion's length: accepts float32 input, rejects unnormalised quaternions

LARGEST = 1e30  # SI units, of every number of a state, force or wrench: products of a few numbers stay finite

CONFIGURATIONS = frozenset({"q", "q0", "q1"})  # arguments of width nq; all others are of width nv

FLOAT64 = np.dtype(np.float64)  # a singleton, so the hot path can compare with `is`

# Standard deviation of the rates (rad/s, m/s) and of their derivatives, by regime.
REGIMES = {"rest": (0.0, 0.0), "slow": (0.1, 0.1), "fast": (3.0, 10.0)}


def as_array(
    name: str, value: ArrayLike, width: int, robot: "Robot", finite: bool = True
) -> tuple[FloatArray, bool]:
    """Return ``value`` as a finite, C-contiguous float64 array, and whether it is one state.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : array_like, shape (width,) or (N, width)
    width : int
    robot : Robot
        The robot, for messages.
    finite : bool
        Whether to reject NaN and infinities; False if the caller checks for them.

    Returns
    -------
    array : ndarray, shape (width,) or (N, width)
        ``value`` itself if it already is such an array, otherwise a copy.
    single : bool
    """
    array = as_real(name, value, robot)
    if array.ndim not in (1, 2) or array.shape[-1] != width:
        raise StateError(
            f"{name} has shape {array.shape}, robot {robot.name!r} needs ({width},) or (N, {width})"
        )
    if finite:
        check_sizes(robot, name, array)
    return array, array.ndim == 1


def check_sizes(robot: "Robot", name: str, array: FloatArray) -> None:
    """Raise a StateError unless all numbers are finite and below `LARGEST`."""
    with np.errstate(invalid="ignore"):
        good = np.abs(array) < LARGEST
    if not good.all():
        index = tuple(int(k) for k in np.argwhere(~good)[0])
        where = ", ".join(map(str, index))
        needed = f"finite numbers below {LARGEST:g}" if np.isfinite(array[index]) else "finite numbers"
        raise StateError(f"{name}[{where}] is {array[index]}, robot {robot.name!r} needs {needed}")


def check_state(robot: "Robot", **arguments: ArrayLike) -> tuple[list[FloatArray], bool]:
    """Return the arguments as validated arrays, in the given order, and whether they are a single state.

    Parameters
    ----------
    robot : Robot
    **arguments : array_like
        Configurations ``q``, ``q0``, ``q1`` of shape (nq,) or (N, nq); anything else, such as ``v``,
        ``a`` or ``tau``, of shape (nv,) or (N, nv). Either all are single states or all are batches of the same N.
    """
    arrays: list[FloatArray] = []
    for name, value in arguments.items():
        is_q = name in CONFIGURATIONS
        array, _ = as_array(name, value, robot.nq if is_q else robot.nv, robot)
        if is_q:
            check_quaternions(robot, array, name)
            check_extensions(robot, array, name)
        arrays.append(array)
    check_same_batch(robot, dict(zip(arguments, arrays, strict=True)))
    return arrays, arrays[0].ndim == 1


def check_same_batch(robot: "Robot", arrays: dict[str, FloatArray]) -> None:
    """Raise a StateError unless all arrays are single states, or all are batches of the same N.

    Only the leading axis is compared, so wrenches of shape (n, 6) are passed as (n * 6,) and (N, n * 6).
    """
    if len({array.shape[:-1] for array in arrays.values()}) > 1:
        sizes = ("one state" if array.ndim == 1 else f"{len(array)} states" for array in arrays.values())
        listed = ", ".join(
            f"{name} {arrays[name].shape} is {size}" for name, size in zip(arrays, sizes, strict=True)
        )
        raise StateError(f"robot {robot.name!r}: arguments differ in number of states: {listed}")


def _entry(name: str, q: FloatArray, state: int, columns: object) -> str:
    """How Python indexes a part of one state: q[2:6], or in a batch q[7, 2:6]."""
    return f"{name}[{columns}]" if q.ndim == 1 else f"{name}[{state}, {columns}]"


def check_quaternions(robot: "Robot", q: FloatArray, name: str = "q") -> None:
    """Raise a StateError unless every quaternion in ``q``, shape (nq,) or (N, nq), has unit length."""
    for start, i in robot.quaternions:
        part = q[..., start : start + 4]
        if q.ndim == 1:  # Python floats: saves about 5 us per quaternion of a single state
            x, y, z, w = part.tolist()
            if abs(math.sqrt(x * x + y * y + z * z + w * w) - 1.0) <= UNIT:
                continue
        length = np.sqrt(np.einsum("...k,...k->...", part, part))
        off = np.abs(length - 1.0) > UNIT
        if off.any():
            state = int(np.flatnonzero(off)[0])
            raise StateError(
                f"{_entry(name, q, state, f'{start}:{start + 4}')}, the quaternion (x, y, z, w) of joint "
                f"{robot.joint_names[i]!r} of robot {robot.name!r}, has length {np.ravel(length)[state]:.9g}, "
                f"expected 1; see robot.normalise"
            )


def check_extensions(robot: "Robot", q: FloatArray, name: str = "q") -> None:
    """Raise a StateError unless every elastic arm in ``q``, shape (nq,) or (N, nq), is partly out of its sleeve."""
    for arm, length in zip(robot.elastic.arm, robot.elastic.length, strict=True):
        start = int(robot.iq[arm])
        l = np.atleast_1d(q[..., start])
        off = ~((l > 0.0) & (l < length))
        if off.any():
            state = int(np.flatnonzero(off)[0])
            raise StateError(
                f"{_entry(name, q, state, start)}, the length of {robot.body_names[arm]!r} of robot {robot.name!r} "
                f"outside its sleeve, is {l[state]:.9g}, expected a number inside (0, {length:g}) m"
            )


def sample(
    robot: "Robot", N: int, seed: int = 0, regime: str = "fast"
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return N random states: the same seed gives the same states.

    Angles are uniform in (-pi, pi), travels in (-1, 1) m, orientations over all rotations, free
    positions normal with 1 m; rates and accelerations normal, by regime ("rest" 0, "slow" 0.1,
    "fast" 3 rad/s and 10 rad/s^2). With loops, the actuated coordinates follow a random walk from home and
    the rates are drawn for them; the dependent coordinates are computed. Elastic arms are extended by 0.2 to
    0.8 of their length, with small deflections (tip rotation up to 0.06 rad per mode) for which linear modes are
    valid, and rates in proportion.

    Returns
    -------
    Q, V, A : ndarray, shapes (N, nq), (N, nv), (N, nv)
    """
    if regime not in REGIMES:
        raise UnknownNameError(f"no regime is named {regime!r}; {near(regime, REGIMES)}")
    if not is_count(N):
        raise StateError(f"N is {N!r}, expected a positive number of states of robot {robot.name!r}")
    rng = np.random.default_rng(seed)
    if len(robot.loops.body1):
        from dynbench.robots.loops.assembly import sample_on_loops

        return sample_on_loops(robot, int(N), rng, REGIMES[regime])
    Q = sample_configurations(robot, int(N), rng)
    rate, acceleration = REGIMES[regime]
    V = rate * rng.standard_normal((int(N), robot.nv))
    A = acceleration * rng.standard_normal((int(N), robot.nv))
    for j, scale in _amplitude_scales(robot, Q):
        V[:, j] *= scale
        A[:, j] *= scale
    return couplings.follow(robot, Q), couplings.follow_rates(robot, V), couplings.follow_rates(robot, A)


def sample_configurations(robot: "Robot", N: int, rng: np.random.Generator) -> FloatArray:
    """Return N random configurations, shape (N, nq), whether or not they satisfy loops."""
    Q = np.zeros((N, robot.nq))
    for i in range(robot.n):
        start, kind = robot.iq[i], robot.kind[i]
        if kind == JointKind.REVOLUTE:
            Q[:, start] = rng.uniform(-np.pi, np.pi, N)
        elif kind == JointKind.PRISMATIC:
            Q[:, start] = rng.uniform(-1.0, 1.0, N)
        elif kind == JointKind.FREE:
            Q[:, start : start + 3] = rng.standard_normal((N, 3))
    for start, _ in robot.quaternions:
        # A normalised 4-vector of independent normals is uniform over rotations.
        normal = rng.standard_normal((N, 4))
        Q[:, start : start + 4] = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    for arm, length in zip(robot.elastic.arm, robot.elastic.length, strict=True):
        Q[:, robot.iq[arm]] = rng.uniform(0.2, 0.8, N) * length
    for j, scale in _amplitude_scales(robot, Q):
        Q[:, j] = rng.uniform(-scale, scale)
    return Q


def _amplitude_scales(robot: "Robot", Q: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """Yield, for each mode, its index in q and v, and amplitudes (N,) that turn the tip by at most 0.06 rad."""
    modes = robot.elastic
    rank = np.arange(len(modes.body)) - np.searchsorted(modes.body, modes.body)
    for j, arm, direction, order in zip(
        robot.iv[modes.body] + 1 + rank, modes.body, modes.direction, modes.order, strict=True
    ):
        reach = np.ones(len(Q)) if direction == TORSION else Q[:, robot.iq[arm]]
        yield int(j), 0.03 * reach / wave_number(int(direction), int(order))


def as_real(name: str, value: ArrayLike, robot: "Robot") -> FloatArray:
    """Return ``value`` as an aligned, C-contiguous float64 array of any shape; raise a StateError if it is not real.

    ``value`` itself if it already is such an array, otherwise a copy.
    """
    if type(value) is np.ndarray and value.dtype is FLOAT64 and value.flags.c_contiguous and value.flags.aligned:
        return value
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise StateError(f"{name} has masked elements, robot {robot.name!r} needs all numbers; see numpy.ma.filled")
    try:
        given = np.asarray(value)
    except ValueError:
        raise StateError(f"{name} is a ragged list, robot {robot.name!r} needs an array of numbers") from None
    if given.dtype.kind not in "fiu":
        raise StateError(f"{name} holds {given.dtype} values, robot {robot.name!r} needs real numbers")
    return np.array(given, dtype=np.float64, order="C")
