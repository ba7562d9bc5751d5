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
from plugins.atopss.shapes.scale import LAST_THRESHOLD
from plugins.atopss.subscriptions import Norm, Subscription
from plugins.atopss.vectors import NOTIFICATION, SUBSCRIPTION
from plugins.authoring.output.description import (
    Description,
    Fields,
    VectorKind,
    created_words,
    happened_words,
    header_fields,
    lifetime_words,
)
from watchdog.header import body_of
from watchdog.lifetime import lifetime_s
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
    event_name, norm, form = (
        _event_name(wanted.event, event),
        wanted.norm.name.lower(),
        wanted.form.name.lower(),
    )
    predicates: list[dict[str, Any]] = []
    predicate_texts = []
    for one in wanted.predicates:
        name = name_of(event, one.attribute)
        condition = predicate_words(one, attribute_of(event, one.attribute))
        weight = f", weight {one.weight}" if wanted.norm == Norm.WEIGHTED_AVERAGE else ""
        predicate_texts.append(f"{name} is {condition}{weight}")
        predicates.append({"attribute": name, "index": one.attribute, "words": condition})
    field_words = {
        "stamp": created_words(wanted.stamp_s),
        "thresholds": f"Π ≥ {short_threshold(wanted.possibility)}, N ≥ {short_threshold(wanted.necessity)}",
        "event, norm": f"{event_name}, {norm}",
        "predicates, form": f"{len(predicates)}, {form}",
        "predicate": predicate_texts,
        "tokens": " ".join(map(str, wanted.tokens)),
    }
    fields, facts = header_fields(vector)
    fields.take_annotated(SUBSCRIPTION.annotate(wanted, field_words))
    facts |= {
        "stamp_s": wanted.stamp_s,
        "possibility": wanted.possibility / LAST_THRESHOLD,
        "necessity": wanted.necessity / LAST_THRESHOLD,
        "norm": norm,
        "form": form,
        "event": event_name,
        "event_index": wanted.event,
        "predicates": predicates,
    }
    sentences = tuple(subscription_words(wanted, event))
    return Description("subscription", vector, fields.found(), sentences, facts)


def _notification(vector: bytes, notification: Notification, event: EventClass | None) -> Description:
    event_name = _event_name(notification.event, event)
    possible, necessary = notification.possibility, notification.necessity
    values = [
        {
            "attribute": name_of(event, attribute),
            "index": attribute,
            "words": shape_words(shape, attribute_of(event, attribute)),
        }
        for attribute, shape in notification.values.items()
    ]
    value_texts = [f"{one['attribute']} is {one['words']}" for one in values]
    field_words = {
        "event number": f"{notification.number} at its publisher",
        "valid": lifetime_words(notification.valid),
        "stamp": happened_words(notification.stamp_s),
        "degrees": f"released with Π of {possible}/15, N of {necessary}/15 or more",
        "event": event_name,
        "values": str(len(values)),
        "value": value_texts,
    }
    fields = Fields(vector)
    fields.take_annotated(NOTIFICATION.annotate(notification, field_words))
    facts = {
        "number": notification.number,
        "valid": notification.valid,
        "valid_s": lifetime_s(notification.valid),
        "stamp_s": notification.stamp_s,
        "possibility_u8": _FIFTEENTH * possible,
        "necessity_u8": _FIFTEENTH * necessary,
        "event": event_name,
        "event_index": notification.event,
        "values": values,
    }
    sentence = f"{event_name} event {notification.number}: {', '.join(value_texts)}."
    return Description("notification", vector, fields.found(), (sentence,), facts)


def _event_name(index: int, event: EventClass | None) -> str:
    return f"event {index}" if event is None else event.name
