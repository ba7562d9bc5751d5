"""Patients: healthy ones stay healthy, ill ones get worse, and chance is the only difference between two."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulation.sensors.vital_signs import SIGNS, VitalSigns
from tests.sizes import examples

TWO_HOURS_MS = 7_200_000


def values(patient: VitalSigns, times_ms: range) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in SIGNS}
    for at_ms in times_ms:
        sample = patient.sample(at_ms)
        assert sample is not None
        for name, text in sample.items():
            assert text is not None
            found[name].append(float(text))
    return found


@given(st.integers(0, 2**32), st.floats(0, 1), st.integers(1, 600_000))
@settings(max_examples=examples(60), deadline=None)
def test_values_stay_within_their_limits(seed: int, deteriorating: float, step_ms: int) -> None:
    patient = VitalSigns(np.random.default_rng(seed), TWO_HOURS_MS, deteriorating)
    for name, numbers in values(patient, range(0, 40 * step_ms, step_ms)).items():
        assert min(numbers) >= SIGNS[name].least
        assert max(numbers) <= SIGNS[name].most


def test_the_same_stream_gives_the_same_patient() -> None:
    one, two = (
        values(VitalSigns(np.random.default_rng(3), TWO_HOURS_MS, 0.5), range(0, TWO_HOURS_MS, 60_000))
        for _ in range(2)
    )
    assert one == two


def test_healthy_patients_stay_healthy_and_ill_ones_reach_the_highest_marks_of_news2() -> None:
    times = range(0, 2 * TWO_HOURS_MS, 60_000)
    healthy = [values(VitalSigns(np.random.default_rng(s), TWO_HOURS_MS, 0.0), times) for s in range(20)]
    ill = [values(VitalSigns(np.random.default_rng(s), TWO_HOURS_MS, 1.0), times) for s in range(20)]
    last = slice(-30, None)
    assert max(max(p["patient_temperature"]) for p in healthy) < 38.5
    assert np.mean([np.mean(p["patient_temperature"][last]) for p in ill]) > 39.1
    assert np.mean([np.mean(p["heart_rate"][last]) for p in ill]) == pytest.approx(135, abs=12)
    assert np.mean([np.mean(p["oxygen_saturation"][last]) for p in ill]) < 91
    assert np.mean([np.mean(p["heart_rate"]) for p in healthy]) == pytest.approx(76, abs=6)


def test_share_of_ill_patients_equals_the_requested_one() -> None:
    ends = []
    for seed in range(1000, 1600):
        patient = VitalSigns(np.random.default_rng(seed), TWO_HOURS_MS, 0.3)
        sample = patient.sample(2 * TWO_HOURS_MS)
        assert sample is not None
        ends.append(float(sample["patient_temperature"] or "nan"))
    assert np.mean(np.array(ends) > 38.3) == pytest.approx(0.3, abs=0.07)
