"""Everybody is where their duty has them, at the speeds that go with it, and walks through no wall."""

from itertools import pairwise, product

import numpy as np
import pytest

from emulation.mobility.disaster_area import DUTIES, DisasterArea, Zones
from emulation.mobility.ground import ConvexPolygon, Ground
from emulation.mobility.model import Area, Legs

HOUR_MS = 3_600_000.0


def box(x0: float, y0: float, x1: float, y1: float) -> ConvexPolygon:
    return ConvexPolygon(((x0, y0), (x1, y0), (x1, y1), (x0, y1)))


WALL = box(440, 0, 460, 280)
ZONES = {
    "incident_site": (box(0, 0, 150, 100), box(0, 200, 150, 300)),
    "treatment": (box(300, 100, 400, 200),),
    "transport": (box(500, 100, 560, 160),),
    "command": (box(300, 0, 350, 40),),
    "hospital": (box(1900, 0, 2000, 60),),
}
AREA = Area(2000.0, 300.0)


def walks(duty: str, count: int = 3, begins_s: tuple[float, float] = (0.0, 0.0)) -> list[Legs]:
    zones = Zones(Ground(AREA.width_m, AREA.height_m, (WALL,)), ZONES)
    model = DisasterArea(zones, duty, (1.0, 2.0), (5.0, 12.0), (10.0, 60.0), begins_s)
    streams = [np.random.default_rng(seed) for seed in range(count)]
    return model.walks(AREA, 6 * HOUR_MS, streams, np.random.default_rng(99))


def stands(legs: Legs) -> list[tuple[float, float]]:
    """The places where a walker stood still, in order."""
    still = (legs.x0_m == legs.x1_m) & (legs.y0_m == legs.y1_m)
    return list(zip(legs.x0_m[still].tolist(), legs.y0_m[still].tolist(), strict=True))


def zone_of(place: tuple[float, float]) -> str:
    [kind] = [kind for kind, zones in ZONES.items() if any(zone.contains(*place) for zone in zones)]
    return kind


@pytest.mark.parametrize("duty", ["search", "treatment", "command", "hospital", "bearer", "ambulance"])
def test_everybody_goes_round_the_zones_of_their_duty(duty: str) -> None:
    for legs in walks(duty):
        visited = [zone_of(place) for place in stands(legs)]
        order = DUTIES[duty]
        assert len(visited) > 20
        assert visited == [order[index % len(order)] for index in range(len(visited))]


def test_a_casualty_ends_in_the_hospital_and_stays() -> None:
    for legs in walks("casualty"):
        assert [zone_of(place) for place in stands(legs)] == [*DUTIES["casualty"]]
        assert legs.end_ms[-1] - legs.begin_ms[-1] > HOUR_MS


def test_messengers_see_every_zone() -> None:
    for legs in walks("messenger"):
        assert {zone_of(place) for place in stands(legs)} == set(ZONES)


def test_only_the_way_to_and_from_a_hospital_is_driven() -> None:
    for duty in DUTIES:
        for legs in walks(duty):
            length = np.hypot(legs.x1_m - legs.x0_m, legs.y1_m - legs.y0_m)
            speed = 1000.0 * length / (legs.end_ms - legs.begin_ms)
            marks = [index for index in range(len(legs)) if length[index] == 0.0]
            for before, after in pairwise(marks):
                ends = {zone_of((legs.x0_m[mark], legs.y0_m[mark])) for mark in (before, after)}
                driven = "hospital" in ends and len(ends) == 2
                moved = speed[before + 1 : after]
                assert ((moved > 4.9) & (moved < 12.1) if driven else (moved > 0.9) & (moved < 2.1)).all()


def test_no_path_crosses_the_wall() -> None:
    around = 0
    for duty in DUTIES:
        for legs in walks(duty):
            begins = zip(legs.x0_m.tolist(), legs.y0_m.tolist(), strict=True)
            ends = zip(legs.x1_m.tolist(), legs.y1_m.tolist(), strict=True)
            assert not any(WALL.blocks(*leg) for leg in zip(begins, ends, strict=True))
            around += int((legs.y1_m > 279).sum())
    assert around > 20


def test_who_comes_later_waits_where_they_are() -> None:
    for legs in walks("ambulance", begins_s=(1800.0, 3600.0)):
        assert zone_of((legs.x0_m[0], legs.y0_m[0])) == "hospital"
        first_move = np.argmax(legs.x0_m != legs.x1_m)
        assert 1_800_000.0 <= legs.begin_ms[first_move] <= 3_660_000.0


@pytest.mark.parametrize("duty", sorted(set(DUTIES) - {"casualty"}))
def test_who_is_called_goes_there_stays_and_takes_up_the_duty_again(duty: str) -> None:
    zones = Zones(Ground(AREA.width_m, AREA.height_m, (WALL,)), ZONES)
    model = DisasterArea(zones, duty, (1.0, 2.0), (5.0, 12.0), (10.0, 60.0), (0.0, 0.0), (30.0, 40.0))
    for seed, (plan, there) in enumerate(
        product(walks(duty), [(20.0, 20.0), (700.0, 150.0), (1950.0, 30.0)])
    ):
        at_ms = 3_000_000.0 + 1_234_567.0 * seed
        here = plan.place_at(at_ms)
        answer = model.answer(here, there, at_ms, 6 * HOUR_MS, np.random.default_rng(seed))
        assert answer is not None
        whole = plan.until(at_ms).then(answer.legs)
        assert whole.begin_ms[0] == 0.0
        assert whole.end_ms[-1] == 6 * HOUR_MS
        assert (whole.end_ms > whole.begin_ms).all()
        assert (whole.begin_ms[1:] == whole.end_ms[:-1]).all()
        assert (whole.x0_m[1:] == whole.x1_m[:-1]).all()
        assert (whole.y0_m[1:] == whole.y1_m[:-1]).all()
        places = stands(answer.legs)
        assert places[0] == there
        assert zone_of(places[1]) in (DUTIES[duty] or ZONES)
        stay = np.flatnonzero((answer.legs.x0_m == there[0]) & (answer.legs.x1_m == there[0]))[0]
        assert 30_000.0 <= answer.legs.end_ms[stay] - answer.legs.begin_ms[stay] <= 40_000.0
        assert answer.back_ms > answer.legs.end_ms[stay]
        for x0, y0, x1, y1 in zip(whole.x0_m, whole.y0_m, whole.x1_m, whole.y1_m, strict=True):
            assert not WALL.blocks((x0, y0), (x1, y1))
        speed = np.hypot(answer.legs.x1_m - answer.legs.x0_m, answer.legs.y1_m - answer.legs.y0_m)[
            :stay
        ].sum() / (answer.legs.begin_ms[stay] - at_ms)
        is_driven = duty == "ambulance" or (zone_is_hospital(here) != zone_is_hospital(there))
        assert (0.005 <= speed <= 0.012) if is_driven else (0.001 <= speed <= 0.002)


def zone_is_hospital(place: tuple[float, float]) -> bool:
    return ZONES["hospital"][0].contains(*place)


def test_unreachable_places_are_not_visited() -> None:
    zones = Zones(Ground(AREA.width_m, AREA.height_m, (WALL,)), ZONES)
    model = DisasterArea(zones, "treatment", (1.0, 2.0), (5.0, 12.0), (10.0, 60.0), (0.0, 0.0))
    inside_the_wall = (450.0, 100.0)
    rng = np.random.default_rng(1)
    assert model.answer((350.0, 150.0), inside_the_wall, 1000.0, HOUR_MS, rng) is None
