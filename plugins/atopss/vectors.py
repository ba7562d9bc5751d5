"""Encoding of the language (docs/reference/vector-format.md). It is canonical.

    body           stamp (2)  Π·16 + N  event + 64·norm  (k − 1) + 64·form
                   k × (attribute, shape, weight of a weighted average), rising
                   of form 2: number of tokens, tokens
                   of form 3, version 2: form + 4·halves stands before the predicates
    notification   event number (2)  valid  stamp (2)  Π·16 + N  event  k
                   k × (attribute, shape), attributes rising

A body follows the overlay's header, and offsets of errors include it. Vectors are untrusted: decoding accepts
exactly what encoding writes, and raises `VectorError` for everything else.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Final

from plugins.atopss.notifications import Notification
from plugins.atopss.shape_bytes import (
    predicate_bytes,
    read_predicate,
    read_value,
    threshold_bytes,
    thresholds_of,
    value_bytes,
)
from plugins.atopss.shapes.shapes import Shape
from plugins.atopss.subscriptions import Form, Norm, Predicate, Subscription
from plugins.byte_numbers import ByteReader, number
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


def encode_subscription(subscription: Subscription) -> bytes:
    """Return the body of a canonical subscription (`plugins.atopss.canonical` makes one)."""
    fifteenths, halves = threshold_bytes(subscription.possibility, subscription.necessity)
    count, form = len(subscription.predicates) - 1, subscription.form
    joint = [count | _HALVES << 6, form | halves << 2] if halves else [count | form << 6]
    event = subscription.event | subscription.norm << 6
    head = stamp_bytes(subscription.stamp_s) + bytes([fifteenths, event, *joint])
    predicates = b"".join(entry(predicate, subscription.norm) for predicate in subscription.predicates)
    if subscription.form != Form.TOKENS:
        return head + predicates
    return head + predicates + number(len(subscription.tokens)) + subscription.tokens


def entry(predicate: Predicate, norm: Norm) -> bytes:
    """Return the bytes of a predicate in its subscription, the sort key of predicates."""
    weight = bytes([predicate.weight]) if norm == Norm.WEIGHTED_AVERAGE else b""
    return bytes([predicate.attribute]) + predicate_bytes(predicate) + weight


def decode_subscription(body: bytes) -> Subscription:
    data = ByteReader(body, BODY_AT)
    stamp_s = data.byte("a stamp") << 8 | data.byte("a stamp")
    fifteenths = data.byte("a byte of thresholds")
    second, third = data.byte("an event"), data.byte("a number of predicates")
    norm, count = Norm(second >> 6), (third & 63) + 1
    form, (possibility, necessity) = _read_form(data, third >> 6, fifteenths)
    if form == Form.OR and count == 1:
        raise data.refused("a single predicate must be joined by and", data.at - 1)
    if norm.is_mean and form != Form.AND:
        raise data.refused("a mean must join a flat list", data.at - 1)
    predicates = _read_predicates(data, count, norm)
    tokens = _read_tokens(data, count) if form == Form.TOKENS else b""
    data.refuse_rest()
    return Subscription(
        event=second & LAST_EVENT,
        predicates=predicates,
        form=form,
        tokens=tokens,
        norm=norm,
        possibility=possibility,
        necessity=necessity,
        stamp_s=stamp_s,
    )


def _read_form(data: ByteReader, code: int, fifteenths: int) -> tuple[Form, tuple[int, int]]:
    """Read the form of a function, and the thresholds of the whole in thirtieths."""
    at = data.at - 1
    if code != _HALVES:
        return Form(code), (2 * (fifteenths >> 4), 2 * (fifteenths & 15))
    byte = data.byte("a form")
    thresholds = thresholds_of(fifteenths, byte >> 2) if 1 <= byte >> 2 <= 3 else None
    if thresholds is None or byte & 3 > Form.TOKENS:
        raise data.refused("unknown form of a function", at)
    return Form(byte & 3), thresholds


def _read_predicates(data: ByteReader, count: int, norm: Norm) -> tuple[Predicate, ...]:
    found: list[Predicate] = []
    before = b""
    for _ in range(count):
        begin = data.at
        predicate = read_predicate(data, _attribute(data))
        if norm == Norm.WEIGHTED_AVERAGE:
            predicate = replace(predicate, weight=data.byte("a weight"))
        written = data.data[begin : data.at]
        if written <= before:
            raise data.refused(
                "predicates are not in ascending order of their bytes, or one occurs twice", begin
            )
        before = written
        found.append(predicate)
    if norm == Norm.WEIGHTED_AVERAGE and not any(predicate.weight for predicate in found):
        raise data.refused("all weights are 0; set at least one")
    return tuple(found)


def _attribute(data: ByteReader) -> int:
    attribute = data.byte("an attribute")
    if attribute > LAST_ATTRIBUTE:
        raise data.refused(f"unknown attribute {attribute}; the last is {LAST_ATTRIBUTE}", data.at - 1)
    return attribute


def _read_tokens(data: ByteReader, count: int) -> bytes:
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


def encode_notification(notification: Notification) -> bytes:
    head = (
        notification.number.to_bytes(2, "big")
        + bytes([notification.valid])
        + stamp_bytes(notification.stamp_s)
        + bytes(
            [
                notification.possibility << 4 | notification.necessity,
                notification.event,
                len(notification.values),
            ]
        )
    )
    return head + b"".join(
        bytes([attribute]) + value_bytes(shape) for attribute, shape in sorted(notification.values.items())
    )


def decode_notification(vector: bytes) -> Notification:
    """Return the content of a notification, or raise `VectorError`."""
    data = ByteReader(vector)
    event_number = data.byte("a number") << 8 | data.byte("a number")
    valid = data.byte("a lifetime")
    stamp_s = data.byte("a stamp") << 8 | data.byte("a stamp")
    degrees = data.byte("a byte of degrees")
    event, count = data.byte("an event"), data.byte("a number of values")
    if event > LAST_EVENT:
        raise data.refused(f"unknown event {event}; the last is {LAST_EVENT}", data.at - 2)
    if not 1 <= count <= MOST_VALUES:
        raise data.refused(f"a notification has 1 to {MOST_VALUES} values", data.at - 1)
    values: dict[int, Shape] = {}
    before = -1
    for _ in range(count):
        at = data.at
        attribute = _attribute(data)
        if attribute <= before:
            raise data.refused("attributes are not in ascending order, or one occurs twice", at)
        before = attribute
        values[attribute] = read_value(data)
    data.refuse_rest()
    return Notification(event_number, valid, stamp_s, event, values, degrees >> 4, degrees & 15)
