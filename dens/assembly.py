"""How engines are made: everything that the nodes of one mission have in common, in one place.

The emulator, a node's process, the desk beside a board and the fault-injection worlds make their engines with
this; who binds languages and a mission table to it is nodes/assembly.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dens.authentication import Authenticator
from dens.interfaces import Directory, FilterHost, Identities, MatcherFactory, Signer
from dens.limits import Limits
from dens.node import DensNode
from dens.parts import TakesApart
from dens.policies.policy import ReplicationPolicy
from dens.publisher import PublisherEnd
from dens.store import Store
from dens.subscriber import SubscriberEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """What every engine of a mission is given."""

    table_check: int
    matchers: Mapping[int, MatcherFactory]
    """By language, as all of these."""
    directory: Callable[[], Directory]
    """Makes an empty one for each mediator."""
    listens_to: Mapping[int, Mapping[int, MatcherFactory]] = field(default_factory=dict)
    parts: Mapping[int, TakesApart] = field(default_factory=dict)
    mission_key: bytes | None = None
    limits: Limits = field(default_factory=Limits)

    def authenticator(self, node: int) -> Authenticator:
        """Return what makes and verifies the tags of one node."""
        return Authenticator(node, self.mission_key)

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
        """Return a DENS node, with what its store remembers."""
        return DensNode(
            node,
            self.table_check,
            store,
            now_ms,
            matchers=self.matchers,
            listens_to=self.listens_to,
            parts=self.parts,
            directory=self.directory(),
            policy=policy,
            hosts=hosts,
            identities=identities,
            authenticator=self.authenticator(node),
            limits=self.limits,
        )

    def subscriber(
        self, node: int, store: Store, now_ms: int, *, signer: Signer | None = None
    ) -> SubscriberEnd:
        """Return an end that asks."""
        return SubscriberEnd(
            node,
            self.table_check,
            store,
            now_ms,
            parts=self.parts,
            signer=signer,
            authenticator=self.authenticator(node),
            limits=self.limits,
        )

    def publisher(self, node: int, store: Store, now_ms: int, *, filter_host: FilterHost) -> PublisherEnd:
        """Return an end that measures."""
        return PublisherEnd(
            node,
            self.table_check,
            store,
            now_ms,
            filter_host=filter_host,
            authenticator=self.authenticator(node),
            limits=self.limits,
        )
