"""What the boards of a scenario will refuse: told when the scenario is read, before a run shows it."""

from collections.abc import Iterator, Sequence

from dens.boards.board_language import BOARD_LANGUAGE, event_feature
from dens.config.problems import Problem
from emulation.scenario.places import Places
from emulation.scenario.scenario import PlannedSensor, PlannedSubscription, board_limits
from emulation.scenario.settings.settings import ScenarioSettings
from watchdog.header import NO_HEADER


def check_boards(
    settings: ScenarioSettings,
    feature_bytes: int,
    subscriptions: Sequence[PlannedSubscription],
    sensors: Sequence[PlannedSensor],
    places: Places,
) -> Iterator[Problem]:
    """Yield a warning for each subscription that boards refuse which measure its event."""
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
        for number, wanted in enumerate(subscriptions):
            if wanted.language != BOARD_LANGUAGE.language_id:
                continue
            vector = NO_HEADER + wanted.body
            if event_feature(vector) not in measured:
                continue
            for fault in limits.faults(vector, feature_bytes):
                message = f'{fault.message}; the boards of "{group.name}" refuse it'
                yield places.warning(("subscription", number, "file"), "D357", message)
