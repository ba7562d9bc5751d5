"""Checks a population of random subscriptions against the mission table."""

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
"""The id of a subscription is one byte, and direct messages use the last one."""
_TRIED: Final = 8


def numbers_used(settings: ScenarioSettings, group: str) -> int:
    """Return how many ids each subscriber of a group needs at least, for files and populations."""
    count = next((one.count for one in settings.group if one.name == group), 1)
    files = sum(wanted.group == group for wanted in settings.subscription)
    crowds = [crowd.number for crowd in settings.population if crowd.group == group]
    return files + sum(-(-number // count) for number in crowds)


def plan_population(
    settings: ScenarioSettings, index: int, table: MissionTable, places: Places
) -> PlannedPopulation:
    """Return the population ready to be drawn, or raise `DocumentError` with its problems."""
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
        message = f"{crowd.attributes[1]} attributes cannot be drawn from {len(among)}"
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
    """Yield the groups whose nodes need more subscription ids than there are, including those of parts.

    The number of parts of a random subscription is known only after drawing it: the minimum of some draws is
    used here, and a run that needs more ids is refused when it starts.
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
                rng = np.random.default_rng(0)
                drawn = [crowd.body(rng) for _ in range(_TRIED)]
                each = 1 + min(known[crowd.language].occupied(table, body) for body in drawn)
                needed += each * -(-crowd.settings.number // group.count)
        if needed > MOST_SUBSCRIPTIONS:
            message = (
                f"each of its nodes would need {needed} ids, one for each subscription and one for each "
                f"part that boards are given; the limit is {MOST_SUBSCRIPTIONS}: distribute them over more "
                "nodes"
            )
            yield places.problem(("group", index), "D312", message)


def _check_combination(planned: PlannedPopulation, index: int, places: Places) -> None:
    """Draw a subscription if the file sets the combination of predicates; raise `DocumentError` if it
    fails.
    """
    crowd = planned.settings
    if crowd.aggregator is None and crowd.form is None:
        return
    known = aggregators_of(planned.generator)
    key = "form" if crowd.aggregator is None else "aggregator"
    try:
        if not known:
            raise CombinationRefused(key, f"the {crowd.language} language has only one combination")
        planned.body(np.random.default_rng(0))
    except CombinationRefused as error:
        meant = likely_meant(crowd.aggregator or "", known) if error.key == "aggregator" else ()
        place = ("population", index, error.key)
        raise DocumentError([places.problem(place, "D393", str(error), meant=meant)]) from None


def generator_named(name: str, key: Path, places: Places) -> tuple[int, SubscriptionGenerator]:
    """Return the number and the generator of the language of this name, or raise `DocumentError` at its
    key.
    """
    try:
        language = language_named(name)
        return language.language_id, offered(
            authoring_of(language).generator, language, "random subscriptions"
        )
    except RegistryError as error:
        raise DocumentError([places.problem(key, "D380", str(error))]) from None
