"""The language of composite events, number 4: sequences of readings, and predictions of them.

Its events are notifications of the boards' language, so that one reading serves both, and boards serve
composites through parts. Its own notifications are composites, made by DENS nodes and by sources that see
every reading (docs/decisions/0030-composite.md).
"""

from typing import TYPE_CHECKING, Final

from knowledge_manager.mission_table import MissionTable
from plugins.composite.nodes import CompositeLookUp, source_only_features, take_apart
from plugins.composite.results import results_of
from plugins.language import Composer, Matcher, SourceFilter, SubscriptionLanguage

if TYPE_CHECKING:
    from plugins.authoring import Authoring

COMPOSITE_ID: Final = 4


def composite_language(atoms: SubscriptionLanguage) -> SubscriptionLanguage:
    """Return the language of composites with primitives in the language `atoms`."""

    def matcher(table: MissionTable) -> Matcher:
        from plugins.composite.matcher import CompositeMatcher

        return CompositeMatcher(table)

    def composer(table: MissionTable) -> Composer:
        from plugins.composite.composer import CompositeComposer

        return CompositeComposer(table, atoms.matcher)

    def source_filter(table: MissionTable) -> SourceFilter:
        from plugins.composite.source import CompositeSourceFilter

        return CompositeSourceFilter(table, atoms.matcher)

    def authoring() -> "Authoring":
        from plugins.composite.authoring.composite_authoring import CompositeAuthoring

        assert atoms.authoring is not None  # primitives must have a document form
        return CompositeAuthoring(atoms.authoring(), atoms.matcher)

    return SubscriptionLanguage(
        language_id=COMPOSITE_ID,
        name="composite",
        lookup=CompositeLookUp,
        source_filter=source_filter,
        matcher=matcher,
        composer=composer,
        results=results_of,
        parts=take_apart,
        source_only_features=source_only_features,
        authoring=authoring,
    )
