"""The laws of emulation/mobility/model.py, for every model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulation.mobility.disaster_area import DUTIES, DisasterArea, Zones
from emulation.mobility.gauss_markov import GaussMarkov
from emulation.mobility.ground import ConvexPolygon, Ground
from emulation.mobility.model import Area, Legs, MobilityModel
from emulation.mobility.random_direction import RandomDirection
from emulation.mobility.random_waypoint import RandomWaypoint
from emulation.mobility.recorded import Recorded
from emulation.mobility.reference_point import ReferencePoint
from emulation.mobility.registry import MODELS
from emulation.mobility.static import Static
from tests.paths import ROOT
from tests.sizes import examples


def zones_in(width_m: float, height_m: float) -> Zones:
    """A disaster area with a wall in its middle, stretched to a size."""

    def box(x0: float, y0: float, x1: float, y1: float) -> ConvexPolygon:
        corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
        return ConvexPolygon(tuple((x * width_m, y * height_m) for x, y in corners))

    ground = Ground(width_m, height_m, (box(0.45, 0.0, 0.55, 0.7), box(0.6, 0.5, 0.65, 0.9)))
    corner = {
        "incident_site": box(0.0, 0.0, 0.4, 0.4),
        "treatment": box(0.1, 0.5, 0.5, 0.9),
        "transport": box(0.7, 0.6, 0.8, 0.8),
        "command": box(0.6, 0.0, 0.7, 0.2),
        "hospital": box(0.9, 0.0, 1.0, 0.1),
    }
    return Zones(ground, {kind: (polygon,) for kind, polygon in corner.items()})


@dataclass(frozen=True)
class InAnyArea:
    """The disaster area is drawn to a scale; here it is drawn to that of the area."""

    duty: str
    pause_s: tuple[float, float]
    begins_s: tuple[float, float]

    def walks(
        self,
        area: Area,
        duration_ms: float,
        own: Sequence[np.random.Generator],
        together: np.random.Generator,
    ) -> list[Legs]:
        zones = zones_in(area.width_m, area.height_m)
        model = DisasterArea(zones, self.duty, (1.0, 2.0), (5.0, 12.0), self.pause_s, self.begins_s)
        return model.walks(area, duration_ms, own, together)


metres = st.floats(10.0, 5000.0)
areas = st.builds(Area, metres, metres)
durations_ms = st.floats(1.0, 4 * 3_600_000.0)


def ordered(low: float, high: float) -> st.SearchStrategy[tuple[float, float]]:
    pair = st.tuples(st.floats(low, high), st.floats(low, high))
    return pair.map(lambda both: (min(both), max(both)))


OF_EVERY_MODEL: dict[str, st.SearchStrategy[MobilityModel]] = {
    "static": st.just(Static()),
    "random_waypoint": st.builds(
        RandomWaypoint, ordered(0.3, 20.0), st.one_of(ordered(0.0, 300.0), st.just((0.0, 0.0)))
    ),
    "random_direction": st.builds(RandomDirection, ordered(0.3, 20.0), ordered(0.0, 300.0)),
    "gauss_markov": st.builds(
        GaussMarkov, st.floats(0.3, 20.0), st.floats(0.0, 5.0), st.floats(0.0, 1.0), st.floats(10.0, 120.0)
    ),
    "reference_point": st.builds(
        ReferencePoint, ordered(0.3, 20.0), ordered(1.0, 300.0), st.floats(0.01, 4.9), st.floats(5.0, 300.0)
    ),
    "disaster_area": st.builds(
        InAnyArea, st.sampled_from(sorted(DUTIES)), ordered(1.0, 300.0), ordered(0.0, 900.0)
    ),
    "recorded": st.just(Recorded((((500.0, 1.0, 2.0), (9_000.0, 9.0, 3.0), (90_000.0, 2.0, 8.0)),) * 3)),
}
models = st.sampled_from(sorted(OF_EVERY_MODEL)).flatmap(OF_EVERY_MODEL.__getitem__)


def test_properties_are_checked_for_every_mobility_model() -> None:
    assert set(OF_EVERY_MODEL) == set(MODELS), "say in OF_EVERY_MODEL how the settings of a model are drawn"


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_page_about_scenarios_has_its_line(name: str) -> None:
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text("utf-8")
    (line,) = re.findall(rf"^\| `{name}` \| (.*)$", page, re.MULTILINE)
    for key, field in MODELS[name].model_fields.items():
        assert key == "model" or f"`{key}" in line, f"{key} is missing"
        if not field.is_required() and isinstance(field.default, float):
            assert f"`{key} = {field.default:g}`" in line


def walk(model: MobilityModel, area: Area, duration_ms: float, seeds: list[int]) -> list[Legs]:
    streams = [np.random.default_rng(seed) for seed in seeds]
    return model.walks(area, duration_ms, streams, np.random.default_rng(999))


def columns(legs: Legs) -> list[list[float]]:
    return [getattr(legs, name).tolist() for name in Legs.__slots__]


@given(models, areas, durations_ms, st.integers(0, 2**32))
@example(InAnyArea("casualty", (1.0, 1.0), (0.0, 0.0)), Area(10.0, 3843.25), 10633888.577843832, 0)
@example(InAnyArea("casualty", (1.0, 1.0), (0.0, 0.0)), Area(10.0, 1921.25), 9513163.577843832, 0)
@settings(max_examples=examples(150), deadline=None)
def test_every_walk_is_a_gapless_chain_inside_the_area(
    model: MobilityModel, area: Area, duration_ms: float, seed: int
) -> None:
    for legs in walk(model, area, duration_ms, [seed, seed + 1]):
        assert legs.begin_ms[0] == 0.0
        assert legs.end_ms[-1] == duration_ms
        assert (legs.end_ms > legs.begin_ms).all()
        assert (legs.begin_ms[1:] == legs.end_ms[:-1]).all()
        assert (legs.x0_m[1:] == legs.x1_m[:-1]).all()
        assert (legs.y0_m[1:] == legs.y1_m[:-1]).all()
        for places, limit in ((legs.x0_m, area.width_m), (legs.x1_m, area.width_m)):
            assert (places >= -1e-9).all()
            assert (places <= limit + 1e-9).all()
        for places, limit in ((legs.y0_m, area.height_m), (legs.y1_m, area.height_m)):
            assert (places >= -1e-9).all()
            assert (places <= limit + 1e-9).all()


@given(models, areas, durations_ms, st.integers(0, 2**32))
@settings(max_examples=examples(60), deadline=None)
def test_a_walk_depends_on_its_own_stream_only(
    model: MobilityModel, area: Area, duration_ms: float, seed: int
) -> None:
    first = walk(model, area, duration_ms, [seed, 1, 2])
    second = walk(model, area, duration_ms, [seed, 3, 4])
    assert columns(first[0]) == columns(second[0])
    if duration_ms > 1000.0 and not isinstance(model, Recorded):
        assert columns(first[1]) != columns(second[1])


@given(models, areas, durations_ms, st.integers(0, 2**32))
@settings(max_examples=examples(60), deadline=None)
def test_a_longer_run_begins_like_a_shorter_one(
    model: MobilityModel, area: Area, duration_ms: float, seed: int
) -> None:
    [short] = walk(model, area, duration_ms, [seed])
    [long] = walk(model, area, 3 * duration_ms, [seed])
    whole = len(short) - 1
    assert columns(short)[0][:whole] == columns(long)[0][:whole]
    assert columns(short)[4][:whole] == pytest.approx(columns(long)[4][:whole], abs=1e-9)


@given(ordered(0.3, 20.0), ordered(0.0, 300.0), areas, st.integers(0, 2**32))
@settings(max_examples=examples(60), deadline=None)
def test_random_waypoint_waits_first_and_keeps_its_speeds_and_pauses(
    speed_m_per_s: tuple[float, float], pause_s: tuple[float, float], area: Area, seed: int
) -> None:
    [legs] = walk(RandomWaypoint(speed_m_per_s, pause_s), area, 3_600_000.0, [seed])
    length_ms = legs.end_ms - legs.begin_ms
    distance_m = np.hypot(legs.x1_m - legs.x0_m, legs.y1_m - legs.y0_m)
    stands = distance_m == 0.0
    if pause_s[0] > 0.0:
        assert stands[0]
        assert not (stands[1:] & stands[:-1]).any()
    whole = np.arange(len(legs)) < len(legs) - 1
    assert (length_ms[stands & whole] >= 1000.0 * pause_s[0] - 1e-3).all()
    assert (length_ms[stands] <= 1000.0 * pause_s[1] + 1e-3).all()
    long_enough = ~stands & (length_ms > 1.0)
    speeds = distance_m[long_enough] / length_ms[long_enough] * 1000.0
    assert (speeds >= speed_m_per_s[0] * (1 - 1e-6)).all()
    assert (speeds <= speed_m_per_s[1] * (1 + 1e-6)).all()


def test_destinations_of_random_waypoint_are_uniform_and_speeds_too() -> None:
    model = RandomWaypoint((1.0, 3.0), (0.0, 10.0))
    [legs] = walk(model, Area(1000.0, 400.0), 4_000_000_000.0, [5])
    moves = np.hypot(legs.x1_m - legs.x0_m, legs.y1_m - legs.y0_m) > 0
    assert moves.sum() > 5_000
    assert np.histogram(legs.x1_m[moves], 4, (0, 1000))[0] / moves.sum() == pytest.approx(
        [0.25] * 4, abs=0.02
    )
    speeds = (
        np.hypot(legs.x1_m - legs.x0_m, legs.y1_m - legs.y0_m)[moves]
        / (legs.end_ms - legs.begin_ms)[moves]
        * 1000.0
    )
    assert np.histogram(speeds, 4, (1, 3))[0] / moves.sum() == pytest.approx([0.25] * 4, abs=0.02)


def test_static_nodes_stand_where_they_are_put() -> None:
    model = cast("MobilityModel", Static(((1.0, 2.0), (30.0, 40.0))))
    walks = walk(model, Area(100.0, 100.0), 1000.0, [1, 2])
    assert [columns(legs) for legs in walks] == [
        [[0.0], [1000.0], [1.0], [2.0], [1.0], [2.0]],
        [[0.0], [1000.0], [30.0], [40.0], [30.0], [40.0]],
    ]


def test_random_direction_turns_at_the_border_only() -> None:
    [legs] = walk(RandomDirection((1.0, 3.0), (0.0, 10.0)), Area(500.0, 300.0), 40_000_000.0, [5])
    at_border = (
        np.isclose(legs.x1_m, 0)
        | np.isclose(legs.x1_m, 500)
        | np.isclose(legs.y1_m, 0)
        | np.isclose(legs.y1_m, 300)
    )
    assert len(legs) > 100
    assert at_border[1:-1].all()


def test_gauss_markov_remembers_its_speed_and_keeps_its_mean() -> None:
    [legs] = walk(GaussMarkov(1.4, 0.3, 0.9, 10.0), Area(5000.0, 5000.0), 40_000_000.0, [5])
    speeds = np.hypot(legs.x1_m - legs.x0_m, legs.y1_m - legs.y0_m) / (legs.end_ms - legs.begin_ms) * 1000
    assert np.mean(speeds) == pytest.approx(1.4, abs=0.1)
    assert np.std(speeds) == pytest.approx(0.3, abs=0.08)
    assert np.corrcoef(speeds[1:], speeds[:-1])[0, 1] == pytest.approx(0.9, abs=0.06)


def test_a_group_stays_together() -> None:
    model = ReferencePoint((1.0, 3.0), (1.0, 10.0), spread_m=25.0, wander_s=30.0)
    walks = walk(model, Area(2000.0, 2000.0), 3_600_000.0, [1, 2, 3, 4])
    for moment in np.linspace(0, 3_600_000.0, 200):
        places = [
            (
                np.interp(
                    moment, np.append(legs.begin_ms, legs.end_ms[-1]), np.append(legs.x0_m, legs.x1_m[-1])
                ),
                np.interp(
                    moment, np.append(legs.begin_ms, legs.end_ms[-1]), np.append(legs.y0_m, legs.y1_m[-1])
                ),
            )
            for legs in walks
        ]
        for x, y in places:
            assert max(np.hypot(x - px, y - py) for px, py in places) <= 50.0 + 1e-6
