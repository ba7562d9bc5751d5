"""Where the nodes of a scenario go and whom they meet, from the scenario and its seed alone.

Nothing else takes part: no traffic, no protocol and no fault can change a walk or a contact, except in
scenarios whose nodes are called away (`emulation.world.reactive_mobility`); there this is the plan before
any call.
"""

from typing import Final

import numpy as np

from dens.config.problems import DocumentError
from dens.config.refusal import Refusal
from emulation.contacts.contact import Contacts
from emulation.contacts.windows import find_contacts_in_windows
from emulation.links import linked
from emulation.mobility.model import Area, Legs, MobilityModel
from emulation.random.streams import Streams
from emulation.scenario import Scenario
from emulation.scenario.controls import range_windows

_SLACK_M: Final = 1e-3
"""What rounding may do to somebody who walks along the edge."""


def walks_of(scenario: Scenario, streams: Streams) -> list[Legs]:
    """Return the walk of every node, in the order of their numbers."""
    settings = scenario.settings
    area = Area(settings.area.width_m, settings.area.height_m)
    walks: list[Legs] = []
    for (group, numbers), mobility in zip(scenario.members(), scenario.mobilities, strict=True):
        own = [streams.stream("mobility", group.name, position) for position in range(len(numbers))]
        together = streams.stream("mobility", group.name)
        found = _walks(mobility, group.mobility.model, area, scenario.duration_ms, own, together)
        for legs in found:
            _refuse_leaving(legs, area, group.mobility.model)
        walks.extend(found)
    return walks


def _walks(
    mobility: MobilityModel,
    model: str,
    area: Area,
    duration_ms: int,
    own: list[np.random.Generator],
    together: np.random.Generator,
) -> list[Legs]:
    """Ask a model for its walks; what it raises is the fault of whoever wrote it."""
    try:
        found = mobility.walks(area, float(duration_ms), own, together)
    except (Refusal, DocumentError):
        raise
    except Exception as error:
        raise Refusal(f'the mobility model "{model}" failed: {type(error).__name__}: {error}') from error
    are_legs = isinstance(found, list) and all(isinstance(legs, Legs) and len(legs) for legs in found)
    if not are_legs or len(found) != len(own):
        raise Refusal(f'the mobility model "{model}" gave no walk for each of {len(own)} nodes')
    return found


def _refuse_leaving(legs: Legs, area: Area, model: str) -> None:
    """Refuse a walk that leads out of the area: contacts there would be no part of the scenario."""
    for begins_m, ends_m, most_m in (
        (legs.x0_m, legs.x1_m, area.width_m),
        (legs.y0_m, legs.y1_m, area.height_m),
    ):
        places_m = np.concatenate([begins_m, ends_m])
        if len(places_m) and not (places_m.min() >= -_SLACK_M and places_m.max() <= most_m + _SLACK_M):
            reached = f"{places_m.min():g} to {places_m.max():g} m"
            raise Refusal(
                f'the mobility model "{model}" leads out of the area: {reached} where there are 0 to '
                f"{most_m:g} m; its package has to keep nodes inside"
            )


def contacts_among(scenario: Scenario, walks: list[Legs], streams: Streams) -> Contacts:
    """Return the contacts of these walks with the scenario's radios, or those that were recorded, or links
    that last.
    """
    if scenario.contacts is not None:
        return scenario.contacts
    if (links := scenario.settings.links) is not None:
        mediators, ends = scenario.ends_of_links()
        return linked(links, mediators, ends, float(scenario.duration_ms), streams.stream("links"))
    windows = range_windows(scenario.settings)
    return find_contacts_in_windows(walks, windows, float(scenario.duration_ms))


def scenario_contacts(scenario: Scenario, seed: int) -> Contacts:
    """Return the contacts of a run with this seed, without running it."""
    streams = Streams(seed)
    return contacts_among(scenario, walks_of(scenario, streams), streams)
