"""A mission on a desk: one board on a serial line, and on this machine a DENS node and a subscriber.

It is what `dens board run` puts beside an emulated board, and what a person can put beside a real one: the
engines are those of the overlay, only the link between board and DENS node is a wire.

The board speaks first: what it is sent while it starts would be typed into its console. Where it sits at its
prompt all the same, it is told to start again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dens.boards.board_language import BOARD_LANGUAGE
from dens.node.assembly import assembly_of
from dens.node.links.serial import PROMPT, RESTART, SerialLink
from dens.overlay.events import Event
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.storage.memory import MemoryStore
from knowledge_manager.mission_table import MissionTable
from plugins.matching_choice import MatchingChoice
from plugins.registry import languages
from watchdog.header import HEADER_ID, body_of

MEDIATOR = 65001
SUBSCRIBER = 65002


@dataclass(frozen=True, slots=True)
class Asked:
    """A subscription as the subscriber asks for it: in its own language, so that the DENS node judges or
    composes what a board that knows only its parts sends. `name` is how its owner calls it, a file's mostly.
    """

    vector: bytes
    language: int = BOARD_LANGUAGE.language_id
    name: str = ""

    @property
    def spoken(self) -> str:
        """Return how people are told of it."""
        behind = f" ({self.name})" if self.name else ""
        return f"subscription {self.vector[HEADER_ID]}{behind}"


class Desk:
    """The host's side. Time is an argument, and bytes go in and out: somebody else reads and writes them."""

    def __init__(
        self,
        table: MissionTable,
        board: int,
        subscriptions: Sequence[Asked],
        now_ms: int,
        *,
        link: SerialLink | None = None,
        mission_key: bytes | None = None,
        condition: str | None = None,
    ) -> None:
        self.link = link or SerialLink()
        self._board = board
        self._events: list[tuple[int, Event]] = []
        known = MatchingChoice(condition=condition).applied(languages())
        made = assembly_of(table, known=known, mission_key=mission_key)
        self.mediator = made.mediator(MEDIATOR, MemoryStore(), now_ms)
        self.subscriber = made.subscriber(SUBSCRIBER, MemoryStore(), now_ms)
        self.asked = tuple(subscriptions)
        self._languages = made.mission.languages
        for one in subscriptions:
            self.subscriber.subscribe(one.vector, one.language, now_ms)
        self._machines: dict[int, ProtocolEngine] = {MEDIATOR: self.mediator, SUBSCRIBER: self.subscriber}
        self.mediator.contact_opened(SUBSCRIBER, now_ms)
        self.subscriber.contact_opened(MEDIATOR, now_ms)
        self._is_met = False

    def parts_of(self, asked: Asked) -> int:
        """Return of how many parts a subscription is, for a board that does not take it as it is."""
        language = self._languages.get(asked.language)
        if language is None or language.decompose is None:
            return 0
        return len(language.decompose(body_of(asked.vector)))

    def asked_under(self, id: int) -> tuple[Asked, int] | None:
        """Return the subscription that was asked for under this id, and which of its parts has it: 0 is none,
        but the whole.
        """
        for one in self.asked:
            part = id - one.vector[HEADER_ID]
            if 0 <= part <= self.parts_of(one):
                return one, part
        return None

    def step(self, data: bytes, now_ms: int) -> bytes:
        """Take what the board said since the last step, and return what may be written to it now."""
        if data.endswith(PROMPT):
            self.mediator.contact_lost(self._board, now_ms)
            self._is_met = False
            return RESTART
        for said in self.link.receive(data):
            if not self._is_met:
                self.mediator.contact_opened(self._board, now_ms)
                self._is_met = True
            self.mediator.receive(said, self._board, now_ms)
        for number, machine in self._machines.items():
            timer_ms = machine.next_timer_ms()
            if timer_ms is not None and timer_ms <= now_ms:
                machine.timer_due(now_ms)
            for datagram in machine.datagrams_to_send(now_ms):
                if datagram.peer == self._board:
                    self.link.send(datagram.data)
                else:
                    self._machines[datagram.peer].receive(datagram.data, number, now_ms)
            while (event := machine.next_event()) is not None:
                self._events.append((number, event))
        return self.link.bytes_to_write(now_ms)

    def events(self) -> Iterator[tuple[int, Event]]:
        """Yield what happened since this was asked last: at which of the two nodes, and what."""
        while self._events:
            yield self._events.pop(0)
