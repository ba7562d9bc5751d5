"""The subscription language of boards.

A board has memory for one language, the fuzzy one, for which `watchdog/` was written. Only this module names
it; the rest of `dens/boards` imports it from here.
"""

from typing import TYPE_CHECKING, Final

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.filter import FuzzySourceFilter
from plugins.fuzzy.language import FUZZY
from plugins.language import SourceFilter, SubscriptionLanguage
from plugins.registry import languages

if TYPE_CHECKING:
    from watchdog.pool import Pool

__all__ = [
    "AGGREGATOR_AT",
    "BOARD_CONDITIONS",
    "BOARD_LANGUAGE",
    "board_bodies",
    "event_feature",
    "foreign_language",
    "new_filter",
]

BOARD_LANGUAGE: Final = FUZZY

BOARD_CONDITIONS: Final = tuple(FUZZY.conditions)
"""The feature conditions that boards filter by, the usual one first."""

AGGREGATOR_AT: Final = 5
"""The byte of a subscription vector whose low half says how predicates are combined."""


def new_filter(table: MissionTable, pool: "Pool | None", condition: str | None = None) -> SourceFilter:
    """Return the filter that runs on boards, with this room, under the feature condition of a mission: the
    usual one where that is None, or another language's.
    """
    chosen = (condition or "").casefold()
    return FuzzySourceFilter(table, chosen if chosen in BOARD_CONDITIONS else BOARD_CONDITIONS[0], pool)


def event_feature(vector: bytes) -> int:
    """Return the bit of the event class that a subscription asks for; features on boards have one byte."""
    return vector[-2]


def board_bodies(language: SubscriptionLanguage, body: bytes, table: MissionTable) -> tuple[bytes, ...]:
    """Return what boards are given for a subscription: itself, or its parts; nothing where they know
    neither.
    """
    if language.language_id == BOARD_LANGUAGE.language_id:
        return (body,)
    parts = language.parts(table)(body)
    own = tuple(part.body for part in parts if part.language_id == BOARD_LANGUAGE.language_id)
    return own if len(own) == len(parts) else ()


def foreign_language(spoken: str, language_id: int) -> str | None:
    """Return why boards, spoken of so, cannot take a subscription of this language; None where they can."""
    if language_id == BOARD_LANGUAGE.language_id:
        return None
    known = languages().get(language_id)
    name = f"language {language_id}" if known is None else f"the {known.name} language"
    return f"{spoken} does not know {name}; it speaks {BOARD_LANGUAGE.name}"
