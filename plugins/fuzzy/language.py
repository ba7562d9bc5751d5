"""The fuzzy language, number 1: seventeen bytes for "temperature is very high and heart rate is high in the
ICU".

Approximate and crisp predicates on normalised attributes, combined to one degree.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy import FEATURE_CONDITIONS, NAMESPACE
from plugins.fuzzy.matching.algorithms import ALGORITHMS, DEFAULT_ALGORITHM, SERVES_ONE
from plugins.language import (
    LookUp,
    Matcher,
    MatcherFactory,
    RequestedValue,
    SourceFilter,
    SubscriptionLanguage,
)
from watchdog.codes import ALGORITHMS as FILTER_ALGORITHMS

if TYPE_CHECKING:
    from plugins.authoring import Authoring
    from plugins.fuzzy.relations.covering import CoveringForest
    from plugins.fuzzy.relations.relations import FuzzyRelations
    from plugins.fuzzy.relations.routing import FuzzyRouting
    from plugins.ground_truth import GroundTruth
    from plugins.routing import RoutingOptions
    from watchdog.damper import Damper


def _lookup(table: MissionTable) -> LookUp:
    from plugins.fuzzy.lookup import FuzzyLookUp

    return FuzzyLookUp(table)


def _source_filter(features: str, table: MissionTable) -> SourceFilter:
    from plugins.fuzzy.filter import FuzzySourceFilter

    return FuzzySourceFilter(table, features)


def _source_filter_by(algorithm: str, features: str, table: MissionTable) -> SourceFilter:
    from plugins.fuzzy.filter import source_filter_with

    return source_filter_with(algorithm, features)(table)


def _announced_filter(table: MissionTable) -> SourceFilter:
    from plugins.fuzzy.announced import AnnouncedFuzzyFilter

    return AnnouncedFuzzyFilter(table)


def _requested_values(table: MissionTable, body: bytes) -> Sequence[RequestedValue]:
    from plugins.fuzzy.lookup import requested_values

    return requested_values(table, body)


def _matcher(algorithm: str, features: str, table: MissionTable) -> Matcher:
    return ALGORITHMS[algorithm](table, features, table.feature_bytes)


def _authoring() -> "Authoring":
    from plugins.fuzzy.authoring.fuzzy_authoring import FuzzyAuthoring

    return FuzzyAuthoring()


def _relations(features: str, table: MissionTable) -> "FuzzyRelations":
    from plugins.fuzzy.relations.relations import FuzzyRelations

    return FuzzyRelations(features, table.feature_bytes)


def _routing(features: str, table: MissionTable, options: "RoutingOptions") -> "FuzzyRouting":
    from plugins.fuzzy.relations.routing import FuzzyRouting

    return FuzzyRouting(table, _relations(features, table), options)


def _source_covers(table: MissionTable) -> "CoveringForest":
    """Return a forest among subscriptions with the same attributes, because a notification has the values of
    one feature only. The age is not a value of a notification, so it may differ as at a mediator.
    """
    from plugins.fuzzy.relations.covering import CoveringForest

    return CoveringForest("exact", table.feature_bytes)


def _ground_truth(table: MissionTable) -> "GroundTruth":
    from plugins.fuzzy.ground_truth import FuzzyGroundTruth

    return FuzzyGroundTruth(table)


def _damper(table: MissionTable, interval_ms: int, hysteresis: int) -> "Damper":
    from watchdog.damper import Damper

    return Damper(table.feature_bytes, interval_ms, hysteresis)


def _fuzzy(features: str) -> SubscriptionLanguage:
    """Return the language with a feature condition."""
    algorithms: Mapping[str, MatcherFactory] = MappingProxyType(
        {name: partial(_matcher, name, features) for name in ALGORITHMS}
    )
    return SubscriptionLanguage(
        language_id=1,
        name="fuzzy",
        lookup=_lookup,
        source_filter=partial(_source_filter, features),
        source_filters={name: partial(_source_filter_by, name, features) for name in FILTER_ALGORITHMS},
        matcher=algorithms[DEFAULT_ALGORITHM],
        authoring=_authoring,
        namespaces=(NAMESPACE,),
        algorithms=algorithms,
        partial_algorithms=frozenset(SERVES_ONE),
        conditions={name: partial(_fuzzy, name) for name in FEATURE_CONDITIONS},
        announced_filter=_announced_filter,
        relations=partial(_relations, features),
        routing=partial(_routing, features),
        source_covers=_source_covers,
        ground_truth=_ground_truth,
        requested_values=_requested_values,
        damper=_damper,
    )


FUZZY: Final = _fuzzy(FEATURE_CONDITIONS[0])
