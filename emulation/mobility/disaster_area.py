"""Disaster area: tactical zones, and everybody moves as their duty asks.

After Aschenbruck, Gerhards-Padilla and Martini, "Modeling mobility in disaster area scenarios" (Performance
Evaluation 66, 2009): what happens after a catastrophe is organised, so movement depends on who one is. The
ground is divided into zones (incident site, casualty treatment, transport zone, technical command, hospital);
some people work within one zone, others carry casualties from one zone to the next, ambulances come and go
between the transport zone and the hospital; everybody takes the shortest way around obstacles
(`emulation.mobility.ground`).

    duty        where
    search      works at the incident site
    bearer      incident site → treatment → incident site → …
    treatment   works in the treatment zone
    command     works in the command zone
    hospital    works in the hospital
    ambulance   hospital → transport zone → hospital → …
    messenger   any zone, then any other
    casualty    incident site → treatment → transport zone → hospital, and stays there

Who works in a zone goes from place to place in it. To and from a hospital everybody is driven, everything
else is walked. The source's speeds: 1 to 2 m/s on foot, 5 to 12 m/s in a vehicle. Where there are several
zones of a kind each trip draws one of them. Bearers and casualties do not wait for each other: a walk depends
on nobody else's, which every model here promises.

Somebody who is called leaves at once for the place of the call, the shortest way, attends there for a while,
and takes up the duty again with the first of its zones. Ambulances drive to a call; everybody else walks,
unless the call leads to or from a hospital.
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
"""The zones of each duty in their order; none: whichever there are."""
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
"""How often a place is drawn that somebody can stand at and get to; loading has shown that there are some."""


@dataclass(frozen=True)
class Zones:
    """The ground of a disaster area, and its zones by kind."""

    ground: Ground
    by_kind: Mapping[str, tuple[ConvexPolygon, ...]]

    def draw(self, kind: str, chance: np.random.Generator) -> Point:
        """Return a free place in a zone of this kind."""
        zones = self.by_kind[kind]
        for _ in range(_TRIES):
            x, y = zones[int(chance.integers(len(zones)))].draw(chance)
            if self.ground.is_free(x, y):
                return x, y
        raise ValueError(f"there is no free place in a zone of kind {kind}")

    def is_in(self, kind: str, place: Point) -> bool:
        """Return whether a place lies in a zone of this kind."""
        return any(zone.contains(*place) for zone in self.by_kind.get(kind, ()))

    def draw_way(self, begin: Point, kind: str, chance: np.random.Generator) -> list[Point]:
        """Return a way to some place in a zone of this kind."""
        for _ in range(_TRIES):
            way = self.ground.way(begin, self.draw(kind, chance))
            if way is not None:
                return way
        raise ValueError(f"there is no way to a zone of kind {kind}")


@dataclass(frozen=True, slots=True)
class DisasterArea(EachAlone):
    """Everybody of one duty. `begins_s` says between which times they set off for the first time, `attends_s`
    how long they stay where they are called to."""

    zones: Zones
    duty: str
    speed_m_per_s: tuple[float, float]
    drive_m_per_s: tuple[float, float]
    pause_s: tuple[float, float]
    begins_s: tuple[float, float]
    attends_s: tuple[float, float] = (60.0, 300.0)

    def walk(self, area: Area, duration_ms: float, chance: np.random.Generator) -> Legs:
        """Return the way of a node through its zones."""
        kinds = self._kinds(chance)
        here = next(kinds)
        path = Path(*self.zones.draw(here, chance))
        path.wait(1000.0 * _between(self.begins_s, chance))
        return self._on_duty(path, kinds, here == _DRIVEN, duration_ms, chance)

    def answer(
        self, here: Point, there: Point, at_ms: float, duration_ms: float, chance: np.random.Generator
    ) -> Answer | None:
        """Return the way to a call, the stay there and the duty afterwards; None if there is no way there, or
        none from there."""
        kinds = self._kinds(chance)
        first = next(kinds)
        way = self.zones.ground.way(here, there)
        if way is None or self.zones.ground.way(there, self.zones.draw(first, chance)) is None:
            return None
        path = Path(*here, at_ms)
        at_hospital = self.zones.is_in(_DRIVEN, there)
        is_driven = self.duty == "ambulance" or self.zones.is_in(_DRIVEN, here) != at_hospital
        _follow(path, way, self._m_per_ms(is_driven, chance))
        path.wait(1000.0 * _between(self.attends_s, chance))
        if path.now_ms < duration_ms:
            is_driven = self.duty == "ambulance" or at_hospital != (first == _DRIVEN)
            m_per_ms = self._m_per_ms(is_driven, chance)
            _follow(path, self.zones.draw_way(there, first, chance), m_per_ms)
        back_ms = path.now_ms
        return Answer(self._on_duty(path, kinds, first == _DRIVEN, duration_ms, chance), back_ms)

    def _on_duty(
        self,
        path: Path,
        kinds: Iterator[str],
        at_hospital: bool,
        duration_ms: float,
        chance: np.random.Generator,
    ) -> Legs:
        """Return the path, continued through zones of these kinds to the end of the run."""
        for there in kinds:
            path.wait(1000.0 * _between(self.pause_s, chance))
            if path.now_ms >= duration_ms:
                break
            m_per_ms = self._m_per_ms(at_hospital != (there == _DRIVEN), chance)
            _follow(path, self.zones.draw_way((path.x_m, path.y_m), there, chance), m_per_ms)
            at_hospital = there == _DRIVEN
        path.wait_until(duration_ms)
        return path.legs(duration_ms)

    def _m_per_ms(self, is_driven: bool, chance: np.random.Generator) -> float:
        return _between(self.drive_m_per_s if is_driven else self.speed_m_per_s, chance) / 1000.0

    def _kinds(self, chance: np.random.Generator) -> Iterator[str]:
        """Yield the kinds of zones to go to, the first of them where the walk begins."""
        order = DUTIES[self.duty]
        if not order:
            there_are = [kind for kind in ZONES if kind in self.zones.by_kind]
            while True:
                yield there_are[int(chance.integers(len(there_are)))]
        yield from order
        while self.duty != "casualty":
            yield from order


def _follow(path: Path, way: Sequence[Point], m_per_ms: float) -> None:
    for x, y in way:
        path.walk_to(x, y, m_per_ms)


def _between(pair: tuple[float, float], chance: np.random.Generator) -> float:
    least, most = pair
    return float(least + (most - least) * chance.random())


class DisasterAreaTable(AnyMobilityTable):
    """Move through the scenario's zones as a duty asks; the usual pauses differ from duty to duty.

    `called` says what calls a node away from its duty, to where the notification comes from: one that is
    delivered to it, or one that it finds a match for.
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
