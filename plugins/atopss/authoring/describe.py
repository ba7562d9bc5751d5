"""Description of the bytes of a vector."""

from typing import Any, Final

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import EventClass
from plugins.atopss.authoring.words import (
    attribute_of,
    name_of,
    predicate_words,
    shape_words,
    short_threshold,
    subscription_words,
)
from plugins.atopss.codec import AtopssCodec
from plugins.atopss.notifications import Notification
from plugins.atopss.shape_bytes import value_bytes
from plugins.atopss.shapes.scale import HALF, LAST_THRESHOLD
from plugins.atopss.subscriptions import Form, Norm, Subscription
from plugins.atopss.vectors import entry
from plugins.authoring.output.description import Description, VectorKind, notification_head, subscription_head
from watchdog.header import body_of
from watchdog.vector import VectorError

_FIFTEENTH: Final = 17
"""A fifteenth of a degree as a byte."""


def describe_vector(vector: bytes, table: MissionTable | None, kind: VectorKind | None = None) -> Description:
    """Describe a vector. Bytes that are invalid, or not of the requested kind, raise `VectorError`.

    Without a kind, they are a subscription if valid as one.
    """
    codec = AtopssCodec(table)
    if kind != "nv":
        try:
            wanted = codec.subscription(body_of(vector))
        except VectorError:
            if kind == "sv":
                raise
        else:
            return _subscription(vector, wanted, codec.event(wanted.event))
    notification = codec.written_notification(vector)
    return _notification(vector, notification, codec.event(notification.event))


def _subscription(vector: bytes, wanted: Subscription, event: EventClass | None) -> Description:
    fields, facts = subscription_head(vector, wanted.stamp_s)
    least = f"Π ≥ {short_threshold(wanted.possibility)}, N ≥ {short_threshold(wanted.necessity)}"
    fields.take(1, "thresholds", least)
    norm = wanted.norm.name.lower()
    fields.take(1, "event, norm", f"{_event_name(wanted.event, event)}, {norm}")
    halves = HALF in (wanted.possibility, wanted.necessity)
    fields.take(1 + halves, "predicates, form", f"{len(wanted.predicates)}, {wanted.form.name.lower()}")
    predicates: list[dict[str, Any]] = []
    for one in wanted.predicates:
        name, condition = (
            name_of(event, one.attribute),
            predicate_words(one, attribute_of(event, one.attribute)),
        )
        weight = f", weight {one.weight}" if wanted.norm == Norm.WEIGHTED_AVERAGE else ""
        fields.take(len(entry(one, wanted.norm)), "predicate", f"{name} is {condition}{weight}")
        predicates.append({"attribute": name, "index": one.attribute, "words": condition})
    if wanted.form == Form.TOKENS:
        rest = len(vector) - sum(len(field.content) for field in fields.found())
        fields.take(rest, "tokens", " ".join(map(str, wanted.tokens)))
    facts |= {
        "possibility": wanted.possibility / LAST_THRESHOLD,
        "necessity": wanted.necessity / LAST_THRESHOLD,
        "norm": norm,
        "form": wanted.form.name.lower(),
        "event": _event_name(wanted.event, event),
        "event_index": wanted.event,
        "predicates": predicates,
    }
    sentences = tuple(subscription_words(wanted, event))
    return Description("subscription", vector, fields.found(), sentences, facts)


def _notification(vector: bytes, notification: Notification, event: EventClass | None) -> Description:
    fields, facts = notification_head(vector, notification.stamp_s)
    fields.take(
        1,
        "degrees",
        f"released with Π of {notification.possibility}/15, N of {notification.necessity}/15 or more",
    )
    fields.take(1, "event", _event_name(notification.event, event))
    fields.take(1, "values", str(len(notification.values)))
    values: list[dict[str, Any]] = []
    for attribute, shape in notification.values.items():
        name, words = name_of(event, attribute), shape_words(shape, attribute_of(event, attribute))
        fields.take(1 + len(value_bytes(shape)), "value", f"{name} is {words}")
        values.append({"attribute": name, "index": attribute, "words": words})
    facts |= {
        "possibility_u8": _FIFTEENTH * notification.possibility,
        "necessity_u8": _FIFTEENTH * notification.necessity,
        "event": _event_name(notification.event, event),
        "event_index": notification.event,
        "values": values,
    }
    listed = ", ".join(f"{one['attribute']} is {one['words']}" for one in values)
    sentence = f"{_event_name(notification.event, event)} event {notification.number}: {listed}."
    return Description("notification", vector, fields.found(), (sentence,), facts)


def _event_name(index: int, event: EventClass | None) -> str:
    return f"event {index}" if event is None else event.name
