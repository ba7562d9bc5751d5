"""Prints the events of a node: JSON documents for programs, lines for people."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress

from dens.node.keys import is_private
from dens.node.links.neighbours import Address, format_address
from dens.node.output.advice import Advice
from dens.node.output.event_format import EventFormatter, event_document
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
    """Warn if other users of this machine can read the mission key."""
    if plan.mission_key is not None and plan.settings.key is not None:
        path = plan.folder / plan.settings.key
        if not is_private(plan.mission_key, path):
            say(f"{path} can be read by other users; protect it: chmod 600 {path}")


def report_ready(plan: NodePlan, address: Address | None, put_document: Callable[[str], None] | None) -> None:
    """Report that the node is running: as a document if `put_document` is given, else as a line."""
    node, key = plan.settings.node, plan.mission_key
    ports = [settings.port for settings in plan.settings.serial]
    where = None if address is None else format_address(address)
    if put_document is not None:
        fingerprint = None if key is None else key.fingerprint
        document = {"event": "begun", "node": node, "address": where, "serial": ports, "key": fingerprint}
        put_document(json.dumps(document))
        return
    authenticated = "without a mission key" if key is None else f"mission key {key.fingerprint}"
    places = ", ".join(ports if where is None else [where, *ports])
    say(f"node {node} is on {places}, {authenticated}; Ctrl-C ends it")


class EventPrinter:
    """Prints events, and from time to time the counts of events too frequent to print one by one."""

    def __init__(self, as_json: bool, put_line: Callable[[str], None]) -> None:
        self._formatter = EventFormatter(as_json=as_json)
        self._put = put_line

    def __call__(self, event: Event) -> None:
        for line in self._formatter.lines(event):
            self._put(line)

    def report_repeated(self, now_ms: int, *, at_the_end: bool = False) -> None:
        """Print the counts that are due."""
        for line in self._formatter.rates(now_ms, at_the_end=at_the_end):
            self._put(line)

    def summarise(self, now_ms: int, quarantined_held: int) -> None:
        """Print at the end how many messages were quarantined or undecided."""
        for line in self._formatter.summary(now_ms, quarantined_held):
            self._put(line)


def subscriber_output(plan: NodePlan, end: SubscriberEndpoint, as_json: bool) -> Callable[[Event], None]:
    """Return the output of a subscriber: deliveries in words, or all events as JSON.

    Both include advice for subscriptions that no publisher in reach can serve.
    """
    advice, print_event = Advice(end, plan.table), EventPrinter(True, put)

    def show(event: Event) -> None:
        advice.note(event)
        if as_json:
            if isinstance(event, SubscriptionUnserved | SubscriptionServed):
                put(json.dumps({**event_document(event), **advice.document(event)}))
            else:
                print_event(event)
        elif isinstance(event, SubscriptionUnserved | SubscriptionServed):
            sentence = advice.sentence(event)
            if sentence is not None:
                say(sentence)
        elif isinstance(event, NotificationDelivered):
            words = notification_words(event.item.language, event.item.payload, plan.table)
            mark = "" if event.reason is None else f", {event.reason}"
            put(f"from {event.item.origin}: {words} ({match_words(event, end, plan.table)}{mark})")
            for line in node_words(event, end, plan.table):
                put(f"  {line}")

    return show


def notification_words(language: int, vector: bytes, table: MissionTable) -> str:
    """Describe a notification in the words of its language, or as hex if the language is unknown."""
    authoring = _authoring(language)
    if authoring is None:
        return f"{len(vector)} bytes {vector.hex()}"
    try:
        return " ".join(authoring.describe(vector, table, "nv").sentences)
    except (VectorError, LanguageDefect) as error:
        return f"{len(vector)} bytes {vector.hex()}, not a valid notification ({error})"


def node_words(event: NotificationDelivered, end: SubscriberEndpoint, table: MissionTable) -> Iterator[str]:
    """Yield, per subscription of a graph language, the nodes of the notification that matched."""
    for satisfied in event.satisfied:
        subscription = next((held for held in end.in_force if held.id == satisfied.id), None)
        authoring = None if subscription is None else _authoring(subscription.item.language)
        if subscription is None or authoring is None or authoring.found_nodes is None:
            continue
        with suppress(VectorError, LanguageDefect):
            if found := authoring.found_nodes(subscription.body, event.item.payload, table):
                yield f"subscription {satisfied.id}: {found}"


def match_words(event: NotificationDelivered, end: SubscriberEndpoint, table: MissionTable) -> str:
    """Describe the best match of a delivery in the words of the subscription's language."""
    best = max(event.satisfied, key=lambda satisfied: satisfied.degree_u8)
    subscription = next((held for held in end.in_force if held.id == best.id), None)
    authoring = _authoring(event.item.language if subscription is None else subscription.item.language)
    if authoring is not None:
        with suppress(VectorError, LanguageDefect):
            return authoring.describe_match(Match((end.node, best.id), best.degree_u8, best.detail), table)
    return f"degree {best.degree_u8 / 255:.2f}"


def _authoring(language: int) -> Authoring | None:
    known = languages().get(language)
    with suppress(LanguageDefect):
        return None if known is None or known.authoring is None else known.authoring()
    return None
