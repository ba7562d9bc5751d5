"""Checks the matching of mediators: names of algorithms, and whether they support all subscriptions."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dens.config.problems import Problem
from dens.config.toml_positions import Path
from emulation.scenario.places import Places
from emulation.scenario.scenario import PlannedPopulation, PlannedSubscription
from emulation.scenario.settings.settings import ScenarioSettings
from knowledge_manager.mission_table import MissionTable
from plugins.language import NotServed
from plugins.matching_choice import MatchingChoice, choice_faults
from plugins.registry import languages

Subscribed = tuple[Path, int, bytes]
"""The key of a subscription, its language, and its body."""


def check_matching(settings: ScenarioSettings, places: Places) -> Iterator[Problem]:
    """Yield names of algorithms and conditions that no language has."""
    known = languages().values()
    overlay = settings.overlay
    for fault in choice_faults(overlay.matcher, overlay.condition, known):
        yield places.problem(("overlay", fault.key), fault.code, fault.message, meant=fault.meant)
    for index, group in enumerate(settings.group):
        for fault in choice_faults(group.matcher, None, known):
            yield places.problem(("group", index, fault.key), fault.code, fault.message, meant=fault.meant)


def check_served(
    settings: ScenarioSettings,
    table: MissionTable,
    subscriptions: Sequence[PlannedSubscription],
    populations: Sequence[PlannedPopulation],
    places: Places,
) -> Iterator[Problem]:
    """Yield the subscriptions that the algorithm of a mediator does not support."""
    subscribed: list[Subscribed] = [
        (("subscription", index, "file"), plan.language, plan.body)
        for index, plan in enumerate(subscriptions)
    ]
    for index, crowd in enumerate(populations):
        subscribed.append((("population", index), crowd.language, crowd.body(np.random.default_rng(0))))
    mediators = [group for group in settings.group if "mediator" in group.role]
    for name in dict.fromkeys(group.matcher or settings.overlay.matcher for group in mediators):
        if name is not None:
            yield from _unserved(name, table, subscribed, places)


def _unserved(
    name: str, table: MissionTable, subscribed: Iterable[Subscribed], places: Places
) -> Iterator[Problem]:
    known = MatchingChoice(name).applied(languages())
    for key, language, body in subscribed:
        try:
            known[language].matcher(table).add((0, 0), body)
        except NotServed as error:
            yield places.problem(key, "D392", f'mediators match by "{name}": {error}')
