"""Limits in sixteen bits: a subscription language that DENS knows nothing of until it is installed."""

from functools import partial
from typing import TYPE_CHECKING

from dens_limits.nodes import (
    LIMITS_ID,
    NAMESPACE,
    LimitsFilter,
    LimitsLookUp,
    LimitsMatcher,
    take_apart,
    told_in_bytes,
    told_in_cells,
)

from knowledge_manager.mission_table import MissionTable
from plugins.board_parts import BOARD_LANGUAGE_ID
from plugins.language import SubscriptionLanguage

if TYPE_CHECKING:
    from dens_limits.analysis import LimitsRelations
    from dens_limits.authoring import LimitsAuthoring, Measured

    from plugins.ground_truth import GroundTruth


def _authoring() -> "LimitsAuthoring":
    from dens_limits.authoring import LimitsAuthoring

    return LimitsAuthoring()


def _publications() -> "Measured":
    from dens_limits.authoring import Measured

    return Measured()


def _relations(table: MissionTable) -> "LimitsRelations":
    from dens_limits.analysis import LimitsRelations

    return LimitsRelations(table)


def _ground_truth(table: MissionTable) -> "GroundTruth":
    from dens_limits.analysis import ground_truth

    return ground_truth(table)


LIMITS = SubscriptionLanguage(
    language_id=LIMITS_ID,
    name="limits",
    lookup=LimitsLookUp,
    source_filter=LimitsFilter,
    matcher=partial(LimitsMatcher, read=told_in_cells),
    listens_to={
        LIMITS_ID: partial(LimitsMatcher, read=told_in_cells),
        BOARD_LANGUAGE_ID: partial(LimitsMatcher, read=told_in_bytes),
    },
    parts=take_apart,
    reads_values=True,
    authoring=_authoring,
    namespaces=(NAMESPACE,),
    publications=_publications,
    relations=_relations,
    ground_truth=_ground_truth,
)
