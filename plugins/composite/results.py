"""Results of composites, independent of messages: two mediators find the same match, or a source finds a
match that it predicted.
"""

from plugins.composite.composites import CONFIRMED, MATCH, PREDICTED, Composite, decode_composite
from plugins.language import Result
from watchdog.lifetime import lifetime_s

_MATCHED, _PREDICTED = b"M", b"P"


def results_of(vector: bytes) -> tuple[Result, ...]:
    """Return the results of a composite. Invalid bytes raise `VectorError`."""
    found = decode_composite(vector)
    if found.kind == MATCH:
        return (_matched(found),)
    if found.kind == PREDICTED:
        return (Result(_prediction_identity(found), 0),)
    if found.kind == CONFIRMED:
        return _matched(found), Result(_prediction_identity(found), 1)
    return (Result(_prediction_identity(found), 1),)


def _matched(found: Composite) -> Result:
    """Return the result of a match. All matches of a bucket are one result, and the last may follow the
    first.
    """
    span_s = 0 if found.quiet is None else lifetime_s(found.quiet[0])
    return Result(match_identity(found), 0, 1000 * span_s)


def match_identity(found: Composite) -> bytes:
    """Return the identity of a match: its subscription and its last event, its bucket, or the whole witness,
    depending on `select`.
    """
    if found.quiet is not None:
        code, key = found.quiet
        bucket = found.stamp_s // lifetime_s(code)
        return _identity(_MATCHED, found, 0, bytes((code,)) + key, bucket)
    whole = b""
    if found.is_each:
        whole = b"".join(
            bytes((entry.leaf,))
            + (b"" if entry.source is None else entry.source.to_bytes(4, "big"))
            + entry.number.to_bytes(2, "big")
            for entry in found.witness
        )
    return _identity(_MATCHED, found, found.event, whole, found.number, found.stamp_s)


def _prediction_identity(found: Composite) -> bytes:
    opening = found.opening
    assert opening is not None  # all kinds but a plain match
    return _identity(_PREDICTED, found, opening.event, opening.key, opening.number, opening.stamp_s)


def _identity(mark: bytes, found: Composite, event: int, rest: bytes, *numbers: int) -> bytes:
    about = found.subscriber.to_bytes(4, "big") + bytes((found.id, found.revision))
    about += found.source.to_bytes(4, "big") + bytes((event,))
    return mark + about + b"".join(number.to_bytes(4, "big") for number in numbers) + rest
