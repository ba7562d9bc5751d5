"""The fuzzy language, number 1: seventeen bytes for "temperature is very high and heart rate is high in the
ICU".

Approximate and crisp predicates on normalised attributes, combined to one degree. Its own code reads whole
vectors, as boards do; `plugins.fuzzy.bodies` puts the three bytes of the overlay before a body.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from knowledge_manager.mission_table import MissionTable
from plugins.fuzzy.bodies import BodyMatcher, BodyRelations
from plugins.fuzzy.filter import FuzzySourceFilter, source_filter_with
from plugins.fuzzy.lookup import FuzzyLookUp
from plugins.fuzzy.matching.algorithms import ALGORITHMS, DEFAULT_ALGORITHM
from plugins.language import Matcher, MatcherFactory, SubscriptionLanguage
from watchdog.algorithms import ALGORITHMS as FILTER_ALGORITHMS
from watchdog.damper import Damper

if TYPE_CHECKING:
    from plugins.authoring import Authoring
    from plugins.ground_truth import GroundTruth


def _matcher(algorithm: str, table: MissionTable) -> Matcher:
    return BodyMatcher(ALGORITHMS[algorithm](table, "subset", table.feature_bytes))


def _authoring() -> "Authoring":
    from plugins.fuzzy.authoring.fuzzy_authoring import FuzzyAuthoring

    return FuzzyAuthoring()


def _relations(table: MissionTable) -> BodyRelations:
    from plugins.fuzzy.relations.covering import CoveringForest
    from plugins.fuzzy.relations.relations import FuzzyRelations

    width = table.feature_bytes
    return BodyRelations(FuzzyRelations("subset", width), partial(CoveringForest, "subset", width))


def _ground_truth(table: MissionTable) -> "GroundTruth":
    from plugins.fuzzy.ground_truth import FuzzyGroundTruth

    return FuzzyGroundTruth(table)


def _damper(table: MissionTable, interval_ms: int, hysteresis: int) -> Damper:
    return Damper(table.feature_bytes, interval_ms, hysteresis)


_ALGORITHMS: Final[Mapping[str, MatcherFactory]] = MappingProxyType(
    {name: partial(_matcher, name) for name in ALGORITHMS}
)

FUZZY: Final = SubscriptionLanguage(
    language_id=1,
    name="fuzzy",
    lookup=FuzzyLookUp,
    source_filter=FuzzySourceFilter,
    source_filters={name: source_filter_with(name) for name in FILTER_ALGORITHMS},
    matcher=_ALGORITHMS[DEFAULT_ALGORITHM],
    authoring=_authoring,
    algorithms=_ALGORITHMS,
    relations=_relations,
    ground_truth=_ground_truth,
    damper=_damper,
)
