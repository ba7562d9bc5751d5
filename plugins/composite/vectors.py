"""Encoding of a composite subscription, as a codec table: the rows of `SUBSCRIPTION` are the layout.

Bits and nibbles of a byte are the highest first. Primitives are subscriptions of the boards' language, from
their byte 5 on. The first three bytes of a vector are the overlay's.

Decoding is total: bytes are one subscription in its canonical encoding, or `VectorError` reports the offset.
"""

from dataclasses import dataclass
from typing import Final

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.board_parts import Constrained, constrained_by
from plugins.codec_table import StreamField, StreamTable
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
from plugins.composite.pattern import Leaf, Pattern, leaves_of, postfix, read_postfix
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


class _Reader:
    """Reads a body from the front, and keeps what later fields depend on. Offsets are those of the vector."""

    def __init__(self, body: bytes, feature_bytes: int, table: MissionTable | None) -> None:
        self.data = NO_HEADER + body
        self.at = BODY_AT
        self.ends: list[int] = []
        self.feature_bytes = feature_bytes
        self.table = table
        self.flags = 0
        self.window_s = 0
        self.keep_q = 0
        self.condition_count = 0
        self.primitive_count = 0
        self.pattern: Pattern = Leaf(0)
        self.leaf_count = 0
        self.constrained: list[Constrained] = []

    def take(self, count: int, what: str) -> bytes:
        found = self.data[self.at : self.at + count]
        if len(found) < count:
            raise VectorError(len(self.data), f"cut off in {what}")
        self.at += count
        return found

    def number(self, count: int, what: str) -> int:
        return int.from_bytes(self.take(count, what), "big")

    def end_piece(self) -> None:
        self.ends.append(self.at)


def _read_stamp(given: _Reader) -> tuple[int]:
    return (given.number(2, "the stamp"),)


def _read_flags(given: _Reader) -> tuple[int, str, bool]:
    flags = given.flags = given.number(1, "the flags")
    if flags & 3 == len(SELECTIONS):
        raise VectorError(given.at - 1, "select is 0 to 2")
    return flags >> 4, SELECTIONS[flags & 3], bool(flags & _SCOPE_ANY)


def _write_flags(parts: CompositeBody) -> bytes:
    flags = SELECTIONS.index(parts.select)
    flags |= _SCOPE_ANY if parts.is_any_source else 0
    flags |= 0 if parts.prediction is None else _PREDICTS
    return bytes((parts.threshold << 4 | flags,))


def _read_window(given: _Reader) -> tuple[int]:
    given.window_s = given.number(2, "the window")
    if not 1 <= given.window_s <= LONGEST_WINDOW_S:
        raise VectorError(given.at - 2, f"the window is not within 1 to {LONGEST_WINDOW_S} seconds")
    return (given.window_s,)


def _read_counts(given: _Reader) -> tuple[()]:
    counts = given.number(1, "the counts")
    given.condition_count, given.primitive_count = counts >> 4, counts & 15
    if not 1 <= given.primitive_count <= MOST_PRIMITIVES:
        raise VectorError(given.at - 1, f"expected 1 to {MOST_PRIMITIVES} primitives")
    return ()


def _read_keep(given: _Reader) -> tuple[int]:
    given.keep_q = given.number(1, "keep")
    return (given.keep_q,)


def _read_quiet(given: _Reader) -> tuple[int]:
    """Read `quiet`, and check the fixed fields against each other."""
    quiet_q, select = given.number(1, "quiet"), SELECTIONS[given.flags & 3]
    if quiet_q and select != "ends":
        raise VectorError(given.at - 1, "quiet requires select end")
    if max(given.keep_q, quiet_q) > _LAST_CODE:
        raise VectorError(given.at - 2, f"the maximum lifetime code is {_LAST_CODE}")
    if given.flags & _SCOPE_ANY and (select == "first" or given.flags & _PREDICTS):
        raise VectorError(BODY_AT + 2, "select first and predictions require one source")
    return (quiet_q,)


def _read_pattern(given: _Reader) -> tuple[Pattern]:
    length = given.number(1, "the pattern")
    given.end_piece()
    spelt = given.take(length, "the pattern")
    given.end_piece()
    given.pattern = read_postfix(spelt, given.at - length, given.primitive_count)
    given.leaf_count = sum(1 for _ in leaves_of(given.pattern))
    return (given.pattern,)


def _write_pattern(parts: CompositeBody) -> bytes:
    spelt = postfix(parts.pattern)
    return bytes((len(spelt),)) + spelt


def _read_conditions(given: _Reader) -> tuple[tuple[Condition, ...]]:
    """Read the conditions, and check what they and the pattern amount to."""
    if given.condition_count > MOST_CONDITIONS:
        raise VectorError(given.at, f"at most {MOST_CONDITIONS} conditions are allowed")
    pattern, window_s, leaves = given.pattern, given.window_s, given.leaf_count
    meet = meeting_places(pattern)
    found: list[Condition] = []
    for _ in range(given.condition_count):
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
        given.end_piece()
    conditions = tuple(found)
    try:
        alternatives = expanded(pattern, conditions)
    except TooManyAlternatives as error:
        raise VectorError(_FIXED, str(error)) from None
    if given.flags & _SCOPE_ANY and mixes_too_much(alternatives):
        raise VectorError(_FIXED, f"over all sources, at most {MOST_MIXED_GROUPS} runs of , are allowed")
    return (conditions,)


def _write_condition(condition: Condition) -> bytes:
    leaves = bytes((condition.first << 4 | condition.second,))
    return leaves + condition.low.to_bytes(2, "big") + condition.high.to_bytes(2, "big")


def _read_primitives(given: _Reader) -> tuple[tuple[bytes, ...]]:
    primitives = []
    for _ in range(given.primitive_count):
        primitives.append(_read_primitive(given))
        given.end_piece()
    return (tuple(primitives),)


def _read_primitive(given: _Reader) -> bytes:
    length = given.number(1, "the primitives")
    at = given.at
    primitive = given.take(length, "the primitives")
    try:
        about = constraints_of(primitive, given.feature_bytes)
    except VectorError as error:
        # its offsets include five bytes of header that are missing here
        raise VectorError(at + max(error.offset - 5, 0), error.message) from None
    if about.has_age:
        raise VectorError(at, "a primitive constrains the age of events")
    if given.table is not None:
        try:
            event = given.table.event_at(about.event)
        except UnknownName as error:
            raise VectorError(at, str(error)) from None
        known = {attribute.index for attribute in event.attributes}
        if unknown := sorted(set(about.attributes) - known):
            raise VectorError(at, f"{event.name} has no attribute with index {unknown[0]}")
    given.constrained.append(about)
    return primitive


def _read_keys(given: _Reader) -> tuple[tuple[tuple[int, ...], ...]]:
    size = given.number(1, "the key")
    if size > MOST_KEYS:
        raise VectorError(given.at - 1, f"a key has at most {MOST_KEYS} attributes")
    keys = []
    for about in given.constrained:
        at = given.at
        key = tuple(given.take(size, "the key"))
        if len(set(key)) != size:
            raise VectorError(at, "an attribute occurs twice in the key")
        if not set(key) <= set(about.attributes):
            raise VectorError(at, "a primitive does not constrain an attribute of its key")
        if size and not about.needs_all:
            raise VectorError(at, "a key requires that every constraint holds: min or product")
        keys.append(key)
    return (tuple(keys),)


def _read_prediction(given: _Reader) -> tuple[Prediction | None]:
    if not given.flags & _PREDICTS:
        return (None,)
    at = given.at
    probability, unit, horizon, states = given.take(4, "the prediction")
    if not probability:
        raise VectorError(at, "the probability is 0")
    if unit not in (READINGS, DURATION):
        raise VectorError(at + 1, "a horizon is in readings (0) or a lifetime code (1)")
    if (unit == READINGS and not horizon) or (unit == DURATION and horizon > _LAST_CODE):
        raise VectorError(at + 2, "unknown horizon")
    given.end_piece()
    model: list[tuple[int, bytes]] = []
    for _ in range(states):
        at = given.at
        data = given.take(_STATE_BYTES, "the model")
        mask = int.from_bytes(data[:2], "big")
        if not mask or mask >> given.leaf_count or (model and model[-1][0] >= mask):
            raise VectorError(
                at, "states of a model are not masks of leaves, not empty and in ascending order"
            )
        model.append((mask, data[2:]))
        given.end_piece()
    return (Prediction(probability, unit, horizon, tuple(model)),)


def _write_prediction(parts: CompositeBody) -> bytes:
    if (prediction := parts.prediction) is None:
        return b""
    written = bytes((prediction.probability, prediction.unit, prediction.horizon, len(prediction.model)))
    return written + b"".join(mask.to_bytes(2, "big") + betas for mask, betas in prediction.model)


def _name_prediction_piece(number: int, data: bytes) -> str:
    return f"state {int.from_bytes(data[:2], 'big'):#06x}" if number else "prediction"


SUBSCRIPTION: Final[StreamTable[CompositeBody, _Reader, CompositeBody]] = StreamTable(
    CompositeBody,
    StreamField("stamp", 2, ("stamp_s",), _read_stamp, lambda parts: parts.stamp_s.to_bytes(2, "big")),
    # threshold (4 bits), prediction (1), scope any (1), select (2)
    StreamField("threshold, flags", 1, ("threshold", "select", "is_any_source"), _read_flags, _write_flags),
    StreamField("window", 2, ("window_s",), _read_window, lambda parts: parts.window_s.to_bytes(2, "big")),
    # conditions c (4 bits), primitives q (4)
    StreamField(
        "counts",
        1,
        (),
        _read_counts,
        lambda parts: bytes((len(parts.conditions) << 4 | len(parts.primitives),)),
    ),
    # lifetime codes; quiet is 0 for none
    StreamField("keep", 1, ("keep_q",), _read_keep, lambda parts: bytes((parts.keep_q,))),
    StreamField("quiet", 1, ("quiet_q",), _read_quiet, lambda parts: bytes((parts.quiet_q,))),
    # length L (1), postfix (plugins.composite.pattern)
    StreamField(
        "pattern",
        "1 + L",
        ("pattern",),
        _read_pattern,
        _write_pattern,
        lambda number, data: "pattern" if number else "pattern length",
    ),
    # two leaves (4 bits each), low (2), high (2)
    StreamField(
        "conditions",
        "5c",
        ("conditions",),
        _read_conditions,
        lambda parts: b"".join(map(_write_condition, parts.conditions)),
        lambda number, data: "condition",
    ),
    # each: length (1), subscription
    StreamField(
        "primitives",
        "q primitives",
        ("primitives",),
        _read_primitives,
        lambda parts: b"".join(bytes((len(primitive),)) + primitive for primitive in parts.primitives),
        lambda number, data: f"primitive {chr(ord('a') + number)}",
    ),
    # size k of the key (1), for each primitive k attribute indexes
    StreamField(
        "key",
        "1 + qk",
        ("keys",),
        _read_keys,
        lambda parts: bytes((len(parts.keys[0]),)) + b"".join(map(bytes, parts.keys)),
    ),
    # probability, unit, horizon, S (1 each), then S times state mask (2) and eight β
    StreamField(
        "prediction",
        "4 + 10S",
        ("prediction",),
        _read_prediction,
        _write_prediction,
        _name_prediction_piece,
    ),
)
"""The body of a subscription; without a prediction the last row has no bytes."""


def encode_body(parts: CompositeBody, feature_bytes: int) -> bytes:
    """Return the bytes of a body. Inconsistent parts raise `VectorError`."""
    body: bytes = SUBSCRIPTION.encode(parts)
    decode_body(body, feature_bytes)
    return body


def decode_body(body: bytes, feature_bytes: int, table: MissionTable | None = None) -> CompositeBody:
    """Return the parts of a body. Invalid bytes, and references unknown in the mission, raise `VectorError`;
    offsets are those of the whole vector.
    """
    if len(body) < _FIXED - BODY_AT + 1:
        raise VectorError(BODY_AT + len(body), "too short for a composite subscription")
    given = _Reader(body, feature_bytes, table)
    parts: CompositeBody = SUBSCRIPTION.decode(given)
    if given.at != len(given.data):
        raise VectorError(given.at, "trailing bytes after the subscription")
    return parts


def split_body(body: bytes, feature_bytes: int) -> dict[str, list[bytes]]:
    """Return the pieces of every field of a valid body."""
    pieces: dict[str, list[bytes]] = SUBSCRIPTION.split(_Reader(body, feature_bytes, None))
    return pieces


def framed_body(vector: bytes) -> bytes:
    """Return the body of a whole vector, which must be long enough."""
    if len(vector) <= _FIXED:
        raise VectorError(len(vector), "too short for a composite subscription")
    return body_of(vector)
