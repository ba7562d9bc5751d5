"""G-ToPSS, number 3: publications are graphs, subscriptions are graph patterns
(docs/decisions/0032-graphs.md).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from knowledge_manager.mission_table import MissionTable
from plugins.gtopss import NAMESPACE
from plugins.language import Matcher, MatcherFactory, SubscriptionLanguage

if TYPE_CHECKING:
    from plugins.authoring import Authoring
    from plugins.gtopss.authoring.publications import GraphPublications
    from plugins.gtopss.filter import GraphSourceFilter
    from plugins.gtopss.lookup import GraphLookUp
    from plugins.gtopss.relations.relations import GraphRelations

GRAPH_ID: Final = 3


def _lookup(table: MissionTable) -> "GraphLookUp":
    from plugins.gtopss.lookup import GraphLookUp

    return GraphLookUp(table)


def _source_filter(table: MissionTable) -> "GraphSourceFilter":
    from plugins.gtopss.filter import GraphSourceFilter

    return GraphSourceFilter(table)


def _naive(table: MissionTable) -> Matcher:
    from plugins.gtopss.matching.matcher import GraphMatcher
    from plugins.gtopss.matching.naive import NaiveSearch

    return GraphMatcher(table, NaiveSearch())


def _original(table: MissionTable) -> Matcher:
    from plugins.gtopss.matching.matcher import GraphMatcher
    from plugins.gtopss.matching.original import OriginalSearch

    return GraphMatcher(table, OriginalSearch())


def _improved(table: MissionTable) -> Matcher:
    from plugins.gtopss.matching.improved import ImprovedSearch
    from plugins.gtopss.matching.matcher import GraphMatcher

    return GraphMatcher(table, ImprovedSearch())


def _fast(table: MissionTable) -> Matcher:
    from plugins.gtopss.matching.fast import FastMatcher

    return FastMatcher(table)


def _authoring() -> "Authoring":
    from plugins.gtopss.authoring.graph_authoring import GraphAuthoring

    return GraphAuthoring()


def _publications() -> "GraphPublications":
    from plugins.gtopss.authoring.publications import GraphPublications

    return GraphPublications()


def _relations(table: MissionTable) -> "GraphRelations":
    from plugins.gtopss.relations.relations import GraphRelations

    return GraphRelations(table)


_ALGORITHMS: Final[Mapping[str, MatcherFactory]] = MappingProxyType(
    {"fast": _fast, "improved": _improved, "original": _original, "naive": _naive}
)

GRAPH: Final = SubscriptionLanguage(
    language_id=GRAPH_ID,
    name="graph",
    lookup=_lookup,
    source_filter=_source_filter,
    matcher=_fast,
    authoring=_authoring,
    namespaces=(NAMESPACE,),
    publications=_publications,
    algorithms=_ALGORITHMS,
    suffixes=(".rq",),
    publication_suffixes=(".ttl", ".nt", ".jsonld", ".rdf"),
    relations=_relations,
)
