"""How engines are made: everything that the nodes of one mission have in common, in one place.

The emulator, a node's process, the desk beside a board and the fault-injection worlds make their engines with
this; who binds languages and a mission table to it is dens/node/assembly.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dens.interfaces import (
    ComposerFactory,
    CoverIndexFactory,
    Directory,
    FilterHost,
    Identities,
    MatcherFactory,
    ResultReader,
    RoutingRelations,
    Signer,
)
from dens.overlay.broker.node import BrokerNode
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.covering.decomposition import TakesApart
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.limits import Limits
from dens.overlay.mediator.node import DensNode
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.storage.store import Store
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.item import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """What every engine of a mission is given."""

    table_check: int
    matchers: Mapping[int, MatcherFactory]
    """By language, as all of these."""
    directory: Callable[[], Directory]
    """Makes an empty one for each mediator."""
    knowledge: Callable[[], Directory] | None = None
    """Makes an empty one for each end, if ends keep what they hear of others' offers."""
    listens_to: Mapping[int, Mapping[int, MatcherFactory]] = field(default_factory=dict)
    parts: Mapping[int, TakesApart] = field(default_factory=dict)
    composers: Mapping[int, ComposerFactory] = field(default_factory=dict)
    results: Mapping[int, ResultReader] = field(default_factory=dict)
    judged: Callable[[Item], None] | None = None
    """Told of every notification that a mediator's matchers were asked about; None where nobody counts."""
    covers: Mapping[int, CoverIndexFactory] | None = None
    """None where nothing is spared at sources (docs/decisions/0022-covering-in-the-system.md)."""
    relations: Mapping[int, RoutingRelations] = field(default_factory=dict)
    """What brokers ask of languages; of others only equal bodies stand for each other."""
    work_exceeded: tuple[type[Exception], ...] = ()
    """The errors by which languages say that a call reached its limit of work."""
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
            judged=self.judged,
            parts=self.parts,
            covers=self.covers,
            composers=self.composers,
            results=self.results,
            directory=self.directory(),
            policy=policy,
            hosts=hosts,
            identities=identities,
            authenticator=self.authenticator(node),
            limits=self.limits,
            work_exceeded=self.work_exceeded,
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
        """Return a broker, with what its store remembers. It hands on what others tell and makes nothing, so
        languages whose notifications are made by mediators are unknown to it, and refused as such.
        """
        known = {number: made for number, made in self.matchers.items() if number not in self.composers}
        return BrokerNode(
            node,
            self.table_check,
            store,
            now_ms,
            matchers=known,
            listens_to={number: heard for number, heard in self.listens_to.items() if number in known},
            judged=self.judged,
            relations=self.relations,
            options=options,
            directory=self.directory(),
            identities=identities,
            authenticator=self.authenticator(node),
            limits=self.limits,
            work_exceeded=self.work_exceeded,
        )

    def subscriber(
        self, node: int, store: Store, now_ms: int, *, signer: Signer | None = None
    ) -> SubscriberEndpoint:
        """Return an end that asks."""
        return SubscriberEndpoint(
            node,
            self.table_check,
            store,
            now_ms,
            parts=self.parts,
            results=self.results,
            signer=signer,
            directory=None if self.knowledge is None else self.knowledge(),
            authenticator=self.authenticator(node),
            limits=self.limits,
        )

    def publisher(
        self, node: int, store: Store, now_ms: int, *, filter_host: FilterHost
    ) -> PublisherEndpoint:
        """Return an end that measures."""
        return PublisherEndpoint(
            node,
            self.table_check,
            store,
            now_ms,
            filter_host=filter_host,
            covering=self.covers is not None,
            directory=None if self.knowledge is None else self.knowledge(),
            authenticator=self.authenticator(node),
            limits=self.limits,
        )
