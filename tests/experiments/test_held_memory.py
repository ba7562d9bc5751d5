"""Memory is that of the structure: neither the first import of a compiler nor the order of loads is in it."""

import json
import subprocess
import sys

from dens_experiments.held_memory import held_bytes
from tests.paths import ROOT

FIRST_AND_SECOND = """
import json
from dens_experiments.fuzzy.memory import matcher_kb
from dens_experiments.fuzzy.workload import WORKLOADS
print(json.dumps([matcher_kb("fnifc", WORKLOADS["paper"], 500, 1) for _ in range(2)]))
"""


def test_the_first_load_of_a_process_weighs_what_the_second_does() -> None:
    """FNIFC compiles its forest's search from 500 subscriptions on; the compiler once weighed 40 MB."""
    ran = subprocess.run(
        [sys.executable, "-c", FIRST_AND_SECOND], capture_output=True, text=True, cwd=ROOT, check=True
    )
    first, second = json.loads(ran.stdout)
    assert first < 3000
    assert abs(first - second) < 0.02 * second


def test_what_is_weighed_is_what_stays() -> None:
    megabyte = 1 << 20

    def make() -> bytearray:
        scratch = bytearray(3 * megabyte)
        return bytearray(len(scratch) // 3)

    assert megabyte <= held_bytes(make) < megabyte + 4096
