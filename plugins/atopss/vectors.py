"""Encoding of the language (docs/reference/vector-format.md), as two codec tables. It is canonical.

    body           stamp (2)  Π·16 + N  event + 64·norm  (k − 1) + 64·form
                   k × (attribute, shape, weight of a weighted average), rising
                   of form 2: number of tokens, tokens
                   of form 3, version 2: form + 4·halves stands before the predicates
    notification   event number (2)  valid  stamp (2)  Π·16 + N  event  k
                   k × (attribute, shape), attributes rising

A body follows the overlay's header, and offsets of errors include it. Vectors are untrusted: decoding accepts
exactly what encoding writes, and raises `VectorError` for everything else.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from plugins.atopss.notifications import Notification
from plugins.atopss.shape_bytes import (
    predicate_bytes,
    read_predicate,
    read_value,
    threshold_bytes,
    value_bytes,
    whole_thresholds,
    with_halves,
)
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Form, Norm, Predicate, Subscription
from plugins.byte_numbers import ByteReader, number
from plugins.codec_table import ReaderField, ReaderTable
from plugins.stamps import stamp_bytes
from watchdog.header import BODY_AT
from watchdog.tokens import AND, NOT

MOST_PREDICATES: Final = 64
MOST_OPERANDS: Final = 63
MOST_VALUES: Final = 63
LAST_ATTRIBUTE: Final = 62
LAST_EVENT: Final = 63
_HALVES: Final = 3
"""Instead of a form: a threshold of the whole is ½, and one more byte has which one, and the form."""
DEEPEST: Final = 48
"""Maximum nesting of functions; documents have their own limit."""
_NORMS: Final = tuple(Norm)
_FORMS: Final = tuple(Form)


def entry(predicate: Predicate, norm: Norm) -> bytes:
    """Return the bytes of a predicate in its subscription, the sort key of predicates."""
    weight = bytes([predicate.weight]) if norm == Norm.WEIGHTED_AVERAGE else b""
    return bytes([predicate.attribute]) + predicate_bytes(predicate) + weight


def _reads_byte(part: str, what: str) -> Callable[[ByteReader, dict[str, Any]], None]:
    def read(data: ByteReader, parts: dict[str, Any]) -> None:
        parts[part] = data.byte(what)

    return read


def _reads_two_bytes(part: str, what: str) -> Callable[[ByteReader, dict[str, Any]], None]:
    def read(data: ByteReader, parts: dict[str, Any]) -> None:
        parts[part] = data.byte(what) << 8 | data.byte(what)

    return read


def _write_stamp(parts: Subscription | Notification) -> bytes:
    return stamp_bytes(parts.stamp_s)


def _read_thresholds(data: ByteReader, parts: dict[str, Any]) -> None:
    fifteenths = data.byte("a byte of thresholds")
    parts["possibility"], parts["necessity"] = whole_thresholds(fifteenths)


def _write_thresholds(subscription: Subscription) -> bytes:
    fifteenths, _ = threshold_bytes(subscription.possibility, subscription.necessity)
    return bytes([fifteenths])


def _read_event_norm(data: ByteReader, parts: dict[str, Any]) -> None:
    byte = data.byte("an event")
    parts["event"], parts["norm"] = byte & LAST_EVENT, _NORMS[byte >> 6]


def _read_form(data: ByteReader, parts: dict[str, Any]) -> None:
    """Read the number of predicates and the form of the function. In version 2, a threshold gets its half."""
    at = data.at
    byte = data.byte("a number of predicates")
    count, code = (byte & 63) + 1, byte >> 6
    if code == _HALVES:
        byte = data.byte("a form")
        code = byte & 3
        thresholds = with_halves((parts["possibility"], parts["necessity"]), byte >> 2)
        if thresholds is None or code > Form.TOKENS:
            raise data.refused("unknown form of a function", at)
        parts["possibility"], parts["necessity"] = thresholds
    if code == Form.OR and count == 1:
        raise data.refused("a single predicate must be joined by and", data.at - 1)
    if code != Form.AND and parts["norm"].is_mean:
        raise data.refused("a mean must join a flat list", data.at - 1)
    parts["form"], parts["count"] = _FORMS[code], count


def _write_form(subscription: Subscription) -> bytes:
    _, halves = threshold_bytes(subscription.possibility, subscription.necessity)
    count, form = len(subscription.predicates) - 1, subscription.form
    return bytes([count | _HALVES << 6, form | halves << 2] if halves else [count | form << 6])


def _read_predicates(data: ByteReader, parts: dict[str, Any]) -> None:
    is_weighted = parts["norm"] == Norm.WEIGHTED_AVERAGE
    found: list[Predicate] = []
    before = b""
    for _ in range(parts.pop("count")):
        begin = data.at
        predicate = read_predicate(data, _attribute(data))
        if is_weighted:
            predicate = replace(predicate, weight=data.byte("a weight"))
        written = data.data[begin : data.at]
        if written <= before:
            raise data.refused(
                "predicates are not in ascending order of their bytes, or one occurs twice", begin
            )
        before = written
        found.append(predicate)
    if is_weighted and not any(predicate.weight for predicate in found):
        raise data.refused("all weights are 0; set at least one")
    parts["predicates"] = tuple(found)


def _attribute(data: ByteReader) -> int:
    attribute = data.byte("an attribute")
    if attribute > LAST_ATTRIBUTE:
        raise data.refused(f"unknown attribute {attribute}; the last is {LAST_ATTRIBUTE}", data.at - 1)
    return attribute


def _read_tokens(data: ByteReader, parts: dict[str, Any]) -> None:
    if parts["form"] == Form.TOKENS:
        parts["tokens"] = _checked_tokens(data, len(parts["predicates"]))


def _write_tokens(subscription: Subscription) -> bytes:
    if subscription.form != Form.TOKENS:
        return b""
    return number(len(subscription.tokens)) + subscription.tokens


def _checked_tokens(data: ByteReader, count: int) -> bytes:
    """Read the tokens of a function: an operand on the stack is its tokens, and its depth."""
    length = data.number("a number of tokens")
    begin = data.at
    if length != len(data.data) - begin:
        raise data.refused(f"{length} tokens are announced, {len(data.data) - begin} follow")
    stack: list[tuple[bytes, int]] = []
    for _ in range(length):
        token = data.byte("a token")
        if token < AND:
            if token >= count:
                raise data.refused(f"unknown predicate {token}", data.at - 1)
            stack.append((bytes([token]), 0))
            continue
        size, operands = token & MOST_OPERANDS, stack[-(token & MOST_OPERANDS) :]
        if token >= NOT or not 2 <= size <= len(stack):
            raise data.refused("a connective must follow at least two operands", data.at - 1)
        if any(low[0] >= high[0] for low, high in pairwise(operands)):
            raise data.refused(
                "operands are not in ascending order of their bytes, or one occurs twice", data.at - 1
            )
        if any(tokens[-1] & NOT == token & NOT for tokens, depth in operands if depth):
            raise data.refused("a connective is directly inside its own kind", data.at - 1)
        depth = 1 + max(depth for _, depth in operands)
        if depth > DEEPEST:
            raise data.refused(f"the function is nested more than {DEEPEST} deep", data.at - 1)
        del stack[-size:]
        stack.append((b"".join(tokens for tokens, _ in operands) + bytes([token]), depth))
    if len(stack) != 1:
        raise data.refused("the tokens are not one function", begin)
    tokens, depth = stack[0]
    if {token for token in tokens if token < AND} != set(range(count)):
        raise data.refused("a predicate is not used", begin)
    if depth < 2:
        raise data.refused("a flat function must not have tokens", begin)
    return tokens


def _read_degrees(data: ByteReader, parts: dict[str, Any]) -> None:
    byte = data.byte("a byte of degrees")
    parts["possibility"], parts["necessity"] = byte >> 4, byte & 15


def _read_count(data: ByteReader, parts: dict[str, Any]) -> None:
    """Read the number of values. A missing one is reported before an unknown event."""
    count, event = data.byte("a number of values"), parts["event"]
    if event > LAST_EVENT:
        raise data.refused(f"unknown event {event}; the last is {LAST_EVENT}", data.at - 2)
    if not 1 <= count <= MOST_VALUES:
        raise data.refused(f"a notification has 1 to {MOST_VALUES} values", data.at - 1)
    parts["count"] = count


def _read_values(data: ByteReader, parts: dict[str, Any]) -> None:
    values: dict[int, Shape] = {}
    before = -1
    for _ in range(parts.pop("count")):
        at = data.at
        attribute = _attribute(data)
        if attribute <= before:
            raise data.refused("attributes are not in ascending order, or one occurs twice", at)
        before = attribute
        values[attribute] = read_value(data)
    parts["values"] = values


SUBSCRIPTION: Final[ReaderTable[Subscription]] = ReaderTable(
    Subscription,
    ReaderField("stamp", _reads_two_bytes("stamp_s", "a stamp"), _write_stamp),
    ReaderField("thresholds", _read_thresholds, _write_thresholds),
    ReaderField("event, norm", _read_event_norm, lambda parts: bytes([parts.event | parts.norm << 6])),
    ReaderField("predicates, form", _read_form, _write_form),
    ReaderField(
        "predicate", _read_predicates, lambda parts: [entry(one, parts.norm) for one in parts.predicates]
    ),
    ReaderField("tokens", _read_tokens, _write_tokens),
)
"""The body of a subscription."""

NOTIFICATION: Final[ReaderTable[Notification]] = ReaderTable(
    Notification,
    ReaderField(
        "event number", _reads_two_bytes("number", "a number"), lambda parts: parts.number.to_bytes(2, "big")
    ),
    ReaderField("valid", _reads_byte("valid", "a lifetime"), lambda parts: bytes([parts.valid])),
    ReaderField("stamp", _reads_two_bytes("stamp_s", "a stamp"), _write_stamp),
    ReaderField("degrees", _read_degrees, lambda parts: bytes([parts.possibility << 4 | parts.necessity])),
    ReaderField("event", _reads_byte("event", "an event"), lambda parts: bytes([parts.event])),
    ReaderField("values", _read_count, lambda parts: bytes([len(parts.values)])),
    ReaderField(
        "value",
        _read_values,
        lambda parts: [bytes([key]) + value_bytes(shape) for key, shape in sorted(parts.values.items())],
    ),
)
"""A whole notification."""


def encode_subscription(subscription: Subscription) -> bytes:
    """Return the body of a canonical subscription (`plugins.atopss.canonical` makes one)."""
    return SUBSCRIPTION.encode(subscription)


def decode_subscription(body: bytes) -> Subscription:
    return SUBSCRIPTION.decode(ByteReader(body, BODY_AT))


def encode_notification(notification: Notification) -> bytes:
    return NOTIFICATION.encode(notification)


def decode_notification(vector: bytes) -> Notification:
    """Return the content of a notification, or raise `VectorError`."""
    return NOTIFICATION.decode(ByteReader(vector))
