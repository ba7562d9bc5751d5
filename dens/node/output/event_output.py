"""What the commands of a node print of what happens: documents for programs, lines for people."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress

from dens.node.keys import is_private
from dens.node.links.neighbours import Address, spoken
from dens.node.output.advice import Advice
from dens.node.output.event_format import Teller, event_document
from dens.node.output.stdout import put, say
from dens.node.settings.node_file import NodePlan
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import Event, NotificationDelivered, SubscriptionServed, SubscriptionUnserved
from knowledge_manager.mission_table import MissionTable
from plugins.authoring import Authoring
from plugins.language import LanguageDefect, Match
from plugins.registry import languages
from watchdog.vector import VectorError


def warn_of_key(plan: NodePlan) -> None:
    """Say so where others can read the mission's key."""
    if plan.mission_key is not None and plan.settings.key is not None:
        path = plan.folder / plan.settings.key
        if not is_private(plan.mission_key, path):
            say(f"{path} can be read by others; make it yours alone: chmod 600 {path}")


def begun(plan: NodePlan, address: Address | None, put_document: Callable[[str], None] | None) -> None:
    """Tell that the node is there: as a document where something puts those, else to the person."""
    node, key = plan.settings.node, plan.mission_key
    ports = [one.port for one in plan.settings.serial]
    where = None if address is None else spoken(address)
    if put_document is not None:
        fingerprint = None if key is None else key.fingerprint
        told = {"event": "begun", "node": node, "address": where, "serial": ports, "key": fingerprint}
        put_document(json.dumps(told))
        return
    authenticated = "without a mission key" if key is None else f"mission key {key.fingerprint}"
    places = ", ".join(ports if where is None else [where, *ports])
    say(f"node {node} is on {places}, {authenticated}; Ctrl-C ends it")


class Shown:
    """Shows every event that is worth it, and from time to time what happens too often to be shown."""

    def __init__(self, as_json: bool, put_line: Callable[[str], None]) -> None:
        self._teller = Teller(as_json=as_json)
        self._put = put_line

    def __call__(self, event: Event) -> None:
        """Show what happened."""
        for line in self._teller.lines(event):
            self._put(line)

    def look(self, now_ms: int, *, at_the_end: bool = False) -> None:
        """Show what has gone on happening until now."""
        for line in self._teller.rates(now_ms, at_the_end=at_the_end):
            self._put(line)

    def summarise(self, now_ms: int, quarantined_held: int) -> None:
        """Show at the end how many messages were quarantined or undecided."""
        for line in self._teller.summary(now_ms, quarantined_held):
            self._put(line)


def shown_to_subscriber(plan: NodePlan, end: SubscriberEndpoint, as_json: bool) -> Callable[[Event], None]:
    """Return what shows deliveries to this end in words, or everything as documents; and, as long as nobody
    in reach can serve a subscription, who nearly could.
    """
    advice, shown = Advice(end, plan.table), Shown(True, put)

    def show(event: Event) -> None:
        advice.note(event)
        if as_json:
            if isinstance(event, SubscriptionUnserved | SubscriptionServed):
                put(json.dumps({**event_document(event), **advice.document(event)}))
            else:
                shown(event)
        elif isinstance(event, SubscriptionUnserved | SubscriptionServed):
            told = advice.sentence(event)
            if told is not None:
                say(told)
        elif isinstance(event, NotificationDelivered):
            says = notification_words(event.item.language, event.item.payload, plan.table)
            mark = "" if event.reason is None else f", {event.reason}"
            put(f"from {event.item.origin}: {says} ({match_words(event, end, plan.table)}{mark})")
            for found in node_words(event, end, plan.table):
                put(f"  {found}")

    return show


def notification_words(language: int, vector: bytes, table: MissionTable) -> str:
    """Put a notification into the words of its language; the bytes themselves where there are none."""
    authoring = _authoring(language)
    if authoring is None:
        return f"{len(vector)} bytes {vector.hex()}"
    try:
        return " ".join(authoring.describe(vector, table, "nv").sentences)
    except (VectorError, LanguageDefect) as error:
        return f"{len(vector)} bytes {vector.hex()}, which are no notification ({error})"


def node_words(event: NotificationDelivered, end: SubscriberEndpoint, table: MissionTable) -> Iterator[str]:
    """Yield for every subscription that is satisfied by parts of what was told, which parts these are."""
    for satisfied in event.satisfied:
        asked = next((held for held in end.in_force if held.id == satisfied.id), None)
        authoring = None if asked is None else _authoring(asked.item.language)
        if asked is None or authoring is None or authoring.found_nodes is None:
            continue
        with suppress(VectorError, LanguageDefect):
            if found := authoring.found_nodes(asked.body, event.item.payload, table):
                yield f"subscription {satisfied.id}: {found}"


def match_words(event: NotificationDelivered, end: SubscriberEndpoint, table: MissionTable) -> str:
    """Return how well the subscription is satisfied that is satisfied best, in the words of its language."""
    best = max(event.satisfied, key=lambda one: one.degree_u8)
    asked = next((held for held in end.in_force if held.id == best.id), None)
    authoring = _authoring(event.item.language if asked is None else asked.item.language)
    if authoring is not None:
        with suppress(VectorError, LanguageDefect):
            return authoring.describe_match(Match((end.node, best.id), best.degree_u8, best.detail), table)
    return f"degree {best.degree_u8 / 255:.2f}"


def _authoring(language: int) -> Authoring | None:
    known = languages().get(language)
    with suppress(LanguageDefect):
        return None if known is None or known.authoring is None else known.authoring()
    return None
