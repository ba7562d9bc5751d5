"""Checks a population of subscriptions against the mission table and gives it numbers."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from dens.config.problems import DocumentError, Problem, likely_meant
from dens.config.toml_positions import Path
from emulation.direct_messages import SUBSCRIPTION_ID
from emulation.scenario.places import Places
from emulation.scenario.scenario import PlannedPopulation, PlannedSubscription
from emulation.scenario.settings.settings import ScenarioSettings
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute, UnknownName
from plugins.authoring.generator import CombinationRefused, SubscriptionGenerator, aggregators_of
from plugins.registry import RegistryError, authoring_of, language_named, languages, offered

MOST_SUBSCRIPTIONS: Final = SUBSCRIPTION_ID
"""A subscription's number at its subscriber is one byte, and the last one is taken by direct messages."""
_TRIED: Final = 8


def numbers_used(settings: ScenarioSettings, group: str) -> int:
    """Return how many numbers each subscriber of a group needs at least, for files and populations."""
    count = next((one.count for one in settings.group if one.name == group), 1)
    files = sum(wanted.group == group for wanted in settings.subscription)
    crowds = [crowd.number for crowd in settings.population if crowd.group == group]
    return files + sum(-(-number // count) for number in crowds)


def plan_population(
    settings: ScenarioSettings, index: int, table: MissionTable, places: Places
) -> PlannedPopulation:
    """Return the population ready to be drawn, or raise `DocumentError` with everything wrong about it."""
    crowd = settings.population[index]
    try:
        event = table.event(crowd.event)
    except UnknownName as error:
        raise DocumentError(
            [places.problem(("population", index, "event"), "D308", str(error), meant=error.meant)]
        ) from None
    problems: list[Problem] = []
    among: dict[str, Attribute] = {}
    for position, name in enumerate(crowd.among or [attribute.name for attribute in event.attributes]):
        try:
            among[name] = event.attribute(name)
        except UnknownName as error:
            problems.append(
                places.problem(
                    ("population", index, "among", position), "D308", str(error), meant=error.meant
                )
            )
    if not problems and crowd.attributes[1] > len(among):
        message = f"{crowd.attributes[1]} attributes of {len(among)} cannot be taken"
        problems.append(places.problem(("population", index, "attributes"), "D312", message))
    try:
        language, generator = generator_named(crowd.language, ("population", index, "language"), places)
    except DocumentError as error:
        problems.extend(error.problems)
    if problems:
        raise DocumentError(problems)
    planned = PlannedPopulation(crowd, language, generator, table, event, tuple(among.values()))
    _check_combination(planned, index, places)
    return planned


def check_parts(
    settings: ScenarioSettings,
    table: MissionTable,
    subscriptions: Sequence[PlannedSubscription],
    populations: Sequence[PlannedPopulation],
    places: Places,
) -> Iterator[Problem]:
    """Yield the groups whose nodes ask for more than there are numbers, those of parts counted in.

    How many parts chance makes is known when it has: the fewest of some are taken, and a run that needs more
    than there are ends with a word of its own.
    """
    known = languages()
    for index, group in enumerate(settings.group):
        needed = sum(
            1 + known[one.language].occupied(table, one.body)
            for one in subscriptions
            if one.group == group.name
        )
        for crowd in populations:
            if crowd.settings.group == group.name:
                chance = np.random.default_rng(0)
                drawn = [crowd.body(chance) for _ in range(_TRIED)]
                each = 1 + min(known[crowd.language].occupied(table, body) for body in drawn)
                needed += each * -(-crowd.settings.number // group.count)
        if needed > MOST_SUBSCRIPTIONS:
            message = (
                f"each of its nodes would need {needed} numbers, one for each thing that it asks for and one "
                f"for each part that boards are given; {MOST_SUBSCRIPTIONS} is the most: "
                "deal them out to more nodes"
            )
            yield places.problem(("group", index), "D312", message)


def _check_combination(planned: PlannedPopulation, index: int, places: Places) -> None:
    """Draw one on trial, where the file says how predicates are combined; what cannot be made raises
    `DocumentError`.
    """
    crowd = planned.settings
    if crowd.aggregator is None and crowd.form is None:
        return
    known = aggregators_of(planned.generator)
    key = "form" if crowd.aggregator is None else "aggregator"
    try:
        if not known:
            raise CombinationRefused(key, f"the {crowd.language} language combines predicates in one way")
        planned.body(np.random.default_rng(0))
    except CombinationRefused as error:
        meant = likely_meant(crowd.aggregator or "", known) if error.key == "aggregator" else ()
        place = ("population", index, error.key)
        raise DocumentError([places.problem(place, "D393", str(error), meant=meant)]) from None


def generator_named(name: str, key: Path, places: Places) -> tuple[int, SubscriptionGenerator]:
    """Return the number of the language of this name and what makes its subscriptions; a name that means no
    language, or one that makes none, raises `DocumentError` at its key."""
    try:
        language = language_named(name)
        return language.language_id, offered(
            authoring_of(language).generator, language, "subscriptions made by chance"
        )
    except RegistryError as error:
        raise DocumentError([places.problem(key, "D380", str(error))]) from None
