"""Walks stay in the area, whoever wrote the model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator

from dens.config.refusal import Refusal
from emulation.mobility.model import Area, EachAlone, Legs
from emulation.mobility.model import Path as WalkedPath
from emulation.motion import walks_of
from emulation.random.rng import RandomStreams
from emulation.scenario import load_scenario


class Straight(EachAlone):
    """Goes up and down, to this many metres beyond the upper edge."""

    def __init__(self, beyond_m: float) -> None:
        self._beyond_m = beyond_m

    def walk(self, area: Area, duration_ms: float, rng: Generator) -> Legs:
        path = WalkedPath(area.width_m / 2, 0.0)
        while path.now_ms < duration_ms:
            path.walk_to(area.width_m / 2, area.height_m + self._beyond_m, 0.01)
            path.walk_to(area.width_m / 2, 0.0, 0.01)
        return path.legs(duration_ms)


@pytest.mark.parametrize("beyond_m", [0.0, 1e-6, 5.0])
def test_a_model_that_leaves_the_area_is_refused(
    write_scenario: Callable[..., Path], beyond_m: float
) -> None:
    scenario = load_scenario(write_scenario())
    away = replace(scenario, mobilities=tuple(Straight(beyond_m) for _ in scenario.mobilities))
    if beyond_m < 1:
        assert all(np.all(legs.y1_m <= 400 + 1e-3) for legs in walks_of(away, RandomStreams(1)))
    else:
        with pytest.raises(Refusal, match=r'mobility model "\w+" leaves the area: 0 to \d+ m'):
            walks_of(away, RandomStreams(1))
