"""The one assembly of engines: languages and a mission table, bound to what dens/assembly.py makes them of.

The emulator, a node's process and the desk beside a board all begin here.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from dens.assembly import Assembly
from dens.interfaces import FilterHost, Signer
from dens.limits import Limits
from dens.node import DensNode
from dens.publisher import PublisherEnd
from dens.store import Store
from dens.subscriber import SubscriberEnd
from knowledge_manager.distributed_dictionary import DistributedDataDictionary
from knowledge_manager.mission_table import MissionTable
from nodes.short_origins import ShortOrigins
from plugins.language import SubscriptionLanguage, no_parts
from plugins.registry import languages

if TYPE_CHECKING:
    from nodes.node_file import NodePlan


def assembly_of(
    table: MissionTable,
    *,
    known: Mapping[int, SubscriptionLanguage] | None = None,
    mission_key: bytes | None = None,
    limits: Limits | None = None,
) -> Assembly:
    """Return what makes the engines of a mission with this table, in every language that is installed, or in
    these alone.
    """
    spoken = languages() if known is None else known
    bounds = limits or Limits()
    questions = {number: language.lookup(table).question for number, language in spoken.items()}
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
        directory=partial(DistributedDataDictionary, questions, table=table, bound=bounds.announcements),
        mission_key=mission_key,
        limits=bounds,
    )


def mediator(plan: "NodePlan", store: Store, now_ms: int) -> DensNode:
    """Return the DENS node that a node's file describes, with what its store remembers."""
    node = plan.settings.node
    made = assembly_of(plan.table, mission_key=plan.secret, limits=plan.limits)
    return made.mediator(
        node,
        store,
        now_ms,
        policy=plan.replication(),
        hosts=frozenset(plan.settings.hosts),
        identities=plan.identities,
    )


def subscriber(
    plan: "NodePlan", node: int, store: Store, now_ms: int, signer: Signer | None
) -> SubscriberEnd:
    """Return an end that asks, in the same mission as the node."""
    made = assembly_of(plan.table, mission_key=plan.secret)
    return made.subscriber(node, store, now_ms, signer=signer)


def publisher(plan: "NodePlan", node: int, store: Store, now_ms: int, host: FilterHost) -> PublisherEnd:
    """Return an end that measures, in the same mission as the node."""
    made = assembly_of(plan.table, mission_key=plan.secret)
    return made.publisher(node, store, now_ms, filter_host=ShortOrigins(host))
