"""The language of composite events, number 4: sequences of readings, and predictions of them.

Its events are notifications of the boards' language, so that one reading serves both, and boards serve
composites through parts. Its own notifications are composites, made by DENS nodes and by sources that see
every reading (docs/decisions/0030-composite.md).
"""

from typing import TYPE_CHECKING, Final

from knowledge_manager.mission_table import MissionTable
from plugins.composite import NAMESPACE
from plugins.language import Composer, LookUp, Matcher, Result, SourceFilter, SubscriptionLanguage, TakeApart

if TYPE_CHECKING:
    from plugins.authoring import Authoring

COMPOSITE_ID: Final = 4


def _lookup(table: MissionTable) -> LookUp:
    from plugins.composite.mediator import CompositeLookUp

    return CompositeLookUp(table)


def _results(vector: bytes) -> tuple[Result, ...]:
    from plugins.composite.results import results_of

    return results_of(vector)


def _parts(table: MissionTable) -> TakeApart:
    from plugins.composite.mediator import take_apart

    return take_apart(table)


def _source_only_features(table: MissionTable, body: bytes) -> str:
    from plugins.composite.mediator import source_only_features

    return source_only_features(table, body)


def composite_language(atoms: SubscriptionLanguage) -> SubscriptionLanguage:
    """Return the language of composites with primitives in the language `atoms`."""

    def matcher(table: MissionTable) -> Matcher:
        from plugins.composite.mediator import CompositeMatcher

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
        return CompositeAuthoring(atoms.authoring(), atoms.matcher, atoms.namespaces[0])

    return SubscriptionLanguage(
        language_id=COMPOSITE_ID,
        name="composite",
        lookup=_lookup,
        source_filter=source_filter,
        matcher=matcher,
        composer=composer,
        results=_results,
        parts=_parts,
        source_only_features=_source_only_features,
        authoring=authoring,
        namespaces=(NAMESPACE,),
    )
