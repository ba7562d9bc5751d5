"""The language of boxes, number 5: crisp conditions with alternatives.

Events are notifications of the boards' language, so that one notification serves both, and boards serve boxes
through parts (docs/decisions/0027-boxes.md).
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from knowledge_manager.mission_table import MissionTable
from plugins.boxes import ALGORITHM_NAMES, NAMESPACE
from plugins.language import BOARD_LANGUAGE_ID, Matcher, MatcherFactory, SubscriptionLanguage, TakeApart

if TYPE_CHECKING:
    from plugins.authoring import Authoring
    from plugins.boxes.nodes import BoxFilter, BoxLookUp
    from plugins.boxes.relations import BoxRelations
    from plugins.ground_truth import GroundTruth

BOXES_ID: Final = 5


def _lookup(table: MissionTable) -> "BoxLookUp":
    from plugins.boxes.nodes import BoxLookUp

    return BoxLookUp(table)


def _source_filter(table: MissionTable) -> "BoxFilter":
    from plugins.boxes.nodes import BoxFilter

    return BoxFilter(table)


def _parts(table: MissionTable) -> TakeApart:
    from plugins.boxes.nodes import take_apart

    return take_apart(table)


def _matcher(index: str, table: MissionTable) -> Matcher:
    from plugins.boxes.matcher import BoxMatcher

    return BoxMatcher(table, index)


def _authoring() -> "Authoring":
    from plugins.boxes.authoring.boxes_authoring import BoxesAuthoring

    return BoxesAuthoring()


def _relations(table: MissionTable) -> "BoxRelations":
    from plugins.boxes.relations import BoxRelations

    return BoxRelations(table)


def _ground_truth(table: MissionTable) -> "GroundTruth":
    from plugins.boxes.matcher import BoxGroundTruth

    return BoxGroundTruth(table)


_ALGORITHMS: Final[Mapping[str, MatcherFactory]] = MappingProxyType(
    {name: partial(_matcher, name) for name in ALGORITHM_NAMES}
)

BOXES: Final = SubscriptionLanguage(
    language_id=BOXES_ID,
    name="boxes",
    lookup=_lookup,
    source_filter=_source_filter,
    matcher=_ALGORITHMS[ALGORITHM_NAMES[0]],
    listens_to={BOARD_LANGUAGE_ID: _ALGORITHMS[ALGORITHM_NAMES[0]]},
    parts=_parts,
    authoring=_authoring,
    namespaces=(NAMESPACE,),
    algorithms=_ALGORITHMS,
    relations=_relations,
    ground_truth=_ground_truth,
)
