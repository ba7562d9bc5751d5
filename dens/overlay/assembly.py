"""Makes the engines of a mission.

The emulator, a node's process, the command for a board on the desk and the fault-injection worlds make their
engines here; dens/node/assembly.py binds languages to the mission table.
"""

from collections.abc import Callable
from dataclasses import dataclass

from dens.interfaces import Directory, FilterHost, Identities, Signer
from dens.overlay.broker.node import BrokerNode
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.storage.store import Store


@dataclass(frozen=True, slots=True)
class Assembly:
    """A mission, and the directories of its nodes."""

    mission: Mission
    directory: Callable[[], Directory]
    """Makes an empty directory for each mediator."""
    knowledge: Callable[[], Directory] | None = None
    """Makes an empty directory for each endpoint; None if endpoints do not keep the offers of others."""

    def mediator(
        self,
        node: int,
        store: Store,
        now_ms: int,
        *,
        policy: ReplicationPolicy | None = None,
        hosts: frozenset[int] = frozenset(),
        identities: Identities | None = None,
    ) -> DensNode:
        """Return a DENS node that starts with this store."""
        return DensNode(
            node,
            self.mission,
            store,
            now_ms,
            directory=self.directory(),
            policy=policy,
            hosts=hosts,
            identities=identities,
        )

    def broker(
        self,
        node: int,
        store: Store,
        now_ms: int,
        options: BrokerOptions,
        *,
        identities: Identities | None = None,
    ) -> BrokerNode:
        """Return a broker that starts with this store."""
        return BrokerNode(
            node,
            self.mission,
            store,
            now_ms,
            directory=self.directory(),
            options=options,
            identities=identities,
        )

    def subscriber(
        self, node: int, store: Store, now_ms: int, *, signer: Signer | None = None
    ) -> SubscriberEndpoint:
        """Return a subscriber that starts with this store."""
        return SubscriberEndpoint(
            node, self.mission, store, now_ms, signer=signer, directory=self._endpoint_directory()
        )

    def publisher(
        self, node: int, store: Store, now_ms: int, *, filter_host: FilterHost
    ) -> PublisherEndpoint:
        """Return a publisher that starts with this store."""
        return PublisherEndpoint(
            node,
            self.mission,
            store,
            now_ms,
            filter_host=filter_host,
            directory=self._endpoint_directory(),
        )

    def _endpoint_directory(self) -> Directory | None:
        return None if self.knowledge is None else self.knowledge()
