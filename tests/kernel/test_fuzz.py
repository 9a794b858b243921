"""The fuzzer of the kernel runs, and what it once found stays mended."""

import pytest
from fuzz import kernel as fuzzer


@pytest.mark.parametrize("seed", range(4))
def test_random_inputs_give_what_slow_versions_give(seed):
    for number in range(60):
        fuzzer.check_one(seed, number)
