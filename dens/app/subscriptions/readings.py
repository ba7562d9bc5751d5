"""Readings as mappings: attribute names to values, in the units of the vocabulary.

The keys `event` and `time_s` have the meaning that they have as columns of a CSV file of readings.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from dens.config.problems import DocumentError, Problem, did_you_mean, listed

if TYPE_CHECKING:
    from knowledge_manager.mission_table import MissionTable
    from knowledge_manager.vocabulary.event_class import EventClass
    from plugins.readings import ExactReading

EVENT_KEY: Final = "event"
TIME_KEY: Final = "time_s"
PLACE: Final = "<reading>"
"""File name in the problems of a reading."""


def read_values(
    values: Mapping[str, object],
    table: "MissionTable",
    events: "Iterable[EventClass]",
    *,
    number: int = 0,
    now_s: int = 0,
) -> "ExactReading":
    """Return the reading of these values.

    The event class is the one that the reading names, or the only one of `events`. Raises `DocumentError`
    with every attribute that is unknown and every value that is invalid; None means "not measured".
    """
    from plugins.readings import ExactReading
    from plugins.value_texts import corners_of, fault_of

    event = _event(values, table, list(events))
    reading = ExactReading(table.feature_bytes)
    reading.clear(event.index, number & 0xFFFF, _time_s(values, now_s))
    known = {attribute.name: attribute for attribute in event.attributes}
    problems: list[Problem] = []
    for name, value in values.items():
        if name in (EVENT_KEY, TIME_KEY) or value is None:
            continue
        attribute = known.get(name)
        if attribute is None:
            message = f'{event.name} has no attribute "{name}" ({listed(list(known))})'
            problems.append(_problem("D354", f"{message}{did_you_mean(name, known)}"))
            continue
        text = str(value)
        fault, corners = fault_of(text, attribute), corners_of(text, attribute)
        if fault is not None:
            problems.append(_problem("D353" if fault.kind == "outside" else "D352", fault.message))
        elif corners is not None:
            reading.measure(attribute, corners)
    if problems:
        raise DocumentError(problems)
    return reading


def _event(values: Mapping[str, object], table: "MissionTable", events: "list[EventClass]") -> "EventClass":
    name = values.get(EVENT_KEY)
    if name is not None:
        return table.event(str(name))
    if len(events) != 1:
        names = listed([event.name for event in events or table.events])
        raise DocumentError([_problem("D352", f'the reading names no event class: add "event" ({names})')])
    return events[0]


def _time_s(values: Mapping[str, object], now_s: int) -> int:
    given = values.get(TIME_KEY, now_s)
    if not isinstance(given, int | float):
        raise DocumentError([_problem("D352", f"time_s is a number of seconds, not {given!r}")])
    return int(given)


def _problem(code: str, message: str) -> Problem:
    return Problem(PLACE, 0, 0, "error", code, message)
