"""A subscriber process: subscribes to files and shows notifications until it has enough."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from dens.config import exit_codes as exits
from dens.config.reading import read_document
from dens.config.refusal import Refusal
from dens.interfaces import Signer
from dens.node.links.runtime import Runtime
from dens.node.output.stdout import OutputError
from dens.node.processes.reachability import NodeReachability
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, MessageAcknowledged, MessageCreated, NotificationDelivered
from dens.overlay.session.signatures import signed
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.codes import STATUS_NAMES, TYPE_NAMES, MessageType, Status
from dens.overlay.wire.item import Item, ItemId
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from plugins.authoring import CompileOptions
from plugins.registry import authoring_of, language_of_document
from watchdog.header import HEADER_ID, HEADER_LIFETIME, body_of, framed

SETTLE_S = 2.0
"""Wait at the end for outstanding acknowledgements."""
_ADVICE: Final = {
    Status.NOT_SIGNED: "subscribe again with --key and the signing key whose public key the node has",
    Status.QUARANTINED: "a language failed to process it, so nothing will match; the node's log has details",
    Status.WORK: "this subscriber has used up its work budget there; subscribe again later",
}
"""What a user can do about a refusal."""


def subscribe_files(
    end: SubscriberEndpoint,
    files: Sequence[Path],
    table: MissionTable,
    now_ms: int,
    say: Callable[[str], None],
    signer: Signer | None,
    words: Thesaurus | None = None,
) -> None:
    """Subscribe to files. A subscription is named by its file.

    A file that was sent before keeps its id. An unchanged one stays as it is. A changed one becomes a newer
    revision, and so does one without this signer's signature, because a node that knows the key would refuse
    it. `words` is the thesaurus, the shipped one if None.
    """
    _refuse_equal_names(files)
    for path in files:
        _subscribe_to(end, path, table, now_ms, say, signer, words)


def _subscribe_to(
    end: SubscriberEndpoint,
    path: Path,
    table: MissionTable,
    now_ms: int,
    say: Callable[[str], None],
    signer: Signer | None,
    words: Thesaurus | None,
) -> None:
    source = read_document(path)
    language = language_of_document(source, str(path))
    authoring = authoring_of(language)
    stamp_s = now_ms // 1000 % 65536
    options = CompileOptions(stamp_s=stamp_s, thesaurus=words)
    compiled = authoring.compile(source, str(path), table, options)
    for warning in compiled.warnings:
        say(str(warning))
    occupies = language.occupied(table, compiled.body)

    def is_same(held: Subscription) -> bool:
        return (
            held.item.language == language.language_id
            and held.vector[HEADER_LIFETIME] == compiled.lifetime_q
            and authoring.meaning(body_of(held.vector)) == authoring.meaning(compiled.body)
        )

    held = _held_for(end, path.name, is_same, now_ms)
    if held is not None and is_same(held) and held.item == signed(held.item, signer):
        end.set_label(held.id, path.name)
        say(f"subscription {held.id} ({path.name}) is active already and stays as it is")
        return
    id = _id_for(end, path, held, occupies, now_ms)
    vector = framed(id, end.next_seq(id, occupies), compiled.lifetime_q, compiled.body)
    end.subscribe(vector, language.language_id, now_ms, label=path.name)
    say(f"subscription {id} ({path.name}){_change(held, is_same)}: {vector.hex()}")


def _change(held: Subscription | None, is_same: Callable[[Subscription], bool]) -> str:
    """Return how a subscription relates to the active one of its name."""
    if held is None:
        return ""
    return " is sent again, signed" if is_same(held) else " replaces its earlier version"


def _refuse_equal_names(files: Sequence[Path]) -> None:
    names = [path.name for path in files]
    for name in names:
        if names.count(name) > 1:
            raise Refusal(f"{name} is given twice; a subscription is named by its file: rename one of them")


def _held_for(
    end: SubscriberEndpoint, name: str, is_same: Callable[[Subscription], bool], now_ms: int
) -> Subscription | None:
    """Return the active subscription of this name, or an equal one that has no name yet."""
    active = [held for held in end.in_force if held.until_ms > now_ms]
    named = [held for held in active if end.labels.get(held.id) == name]
    unnamed = [held for held in active if held.id not in end.labels and is_same(held)]
    return next(iter(named or unnamed), None)


def _id_for(
    end: SubscriberEndpoint, path: Path, held: Subscription | None, occupies: int, now_ms: int
) -> int:
    """Return the id of a document: the one it has, unless it needs more ids for its parts now."""
    if held is not None and end.fits(held.id, occupies):
        return held.id
    if held is not None:
        end.unsubscribe(held.id, now_ms)
    id = end.free_id(occupies, now_ms)
    if id is None:
        raise Refusal(
            f"{path}: a subscriber has 256 ids, parts included, and {1 + occupies} are not free in one "
            "piece; withdraw something: --withdraw NAME"
        )
    return id


def id_of(end: SubscriberEndpoint, given: str) -> int:
    """Return the id of an active subscription that is given by its name or its id."""
    by_name = {name: id for id, name in end.labels.items()}
    if given in by_name:
        return by_name[given]
    active = {held.id for held in end.in_force}
    if given.isascii() and given.isdigit() and int(given) in active:
        return int(given)
    known = ", ".join(f"{id} ({end.labels[id]})" if id in end.labels else str(id) for id in sorted(active))
    raise Refusal(f'no subscription "{given}" is active; active: {known or "none"}')


def withdraw_subscription(end: SubscriberEndpoint, given: str, now_ms: int) -> ItemId:
    """Withdraw an active subscription. One that was withdrawn without the key with which this end signs is
    withdrawn with it.
    """
    if given.isascii() and given.isdigit():
        again = end.signed_withdrawal(int(given))
        if again is not None:
            return again
    return end.unsubscribe(id_of(end, given), now_ms)


def _name(message: Item) -> str:
    """Return a name for people: the subscription id, because the message number means nothing to them."""
    if message.type == MessageType.UNSUBSCRIBE:
        return f"withdrawal of subscription {message.payload[HEADER_ID]}"
    if message.type == MessageType.SUBSCRIBE:
        return f"subscription {message.payload[HEADER_ID]}"
    return TYPE_NAMES[message.type]


def _acknowledgement(refusal: str | None) -> str:
    """Describe the node's acknowledgement, with advice for a refusal."""
    if refusal is None:
        return "has it"
    advice = [text for status, text in _ADVICE.items() if STATUS_NAMES[status] == refusal]
    return "; ".join([f"refused it: {refusal}", *advice])


class Listener:
    """Shows events until there are `enough` notifications, or the withdrawals are acknowledged."""

    def __init__(
        self,
        end: SubscriberEndpoint,
        show: Callable[[Event], None],
        say: Callable[[str], None],
        enough: int | None,
        withdrawn: Iterable[ItemId],
        reachability: NodeReachability,
    ) -> None:
        self._end = end
        self._show = show
        self._say = say
        self._enough = enough
        self._reachability = reachability
        self._unacknowledged: set[ItemId] = set(withdrawn)
        self._is_withdrawing = bool(self._unacknowledged)
        self._unanswered: set[ItemId] = set()
        """Subscriptions of this call that were neither accepted nor refused."""
        self._was_refused = False
        self._delivered = 0
        self._changed = asyncio.Event()

    def on_event(self, event: Event) -> None:
        """Process an event. Deliveries beyond `enough` are shown too, because each is delivered only once."""
        if isinstance(event, MessageCreated):
            self._unacknowledged.add(event.item.id)
            if event.item.type == MessageType.SUBSCRIBE:
                self._unanswered.add(event.item.id)
        elif isinstance(event, MessageAcknowledged):
            self._unacknowledged.discard(event.item.id)
            self._unanswered.discard(event.item.id)
            self._was_refused |= event.item.type == MessageType.SUBSCRIBE and event.reason is not None
            if event.item.type != MessageType.RECEIPT:
                self._say(f"{_name(event.item)}: node {event.peer} {_acknowledgement(event.reason)}")
        elif isinstance(event, NotificationDelivered):
            self._delivered += 1
        try:
            self._show(event)
        except OutputError:
            if isinstance(event, NotificationDelivered):
                self._end.hand_back(event)  # it was not shown
            raise
        self._changed.set()

    @property
    def _is_enough(self) -> bool:
        if self._is_withdrawing:
            return not self._unacknowledged
        return self._enough is not None and self._delivered >= self._enough

    async def listen(self, runtime: Runtime, seconds: float | None) -> int:
        """Wait until there is enough or the time is over, then briefly for outstanding acknowledgements."""
        with self._reachability.reporting_silence():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._until(lambda: self._is_enough), seconds)
            with suppress(TimeoutError):
                async with asyncio.timeout(SETTLE_S):
                    await self._until(lambda: not self._unacknowledged)
                    await self._reachability.wait_until_reached()
        return self._exit_code()

    def _exit_code(self) -> int:
        """Return the exit code; report the reason if it is not 0."""
        if self._is_enough:
            return exits.FINE
        if self._is_withdrawing:
            self._say("the node has not answered; the withdrawal is stored and sent at the next call")
        elif self._unanswered:
            self._say("the node has not answered; the subscription is stored and sent at the next call")
        else:
            if not self._reachability.is_reached:
                self._reachability.report_never_reached()
            elif self._enough is None and not self._was_refused:
                return exits.FINE
            if self._enough is not None:
                self._say(f"{self._delivered} of {self._enough} notifications came in time")
        return exits.FINDING

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()
