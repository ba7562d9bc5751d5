"""Made-up weather: warm afternoons, cold nights, squalls that blow, and values a vocabulary can hold."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulation.sensors.diurnal_weather import WEATHER, DiurnalWeather
from knowledge_manager.vocabulary.vocabulary import load_vocabulary
from tests.sizes import examples

DAY_MS = 86_400_000


def values(pole: DiurnalWeather, times_ms: range) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in WEATHER}
    for at_ms in times_ms:
        sample = pole.sample(at_ms)
        assert sample is not None
        for name, text in sample.items():
            assert text is not None
            found[name].append(float(text))
    return found


@given(st.integers(0, 2**32), st.floats(-30, 45), st.floats(0, 25), st.floats(0, 23.9), st.floats(0, 50))
@example(0, -25.0, 11.0, 2.0, 1.0)
@example(0, 45.0, 25.0, 2.0, 1.0)
@settings(max_examples=examples(40), deadline=None)
def test_values_stay_within_the_vocabulary(
    seed: int, mean: float, swing: float, hour: float, squalls: float
) -> None:
    [event] = load_vocabulary("weather").events
    pole = DiurnalWeather(np.random.default_rng(seed), DAY_MS, mean, swing, hour, squalls)
    for name, numbers in values(pole, range(0, DAY_MS, DAY_MS // 40)).items():
        lo, hi = event.attribute(name).lo_scaled, event.attribute(name).hi_scaled
        scale = 10 ** event.attribute(name).decimals
        assert lo / scale <= min(numbers)
        assert max(numbers) <= hi / scale


def test_afternoons_are_warmer_and_drier_than_nights_whenever_the_run_begins() -> None:
    for begins_at_h in (0, 9, 18):
        pole = DiurnalWeather(np.random.default_rng(3), DAY_MS, 12.0, 6.0, begins_at_h, 0.0)
        found = values(pole, range(0, DAY_MS, 3_600_000))
        afternoon, night = (15 - begins_at_h) % 24, (3 - begins_at_h) % 24
        assert found["temperature"][afternoon] > found["temperature"][night] + 8
        assert found["humidity"][afternoon] < found["humidity"][night]
        assert max(found["rain"]) == 0.0


def test_squalls_bring_gales_and_rain_and_a_dip_of_the_pressure() -> None:
    pole = DiurnalWeather(np.random.default_rng(3), DAY_MS, 12.0, 6.0, 6.0, 8.0)
    found = values(pole, range(0, DAY_MS, 60_000))
    blowing = [at for at, wind in enumerate(found["wind_speed"]) if wind > 17]
    assert 30 < len(blowing) < 700
    assert min(found["rain"][at] for at in blowing) > 2.5
    usual = float(np.median(found["pressure"]))
    assert float(np.mean([found["pressure"][at] for at in blowing])) < usual - 4


def test_the_same_stream_gives_the_same_weather() -> None:
    one, two = (
        values(DiurnalWeather(np.random.default_rng(9), DAY_MS, 12, 6, 6, 2), range(0, DAY_MS, 600_000))
        for _ in range(2)
    )
    assert one == two
