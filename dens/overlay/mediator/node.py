"""A DENS node: it stores subscriptions, finds publishers, matches notifications, carries and forwards.

It has a state (dens/overlay/mediator/state.py), a transmitter (dens/overlay/session/transmitter.py) and a
replication policy. A mediator hosts the subscribers on its own device, and says so to the mediators it
meets: meeting it is meeting them (docs/decisions/0012-hosted-ends.md).
"""

from collections.abc import Callable, Mapping
from typing import Final

from dens.interfaces import (
    ComposerFactory,
    CoverIndexFactory,
    Directory,
    Identities,
    MatcherFactory,
    ResultReader,
)
from dens.overlay.covering.decomposition import PartBook, TakesApart
from dens.overlay.covering.index import CoverBook
from dens.overlay.limits import Limits
from dens.overlay.mediator.composition import Composing
from dens.overlay.mediator.directory import ServiceBook
from dens.overlay.mediator.matching import LanguageMatchers
from dens.overlay.mediator.mediator import Mediator
from dens.overlay.mediator.replication import Sharing
from dens.overlay.mediator.state import MediatorState
from dens.overlay.policies.epidemic import Epidemic
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.session.arguments import check_hosts
from dens.overlay.session.context import NodeContext
from dens.overlay.session.engine import Engine
from dens.overlay.session.results import HeldResults, ResultTracker
from dens.overlay.storage.store import Store
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.item import Item


class DensNode(Engine):
    """A mediator of the overlay."""

    def __init__(
        self,
        node: int,
        table_check: int,
        store: Store,
        now_ms: int,
        *,
        matchers: Mapping[int, MatcherFactory],
        listens_to: Mapping[int, Mapping[int, MatcherFactory]] | None = None,
        judged: Callable[[Item], None] | None = None,
        parts: Mapping[int, TakesApart] | None = None,
        covers: Mapping[int, CoverIndexFactory] | None = None,
        composers: Mapping[int, ComposerFactory] | None = None,
        results: Mapping[int, ResultReader] | None = None,
        directory: Directory,
        policy: ReplicationPolicy | None = None,
        hosts: frozenset[int] = frozenset(),
        identities: Identities | None = None,
        authenticator: Authenticator | None = None,
        limits: Limits | None = None,
        work_exceeded: tuple[type[Exception], ...] = (),
    ) -> None:
        context = NodeContext(node, store, authenticator, limits, work_exceeded)
        check_hosts(hosts, node)
        heard = LanguageMatchers(matchers, context.work, listens_to, judged)
        composing = Composing(context, composers, frozenset(results or ()))
        self.state: Final = MediatorState(
            context,
            heard,
            ServiceBook(directory),
            PartBook(parts),
            CoverBook(context, covers),
            composing,
            HeldResults(context, ResultTracker(context, results)),
            hosts,
        )
        sharing = Sharing(context, policy or Epidemic(), self.state.carried, composing, hosts)
        super().__init__(context, table_check, Mediator(context, self.state, sharing, identities), now_ms)

    def held(self) -> tuple[int, int, int]:
        """Return how many subscriptions and notifications are held, and the bytes of the latter."""
        return len(self.state.table), len(self.state.carried), self.state.carried.total_bytes

    @property
    def subscription_count(self) -> int:
        """Return how many subscriptions are known, lingering ones included."""
        return len(self.state.table)

    @property
    def notification_count(self) -> int:
        """Return how many notifications are carried."""
        return len(self.state.carried)

    @property
    def notification_bytes(self) -> int:
        """Return their bytes."""
        return self.state.carried.total_bytes
