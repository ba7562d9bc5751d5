"""Many notifications read at once, as rows of a table.

Vectors of one *form* (the same length and the same features) have the same value at the same byte. The first
of a form is checked by the codec; of the others only what can still differ is checked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plugins.fuzzy.ages import age_code
from plugins.fuzzy.codec import FuzzyCodec
from watchdog.vector import HEADER_BYTES, VectorError

KIND_BYTE = 5
"""Its low nibble is 0 in every notification."""


@dataclass(frozen=True, slots=True)
class NotificationRows:
    """Decoded notifications: values by attribute index with the age last, event, feature without age."""

    rows: npt.NDArray[np.uint8]
    events: npt.NDArray[np.uint8]
    features: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Form:
    event: int
    attributes: npt.NDArray[np.int64]
    largest: npt.NDArray[np.uint8]


def read_rows(codec: FuzzyCodec, notifications: Sequence[tuple[bytes, int]], now_ms: int) -> NotificationRows:
    """Return (vector, event_ms) pairs as rows, up to the first invalid vector."""
    width = codec.feature_bytes
    members: dict[bytes, list[int]] = {}
    for number, (vector, _) in enumerate(notifications):
        members.setdefault(bytes([min(len(vector), 255)]) + vector[-2 * width :], []).append(number)
    good = len(notifications)
    rows = np.zeros((good, 8 * width), np.uint8)
    events, features = np.zeros(good, np.uint8), np.zeros(good, np.int64)
    for numbers in members.values():
        vectors = [notifications[number][0] for number in numbers]
        try:
            form = _form(codec, vectors[0])
        except VectorError:
            good = min(good, numbers[0])
            continue
        table = np.frombuffer(b"".join(vectors), np.uint8).reshape(len(vectors), -1)
        values = table[:, HEADER_BYTES : HEADER_BYTES + len(form.attributes)]
        bad = (table[:, KIND_BYTE] & 15 != 0) | (values > form.largest).any(axis=1)
        if bad.any():
            good = min(good, numbers[int(np.argmax(bad))])
        rows[np.array(numbers)[:, None], form.attributes] = values
        events[numbers] = form.event
        features[numbers] = np.bitwise_or.reduce(np.int64(1) << form.attributes)
    seconds = [-(-(now_ms - event_ms) // 1000) for _, event_ms in notifications[:good]]
    codes = {age: age_code(1000 * age) for age in set(seconds)}
    rows[:good, -1] = [codes[age] for age in seconds]
    return NotificationRows(rows[:good], events[:good], features[:good])


def _form(codec: FuzzyCodec, vector: bytes) -> _Form:
    parts = codec.notification(vector)
    largest = []
    for index in parts.attributes:
        known = codec.table.event_at(parts.event).attribute_at(index).values if codec.table else ()
        largest.append(len(known) - 1 if known else 255)
    return _Form(parts.event, np.array(parts.attributes, np.int64), np.array(largest, np.uint8))
