"""Binds languages to a mission table and makes engines with them (dens/overlay/assembly.py).

The emulator, a node's process and the command for a board on the desk start here.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from dens.interfaces import Signer
from dens.node.filter_host import source_host
from dens.overlay.assembly import Assembly
from dens.overlay.broker.node import BrokerNode
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.storage.store import Store
from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.mission_table import MissionTable
from plugins.language import SubscriptionLanguage
from plugins.registry import languages
from plugins.routing import RoutingOptions
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
    """Return the maker of all engines of a mission with this table, with all installed languages or only
    with `known`. With `covering`, mediators suppress installs of covered subscriptions. With `ends_know`,
    endpoints keep the offers of others that they hear, and request them. `routing` is for brokers.
    """
    unbound = languages() if known is None else known
    limits = limits or Limits()
    questions = {number: language.lookup(table).question for number, language in unbound.items()}
    mission = Mission(
        table.check,
        {number: language.bind(table, routing) for number, language in unbound.items()},
        key=mission_key,
        limits=limits,
        covering=covering,
        work_exceeded=(WorkExceeded,),
    )
    return Assembly(
        mission,
        directory=partial(DistributedDataDictionary, questions, table=table, bound=limits.announcements),
        knowledge=partial(
            DistributedDataDictionary, questions, table=table, bytes_bound=limits.knowledge_bytes
        )
        if ends_know
        else None,
    )


def mediator(plan: "NodePlan", store: Store, now_ms: int) -> DensNode | BrokerNode:
    """Return the DENS node or the broker that a node file describes."""
    settings = plan.settings
    node, routing = settings.node, settings.routing
    assembly = assembly_of(
        plan.table,
        known=plan.languages,
        mission_key=plan.secret,
        limits=plan.limits,
        covering=settings.covering,
        routing=None if routing == "carry" else settings.broker.spared,
    )
    if routing != "carry":
        return assembly.broker(
            node, store, now_ms, settings.broker.options(routing), identities=plan.identities
        )
    return assembly.mediator(
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
    """Return a subscriber in the mission of the node."""
    assembly = assembly_of(plan.table, mission_key=plan.secret, ends_know=True)
    return assembly.subscriber(node, store, now_ms, signer=signer)


def publisher(
    plan: "NodePlan", node: int, store: Store, now_ms: int, watchdog: Watchdog
) -> PublisherEndpoint:
    """Return a publisher in the mission of the node."""
    assembly = assembly_of(
        plan.table, mission_key=plan.secret, covering=plan.settings.covering, ends_know=True
    )
    return assembly.publisher(node, store, now_ms, filter_host=source_host(watchdog, node))
