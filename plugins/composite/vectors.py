"""Encoding of a composite subscription.

    0   5    id, revision, lifetime, stamp (the first three are the overlay's)
    5   1    high nibble threshold; bits 0–1 select, bit 2 scope any, bit 3 prediction
    6   2    window
    8   1    high nibble conditions c, low nibble primitives q
    9   3    keep (lifetime code), quiet (0 none, else lifetime code), L
    12  L    postfix (plugins.composite.pattern)
    …   5c   conditions: two leaves as nibbles, low (2), high (2)
    …        q primitives: length, then a subscription of the boards' language from its byte 5 on
    …   1+qk key size k, for each primitive k attribute indexes
    …        with prediction: probability, unit, horizon, S, then S times state mask (2) and eight β

Decoding is total: bytes are one subscription in its canonical encoding, or `VectorError` reports the offset.
"""

from dataclasses import dataclass
from typing import Final

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.board_parts import Constrained, constrained_by
from plugins.composite.alternatives import (
    Condition,
    TooManyAlternatives,
    expanded,
    meeting_places,
    mixes_too_much,
)
from plugins.composite.bounds import (
    LONGEST_WINDOW_S,
    MOST_CONDITIONS,
    MOST_KEYS,
    MOST_MIXED_GROUPS,
    MOST_PRIMITIVES,
    WAIT_CLASSES,
)
from plugins.composite.pattern import Pattern, leaves_of, postfix, read_postfix
from watchdog.header import BODY_AT, NO_HEADER, body_of
from watchdog.lifetime import LONGEST_LIFETIME_S, lifetime_code
from watchdog.vector import VectorError

SELECTIONS: Final = ("ends", "all", "first")
READINGS, DURATION = 0, 1
"""Units of a horizon: a number of readings, or an encoded lifetime."""
_LAST_CODE: Final = lifetime_code(LONGEST_LIFETIME_S)
_FIXED: Final = 12
_CONDITION_BYTES: Final = 5
_STATE_BYTES: Final = 2 + WAIT_CLASSES
_SCOPE_ANY, _PREDICTS = 4, 8


@dataclass(frozen=True, slots=True)
class Prediction:
    """When to predict: with this probability (of 255), within a horizon, by a counted model.

    A model has, for each state (a mask of leaves), β by the number of readings in it, in powers of two.
    """

    probability: int
    unit: int
    horizon: int
    model: tuple[tuple[int, bytes], ...] = ()

    def beta(self, mask: int, wait: int) -> int | None:
        """Return β of a state, None if the model does not contain it."""
        return next((betas[wait] for state, betas in self.model if state == mask), None)


@dataclass(frozen=True, slots=True)
class CompositeBody:
    """A composite subscription without number, revision and lifetime."""

    stamp_s: int
    threshold: int
    select: str
    is_any_source: bool
    window_s: int
    keep_q: int
    quiet_q: int
    pattern: Pattern
    conditions: tuple[Condition, ...]
    primitives: tuple[bytes, ...]
    """Subscriptions of the boards' language, from their threshold on."""
    keys: tuple[tuple[int, ...], ...]
    """For each primitive, the attributes that must be equal in all events of a match."""
    prediction: Prediction | None = None

    @property
    def leaf_primitives(self) -> tuple[int, ...]:
        """Return the primitive of each leaf."""
        return tuple(leaf.primitive for leaf in leaves_of(self.pattern))

    def part(self, primitive: int) -> bytes:
        """Return a primitive as a body of the boards' language."""
        return self.stamp_s.to_bytes(2, "big") + self.primitives[primitive]


def constraints_of(primitive: bytes, feature_bytes: int) -> Constrained:
    """Return what a primitive constrains. Invalid bytes raise `VectorError`."""
    return constrained_by(bytes(2) + primitive, feature_bytes)


def encode_body(parts: CompositeBody, feature_bytes: int) -> bytes:
    """Return the bytes of a body. Inconsistent parts raise `VectorError`."""
    spelt = postfix(parts.pattern)
    flags = SELECTIONS.index(parts.select)
    flags |= _SCOPE_ANY if parts.is_any_source else 0
    flags |= 0 if parts.prediction is None else _PREDICTS
    body = parts.stamp_s.to_bytes(2, "big") + bytes((parts.threshold << 4 | flags,))
    body += parts.window_s.to_bytes(2, "big")
    body += bytes((len(parts.conditions) << 4 | len(parts.primitives), parts.keep_q, parts.quiet_q))
    body += bytes((len(spelt),)) + spelt
    for one in parts.conditions:
        body += bytes((one.first << 4 | one.second,))
        body += one.low.to_bytes(2, "big") + one.high.to_bytes(2, "big")
    body += b"".join(bytes((len(one),)) + one for one in parts.primitives)
    body += bytes((len(parts.keys[0]),)) + b"".join(map(bytes, parts.keys))
    if (wanted := parts.prediction) is not None:
        body += bytes((wanted.probability, wanted.unit, wanted.horizon, len(wanted.model)))
        body += b"".join(mask.to_bytes(2, "big") + betas for mask, betas in wanted.model)
    decode_body(body, feature_bytes)
    return body


class _Bytes:
    """Reads bytes from the front; reports where they end too early."""

    def __init__(self, body: bytes) -> None:
        self._vector = NO_HEADER + body
        self.at = BODY_AT

    def take(self, count: int, what: str) -> bytes:
        found = self._vector[self.at : self.at + count]
        if len(found) < count:
            raise VectorError(len(self._vector), f"cut off in {what}")
        self.at += count
        return found

    def number(self, count: int, what: str) -> int:
        return int.from_bytes(self.take(count, what), "big")

    @property
    def is_over(self) -> bool:
        return self.at == len(self._vector)


def decode_body(body: bytes, feature_bytes: int, table: MissionTable | None = None) -> CompositeBody:
    """Return the parts of a body. Invalid bytes, and references unknown in the mission, raise `VectorError`;
    offsets are those of the whole vector.
    """
    if len(body) < _FIXED - BODY_AT + 1:
        raise VectorError(BODY_AT + len(body), "too short for a composite subscription")
    given = _Bytes(body)
    stamp_s = given.number(2, "the stamp")
    flags = given.number(1, "the flags")
    if flags & 3 == len(SELECTIONS):
        raise VectorError(given.at - 1, "select is 0 to 2")
    select, is_any = SELECTIONS[flags & 3], bool(flags & _SCOPE_ANY)
    window_s = given.number(2, "the window")
    if not 1 <= window_s <= LONGEST_WINDOW_S:
        raise VectorError(given.at - 2, f"the window is not within 1 to {LONGEST_WINDOW_S} seconds")
    counts = given.number(1, "the counts")
    conditions, primitives = counts >> 4, counts & 15
    if not 1 <= primitives <= MOST_PRIMITIVES:
        raise VectorError(given.at - 1, f"expected 1 to {MOST_PRIMITIVES} primitives")
    keep_q, quiet_q = given.number(1, "keep"), given.number(1, "quiet")
    if quiet_q and select != "ends":
        raise VectorError(given.at - 1, "quiet requires select end")
    if max(keep_q, quiet_q) > _LAST_CODE:
        raise VectorError(given.at - 2, f"the maximum lifetime code is {_LAST_CODE}")
    if is_any and (select == "first" or flags & _PREDICTS):
        raise VectorError(BODY_AT + 2, "select first and predictions require one source")
    length = given.number(1, "the pattern")
    pattern = read_postfix(given.take(length, "the pattern"), given.at - length, primitives)
    found = _read_conditions(given, conditions, pattern, window_s)
    try:
        alternatives = expanded(pattern, found)
    except TooManyAlternatives as error:
        raise VectorError(_FIXED, str(error)) from None
    if is_any and mixes_too_much(alternatives):
        raise VectorError(_FIXED, f"over all sources, at most {MOST_MIXED_GROUPS} runs of , are allowed")
    parts = tuple(_read_primitive(given, feature_bytes, table) for _ in range(primitives))
    keys = _read_keys(given, parts, feature_bytes)
    prediction = _read_prediction(given, pattern) if flags & _PREDICTS else None
    if not given.is_over:
        raise VectorError(given.at, "trailing bytes after the subscription")
    return CompositeBody(
        stamp_s,
        flags >> 4,
        select,
        is_any,
        window_s,
        keep_q,
        quiet_q,
        pattern,
        found,
        parts,
        keys,
        prediction,
    )


def _read_conditions(given: _Bytes, count: int, pattern: Pattern, window_s: int) -> tuple[Condition, ...]:
    if count > MOST_CONDITIONS:
        raise VectorError(given.at, f"at most {MOST_CONDITIONS} conditions are allowed")
    leaves = sum(1 for _ in leaves_of(pattern))
    meet = meeting_places(pattern)
    found: list[Condition] = []
    for _ in range(count):
        at = given.at
        data = given.take(_CONDITION_BYTES, "the conditions")
        first, second = data[0] >> 4, data[0] & 15
        low, high = int.from_bytes(data[1:3], "big"), int.from_bytes(data[3:5], "big")
        if not first < second < leaves:
            raise VectorError(at, "a condition refers to two leaves, the earlier first")
        if found and (found[-1].first, found[-1].second) >= (first, second):
            raise VectorError(at, "conditions are not in order, or a pair occurs twice")
        if meet[first, second] == "or":
            raise VectorError(at, "a condition joins two alternatives of an or")
        if low > high or high > window_s or (low, high) == (0, window_s):
            raise VectorError(at + 1, "a condition is not a range of seconds that restricts the window")
        if low and meet[first, second] == "and":
            raise VectorError(at + 1, "a condition across an and has a lower bound")
        found.append(Condition(first, second, low, high))
    return tuple(found)


def _read_primitive(given: _Bytes, feature_bytes: int, table: MissionTable | None) -> bytes:
    length = given.number(1, "the primitives")
    at = given.at
    primitive = given.take(length, "the primitives")
    try:
        about = constraints_of(primitive, feature_bytes)
    except VectorError as error:
        # its offsets include five bytes of header that are missing here
        raise VectorError(at + max(error.offset - 5, 0), error.message) from None
    if about.has_age:
        raise VectorError(at, "a primitive constrains the age of events")
    if table is not None:
        try:
            event = table.event_at(about.event)
        except UnknownName as error:
            raise VectorError(at, str(error)) from None
        known = {attribute.index for attribute in event.attributes}
        if unknown := sorted(set(about.attributes) - known):
            raise VectorError(at, f"{event.name} has no attribute with index {unknown[0]}")
    return primitive


def _read_keys(
    given: _Bytes, primitives: tuple[bytes, ...], feature_bytes: int
) -> tuple[tuple[int, ...], ...]:
    size = given.number(1, "the key")
    if size > MOST_KEYS:
        raise VectorError(given.at - 1, f"a key has at most {MOST_KEYS} attributes")
    keys = []
    for primitive in primitives:
        at = given.at
        key = tuple(given.take(size, "the key"))
        about = constraints_of(primitive, feature_bytes)
        if len(set(key)) != size:
            raise VectorError(at, "an attribute occurs twice in the key")
        if not set(key) <= set(about.attributes):
            raise VectorError(at, "a primitive does not constrain an attribute of its key")
        if size and not about.needs_all:
            raise VectorError(at, "a key requires that every constraint holds: min or product")
        keys.append(key)
    return tuple(keys)


def _read_prediction(given: _Bytes, pattern: Pattern) -> Prediction:
    at = given.at
    probability, unit, horizon, states = given.take(4, "the prediction")
    if not probability:
        raise VectorError(at, "the probability is 0")
    if unit not in (READINGS, DURATION):
        raise VectorError(at + 1, "a horizon is in readings (0) or a lifetime code (1)")
    if (unit == READINGS and not horizon) or (unit == DURATION and horizon > _LAST_CODE):
        raise VectorError(at + 2, "unknown horizon")
    leaves = sum(1 for _ in leaves_of(pattern))
    model: list[tuple[int, bytes]] = []
    for _ in range(states):
        at = given.at
        data = given.take(_STATE_BYTES, "the model")
        mask = int.from_bytes(data[:2], "big")
        if not mask or mask >> leaves or (model and model[-1][0] >= mask):
            raise VectorError(
                at, "states of a model are not masks of leaves, not empty and in ascending order"
            )
        model.append((mask, data[2:]))
    return Prediction(probability, unit, horizon, tuple(model))


def framed_body(vector: bytes) -> bytes:
    """Return the body of a whole vector, which must be long enough."""
    if len(vector) <= _FIXED:
        raise VectorError(len(vector), "too short for a composite subscription")
    return body_of(vector)
