"""Makes the mobility model of a group, with its recording or its zones where it needs them."""

from dens.config.problems import DocumentError
from emulation.mobility.disaster_area import DisasterAreaTable, Zones
from emulation.mobility.formats.registry import read_movement
from emulation.mobility.model import Area, MobilityModel
from emulation.mobility.recorded import Recorded, RecordedTable
from emulation.mobility.table import MobilityTable
from emulation.scenario.files import NamedFiles
from emulation.scenario.ground import check_duty
from emulation.scenario.places import Places
from emulation.scenario.settings.settings import AreaSettings, GroupSettings


def plan_mobility(
    group: GroupSettings, index: int, area: AreaSettings, zones: Zones, files: NamedFiles, places: Places
) -> MobilityModel:
    """Return how this group moves, or raise `DocumentError` with everything wrong about its recording or its
    duty."""
    if isinstance(group.mobility, DisasterAreaTable):
        check_duty(group.mobility, ("group", index, "mobility", "duty"), zones, places)
        return group.mobility.mobility_in(zones)
    if isinstance(group.mobility, MobilityTable):
        return group.mobility.mobility()
    if not isinstance(group.mobility, RecordedTable):
        raise TypeError(f"{type(group.mobility).__name__} says nowhere how a model is made of it")
    key = ("group", index, "mobility", "file")
    path = files.path(group.mobility.file, key, places)
    tracks = read_movement(path, Area(area.width_m, area.height_m))
    if len(tracks) < group.count:
        recorded = "1 node is" if len(tracks) == 1 else f"{len(tracks)} nodes are"
        message = f"{recorded} recorded, the group has {group.count}"
        raise DocumentError([places.problem(key, "D312", message)])
    return Recorded(tracks)
