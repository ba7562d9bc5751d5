"""The language as nodes hold it: empty it costs next to nothing."""

import subprocess
import sys

import pytest

from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.language import ATOPSS
from plugins.language import Match
from tests.plugins.atopss.subscriptions import PUBLICATION, SUBSCRIPTION
from watchdog.vector import VectorError

TABLE = load_mission_table(["medical", "housing"])

EMPTY = """
import sys, tracemalloc
from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.language import ATOPSS
table = load_mission_table(["medical", "housing"])
holders = [ATOPSS.matcher(table), ATOPSS.source_filter(table)]
tracemalloc.start()
before = tracemalloc.get_traced_memory()[0]
holders += [ATOPSS.matcher(table), ATOPSS.source_filter(table)]
print(tracemalloc.get_traced_memory()[0] - before, "numpy" in sys.modules, "lxml" in sys.modules)
"""


def test_an_empty_matcher_and_filter_are_cheap() -> None:
    done = subprocess.run([sys.executable, "-c", EMPTY], capture_output=True, text=True, check=True)
    taken, has_numpy, has_lxml = done.stdout.split()
    assert int(taken) <= 4096
    assert (has_numpy, has_lxml) == ("False", "False")


@pytest.mark.parametrize("name", ATOPSS.algorithms)
def test_every_algorithm_knows_the_mission(name: str) -> None:
    matcher = ATOPSS.algorithms[name](TABLE)
    matcher.add((1, 0), SUBSCRIPTION[3:])
    expected = [] if name == "crisp" else [Match((1, 0), 255, b"\xdf")]
    assert matcher.match(PUBLICATION, 0, 0) == expected
    other = load_mission_table(["medical"])
    with pytest.raises(VectorError, match="event index"):
        ATOPSS.algorithms[name](other).add((1, 0), SUBSCRIPTION[3:])
    with pytest.raises(VectorError):
        matcher.match(SUBSCRIPTION, 0, 0)
    unknown = SUBSCRIPTION[3:8] + b"\x05" + SUBSCRIPTION[9:]
    with pytest.raises(VectorError):
        matcher.add((2, 0), unknown)
    matcher.remove((1, 0))
    assert matcher.match(PUBLICATION, 0, 0) == []
