"""A subscriber's process: it asks for what files describe, and shows what comes until it has enough."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from dens.drivers.runtime import Runtime
from dens.events import Event, MessageAcknowledged, MessageCreated, NotificationDelivered
from dens.identity import signed
from dens.interfaces import Signer
from dens.item import Item, ItemId
from dens.numbers import STATUS_NAMES, TYPE_NAMES, MessageType, Status
from dens.subscriber import SubscriberEnd
from documents import exit_codes as exits
from documents.reading import read_document
from documents.refusal import Refusal
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus import Thesaurus
from nodes.node_probe import Answer
from nodes.output import OutputError
from plugins.registry import authoring_of, language_of_document
from watchdog.header import HEADER_ID, HEADER_LIFETIME, body_of, framed

SETTLED_S = 2.0
"""So long is waited at the end until the node has answered and heard what is still to be said."""
_NOT_SIGNED = STATUS_NAMES[Status.NOT_SIGNED]


def ask_for(
    end: SubscriberEnd,
    files: Sequence[Path],
    table: MissionTable,
    now_ms: int,
    say: Callable[[str], None],
    signer: Signer | None,
    words: Thesaurus | None = None,
) -> None:
    """Subscribe to what these files describe, numbered in their order; words are looked up in the thesaurus,
    the shipped one if none is given.

    What is in force already stays as it is; what changed becomes a newer revision, and so does what this
    signer has not signed, because a node that knows its key would refuse that for ever.
    """
    in_force = {held.id: held for held in end.in_force if held.until_ms > now_ms}
    next_id, stamp_s = 0, now_ms // 1000 % 65536
    for path in files:
        source = read_document(path)
        language = language_of_document(source, str(path))
        authoring = authoring_of(language)
        compiled = authoring.compile(source, str(path), table, stamp_s=stamp_s, thesaurus=words)
        id, occupies = next_id, language.occupied(table, compiled.body)
        next_id = id + 1 + occupies
        if next_id > 256:
            raise Refusal(f"{path}: nobody asks for more than 256 things, parts counted; give fewer files")
        seq = end.next_seq(id, occupies)
        vector = framed(id, seq, compiled.lifetime_q, compiled.body)
        for warning in compiled.warnings:
            say(str(warning))
        held = in_force.get(id)
        is_same = (
            held is not None
            and held.item.language == language.language_id
            and held.vector[HEADER_LIFETIME] == compiled.lifetime_q
            and authoring.meaning(body_of(held.vector)) == authoring.meaning(compiled.body)
        )
        if held is not None and is_same and held.item == signed(held.item, signer):
            say(f"subscription {id} ({path.name}) was asked for before and stays as it is")
            continue
        end.subscribe(vector, language.language_id, now_ms)
        anew = " is asked for anew, signed" if is_same else ""
        say(f"subscription {id} ({path.name}){anew}: {vector.hex()}")


def _named(said: Item) -> str:
    """Return how people call what a subscriber said: by the number that they know, its subscription's."""
    if said.type == MessageType.UNSUBSCRIBE:
        return f"withdrawal of subscription {said.payload[HEADER_ID]}"
    if said.type == MessageType.SUBSCRIBE:
        return f"subscription {said.payload[HEADER_ID]}"
    return TYPE_NAMES[said.type]


def _taken(refusal: str | None) -> str:
    """Return how the node took what was said, and what the person can do about a refusal."""
    if refusal is None:
        return "has it"
    if refusal != _NOT_SIGNED:
        return f"refused it: {refusal}"
    advice = "ask for it again with --key and the signing key whose public key the node has"
    return f"refused it: {refusal}; {advice}"


class Listener:
    """Hears what comes, until it is enough: so many notifications, or an answer to what is withdrawn."""

    def __init__(
        self,
        end: SubscriberEnd,
        show: Callable[[Event], None],
        say: Callable[[str], None],
        enough: int | None,
        withdrawn: Iterable[ItemId],
        answer: Answer,
    ) -> None:
        self._end = end
        self._show = show
        self._say = say
        self._enough = enough
        self._answer = answer
        self._unsaid: set[ItemId] = set(withdrawn)
        self._is_withdrawing = bool(self._unsaid)
        self._unanswered: set[ItemId] = set()
        """What was asked for in this call and neither taken nor refused."""
        self._was_refused = False
        self._heard = 0
        self._changed = asyncio.Event()

    def hear(self, event: Event) -> None:
        """Take what happened; what is delivered beyond enough is shown too, because it comes once."""
        if isinstance(event, MessageCreated):
            self._unsaid.add(event.item.id)
            if event.item.type == MessageType.SUBSCRIBE:
                self._unanswered.add(event.item.id)
        elif isinstance(event, MessageAcknowledged):
            self._unsaid.discard(event.item.id)
            self._unanswered.discard(event.item.id)
            self._was_refused |= event.item.type == MessageType.SUBSCRIBE and event.reason is not None
            if event.item.type != MessageType.RECEIPT:
                self._say(f"{_named(event.item)}: node {event.peer} {_taken(event.reason)}")
        elif isinstance(event, NotificationDelivered):
            self._heard += 1
        try:
            self._show(event)
        except OutputError:
            if isinstance(event, NotificationDelivered):
                self._end.hand_back(event)  # nobody saw it
            raise
        self._changed.set()

    @property
    def _is_enough(self) -> bool:
        if self._is_withdrawing:
            return not self._unsaid
        return self._enough is not None and self._heard >= self._enough

    async def listen(self, runtime: Runtime, seconds: float | None) -> int:
        """Wait until it is enough or time is over; then until the node knows what was heard, for a while."""
        with self._answer.watched():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._until(lambda: self._is_enough), seconds)
            with suppress(TimeoutError):
                async with asyncio.timeout(SETTLED_S):
                    await self._until(lambda: not self._unsaid)
                    await self._answer.come()
        return self._verdict()

    def _verdict(self) -> int:
        """Return how this call ended, and say why where it did not end well."""
        if self._is_enough:
            return exits.FINE
        if self._is_withdrawing:
            self._say("the node has not answered; what was withdrawn is told at the next call")
        elif self._unanswered:
            self._say("the node has not answered; what was asked for is told at the next call")
        else:
            if not self._answer.has_come:
                self._answer.say_never()
            elif self._enough is None and not self._was_refused:
                return exits.FINE
            if self._enough is not None:
                self._say(f"{self._heard} of {self._enough} notifications came in time")
        return exits.FINDING

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._changed.clear()
            await self._changed.wait()
