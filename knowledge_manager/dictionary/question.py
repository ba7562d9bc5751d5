"""A question to dictionaries: about which event classes and attributes somebody wants to know who offers
them, in a few bytes.

| offset | bytes | field |
| --- | --- | --- |
| 0 | 1 | high nibble: 1, the layout's version; low nibble: 0, 1, 2, 3 for features of 1, 2, 4, 8 bytes |
| 1 | 1 + F each | event index, attribute feature: any of these; 0 stands for the whole event class |

No bytes at all ask for everything. Wishes stand in rising order of their bytes, one for each event class. A
question is untrusted input: the decoder accepts exactly the well-formed ones.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from knowledge_manager.dictionary.extract import FEATURE_SIZES, Extract, ExtractError

LAYOUT_VERSION: Final = 1
EVERYTHING: Final = b""


def encode_question(wishes: Iterable[tuple[int, int]], feature_bytes: int) -> bytes:
    """Return the question about these pairs of event index and attribute feature; of no pair the question is
    about everything.

    >>> encode_question([(2, 0b100), (0, 0b1), (0, 0b10)], 2).hex(" ")
    '11 00 00 03 02 00 04'
    """
    features: dict[int, int] = {}
    for event, feature in wishes:
        known = features.get(event)
        features[event] = 0 if feature == 0 or known == 0 else (known or 0) | feature
    if not features:
        return EVERYTHING
    head = bytes([LAYOUT_VERSION << 4 | FEATURE_SIZES.index(feature_bytes)])
    return head + b"".join(
        bytes([event]) + features[event].to_bytes(feature_bytes, "big") for event in sorted(features)
    )


def decode_question(content: bytes) -> dict[int, int] | None:
    """Return the attribute feature that is asked about for each event index, or None where everything is; or
    raise `ExtractError`.
    """
    if not content:
        return None
    if content[0] >> 4 != LAYOUT_VERSION:
        raise ExtractError(0, f"layout version {content[0] >> 4}; this is version {LAYOUT_VERSION}")
    if content[0] & 15 >= len(FEATURE_SIZES):
        raise ExtractError(0, f"feature size code {content[0] & 15}; it is 0..3")
    size = FEATURE_SIZES[content[0] & 15]
    step = 1 + size
    if len(content) == 1 or (len(content) - 1) % step:
        raise ExtractError(len(content), f"wishes have {step} bytes each, and there is at least one")
    wishes: dict[int, int] = {}
    before = -1
    for at in range(1, len(content), step):
        event = content[at]
        if event <= before or event >= 8 * size:
            raise ExtractError(at, "event classes stand in rising order, each once, and each has a bit")
        before = event
        wishes[event] = int.from_bytes(content[at + 1 : at + step], "big")
    return wishes


def concerns(wishes: Mapping[int, int] | None, extract: Extract) -> bool:
    """Say whether a question is about a publisher that offers this. One that took its offer back is something
    to know too, where everything is asked for.
    """
    if wishes is None:
        return True
    return any(
        source.event in wishes
        and (not wishes[source.event] or bool(source.attributes & wishes[source.event]))
        for source in extract.sources
    )


def concerns_attribute(question: bytes, event: int, attribute: int) -> bool:
    """Say whether a question is about this attribute of this event class."""
    wishes = decode_question(question)
    if wishes is None:
        return True
    return event in wishes and (not wishes[event] or bool(wishes[event] >> attribute & 1))
