"""Checks subscriptions whose notifications are composed: that somebody does it, of all that is needed."""

from collections.abc import Iterator, Sequence

from dens.config.problems import Problem, listed
from emulation.scenario.places import Places
from emulation.scenario.scenario import PlannedPopulation, PlannedSensor, PlannedSubscription
from emulation.scenario.settings.settings import ScenarioSettings
from knowledge_manager.mission_table import MissionTable
from plugins.language import SubscriptionLanguage
from plugins.registry import languages


def check_composed(
    settings: ScenarioSettings,
    subscriptions: Sequence[PlannedSubscription],
    populations: Sequence[PlannedPopulation],
    places: Places,
) -> Iterator[Problem]:
    """Yield what nobody composes, because mediators route."""
    routing, known = settings.overlay.routing, languages()
    if routing == "carry":
        return
    asked = [(("subscription", index, "file"), one.language) for index, one in enumerate(subscriptions)]
    asked += [(("population", index, "group"), one.language) for index, one in enumerate(populations)]
    for key, language in asked:
        if known[language].composer is not None:
            message = (
                f'with routing "{routing}" mediators hand on what sources tell and compose nothing, so '
                f"nobody answers a {known[language].name} subscription; let mediators carry, or leave it out"
            )
            yield places.problem(key, "D366", message)


def check_sources(
    settings: ScenarioSettings,
    table: MissionTable,
    subscriptions: Sequence[PlannedSubscription],
    sensors: Sequence[PlannedSensor],
    places: Places,
) -> Iterator[Problem]:
    """Yield a warning where sources hold back parts, and where none tells what only sources can."""
    boards = {group.name for group in settings.group if group.board is not None}
    for index, wanted in enumerate(subscriptions):
        language = languages()[wanted.language]
        if language.composer is None:
            continue
        events = {one.event for one in language.lookup(table).question(wanted.body).alternatives or ()}
        measuring = {plan.group for plan in sensors if plan.event.index in events}
        key = "subscription", index, "file"
        for number, group in enumerate(settings.group):
            if group.name in measuring & boards and group.damping != type(group.damping)():
                message = (
                    f"these boards release parts of what subscription[{index}] asks for, and what is damped "
                    "is missing in matches; leave it out"
                )
                yield places.warning(("group", number, "damping"), "D367", message)
        told = _only_sources_tell(language, table, wanted.body)
        if told and not measuring - boards:
            message = (
                f"only sources that see every reading and know the language tell {told}, and "
                f"{'only boards measure' if measuring else 'nobody measures'} "
                f"{listed(sorted(table.events[event].name for event in events))}"
            )
            yield places.warning(key, "D368", message)


def _only_sources_tell(language: SubscriptionLanguage, table: MissionTable, body: bytes) -> str:
    return "" if language.source_only_features is None else language.source_only_features(table, body)
