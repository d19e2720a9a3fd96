"""Closed loops: `closures` (their equations), `mobility` (degrees of freedom), `assembly` (states that satisfy them,
by `newton`) and `platform` (the state of a parallel robot from the motion of its platform)."""
