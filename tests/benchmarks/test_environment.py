"""What a report says of where it was made."""

from __future__ import annotations

import json

from dynbench.benchmarks.results import environment


def test_everything_is_plain_and_nothing_is_absent():
    facts = json.loads(json.dumps(environment.describe(["dynbench", "bench", "-r", "my arm.urdf"])))
    assert facts["command"] == "dynbench bench -r 'my arm.urdf'"
    assert facts["versions"]["numpy"][0].isdigit()
    assert facts["versions"]["dynbench"] != "not installed"
    for name in ("cpu", "system", "governor", "commit", "turbo"):
        assert facts[name]


def test_the_widest_instructions_decide():
    assert environment.instruction_set({"simd": ["avx2", "avx512f"]}) == "AVX-512"
    assert environment.instruction_set({"simd": ["sse2", "avx2"]}) == "AVX2"
    assert environment.instruction_set({"simd": []}) == "other"
