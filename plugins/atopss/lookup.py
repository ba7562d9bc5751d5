"""Look-up: which publishers can serve a subscription."""

from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.terms import attribute_sets
from plugins.language import Requirement
from plugins.lookup import MeasuresAny

MOST_ALTERNATIVES: Final = 64
"""Beyond so many, whoever measures any of the attributes is asked."""


class AtopssLookUp:
    """A publisher serves a subscription when it measures attributes with which it can be satisfied."""

    def __init__(self, table: MissionTable) -> None:
        self._codec = AtopssCodec(table)

    def question(self, body: bytes) -> MeasuresAny:
        """Return the alternatives; a bad body raises `VectorError`."""
        wanted = self._codec.subscription(body)
        sets = attribute_sets(wanted, MOST_ALTERNATIVES)
        return MeasuresAny(tuple(Requirement(wanted.event, attributes) for attributes in sets))
