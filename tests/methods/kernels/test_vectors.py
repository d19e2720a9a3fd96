"""Every vector helper against numpy, in every reading."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench.methods.kernels import vectors as kv
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, store
from dynbench.robots import quaternion

# Where the inputs lie in q: vectors, matrices, symmetric matrices, a number, a unit quaternion
a_, b_, A_, B_, S_, T_, s_, x_, INPUTS = 0, 3, 6, 15, 24, 30, 36, 37, 41


@generic
def helpers(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    a, b = kv.load3(tag, q, a_), kv.load3(tag, q, b_)
    A, B = kv.load9(tag, q, A_), kv.load9(tag, q, B_)
    S, T = kv.load6(tag, q, S_), kv.load6(tag, q, T_)
    s = load(tag, q, s_)
    kv.store3(tag, out, 0, kv.add(a, b))
    kv.store3(tag, out, 3, kv.sub(a, b))
    kv.store3(tag, out, 6, kv.scale(s, a))
    kv.store3(tag, out, 9, kv.cross(a, b))
    kv.store3(tag, out, 12, kv.mul(A, a))
    kv.store3(tag, out, 15, kv.mulT(A, a))
    kv.store3(tag, out, 18, kv.sym(S, a))
    store(tag, out, 21, kv.dot(a, b))
    kv.store9(tag, out, 22, kv.matmul(A, B))
    kv.store9(tag, out, 31, kv.transpose(A))
    kv.store6(tag, out, 40, kv.addsym(S, T))
    kv.store6(tag, out, 46, kv.congruence(A, S))
    kv.store6(tag, out, 52, kv.dyad(a))
    kv.store9(
        tag,
        out,
        58,
        kv.from_quaternion(load(tag, q, x_), load(tag, q, x_ + 1), load(tag, q, x_ + 2), load(tag, q, x_ + 3)),
    )
    kv.store3(tag, out, 67, kv.zero3(tag))
    kv.store3(tag, out, 70, a)
    kv.add3(tag, out, 70, b)
    kv.store3(tag, out, 73, kv.const3(model, 40))
    kv.store6(tag, out, 76, kv.const6(model, 43))
    kv.store9(tag, out, 82, kv.const9(model, 49))
    kv.store9(tag, out, 91, kv.rotate_z(tag, kv.const9(model, 49), s, load(tag, q, b_)))
    kv.store9(tag, out, 100, kv.identity(tag))
    kv.store3(tag, out, 109, kv.splat3(tag, kv.const3(model, 40)))


def symmetric(six):
    full = np.empty((3, 3))
    full[np.triu_indices(3)] = six
    full.T[np.triu_indices(3)] = six
    return full


def expected(q, model):
    """The same numbers from numpy, by name and in order."""
    a, b, s = q[a_ : a_ + 3], q[b_ : b_ + 3], q[s_]
    A, B = q[A_:B_].reshape(3, 3), q[B_:S_].reshape(3, 3)
    S, T = symmetric(q[S_:T_]), symmetric(q[T_:s_])
    six = np.triu_indices(3)
    turn = np.array([[b[0], -s, 0.0], [s, b[0], 0.0], [0.0, 0.0, 1.0]])  # a rotation if s, b0 were sine and cosine
    return {
        "add": a + b,
        "sub": a - b,
        "scale": s * a,
        "cross": np.cross(a, b),
        "mul": A @ a,
        "mulT": A.T @ a,
        "sym": S @ a,
        "dot": [a @ b],
        "matmul": (A @ B).ravel(),
        "transpose": A.T.ravel(),
        "addsym": (S + T)[six],
        "congruence": (A @ S @ A.T)[six],
        "dyad": np.outer(a, a)[six],
        "from_quaternion": quaternion.matrix(q[x_ : x_ + 4]).ravel(),
        "zero3": np.zeros(3),
        "add3": a + b,
        "const": model[40:58],
        "rotate_z": (model[49:58].reshape(3, 3) @ turn).ravel(),
        "identity": np.eye(3).ravel(),
        "splat3": model[40:43],
    }


def test_helpers_do_what_numpy_does(evaluate):
    from dynbench.methods.kernels import tree
    from dynbench.robots.families.trees import chain

    rng = np.random.default_rng(2)
    rows = rng.standard_normal((11, INPUTS))  # a full block of eight, and a part of one
    rows[:, x_:] /= np.linalg.norm(rows[:, x_:], axis=1, keepdims=True)
    model = tree.pack(chain(INPUTS))
    out = evaluate(helpers, rows)
    for k, q in enumerate(rows):
        at = 0
        for name, value in expected(q, model).items():
            got = out[k, at : at + len(value)]
            assert got == pytest.approx(value, rel=1e-14, abs=1e-14), f"{name}, row {k}"
            at += len(value)
