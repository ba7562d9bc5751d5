"""Look-up of the publishers that can serve a subscription."""

from typing import Final

from knowledge_manager.mission_table import MissionTable
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.terms import attribute_sets
from plugins.language import Requirement
from plugins.lookup import MeasuresAny

MOST_ALTERNATIVES: Final = 64
"""With more alternatives, any publisher of any of the attributes is used."""


class AtopssLookUp:
    """A publisher serves a subscription if it measures attributes that can satisfy it."""

    def __init__(self, table: MissionTable) -> None:
        self._codec = AtopssCodec(table)

    def question(self, body: bytes) -> MeasuresAny:
        """Return the alternatives. An invalid body raises `VectorError`."""
        wanted = self._codec.subscription(body)
        sets = attribute_sets(wanted, MOST_ALTERNATIVES)
        return MeasuresAny(tuple(Requirement(wanted.event, attributes) for attributes in sets))
