"""A DENS node: it stores subscriptions, finds publishers, matches notifications, carries and forwards.

It has a state (dens/mediator_state.py), a transmitter (dens/transmitter.py) and a replication policy. A
mediator hosts the subscribers on its own device, and says so to the mediators it meets: meeting it is meeting
them (docs/decisions/0012-hosted-ends.md).
"""

from collections.abc import Callable, Mapping
from typing import Final

from dens.arguments import checked_hosts
from dens.authentication import Authenticator
from dens.composing import Composing
from dens.context import NodeContext
from dens.covering import CoverBook
from dens.engine import Engine
from dens.interfaces import (
    ComposerFactory,
    CoverIndexFactory,
    Directory,
    Identities,
    MatcherFactory,
    ResultReader,
)
from dens.item import Item
from dens.limits import Limits
from dens.matching import LanguageMatchers
from dens.mediator import Mediator
from dens.mediator_state import MediatorState
from dens.parts import PartBook, TakesApart
from dens.policies.epidemic import Epidemic
from dens.policies.policy import ReplicationPolicy
from dens.results import HeldResults, ResultBook
from dens.services import ServiceBook
from dens.sharing import Sharing
from dens.store import Store


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
        checked_hosts(hosts, node)
        heard = LanguageMatchers(matchers, context.work, listens_to, judged)
        composing = Composing(context, composers, frozenset(results or ()))
        self.state: Final = MediatorState(
            context,
            heard,
            ServiceBook(directory),
            PartBook(parts),
            CoverBook(context, covers),
            composing,
            HeldResults(context, ResultBook(context, results)),
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
