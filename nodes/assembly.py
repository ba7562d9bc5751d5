"""The engines of a node's process, put together from what the node's file says."""

from functools import partial

from dens.collaborators import FilterHost, Signer
from dens.node import DensNode
from dens.publisher import PublisherEnd
from dens.seal import Sealer
from dens.store import Store
from dens.subscriber import SubscriberEnd
from knowledge_manager.distributed_dictionary import DistributedDataDictionary
from nodes.node_file import NodePlan
from plugins.registry import languages


def mediator(plan: NodePlan, store: Store, now_ms: int) -> DensNode:
    """Return the DENS node itself, with what its store remembers."""
    known, table, node = languages(), plan.table, plan.settings.node
    return DensNode(
        node,
        table.check,
        store,
        now_ms,
        matchers={number: partial(language.matcher, table) for number, language in known.items()},
        listens_to={number: language.hears for number, language in known.items()},
        directory=DistributedDataDictionary(
            {number: language.lookup(table).question for number, language in known.items()},
            table=table,
            bound=plan.limits.announcements,
        ),
        policy=plan.replication(),
        hosts=frozenset(plan.settings.hosts),
        identities=plan.identities,
        sealer=Sealer(node, plan.secret),
        limits=plan.limits,
    )


def subscriber(plan: NodePlan, node: int, store: Store, now_ms: int, signer: Signer | None) -> SubscriberEnd:
    """Return an end that asks, in the same mission as the node."""
    return SubscriberEnd(
        node, plan.table.check, store, now_ms, signer=signer, sealer=Sealer(node, plan.secret)
    )


def publisher(plan: NodePlan, node: int, store: Store, now_ms: int, host: FilterHost) -> PublisherEnd:
    """Return an end that measures, in the same mission as the node."""
    return PublisherEnd(
        node, plan.table.check, store, now_ms, filter_host=host, sealer=Sealer(node, plan.secret)
    )
