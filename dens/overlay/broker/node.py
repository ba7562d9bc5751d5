"""A broker: it routes notifications along the reverse paths of subscriptions.

An alternative to `dens.overlay.mediator.node.DensNode` with the same engine, store, tags and endpoints. All
mediators of a mission are either DENS nodes or brokers.
"""

from dataclasses import replace
from functools import partial
from typing import Final

from dens.interfaces import BoundLanguage, Directory, Identities
from dens.overlay.broker.advertisements import Advertisements
from dens.overlay.broker.broker import Broker
from dens.overlay.broker.entries import Entries
from dens.overlay.broker.languages import RoutingLanguages
from dens.overlay.broker.options import BrokerOptions
from dens.overlay.broker.requests import Requests
from dens.overlay.mediator.matching import LanguageMatchers
from dens.overlay.mediator.state import MediatorState
from dens.overlay.mission import Mission
from dens.overlay.session.engine import Engine
from dens.overlay.storage.store import Store


def _routed(mission: Mission, options: BrokerOptions) -> Mission:
    """Return a mission as brokers see it. They route notifications and derive none, so composed languages are
    unknown to them. An ended subscription lingers no longer than the broker's patience.
    """
    languages = {
        number: BoundLanguage(matchers=language.matchers)
        for number, language in mission.languages.items()
        if language.composer is None
    }
    limits = replace(mission.limits, linger_ms=options.patience_ms)
    return replace(mission, languages=languages, limits=limits, covering=False)


class BrokerNode(Engine):
    """A mediator that routes."""

    def __init__(
        self,
        node: int,
        mission: Mission,
        store: Store,
        now_ms: int,
        *,
        directory: Directory,
        options: BrokerOptions | None = None,
        identities: Identities | None = None,
    ) -> None:
        options = options or BrokerOptions()
        routed = _routed(mission, options)
        context = routed.context(node, store)
        self.state: Final = MediatorState(context, routed, directory)
        languages = RoutingLanguages(context, mission.languages, self.state.matchers)
        advertisements = Advertisements(context, self.state, languages)
        self.broker: Final = Broker(
            context,
            self.state,
            advertisements,
            Entries(context, partial(LanguageMatchers, routed.languages, context.work)),
            Requests(context, self.state, advertisements, languages, options),
            options,
            identities,
        )
        super().__init__(context, mission.table_check, self.broker, now_ms)

    def held(self) -> tuple[int, int, int]:
        """Return how many subscriptions and JOINs and how many notifications are held, and the bytes of the
        latter.
        """
        carried = self.state.carried
        return len(self.state.table) + len(self.broker.entries), len(carried), carried.total_bytes
