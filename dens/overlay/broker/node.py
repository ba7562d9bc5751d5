"""A broker: it knows what its neighbours want, and hands notifications on along reverse paths.

It stands beside `dens.overlay.mediator.node.DensNode`, with the same engine, store, tags and ends; which of
both a mission's mediators are is said when they are made, and is the same for all of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from dens.interfaces import Directory, Identities, MatcherFactory, RoutingRelations
from dens.overlay.broker.advertisements import Advertisements
from dens.overlay.broker.broker import Broker
from dens.overlay.broker.entries import Entries
from dens.overlay.broker.languages import RoutingLanguages
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.broker.requests import Requests
from dens.overlay.covering.decomposition import PartBook
from dens.overlay.covering.index import CoverBook
from dens.overlay.limits import Limits
from dens.overlay.mediator.composition import Composing
from dens.overlay.mediator.directory import ServiceBook
from dens.overlay.mediator.matching import LanguageMatchers
from dens.overlay.mediator.state import MediatorState
from dens.overlay.session.context import NodeContext
from dens.overlay.session.engine import Engine
from dens.overlay.session.results import HeldResults, ResultTracker
from dens.overlay.storage.store import Store
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.item import Item


class BrokerNode(Engine):
    """A mediator that routes."""

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
        relations: Mapping[int, RoutingRelations] | None = None,
        options: BrokerOptions | None = None,
        directory: Directory,
        identities: Identities | None = None,
        authenticator: Authenticator | None = None,
        limits: Limits | None = None,
        work_exceeded: tuple[type[Exception], ...] = (),
    ) -> None:
        options = options or BrokerOptions()
        # Nobody waits for events of an ended subscription for longer than for anything else.
        bounds = replace(limits or Limits(), linger_ms=options.patience_ms)
        context = NodeContext(node, store, authenticator, bounds, work_exceeded)
        heard = LanguageMatchers(matchers, context.work, listens_to, judged)
        self.state: Final = MediatorState(
            context,
            heard,
            ServiceBook(directory),
            PartBook(None),
            CoverBook(context, None),
            Composing(context, None, frozenset()),
            HeldResults(context, ResultTracker(context)),
            frozenset(),
        )
        languages = RoutingLanguages(context, relations or {}, heard)
        advertisements = Advertisements(context, self.state, languages)
        self.broker: Final = Broker(
            context,
            self.state,
            advertisements,
            Entries(context, partial(LanguageMatchers, matchers, context.work, listens_to)),
            Requests(context, self.state, advertisements, languages, options),
            options,
            identities,
        )
        super().__init__(context, table_check, self.broker, now_ms)

    def held(self) -> tuple[int, int, int]:
        """Return how many subscriptions and JOINs and how many notifications are held, and the bytes of the
        latter.
        """
        carried = self.state.carried
        return len(self.state.table) + len(self.broker.entries), len(carried), carried.total_bytes
