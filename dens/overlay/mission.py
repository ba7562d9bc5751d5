"""Settings that all nodes of a mission share. Engines are made of these and of what is a node's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dens.interfaces import BoundLanguage, ResultReader
from dens.overlay.limits import Limits
from dens.overlay.session.context import NodeContext
from dens.overlay.storage.store import Store
from dens.overlay.wire.authentication import Authenticator
from dens.overlay.wire.item import Item


@dataclass(frozen=True, slots=True)
class Mission:
    """Mission table, languages, key and limits."""

    table_check: int
    """Check byte of the mission table (`MissionTable.check`)."""
    languages: Mapping[int, BoundLanguage] = field(default_factory=dict)
    """By language id."""
    key: bytes | None = None
    """Mission key for message tags; None if messages have no tags."""
    limits: Limits = field(default_factory=Limits)
    covering: bool = False
    """Whether mediators suppress installs of covered subscriptions
    (docs/decisions/0022-covering-in-the-system.md)."""
    work_exceeded: tuple[type[Exception], ...] = ()
    """Exceptions by which languages report that a call reached its limit of work."""
    on_matched: Callable[[Item], None] | None = None
    """Called after the matchers of a mediator were given a notification; for measurements."""

    @property
    def results(self) -> dict[int, ResultReader]:
        """Return the result readers by language."""
        return {
            number: language.results
            for number, language in self.languages.items()
            if language.results is not None
        }

    def authenticator(self, node: int) -> Authenticator:
        """Return the maker and verifier of one node's tags."""
        return Authenticator(node, self.key)

    def context(self, node: int, store: Store) -> NodeContext:
        """Return the context of a node that starts with this store."""
        return NodeContext(node, store, self.authenticator(node), self.limits, self.work_exceeded)
