"""Signs of fire: mostly none, and flare-ups that the vocabulary calls dangerous."""

import numpy as np
import pytest

from emulation.sensors.fire_signs import FIRE, FireSigns
from knowledge_manager.mission_table import load_mission_table

DAY_MS = 86_400_000


def day(seed: int, flare_ups_per_day: float) -> list[dict[str, str | None]]:
    place = FireSigns(np.random.default_rng(seed), DAY_MS, flare_ups_per_day)
    found = []
    for at_ms in range(0, DAY_MS, 300_000):
        sample = place.sample(at_ms)
        assert sample is not None
        found.append(dict(sample))
    return found


def test_without_flare_ups_nothing_burns() -> None:
    for sample in day(1, 0.0):
        assert sample["smoke"] == "none"
        assert float(sample["air_temperature"] or "nan") < 30
        assert float(sample["carbon_monoxide"] or "nan") < 35


@pytest.mark.parametrize("seed", range(5))
def test_a_flare_up_is_hot_and_thick_and_over_after_a_while(seed: int) -> None:
    samples = day(seed, 3.0)
    smoke = [sample["smoke"] for sample in samples]
    assert {"none", "thick"} <= set(smoke)
    for sample in samples:
        if sample["smoke"] == "thick":
            assert float(sample["air_temperature"] or "nan") > 80
            assert float(sample["carbon_monoxide"] or "nan") > 150
    assert smoke.count("none") > len(smoke) / 2


def test_the_values_belong_to_the_vocabulary() -> None:
    event = load_mission_table(["fire"]).event("fire")
    for sample in day(3, 4.0):
        assert set(sample) == set(FIRE)
        assert sample["smoke"] in event.attribute("smoke").values
        assert -20 <= float(sample["air_temperature"] or "nan") <= 1000
        assert 0 <= float(sample["carbon_monoxide"] or "nan") <= 2000
