"""Contacts that somebody recorded, in the place of those that follow from motion."""

import numpy as np

from dens.config.problems import DocumentError
from emulation.contacts.contact import Contacts
from emulation.contacts.formats.registry import read_contacts
from emulation.scenario.files import NamedFiles
from emulation.scenario.places import Places
from emulation.scenario.settings.settings import ScenarioSettings


def plan_contacts(settings: ScenarioSettings, files: NamedFiles, places: Places) -> Contacts | None:
    """Return the recorded contacts of a scenario by the numbers of its devices, or None if it has none.

    The devices are those with the wanted ids, in the order of their ids. Time begins with the first contact
    among them; what lies after the end of the run is left out.
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
        message = f"[{first}, {last}] is no part of the recording: its ids are {least} to {most}"
        raise DocumentError([places.problem(("contacts", "ids"), "D312", message)])
    taken = (found.a >= first) & (found.a <= last) & (found.b >= first) & (found.b <= last)
    ids = sorted({*found.a[taken].tolist(), *found.b[taken].tolist()})
    if not ids:
        raise DocumentError(
            [places.problem(key, "D312", f"nobody with an id of {first} to {last} met anybody")]
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
