"""A public statement about speed: the README of dynibo 0.5.2 compares it with Pinocchio, from Python.

X. Xue, dynibo, https://pypi.org/project/dynibo/0.5.2/, "Features, Fast": "Dynibo's speedup using the Python interfaces
of both libraries". Jacobians are in the table too; they are not a quantity of this suite.
"""

from __future__ import annotations

from dynbench.benchmarks.papers.claims import Claim, Provenance, Source

PLACE = "README of dynibo 0.5.2, section Fast, table"
WHERE = "a machine that the README does not name"
TABLE = {  # operation -> quantity, printed for Franka and for Unitree G1
    "RNEA": ("inverse_dynamics", 1.17, 1.54),
    "ABA": ("forward_dynamics", 1.81, 1.89),
}


def claims(quick: bool = False) -> list[Claim]:
    """Return the rows of its table that can be run here, each with a verdict."""
    if quick:  # beside a benchmark times would disturb each other; `dynbench papers` measures them
        return []
    from dynbench.benchmarks.papers.claims import missing
    from dynbench.benchmarks.papers.performance import Side, Speedup, judged

    source, found = Source("dynibo-readme"), []
    for operation, (quantity, franka, g1) in TABLE.items():
        quote = f"{operation} | {franka}× | {g1}×"
        said = Speedup(
            f"{operation} of the Franka arm is {franka} times as fast as Pinocchio's",
            PLACE, quote, franka, "panda", quantity, Side("dynibo", "engine"), Side("pinocchio", "engine"),
        )  # fmt: skip
        found.append(judged(source, said, WHERE))
        no_model = "the README's model of Unitree G1 (29 joints) is in none of the packages used here"
        statement = f"{operation} of Unitree G1 is {g1} times as fast as Pinocchio's"
        found.append(
            source.statement(
                statement,
                place=PLACE,
                quote=quote,
                printed=f"{g1} times",
                measured=None,
                verdict=missing(no_model),
                reason=no_model,
            )
        )
    return found


def provenance() -> list[Provenance]:
    """Return where the data of the comparison come from."""
    return [
        Provenance("robot", "panda", "chosen", "the arm is called Franka in the README; here Franka's panda, 7 joints"),
        Provenance("call", "one state from Python, out= reused", "given", "Python interfaces of both libraries"),
        Provenance("states", "random, seed 0", "chosen", "the README does not say"),
    ]
