"""The bytes of the fuzzy language: where the parts of a vector stand, and which bytes are vectors.

    subscription   id seq valid stamp stamp t|aggregator [block] (v V g)… SEF SAF
    notification   id seq valid stamp stamp degree|0     value…         NEF NAF

A feature is a mask of `feature_bytes` bytes (1, 2, 4 or 8), big-endian: index i is bit i & 7 of byte
feature_bytes - 1 - i // 8. The highest index is the event's age, which subscriptions may constrain and
notifications never carry. Vectors are untrusted: the checks below accept exactly the well-formed ones and
raise `VectorError` for everything else. docs/reference/vector-format.md is the whole story.
"""

from watchdog.aggregators import has_block, is_known
from watchdog.blocks import block_fault

SUBSCRIPTION = 1
NOTIFICATION = 2

HEADER_BYTES = 6
ONE_HOUR = 95
"""The default lifetime code of a notification."""


class VectorError(Exception):
    """Bytes that are not a vector: what is wrong, and at which offset."""

    def __init__(self, offset: int, message: str) -> None:
        self.offset = offset
        self.message = message

    def __str__(self) -> str:
        return "byte %d: %s" % (self.offset, self.message)


def cardinality(b: bytes | bytearray, at: int, feature_bytes: int) -> int:
    """Return how many bits are set in the feature that stands at `at`."""
    n = 0
    for i in range(at, at + feature_bytes):
        bits = b[i]
        while bits:
            bits &= bits - 1
            n += 1
    return n


def indexes(b: bytes | bytearray, at: int, feature_bytes: int, out: bytearray) -> int:
    """Write the indexes of the set bits of the feature at `at` into `out`, lowest first; return how many
    there are.
    """
    n = 0
    index = 0
    i = at + feature_bytes
    while i > at:
        i -= 1
        bits = b[i]
        first = index
        while bits:
            if bits & 1:
                out[n] = index
                n += 1
            bits >>= 1
            index += 1
        index = first + 8
    return n


def block_bytes(b: bytes | bytearray) -> int:
    """Return the length P of a subscription's pattern block, its length byte included; 0 when it has none."""
    return 1 + b[6] if has_block(b[5] & 15) else 0


def constraints_offset(b: bytes | bytearray) -> int:
    """Return where the (v, V, g) of a subscription begin."""
    return HEADER_BYTES + block_bytes(b)


def event_feature_offset(b: bytes | bytearray, feature_bytes: int) -> int:
    """Return where SEF or NEF stands."""
    return len(b) - 2 * feature_bytes


def attribute_feature_offset(b: bytes | bytearray, feature_bytes: int) -> int:
    """Return where SAF or NAF stands."""
    return len(b) - feature_bytes


def kind(b: bytes | bytearray, feature_bytes: int) -> int:
    """Return SUBSCRIPTION or NOTIFICATION, judging by length and last feature only.

    Raises VectorError if it can be neither. This is not a validation: b may still be malformed.
    """
    fixed = HEADER_BYTES + 2 * feature_bytes
    if len(b) <= fixed:
        raise VectorError(len(b), "too short for any vector")
    k = cardinality(b, len(b) - feature_bytes, feature_bytes)
    if k == 0:
        raise VectorError(len(b) - feature_bytes, "the attribute feature is 0")
    if len(b) == fixed + k:
        return NOTIFICATION
    if len(b) >= fixed + 3 * k:
        return SUBSCRIPTION
    raise VectorError(len(b), "the length fits neither a subscription nor a notification")


def check_subscription(b: bytes | bytearray, feature_bytes: int) -> None:
    """Return when b is a well-formed subscription vector, and raise VectorError when it is not."""
    end = len(b)
    fixed = HEADER_BYTES + 2 * feature_bytes
    if end < fixed + 3:
        raise VectorError(end, "too short for a subscription")
    aggregator = b[5] & 15
    if not is_known(aggregator):
        raise VectorError(5, "unknown aggregator %d" % aggregator)
    k = _features(b, feature_bytes)
    block = block_bytes(b)
    if end != fixed + block + 3 * k:
        raise VectorError(end, "%d bytes where the features ask for %d" % (end, fixed + block + 3 * k))
    if block:
        fault = block_fault(b, HEADER_BYTES, aggregator, k)
        if fault:
            raise VectorError(fault[0], fault[1])
    for at in range(HEADER_BYTES + block, end - 2 * feature_bytes, 3):
        if b[at] > b[at + 1]:
            raise VectorError(at, "v is greater than V")


def check_notification(b: bytes | bytearray, feature_bytes: int) -> None:
    """Return when b is a well-formed notification vector, and raise VectorError when it is not."""
    end = len(b)
    fixed = HEADER_BYTES + 2 * feature_bytes
    if end < fixed + 1:
        raise VectorError(end, "too short for a notification")
    if b[5] & 15:
        raise VectorError(5, "the low nibble of a notification is 0")
    k = _features(b, feature_bytes)
    if b[end - feature_bytes] & 128:
        raise VectorError(end - feature_bytes, "a notification never carries its age")
    if end != fixed + k:
        raise VectorError(end, "%d bytes where the features ask for %d" % (end, fixed + k))


def _features(b: bytes | bytearray, feature_bytes: int) -> int:
    """Check both features; return the cardinality of the attribute feature."""
    at = len(b) - feature_bytes
    if cardinality(b, at - feature_bytes, feature_bytes) != 1:
        raise VectorError(at - feature_bytes, "the event feature must name exactly one event class")
    k = cardinality(b, at, feature_bytes)
    if k == 0:
        raise VectorError(at, "the attribute feature is 0")
    return k


def is_newer(a: int, b: int) -> bool:
    """Return whether revision a is newer than revision b; revisions count modulo 256."""
    return 0 < ((a - b) & 255) < 128
