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
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from emulation.mobility.ground import ConvexPolygon, Ground, Point
from emulation.mobility.model import Area, Legs, Path

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

    def draw_way(self, begin: Point, kind: str, chance: np.random.Generator) -> list[Point]:
        """Return a way to some place in a zone of this kind."""
        for _ in range(_TRIES):
            way = self.ground.way(begin, self.draw(kind, chance))
            if way is not None:
                return way
        raise ValueError(f"there is no way to a zone of kind {kind}")


@dataclass(frozen=True, slots=True)
class DisasterArea:
    """Everybody of one duty. `begins_s` says between which times they set off for the first time."""

    zones: Zones
    duty: str
    speed_m_per_s: tuple[float, float]
    drive_m_per_s: tuple[float, float]
    pause_s: tuple[float, float]
    begins_s: tuple[float, float]

    def walks(
        self,
        area: Area,
        duration_ms: float,
        own: Sequence[np.random.Generator],
        together: np.random.Generator,
    ) -> list[Legs]:
        """Return the way of each node through its zones."""
        return [self._walk(duration_ms, chance) for chance in own]

    def _walk(self, duration_ms: float, chance: np.random.Generator) -> Legs:
        kinds = self._kinds(chance)
        here = next(kinds)
        path = Path(*self.zones.draw(here, chance))
        path.wait(1000.0 * _between(self.begins_s, chance))
        for there in kinds:
            path.wait(1000.0 * _between(self.pause_s, chance))
            if path.now_ms >= duration_ms:
                break
            speeds = self.drive_m_per_s if (here == _DRIVEN) != (there == _DRIVEN) else self.speed_m_per_s
            m_per_ms = _between(speeds, chance) / 1000.0
            for x, y in self.zones.draw_way((path.x_m, path.y_m), there, chance):
                path.walk_to(x, y, m_per_ms)
            here = there
        path.wait_until(duration_ms)
        return path.legs(duration_ms)

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


def _between(pair: tuple[float, float], chance: np.random.Generator) -> float:
    least, most = pair
    return float(least + (most - least) * chance.random())
