"""A-ToPSS, number 2: subscriptions and values may both be uncertain, so a match has a degree of possibility
and one of necessity (docs/decisions/0026-atopss.md).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from knowledge_manager.mission_table import MissionTable
from plugins.atopss import NAMESPACE
from plugins.atopss.matching.algorithms import DEFAULT_ALGORITHM, FACTORIES
from plugins.language import RequestedValue, SubscriptionLanguage

if TYPE_CHECKING:
    from plugins.atopss.authoring.publications import ApproximatePublications
    from plugins.atopss.filter import AnnouncedFilter, AtopssFilter
    from plugins.atopss.lookup import AtopssLookUp
    from plugins.atopss.relations.relations import AtopssRelations
    from plugins.atopss.relations.routing import AtopssRouting
    from plugins.authoring import Authoring
    from plugins.ground_truth import GroundTruth
    from plugins.relations import PlainCovers
    from plugins.routing import RoutingOptions


def _lookup(table: MissionTable) -> "AtopssLookUp":
    from plugins.atopss.lookup import AtopssLookUp

    return AtopssLookUp(table)


def _source_filter(table: MissionTable) -> "AtopssFilter":
    from plugins.atopss.filter import AtopssFilter

    return AtopssFilter(table)


def _announced_filter(table: MissionTable) -> "AnnouncedFilter":
    from plugins.atopss.filter import AnnouncedFilter

    return AnnouncedFilter(table)


def _requested_values(table: MissionTable, body: bytes) -> Sequence[RequestedValue]:
    from plugins.atopss.lookup import requested_values

    return requested_values(table, body)


def _authoring() -> "Authoring":
    from plugins.atopss.authoring.atopss_authoring import AtopssAuthoring

    return AtopssAuthoring()


def _publications() -> "ApproximatePublications":
    from plugins.atopss.authoring.publications import ApproximatePublications

    return ApproximatePublications()


def _ground_truth(table: MissionTable) -> "GroundTruth":
    from plugins.atopss.ground_truth import ground_truth

    return ground_truth(table)


def _relations(table: MissionTable) -> "AtopssRelations":
    from plugins.atopss.relations.relations import AtopssRelations

    return AtopssRelations(table)


def _routing(table: MissionTable, options: "RoutingOptions") -> "AtopssRouting":
    from plugins.atopss.codec import AtopssCodec
    from plugins.atopss.relations.relations import AtopssRelations
    from plugins.atopss.relations.routing import AtopssRouting

    return AtopssRouting(AtopssRelations(table), AtopssCodec(table), options)


def _source_covers(table: MissionTable) -> "PlainCovers":
    from plugins.atopss.relations.relations import AtopssRelations
    from plugins.relations import PlainCovers

    return PlainCovers(AtopssRelations(table).stands_for)


ATOPSS: Final = SubscriptionLanguage(
    language_id=2,
    name="atopss",
    lookup=_lookup,
    source_filter=_source_filter,
    announced_filter=_announced_filter,
    matcher=FACTORIES[DEFAULT_ALGORITHM],
    reads_values=True,
    authoring=_authoring,
    namespaces=(NAMESPACE,),
    publications=_publications,
    algorithms=FACTORIES,
    relations=_relations,
    routing=_routing,
    source_covers=_source_covers,
    ground_truth=_ground_truth,
    requested_values=_requested_values,
)
