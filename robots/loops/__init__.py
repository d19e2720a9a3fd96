"""Closed loops: `closures` as equations, `mobility` they leave, `assembly` of states that satisfy them (by `newton`),
and `platform`, the state of a parallel robot from the motion of its platform."""
