"""What the commands of a node print of what happens: documents for programs, lines for people."""

import json
from collections.abc import Callable

from dens.drivers.keys import is_private
from dens.drivers.neighbours import Address, spoken
from dens.events import Event, NotificationDelivered
from nodes.event_format import Teller
from nodes.node_file import NodePlan
from nodes.output import put, say
from plugins.fuzzy.authoring.describe import describe_vector


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


def shown_to_subscriber(plan: NodePlan, as_json: bool) -> Callable[[Event], None]:
    """Return what shows deliveries in words, or everything as documents."""
    if as_json:
        return Shown(True, put)

    def show(event: Event) -> None:
        if isinstance(event, NotificationDelivered):
            says = " ".join(describe_vector(event.item.payload, plan.table, "nv").sentences)
            degree = max(one[2] for one in event.satisfied) / 255
            mark = "" if event.reason is None else f", {event.reason}"
            put(f"from {event.item.origin}: {says} (degree {degree:.2f}{mark})")

    return show
