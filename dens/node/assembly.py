"""The one assembly of engines: languages and a mission table, bound to what dens/overlay/assembly.py makes
them of.

The emulator, a node's process and the desk beside a board all begin here.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from dens.interfaces import CoverIndexFactory, ResultReader, RoutingRelations, Signer
from dens.node.filter_host import source_host
from dens.overlay.assembly import Assembly
from dens.overlay.broker.node import BrokerNode
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.storage.store import Store
from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.mission_table import MissionTable
from plugins.language import SubscriptionLanguage, no_parts
from plugins.registry import languages
from plugins.routing import RoutingOptions, routing_of
from plugins.work import WorkExceeded
from watchdog.watchdog import Watchdog

if TYPE_CHECKING:
    from dens.node.settings.node_file import NodePlan


def assembly_of(
    table: MissionTable,
    *,
    known: Mapping[int, SubscriptionLanguage] | None = None,
    mission_key: bytes | None = None,
    limits: Limits | None = None,
    covering: bool = False,
    ends_know: bool = False,
    routing: RoutingOptions | None = None,
) -> Assembly:
    """Return what makes the engines of a mission with this table, in every language that is installed, or in
    these alone. With covering, mediators spare installs of what is covered. If ends are to know, they keep
    what they hear of others' offers, and ask for it. `routing` is what brokers spare each other.
    """
    spoken = languages() if known is None else known
    bounds = limits or Limits()
    asks = {number: language.lookup(table).question for number, language in spoken.items()}
    knowledge = partial(DistributedDataDictionary, asks, table=table, bytes_bound=bounds.knowledge_bytes)
    return Assembly(
        table_check=table.check,
        matchers={number: partial(language.matcher, table) for number, language in spoken.items()},
        listens_to={
            number: {told: partial(make, table) for told, make in language.matchers.items()}
            for number, language in spoken.items()
        },
        parts={
            number: language.parts(table)
            for number, language in spoken.items()
            if language.parts is not no_parts
        },
        composers={
            number: partial(language.composer, table)
            for number, language in spoken.items()
            if language.composer is not None
        },
        results=result_readers(spoken),
        covers=_covers(spoken, table) if covering else None,
        relations={} if routing is None else _relations(spoken, table, routing),
        directory=partial(DistributedDataDictionary, asks, table=table, bound=bounds.announcements),
        knowledge=knowledge if ends_know else None,
        work_exceeded=(WorkExceeded,),
        mission_key=mission_key,
        limits=bounds,
    )


def result_readers(spoken: Mapping[int, SubscriptionLanguage]) -> dict[int, ResultReader]:
    """Return what reads what notifications say, for the languages in which several may say the same."""
    return {number: language.results for number, language in spoken.items() if language.results is not None}


def _covers(spoken: Mapping[int, SubscriptionLanguage], table: MissionTable) -> dict[int, CoverIndexFactory]:
    """Return what says which subscriptions stand for which at sources, for the languages that have it."""
    return {
        number: partial(language.source_covers, table)
        for number, language in spoken.items()
        if language.source_covers is not None
    }


def _relations(
    spoken: Mapping[int, SubscriptionLanguage], table: MissionTable, options: RoutingOptions
) -> dict[int, RoutingRelations]:
    """Return what brokers ask of languages, for those that can be asked."""
    found = {number: routing_of(language, table, options) for number, language in spoken.items()}
    return {number: relations for number, relations in found.items() if relations is not None}


def mediator(plan: "NodePlan", store: Store, now_ms: int) -> DensNode | BrokerNode:
    """Return the DENS node, or the broker, that a node's file describes, with what its store remembers."""
    settings = plan.settings
    node, routing = settings.node, settings.routing
    made = assembly_of(
        plan.table,
        known=plan.languages,
        mission_key=plan.secret,
        limits=plan.limits,
        covering=settings.covering,
        routing=None if routing == "carry" else settings.broker.spared,
    )
    if routing != "carry":
        return made.broker(node, store, now_ms, settings.broker.options(routing), identities=plan.identities)
    return made.mediator(
        node,
        store,
        now_ms,
        policy=plan.replication(),
        hosts=frozenset(settings.hosts),
        identities=plan.identities,
    )


def subscriber(
    plan: "NodePlan", node: int, store: Store, now_ms: int, signer: Signer | None
) -> SubscriberEndpoint:
    """Return an end that asks, in the same mission as the node."""
    made = assembly_of(plan.table, mission_key=plan.secret, ends_know=True)
    return made.subscriber(node, store, now_ms, signer=signer)


def publisher(
    plan: "NodePlan", node: int, store: Store, now_ms: int, watchdog: Watchdog
) -> PublisherEndpoint:
    """Return an end that measures, in the same mission as the node."""
    made = assembly_of(plan.table, mission_key=plan.secret, covering=plan.settings.covering, ends_know=True)
    return made.publisher(node, store, now_ms, filter_host=source_host(watchdog, node))
