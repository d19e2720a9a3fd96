"""Conformance of one method, whatever it computes: tests that run on any plugin the day it is registered.

contract    what every method owes its callers, check by check
plain       Newton-Euler in plain numpy, which gives the right numbers and, on purpose, wrong ones
mistakes    common mistakes, each as wrong numbers that can be recognised
machines    small robots to compare numbers on, and who gives the expected ones
examine     all of it on one method, with the likely cause of what is wrong
"""

from dynbench.benchmarks.checks.conformance.contract import (
    CHECKS,
    Candidate,
    NonConformance,
    candidate_of,
    reasons_are_sentences,
    robots_to_try,
)

__all__ = ["CHECKS", "Candidate", "NonConformance", "candidate_of", "reasons_are_sentences", "robots_to_try"]
