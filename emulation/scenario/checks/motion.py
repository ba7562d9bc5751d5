"""Checks of a group's motion that need more than one value: places, room, calls, number of turns."""

from collections.abc import Iterator
from math import hypot
from typing import Final

from dens.config.problems import Problem
from dens.config.toml_positions import Path
from emulation.mobility.disaster_area import DUTIES, USUAL_PAUSES_S, DisasterAreaTable
from emulation.mobility.reference_point import ReferencePointTable
from emulation.mobility.static import StaticTable
from emulation.scenario.places import Places
from emulation.scenario.settings.settings import Role, ScenarioSettings

MOST_TURNS: Final = 1_000_000
"""More turns of a node in a run are a mistake and would fill the memory."""


def check_motion(settings: ScenarioSettings, index: int, places: Places) -> Iterator[Problem]:
    """Yield the problems of one group's motion."""
    mobility = settings.group[index].mobility
    path: Path = ("group", index, "mobility")
    if isinstance(mobility, StaticTable):
        yield from _standing(settings, places, index, mobility)
    if isinstance(mobility, DisasterAreaTable):
        yield from _called(settings, places, index, mobility)
    if isinstance(mobility, ReferencePointTable):
        room_m = min(settings.area.width_m, settings.area.height_m) / 2
        if mobility.spread_m >= room_m:
            message = f"{mobility.spread_m:g} m leave the group no room to move; use less than {room_m:g} m"
            yield places.problem((*path, "spread_m"), "D312", message)
    turns = _turns(settings, index)
    if turns > MOST_TURNS:
        message = f"a node would turn about {turns:.0e} times in {settings.duration_s:g} s; "
        advice = "use a lower speed, longer pauses, a larger area or a shorter run"
        yield places.problem(path, "D312", message + advice)


def _turns(settings: ScenarioSettings, index: int) -> float:
    """Return a lower estimate of the turns of a node in the run."""
    mobility, area = settings.group[index].mobility, settings.area
    if isinstance(mobility, DisasterAreaTable):
        pause_s = USUAL_PAUSES_S[mobility.duty] if mobility.pause_s is None else mobility.pause_s
        sizes = [
            hypot(*(max(side) - min(side) for side in zip(*zone.corners_m, strict=True)))
            for zone in settings.zone
            if zone.kind in (DUTIES[mobility.duty] or (zone.kind,))
        ]
        way_m = min(sizes, default=area.width_m) / 3
        return settings.duration_s / (way_m / mobility.speed_m_per_s[1] + sum(pause_s) / 2 + 1e-300)
    return mobility.turns(area.width_m, area.height_m, settings.duration_s)


def _called(
    settings: ScenarioSettings, places: Places, index: int, mobility: DisasterAreaTable
) -> Iterator[Problem]:
    path: Path = ("group", index, "mobility", "called")
    if mobility.called == "never":
        return
    role: Role = "subscriber" if mobility.called == "delivered" else "mediator"
    if role not in settings.group[index].role:
        name = settings.group[index].name
        message = f'"{mobility.called}" calls {role}s, and the nodes of "{name}" are not {role}s'
        yield places.problem(path, "D307", message)
    if mobility.duty == "casualty":
        yield places.problem(
            path, "D312", "casualties do not answer calls; leave it out, or use another duty"
        )
    if settings.contacts is not None:
        message = "contacts are recorded, so motion does not change them; leave out one of both"
        yield places.problem(path, "D312", message)


def _standing(
    settings: ScenarioSettings, places: Places, index: int, mobility: StaticTable
) -> Iterator[Problem]:
    path: Path = ("group", index, "mobility", "places_m")
    places_m, count = mobility.places_m, settings.group[index].count
    if places_m is None:
        return
    if len(places_m) != count:
        yield places.problem(path, "D312", f"{len(places_m)} places for {count} nodes; give one for each")
    width, height = settings.area.width_m, settings.area.height_m
    for position, (x, y) in enumerate(places_m):
        if x > width or y > height:
            message = f"({x:g}, {y:g}) lies outside the area of {width:g} x {height:g} m"
            yield places.problem((*path, position), "D312", message)
