"""Random waypoint meets as often as The ONE's: means of ten seeds against its means of five.

The ONE's contacts without traffic, movement seeds 1 to 5: 8030, 8619 and 20,230 in its settings a, b and c.
"""

import numpy as np
import pytest

from emulation.contacts.detection import find_contacts
from emulation.mobility.model import Area
from emulation.mobility.random_waypoint import RandomWaypoint
from emulation.random.rng import RandomStreams


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "area", "duration_s", "expected"),
    [
        pytest.param(50, Area(1000.0, 1000.0), 43_200, 8030, id="a"),
        pytest.param(200, Area(2000.0, 2000.0), 10_800, 8619, id="b"),
        pytest.param(1000, Area(4500.0, 3400.0), 3_600, 20_230, id="c"),
    ],
)
def test_contacts_are_as_many_as_in_the_one(nodes: int, area: Area, duration_s: int, expected: int) -> None:
    model = RandomWaypoint((0.5, 1.5), (0.0, 120.0))
    duration_ms = 1000.0 * duration_s
    found = []
    for seed in range(1, 11):
        streams = RandomStreams(seed)
        own = [streams.rng("mobility", "hosts", node) for node in range(nodes)]
        walks = model.walks(area, duration_ms, own, streams.rng("mobility", "hosts"))
        found.append(len(find_contacts(walks, [50.0] * nodes, duration_ms)))
    assert np.mean(found) == pytest.approx(expected, rel=0.02)
