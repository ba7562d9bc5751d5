"""Makes the zones and obstacles of a scenario, and checks them.

Free places in zones and paths between them are found by trying some places, always the same ones.
"""

from itertools import pairwise

import numpy as np

from dens.config.problems import DocumentError, Problem, listed
from dens.config.toml_positions import Path
from emulation.mobility.disaster_area import DUTIES, ZONES, DisasterAreaTable, Zones
from emulation.mobility.ground import ConvexPolygon, Ground, is_convex
from emulation.scenario.places import Places
from emulation.scenario.settings.settings import Corners, ScenarioSettings

_PLACES_TRIED = 40


def plan_zones(settings: ScenarioSettings, places: Places, problems: list[Problem]) -> Zones:
    """Return the valid zones; the problems of the others are added to the list."""
    obstacles = tuple(
        polygon
        for index, obstacle in enumerate(settings.obstacle)
        if (polygon := _polygon(obstacle.corners_m, ("obstacle", index), settings, places, problems))
    )
    by_kind: dict[str, tuple[ConvexPolygon, ...]] = {}
    ground = Ground(settings.area.width_m, settings.area.height_m, obstacles)
    for index, zone in enumerate(settings.zone):
        polygon = _polygon(zone.corners_m, ("zone", index), settings, places, problems)
        if polygon is None:
            continue
        if not _free_places(polygon, ground):
            message = "obstacles cover the zone: it has no free place"
            problems.append(places.problem(("zone", index, "corners_m"), "D317", message))
        by_kind[zone.kind] = (*by_kind.get(zone.kind, ()), polygon)
    return Zones(ground, by_kind)


def check_duty(mobility: DisasterAreaTable, key: Path, zones: Zones, places: Places) -> None:
    """Raise `DocumentError` if a zone of the duty is missing or cannot be reached."""
    kinds = DUTIES[mobility.duty] or tuple(kind for kind in ZONES if kind in zones.by_kind)
    missing = [kind for kind in kinds if kind not in zones.by_kind]
    if missing or not kinds:
        needed = listed(missing) if missing else "any zone"
        message = f'"{mobility.duty}" needs a [[zone]] of kind {needed}, which is missing'
        raise DocumentError([places.problem(key, "D305", message)])
    for here, there in pairwise((*kinds, kinds[0])):
        for polygon in zones.by_kind[here]:
            begins = _free_places(polygon, zones.ground)
            ends = [place for other in zones.by_kind[there] for place in _free_places(other, zones.ground)]
            if any(
                all(zones.ground.way(begin, end) is None for end in ends[:_PLACES_TRIED]) for begin in begins
            ):
                message = f"obstacles cut off some of {here} from {there}: {there} cannot be reached"
                raise DocumentError([places.problem(key, "D317", message)])


def _polygon(
    corners: Corners, path: Path, settings: ScenarioSettings, places: Places, problems: list[Problem]
) -> ConvexPolygon | None:
    key = (*path, "corners_m")
    width, height = settings.area.width_m, settings.area.height_m
    outside = [(x, y) for x, y in corners if x > width or y > height]
    if outside:
        x, y = outside[0]
        message = f"({x:g}, {y:g}) lies outside the area of {width:g} x {height:g} m"
        problems.append(places.problem(key, "D312", message))
        return None
    if not is_convex(corners):
        message = "the polygon is not convex; split it into several convex ones, which may overlap"
        problems.append(places.problem(key, "D317", message))
        return None
    return ConvexPolygon(corners)


def _free_places(polygon: ConvexPolygon, ground: Ground) -> list[tuple[float, float]]:
    rng = np.random.default_rng(0)
    drawn = (polygon.draw(rng) for _ in range(_PLACES_TRIED))
    return [(x, y) for x, y in drawn if ground.is_free(x, y)]
