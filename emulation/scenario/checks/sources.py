"""Checks of compiled subscriptions against the nodes that have to compose, measure or filter for them."""

from collections.abc import Iterator, Sequence

from dens.boards.board_language import BOARD_LANGUAGE, event_feature
from dens.config.problems import Problem, listed
from emulation.scenario.places import Places
from emulation.scenario.scenario import PlannedPopulation, PlannedSensor, PlannedSubscription, board_limits
from emulation.scenario.settings.settings import ScenarioSettings
from knowledge_manager.mission_table import MissionTable
from plugins.language import SubscriptionLanguage
from plugins.registry import languages
from watchdog.header import NO_HEADER


def check_composed(
    settings: ScenarioSettings,
    subscriptions: Sequence[PlannedSubscription],
    populations: Sequence[PlannedPopulation],
    places: Places,
) -> Iterator[Problem]:
    """Yield subscriptions to composites in scenarios with brokers, which do not compose."""
    routing, known = settings.overlay.routing, languages()
    if routing == "carry":
        return
    keys = [(("subscription", index, "file"), plan.language) for index, plan in enumerate(subscriptions)]
    keys += [(("population", index, "group"), plan.language) for index, plan in enumerate(populations)]
    for key, language in keys:
        if known[language].composer is not None:
            message = (
                f'with routing "{routing}" mediators do not compose, so a {known[language].name} '
                "subscription gets no notifications; let mediators carry, or leave it out"
            )
            yield places.problem(key, "D366", message)


def check_sources(
    settings: ScenarioSettings,
    table: MissionTable,
    subscriptions: Sequence[PlannedSubscription],
    sensors: Sequence[PlannedSensor],
    places: Places,
) -> Iterator[Problem]:
    """Yield a warning where damping suppresses parts of composites, and where no source can evaluate what
    only sources can.
    """
    boards = {group.name for group in settings.group if group.board is not None}
    for index, subscription in enumerate(subscriptions):
        language = languages()[subscription.language]
        if language.composer is None:
            continue
        question = language.lookup(table).question(subscription.body)
        events = {alternative.event for alternative in question.alternatives or ()}
        measuring = {plan.group for plan in sensors if plan.event.index in events}
        key = "subscription", index, "file"
        for number, group in enumerate(settings.group):
            if group.name in measuring & boards and group.damping != type(group.damping)():
                message = (
                    f"these boards measure parts of subscription[{index}], and damped parts are missing in "
                    "its matches; leave it out"
                )
                yield places.warning(("group", number, "damping"), "D367", message)
        features = _source_only_features(language, table, subscription.body)
        if features and not measuring - boards:
            message = (
                f"only sources that see every reading and know the language can evaluate {features}, and "
                f"{'only boards measure' if measuring else 'no group measures'} "
                f"{listed(sorted(table.events[event].name for event in events))}"
            )
            yield places.warning(key, "D368", message)


def _source_only_features(language: SubscriptionLanguage, table: MissionTable, body: bytes) -> str:
    return "" if language.source_only_features is None else language.source_only_features(table, body)


def check_boards(
    settings: ScenarioSettings,
    feature_bytes: int,
    subscriptions: Sequence[PlannedSubscription],
    sensors: Sequence[PlannedSensor],
    places: Places,
) -> Iterator[Problem]:
    """Yield a warning for each subscription that is refused by boards that measure its event."""
    for index, group in enumerate(settings.group):
        limits = board_limits(settings, group.name)
        if limits is None or "publisher" not in group.role:
            continue
        width = limits.width_fault(feature_bytes)
        if width is not None:
            message = f"{width}; its boards refuse every subscription"
            yield places.warning(("group", index, "board"), "D357", message)
            continue
        measured = {1 << plan.event.index for plan in sensors if plan.group == group.name}
        for number, subscription in enumerate(subscriptions):
            if subscription.language != BOARD_LANGUAGE.language_id:
                continue
            vector = NO_HEADER + subscription.body
            if event_feature(vector) not in measured:
                continue
            for fault in limits.faults(vector, feature_bytes):
                message = f'{fault.message}; the boards of "{group.name}" refuse it'
                yield places.warning(("subscription", number, "file"), "D357", message)
