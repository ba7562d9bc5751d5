"""A question to dictionaries: who offers these event classes and attributes? A few bytes.

| offset | bytes | field |
| --- | --- | --- |
| 0 | 1 | high nibble: 1, the layout's version; low nibble: 0, 1, 2, 3 for features of 1, 2, 4, 8 bytes |
| 1 | 1 + F each | event index, attribute feature: any of these; 0 is the whole event class |

Empty bytes ask for everything. Entries are sorted by event index, one per event class. A question is
untrusted input: the decoder accepts exactly the well-formed ones.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from knowledge_manager.dictionary.extract import FEATURE_SIZES, Extract, ExtractError

LAYOUT_VERSION: Final = 1
EVERYTHING: Final = b""


def encode_question(interests: Iterable[tuple[int, int]], feature_bytes: int) -> bytes:
    """Return the question about these (event index, attribute feature) pairs; without pairs it asks for
    everything.

    >>> encode_question([(2, 0b100), (0, 0b1), (0, 0b10)], 2).hex(" ")
    '11 00 00 03 02 00 04'
    """
    features: dict[int, int] = {}
    for event, feature in interests:
        known = features.get(event)
        features[event] = 0 if feature == 0 or known == 0 else (known or 0) | feature
    if not features:
        return EVERYTHING
    head = bytes([LAYOUT_VERSION << 4 | FEATURE_SIZES.index(feature_bytes)])
    return head + b"".join(
        bytes([event]) + features[event].to_bytes(feature_bytes, "big") for event in sorted(features)
    )


def decode_question(content: bytes) -> dict[int, int] | None:
    """Return the attribute feature by event index, or None for a question about everything. Invalid bytes
    raise `ExtractError`.
    """
    if not content:
        return None
    if content[0] >> 4 != LAYOUT_VERSION:
        raise ExtractError(0, f"layout version {content[0] >> 4} is not supported; expected {LAYOUT_VERSION}")
    if content[0] & 15 >= len(FEATURE_SIZES):
        raise ExtractError(0, f"feature size code {content[0] & 15} is outside 0..3")
    size = FEATURE_SIZES[content[0] & 15]
    step = 1 + size
    if len(content) == 1 or (len(content) - 1) % step:
        raise ExtractError(len(content), f"entries have {step} bytes each; at least one is required")
    interests: dict[int, int] = {}
    before = -1
    for at in range(1, len(content), step):
        event = content[at]
        if event <= before or event >= 8 * size:
            raise ExtractError(at, "event indexes are not ascending, or out of range")
        before = event
        interests[event] = int.from_bytes(content[at + 1 : at + step], "big")
    return interests


def concerns(interests: Mapping[int, int] | None, extract: Extract) -> bool:
    """Return whether a question matches a publisher with this extract. A question about everything also
    matches a withdrawn offer.
    """
    if interests is None:
        return True
    return any(
        source.event in interests
        and (not interests[source.event] or bool(source.attributes & interests[source.event]))
        for source in extract.sources
    )


def concerns_attribute(question: bytes, event: int, attribute: int) -> bool:
    """Return whether a question matches this attribute of this event class."""
    interests = decode_question(question)
    if interests is None:
        return True
    return event in interests and (not interests[event] or bool(interests[event] >> attribute & 1))
