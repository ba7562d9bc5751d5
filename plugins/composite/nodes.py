"""What DENS nodes do with composite subscriptions beside composing: look up, take apart."""

from knowledge_manager.mission_table import MissionTable
from plugins.board_parts import BOARD_LANGUAGE_ID
from plugins.composite.vectors import constraints_of, decode_body
from plugins.language import Part, Requirement, TakeApart
from plugins.lookup import MeasuresAny


class CompositeLookUp:
    """A publisher serves a subscription when it measures all that some primitive constrains."""

    def __init__(self, table: MissionTable) -> None:
        self._table = table

    def question(self, body: bytes) -> MeasuresAny:
        """Return an alternative a primitive; a bad body raises `VectorError`."""
        width = self._table.feature_bytes
        about = [
            constraints_of(primitive, width) for primitive in decode_body(body, width, self._table).primitives
        ]
        wanted = [Requirement(one.event, frozenset(one.attributes)) for one in about]
        return MeasuresAny(tuple(dict.fromkeys(wanted)))


def only_sources_tell(table: MissionTable, body: bytes) -> str:
    """Name what only who sees every reading can tell."""
    whole = decode_body(body, table.feature_bytes, table)
    if whole.select == "first":
        return "matches that lie wholly one after the other"
    return "" if whole.prediction is None else "predictions"


def take_apart(table: MissionTable) -> TakeApart:
    """Return what makes of a body one subscription of the boards' language a primitive: whatever could be
    part of a match passes, and mediators compose it.

    What is consumed in the order of the stream (`first`) only its source can tell, so it has no parts.
    """

    def parts(body: bytes) -> tuple[Part, ...]:
        whole = decode_body(body, table.feature_bytes, table)
        if whole.select == "first":
            return ()
        return tuple(Part(BOARD_LANGUAGE_ID, whole.part(number)) for number in range(len(whole.primitives)))

    return parts
