"""Makes the mobility model of a group, reading its recording where it has one."""

from emulation.mobility.formats.registry import read_movement
from emulation.mobility.model import Area, MobilityModel
from emulation.mobility.recorded import Recorded
from emulation.scenario.checks import Places
from emulation.scenario.files import NamedFiles
from emulation.scenario.settings import AreaSettings, GroupSettings, RecordedSettings
from knowledge_manager.documents import DocumentError


def plan_mobility(
    group: GroupSettings, index: int, area: AreaSettings, files: NamedFiles, places: Places
) -> MobilityModel:
    """Return how this group moves, or raise `DocumentError` with everything wrong about its recording."""
    if not isinstance(group.mobility, RecordedSettings):
        return group.mobility.mobility()
    key = ("group", index, "mobility", "file")
    path = files.path(group.mobility.file, key, places)
    tracks = read_movement(path, Area(area.width_m, area.height_m))
    if len(tracks) < group.count:
        message = f"{len(tracks)} nodes are recorded, the group has {group.count}"
        raise DocumentError([places.problem(key, "D312", message)])
    return Recorded(tracks)
