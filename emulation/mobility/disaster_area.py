"""Disaster area: tactical zones, in which each node moves according to its duty.

After Aschenbruck, Gerhards-Padilla and Martini, "Modeling mobility in disaster area scenarios" (Performance
Evaluation 66, 2009): relief work is organised, so movement depends on the role. The ground is divided into
zones (incident site, casualty treatment, transport zone, technical command, hospital). Some people work
within one zone, others carry casualties from one zone to the next, and ambulances drive between the transport
zone and the hospital. All take the shortest path around obstacles (`emulation.mobility.ground`).

    duty        where
    search      works at the incident site
    bearer      incident site → treatment → incident site → …
    treatment   works in the treatment zone
    command     works in the command zone
    hospital    works in the hospital
    ambulance   hospital → transport zone → hospital → …
    messenger   any zone, then any other
    casualty    incident site → treatment → transport zone → hospital, and stays there

Nodes that work in a zone go from place to place in it. Trips to and from a hospital are driven, all others
walked. The speeds of the paper are 1 to 2 m/s on foot and 5 to 12 m/s in a vehicle. If there are several
zones of a kind, each trip draws one of them. Bearers and casualties do not wait for each other, because walks
of different nodes are independent in every model.

A node that is called leaves at once for the place of the call on the shortest path, attends there for a
while, and resumes its duty with the first of its zones. Ambulances drive to a call; all others walk, unless
the call leads to or from a hospital.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from emulation.mobility.ground import ConvexPolygon, Ground
from emulation.mobility.model import Answer, Area, EachAlone, Legs, Path, Point
from emulation.mobility.table import AnyMobilityTable, PauseRange, SpeedRange

Duty = Literal["search", "bearer", "treatment", "command", "hospital", "ambulance", "messenger", "casualty"]

ZONES: Final = ("incident_site", "treatment", "transport", "command", "hospital")
DUTIES: Final[Mapping[str, tuple[str, ...]]] = {
    "search": ("incident_site",),
    "bearer": ("incident_site", "treatment"),
    "treatment": ("treatment",),
    "command": ("command",),
    "hospital": ("hospital",),
    "ambulance": ("hospital", "transport"),
    "messenger": (),
    "casualty": ("incident_site", "treatment", "transport", "hospital"),
}
"""The zones of each duty in their order; empty: any zones of the scenario."""
USUAL_PAUSES_S: Final[Mapping[str, tuple[float, float]]] = {
    "search": (0.0, 60.0),
    "bearer": (30.0, 120.0),
    "treatment": (0.0, 120.0),
    "command": (0.0, 300.0),
    "hospital": (0.0, 300.0),
    "ambulance": (120.0, 600.0),
    "messenger": (30.0, 180.0),
    "casualty": (600.0, 5400.0),
}
_DRIVEN: Final = "hospital"
_TRIES: Final = 1000
"""Attempts to draw a free and reachable place; loading has checked that there are some."""


@dataclass(frozen=True)
class Zones:
    """The ground of a disaster area, and its zones by kind."""

    ground: Ground
    by_kind: Mapping[str, tuple[ConvexPolygon, ...]]

    def draw(self, kind: str, rng: np.random.Generator) -> Point:
        """Return a free place in a zone of this kind."""
        zones = self.by_kind[kind]
        for _ in range(_TRIES):
            x, y = zones[int(rng.integers(len(zones)))].draw(rng)
            if self.ground.is_free(x, y):
                return x, y
        raise ValueError(f"found no free place in the zones of kind {kind}")

    def is_in(self, kind: str, place: Point) -> bool:
        """Return whether a place lies in a zone of this kind."""
        return any(zone.contains(*place) for zone in self.by_kind.get(kind, ()))

    def draw_way(self, begin: Point, kind: str, rng: np.random.Generator) -> list[Point]:
        """Return a path to a random place in a zone of this kind."""
        for _ in range(_TRIES):
            way = self.ground.way(begin, self.draw(kind, rng))
            if way is not None:
                return way
        raise ValueError(f"found no path to a zone of kind {kind}")


@dataclass(frozen=True, slots=True)
class DisasterArea(EachAlone):
    """The nodes of one duty. They set off for the first time within `begins_s`, and stay at a call for a time
    within `attends_s`."""

    zones: Zones
    duty: str
    speed_m_per_s: tuple[float, float]
    drive_m_per_s: tuple[float, float]
    pause_s: tuple[float, float]
    begins_s: tuple[float, float]
    attends_s: tuple[float, float] = (60.0, 300.0)

    def walk(self, area: Area, duration_ms: float, rng: np.random.Generator) -> Legs:
        """Return the walk of a node through its zones."""
        kinds = self._kinds(rng)
        here = next(kinds)
        path = Path(*self.zones.draw(here, rng))
        path.wait(1000.0 * _between(self.begins_s, rng))
        return self._on_duty(path, kinds, here == _DRIVEN, duration_ms, rng)

    def answer(
        self, here: Point, there: Point, at_ms: float, duration_ms: float, rng: np.random.Generator
    ) -> Answer | None:
        """Return the path to a call, the stay there and the duty afterwards; None if the place of the call,
        or the duty from there, cannot be reached.
        """
        kinds = self._kinds(rng)
        first = next(kinds)
        way = self.zones.ground.way(here, there)
        if way is None or self.zones.ground.way(there, self.zones.draw(first, rng)) is None:
            return None
        path = Path(*here, at_ms)
        at_hospital = self.zones.is_in(_DRIVEN, there)
        is_driven = self.duty == "ambulance" or self.zones.is_in(_DRIVEN, here) != at_hospital
        _follow(path, way, self._m_per_ms(is_driven, rng))
        path.wait(1000.0 * _between(self.attends_s, rng))
        if path.now_ms < duration_ms:
            is_driven = self.duty == "ambulance" or at_hospital != (first == _DRIVEN)
            m_per_ms = self._m_per_ms(is_driven, rng)
            _follow(path, self.zones.draw_way(there, first, rng), m_per_ms)
        back_ms = path.now_ms
        return Answer(self._on_duty(path, kinds, first == _DRIVEN, duration_ms, rng), back_ms)

    def _on_duty(
        self,
        path: Path,
        kinds: Iterator[str],
        at_hospital: bool,
        duration_ms: float,
        rng: np.random.Generator,
    ) -> Legs:
        """Return the path, continued through zones of these kinds to the end of the run."""
        for there in kinds:
            path.wait(1000.0 * _between(self.pause_s, rng))
            if path.now_ms >= duration_ms:
                break
            m_per_ms = self._m_per_ms(at_hospital != (there == _DRIVEN), rng)
            _follow(path, self.zones.draw_way((path.x_m, path.y_m), there, rng), m_per_ms)
            at_hospital = there == _DRIVEN
        path.wait_until(duration_ms)
        return path.legs(duration_ms)

    def _m_per_ms(self, is_driven: bool, rng: np.random.Generator) -> float:
        return _between(self.drive_m_per_s if is_driven else self.speed_m_per_s, rng) / 1000.0

    def _kinds(self, rng: np.random.Generator) -> Iterator[str]:
        """Yield the kinds of zones in the order of visits; the walk begins in the first."""
        order = DUTIES[self.duty]
        if not order:
            there_are = [kind for kind in ZONES if kind in self.zones.by_kind]
            while True:
                yield there_are[int(rng.integers(len(there_are)))]
        yield from order
        while self.duty != "casualty":
            yield from order


def _follow(path: Path, way: Sequence[Point], m_per_ms: float) -> None:
    for x, y in way:
        path.walk_to(x, y, m_per_ms)


def _between(pair: tuple[float, float], rng: np.random.Generator) -> float:
    least, most = pair
    return float(least + (most - least) * rng.random())


class DisasterAreaTable(AnyMobilityTable):
    """Move through the scenario's zones according to a duty; default pauses depend on the duty.

    `called` names the event that calls a node away from its duty to the source of a notification: its
    delivery to the node, or a match that the node finds.
    """

    model: Literal["disaster_area"]
    duty: Duty
    speed_m_per_s: SpeedRange = (1.0, 2.0)
    drive_m_per_s: SpeedRange = (5.0, 12.0)
    pause_s: PauseRange | None = None
    begins_s: PauseRange = (0.0, 0.0)
    called: Literal["never", "delivered", "matched"] = "never"
    attends_s: PauseRange = (60.0, 300.0)

    def mobility_in(self, zones: Zones) -> DisasterArea:
        """Return the model with these settings, in these zones."""
        pause_s = USUAL_PAUSES_S[self.duty] if self.pause_s is None else self.pause_s
        return DisasterArea(
            zones,
            self.duty,
            self.speed_m_per_s,
            self.drive_m_per_s,
            pause_s,
            self.begins_s,
            self.attends_s,
        )
