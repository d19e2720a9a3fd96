"""sincos and sqrt of every reading of the generic scalar, over the whole range of doubles."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench.methods.kernels.scalar import LANES, Buffer, Tag, generic, load, sincos, splat, sqrt, store
from dynbench.robots.robot import FloatArray

RNG = np.random.default_rng(1)
REDUCTION_LIMIT = 1e5  # beyond it the compiled sincos asks the C library
NEAR_QUADRANTS = np.array([np.nextafter(k * np.pi / 2, side) for k in (1, 2, 3, 4, 1000, 63661) for side in (0, 1e9)])
ARGUMENTS = {
    "zero and tiny": np.array([0.0, -0.0, 5e-324, 1e-300, -1e-300, 1e-100, 1e-8, -1e-8]),
    "powers of ten": np.array([1e3, -1e3, 1e5, -1e5, 1e6, 1e12, -1e12, 1e22, 1e300, 1.7e308]),
    "around the limit of the reduction": np.nextafter(REDUCTION_LIMIT, [0.0, np.inf]),
    "near multiples of pi/2": np.concatenate([NEAR_QUADRANTS, -NEAR_QUADRANTS]),
    "within +-100": RNG.uniform(-100, 100, 2000),
    "within +-1e5": RNG.uniform(-1e5, 1e5, 2000),
    "of any size": RNG.uniform(1, 10, 500) * 10.0 ** RNG.uniform(-30, 30, 500),
}


@generic
def sine_and_cosine(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    s, c = sincos(load(tag, q, 0))
    store(tag, out, 0, s)
    store(tag, out, 1, c)
    store(tag, out, 2, sqrt(load(tag, q, 1)))
    store(tag, out, 3, splat(tag, 0.0))


def rows(x: FloatArray, y: float = 1.0) -> FloatArray:
    return np.column_stack([x, np.full(len(x), y)])


@pytest.mark.parametrize("name", ARGUMENTS)
def test_sincos_is_right_for_every_finite_argument(evaluate, name):
    x = ARGUMENTS[name]
    out = evaluate(sine_and_cosine, rows(x))
    # long double is 80 bits wide here and twice as good a judge; where it is a double, still good enough
    exact = np.column_stack([np.sin(x.astype(np.longdouble)), np.cos(x.astype(np.longdouble))])
    error = np.abs(out[:, :2] - exact).max(axis=1)
    worst = int(error.argmax())
    assert error[worst] <= 2.3e-16, f"sincos({x[worst]!r}) is {out[worst, :2]}, not {exact[worst]}"


def test_sine_of_a_small_number_keeps_all_its_digits(evaluate):
    x = np.array([0.0, -0.0, 5e-324, 1e-300, 1e-30, -1e-10, 1e-4])
    sine = evaluate(sine_and_cosine, rows(x))[:, 0]
    np.testing.assert_allclose(sine, np.sin(x), rtol=4e-16, atol=0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_sincos_of_what_is_not_finite_is_nan_and_spoils_no_other_lane(evaluate, bad):
    x = RNG.uniform(-3, 3, LANES)
    x[3] = bad
    out = evaluate(sine_and_cosine, rows(x))[:, :2]
    assert np.isnan(out[3]).all()
    good = np.arange(LANES) != 3
    x, out = x[good], out[good]
    np.testing.assert_allclose(out, np.column_stack([np.sin(x), np.cos(x)]), rtol=0, atol=2.3e-16)


def test_a_lane_with_a_large_argument_spoils_no_other_lane(evaluate):
    x = RNG.uniform(-3, 3, LANES)
    x[[1, 6]] = 1e9, -1e17
    out = evaluate(sine_and_cosine, rows(x))
    np.testing.assert_allclose(out[:, :2], np.column_stack([np.sin(x), np.cos(x)]), rtol=0, atol=2.3e-16)


def test_square_root_is_correctly_rounded_and_nan_below_zero(evaluate):
    x = np.concatenate([[0.0, 1e-320, 2.0, 1e300], RNG.uniform(0, 100, 20)])
    out = np.concatenate([evaluate(sine_and_cosine, rows(np.zeros(1), y)) for y in x])
    np.testing.assert_array_equal(out[:, 2], np.sqrt(x))
    assert np.isnan(evaluate(sine_and_cosine, rows(np.zeros(3), -1.0))[:, 2]).all()
