"""Makes the mobility models of groups, and reads recorded contacts."""

import numpy as np

from dens.config.problems import DocumentError
from emulation.contacts.contact import Contacts
from emulation.contacts.formats.registry import read_contacts
from emulation.mobility.disaster_area import DisasterAreaTable, Zones
from emulation.mobility.formats.registry import read_movement
from emulation.mobility.model import Area, MobilityModel
from emulation.mobility.recorded import Recorded, RecordedTable
from emulation.mobility.table import MobilityTable
from emulation.scenario.files import NamedFiles
from emulation.scenario.ground import check_duty
from emulation.scenario.places import Places
from emulation.scenario.settings.settings import AreaSettings, GroupSettings, ScenarioSettings


def plan_mobility(
    group: GroupSettings, index: int, area: AreaSettings, zones: Zones, files: NamedFiles, places: Places
) -> MobilityModel:
    """Return the mobility model of a group, or raise `DocumentError` with the problems of its recording or
    duty.
    """
    if isinstance(group.mobility, DisasterAreaTable):
        check_duty(group.mobility, ("group", index, "mobility", "duty"), zones, places)
        return group.mobility.mobility_in(zones)
    if isinstance(group.mobility, MobilityTable):
        return group.mobility.mobility()
    if not isinstance(group.mobility, RecordedTable):
        raise TypeError(f"{type(group.mobility).__name__} is not derived from MobilityTable")
    key = ("group", index, "mobility", "file")
    path = files.path(group.mobility.file, key, places)
    tracks = read_movement(path, Area(area.width_m, area.height_m))
    if len(tracks) < group.count:
        recorded = "1 node is" if len(tracks) == 1 else f"{len(tracks)} nodes are"
        message = f"{recorded} recorded, the group has {group.count}"
        raise DocumentError([places.problem(key, "D312", message)])
    return Recorded(tracks)


def plan_contacts(settings: ScenarioSettings, files: NamedFiles, places: Places) -> Contacts | None:
    """Return the recorded contacts of a scenario by device number, or None if it has none.

    The devices are those with the selected ids, in the order of their ids. Time begins with the first contact
    among them; contacts after the end of the run are left out.
    """
    wanted = settings.contacts
    if wanted is None:
        return None
    key = ("contacts", "file")
    path = files.path(wanted.file, key, places, wanted.obtain)
    found = read_contacts(path, 1000.0 * wanted.least_s)
    least, most = int(found.a.min()), int(found.b.max())
    first, last = wanted.ids if wanted.ids is not None else (least, most)
    if not least <= first <= last <= most:
        message = f"[{first}, {last}] is not within the recording: its ids are {least} to {most}"
        raise DocumentError([places.problem(("contacts", "ids"), "D312", message)])
    taken = (found.a >= first) & (found.a <= last) & (found.b >= first) & (found.b <= last)
    ids = sorted({*found.a[taken].tolist(), *found.b[taken].tolist()})
    if not ids:
        raise DocumentError(
            [places.problem(key, "D312", f"the recording has no contact among ids {first} to {last}")]
        )
    devices = sum(group.count for group in settings.group)
    if len(ids) > devices:
        message = f"{len(ids)} devices were recorded (ids {ids[0]} to {ids[-1]}), the groups have {devices}; "
        advice = "raise a group's count, or choose some of them with ids = [first, last]"
        raise DocumentError([places.problem(key, "D312", message + advice)])
    numbers = np.full(ids[-1] + 1, -1, dtype=np.int32)
    numbers[ids] = np.arange(len(ids), dtype=np.int32)
    start_ms = float(found.begin_ms[taken].min())
    begin, end = found.begin_ms[taken] - start_ms, found.end_ms[taken] - start_ms
    duration_ms = 1000.0 * settings.duration_s
    kept = begin < duration_ms
    end = np.minimum(end[kept], duration_ms)
    order = None if found.order is None else found.order.of(taken).of(kept)
    return Contacts(
        numbers[found.a[taken][kept]],
        numbers[found.b[taken][kept]],
        begin[kept],
        end,
        end >= duration_ms,
        order,
    )
