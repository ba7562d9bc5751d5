"""Languages of other packages behind a guard: what one does wrong is told of it, and ends nothing else.

The registry puts every language that it did not bring itself behind this. What a verb is allowed to raise
passes (`VectorError` for bytes, `DocumentError` for documents); anything else, and an answer of another kind
than the interface says, is a *defect*:

- where somebody waits for the answer (compile, match, look-up, ground truth) it is a `LanguageDefect`, which
  commands tell in words and DENS nodes quarantine;
- at a source, where readings come one after the other, nothing is released and it is told once;
- a subscription that cannot be taken apart has no parts, and a notification whose results cannot be read says
  nothing that several could say. What a composer does wrong is quarantined by the DENS node that feeds it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from knowledge_manager.mission_table import MissionTable
from plugins.guard.guard import Guard, LanguageDefect
from plugins.guard.guarded_analysis import GuardedGroundTruth, GuardedRelations
from plugins.guard.guarded_authoring import GuardedAuthoring, GuardedPublications
from plugins.guard.guarded_nodes import (
    GuardedCovers,
    GuardedDamper,
    GuardedLookUp,
    GuardedMatcher,
    guarded_filter,
    guarded_parts,
    guarded_results,
)
from plugins.guard.guarded_routing import GuardedRouting
from plugins.language import MatcherFactory, Result, SubscriptionLanguage, TakeApart, no_parts


def guarded(language: SubscriptionLanguage) -> SubscriptionLanguage:
    """Return a language whose verbs can do no harm."""
    guard = Guard(language.name)

    def factory(verb: str, make: Callable[..., Any], wrap: Callable[[Guard, Any], Any]) -> Callable[..., Any]:
        def made(*given: Any) -> Any:
            return wrap(guard, guard.call(verb, make, *given))

        return made

    def matcher(make: MatcherFactory) -> MatcherFactory:
        return factory("matcher()", make, GuardedMatcher)

    def condition(make: Callable[[], SubscriptionLanguage]) -> SubscriptionLanguage:
        made = guard.call("conditions", make)
        is_same = isinstance(made, SubscriptionLanguage) and (made.language_id, made.name) == (
            language.language_id,
            language.name,
        )
        guard.demand(is_same, "conditions", "another language")
        return guarded(made)

    def parts(table: MissionTable) -> TakeApart:
        try:
            take_apart = guard.call("parts()", language.parts, table)
        except LanguageDefect as defect:
            guard.tell("parts()", defect)
            return lambda body: ()
        return lambda body: guarded_parts(guard, take_apart, body)

    def optional(verb: str, make: Any, wrap: Callable[[Guard, Any], Any]) -> Any:
        return None if make is None else factory(verb, make, wrap)

    def results(vector: bytes) -> tuple[Result, ...]:
        assert language.results is not None  # else nobody is given this
        return guarded_results(guard, language.results, vector)

    heard = language.listens_to
    return replace(
        language,
        lookup=factory("lookup()", language.lookup, GuardedLookUp),
        source_filter=factory("source_filter()", language.source_filter, guarded_filter),
        matcher=matcher(language.matcher),
        listens_to=None if heard is None else {told: matcher(make) for told, make in heard.items()},
        results=None if language.results is None else results,
        parts=no_parts if language.parts is no_parts else parts,
        authoring=optional("authoring()", language.authoring, GuardedAuthoring),
        publications=optional("publications()", language.publications, GuardedPublications),
        source_filters={
            name: factory("source_filter()", make, guarded_filter)
            for name, make in language.source_filters.items()
        },
        announced_filter=optional("announced_filter()", language.announced_filter, guarded_filter),
        algorithms={name: matcher(make) for name, make in language.algorithms.items()},
        conditions={name: partial(condition, make) for name, make in language.conditions.items()},
        relations=optional("relations()", language.relations, GuardedRelations),
        routing=optional("routing()", language.routing, GuardedRouting),
        source_covers=optional("source_covers()", language.source_covers, GuardedCovers),
        ground_truth=optional("ground_truth()", language.ground_truth, GuardedGroundTruth),
        asked_values=None
        if language.asked_values is None
        else partial(guard.call, "asked_values()", language.asked_values),
        damper=optional("damper()", language.damper, GuardedDamper),
    )
