"""Where the nodes of a scenario go and whom they meet, from the scenario and its seed alone.

Nothing else takes part: no traffic, no protocol and no fault can change a walk or a contact, except in
scenarios whose nodes are called away (`emulation.reactive_mobility`); there this is the plan before any call.
"""

from emulation.contacts.contact import Contacts
from emulation.contacts.windows import find_contacts_in_windows
from emulation.mobility.model import Area, Legs
from emulation.scenario import Scenario
from emulation.scenario.controls import range_windows
from emulation.streams import Streams


def walks_of(scenario: Scenario, streams: Streams) -> list[Legs]:
    """Return the walk of every node, in the order of their numbers."""
    settings = scenario.settings
    area = Area(settings.area.width_m, settings.area.height_m)
    walks: list[Legs] = []
    for (group, numbers), mobility in zip(scenario.members(), scenario.mobilities, strict=True):
        own = [streams.stream("mobility", group.name, position) for position in range(len(numbers))]
        together = streams.stream("mobility", group.name)
        walks.extend(mobility.walks(area, float(scenario.duration_ms), own, together))
    return walks


def contacts_among(scenario: Scenario, walks: list[Legs]) -> Contacts:
    """Return the contacts of these walks with the scenario's radios, or those that were recorded."""
    if scenario.contacts is not None:
        return scenario.contacts
    windows = range_windows(scenario.settings)
    return find_contacts_in_windows(walks, windows, float(scenario.duration_ms))


def scenario_contacts(scenario: Scenario, seed: int) -> Contacts:
    """Return the contacts of a run with this seed, without running it."""
    return contacts_among(scenario, walks_of(scenario, Streams(seed)))
