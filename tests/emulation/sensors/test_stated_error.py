"""A sensor that states its error reports an interval that contains the true value."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from emulation.sensors.stated_error import StatedError
from knowledge_manager.mission_table import load_mission_table
from plugins.readings import decode_exact, point
from tests.emulation.conftest import WriteScenario

TEMPERATURE = load_mission_table(["medical"]).event("patient").attribute("patient_temperature")
LO, HI = TEMPERATURE.lo_scaled, TEMPERATURE.hi_scaled

errors = st.builds(StatedError, st.sampled_from(("interval", "triangular")), st.integers(1, HI - LO))
shown = st.lists(st.integers(LO - 50, HI + 50), min_size=4, max_size=4).map(sorted).map(tuple)


@given(errors, shown, st.integers(0, 99))
def test_stated_interval_contains_shown_and_true_value(error: StatedError, value, seed: int) -> None:
    told = error.widened(value, TEMPERATURE)
    assert list(told) == sorted(told)
    assert told[0] <= value[0]
    assert value[3] <= told[3]
    assert min(LO, value[0]) <= told[0]
    assert told[3] <= max(HI, value[3])
    true = error.true_value(told, np.random.default_rng(seed))
    assert told[0] <= true <= told[3]


@given(st.sampled_from(("interval", "triangular")), st.integers(1, 400), st.integers(-300, 300))
def test_in_the_middle_of_a_domain_an_error_reaches_as_far_on_either_side(form, reach: int, off: int) -> None:
    at = (LO + HI) // 2 + off
    low, core_low, core_high, high = StatedError(form, reach).widened(point(at), TEMPERATURE)
    assert (at - low, high - at) == (reach, reach)
    assert (core_low, core_high) == ((at, at) if form == "triangular" else (low, high))


def test_truths_of_an_interval_are_spread_evenly_and_of_a_triangle_about_the_middle() -> None:
    rng = np.random.default_rng(4)
    even = [StatedError("interval", 100).true_value((0, 0, 200, 200), rng) for _ in range(4000)]
    peaked = [StatedError("triangular", 100).true_value((0, 100, 100, 200), rng) for _ in range(4000)]
    assert abs(np.std(even) - 200 / 12**0.5) < 2
    assert abs(np.std(peaked) - 100 / 6**0.5) < 2


def test_a_sensor_shows_the_same_values_with_and_without_an_error(
    write_scenario: WriteScenario, tmp_path: Path
) -> None:
    def middles(*changes: tuple[str, str]) -> list[list[int]]:
        run_scenario(load_scenario(write_scenario(*changes)), 5, tmp_path / str(len(changes)))
        trace = tmp_path / str(len(changes)) / "trace"
        assert bool(pq.read_table(trace / "true_readings").num_rows) == bool(changes)
        return pq.read_table(trace / "filter_decisions")["values"].to_pylist()

    source = 'source = { generator = "vital_signs", deteriorating = 1.0 }'
    erring = (source, f"{source}\nerror = {{ heart_rate = {{ triangular = 3 }} }}")
    assert middles() == middles(erring)
    rows = pq.read_table(tmp_path / "1" / "trace" / "true_readings").to_pylist()
    assert len({decode_exact(row["exact"])[1] for row in rows}) > 10
