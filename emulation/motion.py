"""Motion and contacts of a scenario, from the scenario and its seed alone.

Traffic, protocols and faults cannot change a walk or a contact, except in scenarios with reactive nodes
(`emulation.world.reactive_mobility`); for those this is the plan before any call.
"""

from typing import Final

import numpy as np

from dens.config.problems import DocumentError
from dens.config.refusal import Refusal
from emulation.contacts.contact import Contacts
from emulation.contacts.windows import find_contacts_in_windows
from emulation.links import linked
from emulation.mobility.model import Area, Legs, MobilityModel
from emulation.random.rng import RandomStreams
from emulation.scenario import Scenario
from emulation.scenario.controls import range_windows

_SLACK_M: Final = 1e-3
"""Tolerance for rounding at the border of the area."""


def walks_of(scenario: Scenario, streams: RandomStreams) -> list[Legs]:
    """Return the walk of every node, in the order of their numbers."""
    settings = scenario.settings
    area = Area(settings.area.width_m, settings.area.height_m)
    walks: list[Legs] = []
    for (group, numbers), mobility in zip(scenario.members(), scenario.mobilities, strict=True):
        own = [streams.rng("mobility", group.name, position) for position in range(len(numbers))]
        together = streams.rng("mobility", group.name)
        group_walks = _walks(mobility, group.mobility.model, area, scenario.duration_ms, own, together)
        for legs in group_walks:
            _refuse_leaving(legs, area, group.mobility.model)
        walks.extend(group_walks)
    return walks


def _walks(
    mobility: MobilityModel,
    model: str,
    area: Area,
    duration_ms: int,
    own: list[np.random.Generator],
    together: np.random.Generator,
) -> list[Legs]:
    """Return the walks of a model; exceptions and invalid results are failures of its package."""
    try:
        walks = mobility.walks(area, float(duration_ms), own, together)
    except (Refusal, DocumentError):
        raise
    except Exception as error:
        raise Refusal(f'the mobility model "{model}" failed: {type(error).__name__}: {error}') from error
    are_legs = isinstance(walks, list) and all(isinstance(legs, Legs) and len(legs) for legs in walks)
    if not are_legs or len(walks) != len(own):
        raise Refusal(f'the mobility model "{model}" did not return a walk for each of {len(own)} nodes')
    return walks


def _refuse_leaving(legs: Legs, area: Area, model: str) -> None:
    """Refuse a walk that leaves the area."""
    for begins_m, ends_m, most_m in (
        (legs.x0_m, legs.x1_m, area.width_m),
        (legs.y0_m, legs.y1_m, area.height_m),
    ):
        places_m = np.concatenate([begins_m, ends_m])
        if len(places_m) and not (places_m.min() >= -_SLACK_M and places_m.max() <= most_m + _SLACK_M):
            reached = f"{places_m.min():g} to {places_m.max():g} m"
            raise Refusal(
                f'the mobility model "{model}" leaves the area: {reached} instead of 0 to {most_m:g} m; its '
                "package has to keep nodes inside"
            )


def contacts_among(scenario: Scenario, walks: list[Legs], streams: RandomStreams) -> Contacts:
    """Return the recorded contacts of a scenario, its permanent links, or the contacts of these walks."""
    if scenario.contacts is not None:
        return scenario.contacts
    if (links := scenario.settings.links) is not None:
        mediators, endpoints = scenario.link_endpoints()
        return linked(links, mediators, endpoints, float(scenario.duration_ms), streams.rng("links"))
    windows = range_windows(scenario.settings)
    return find_contacts_in_windows(walks, windows, float(scenario.duration_ms))


def scenario_contacts(scenario: Scenario, seed: int) -> Contacts:
    """Return the contacts of a run with this seed, without running it. Reactive nodes are not called."""
    streams = RandomStreams(seed)
    return contacts_among(scenario, walks_of(scenario, streams), streams)
