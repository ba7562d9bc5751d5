"""Envelope of every message: eighteen bytes, the payload, and a tag if the mission has a key.

    0   1  high nibble: version 4; bit 3: a tag follows; bits 0–2: copies code (notifications only);
           bit 0: a signature follows the payload (messages of subscribers only)
    1   1  message type
    2   1  language id
    3   1  table check of the mission table
    4   4  origin: the node that made the message, below 2³¹
    8   4  number: the origin's number for it; from 2³¹ on for link messages
    12  4  age in milliseconds at transmission
    16  1  lifetime code q: the lifetime is ⌊2^(q/8)⌋ seconds
    17  1  hops so far, this one included
    18  …  payload, at most 64 KB plus the entries of a NOTIFY
    …  64  signature, if the subscriber signs
    …   8  tag

Link messages (hello, summary, acknowledgement) have neither language, age, lifetime nor hops: these bytes
are 0. The decoder accepts exactly what the encoder can write.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Final

from dens.overlay.errors import LocalProtocolError, OtherVersionError, RemoteProtocolError
from dens.overlay.wire.authentication import TAG_BYTES
from dens.overlay.wire.codes import (
    ADVERTISE,
    JOIN,
    LAST_NODE,
    LINK_NUMBER,
    LINK_TYPES,
    NOTIFICATION,
    NOTIFY,
    RENEW,
    SIGNABLE_TYPES,
    SIGNATURE_BYTES,
    TYPE_NAMES,
)
from dens.overlay.wire.item import ENVELOPE_BYTES, OLDEST_AGE_MS, Item

VERSION: Final = 4
"""1 had one byte for the number of satisfied subscriptions, too few for 256; 2 had two bytes for an origin;
in 3 tags did not cover the receiver, and keys had no role.
"""
UPDATE_ADVICE: Final = "update the older of the two (rebuild a board: dens board build)"
"""Advice where two versions meet."""
TAGGED: Final = 0x08
COPIES: Final = 0x07
SIGNED: Final = 0x01
VECTOR_BYTES: Final = 65_536
"""The longest vector or extract."""
PAYLOAD_BYTES: Final = VECTOR_BYTES + 1_024
"""The longest payload: a NOTIFY has a vector and up to 256 entries of four bytes."""
MOST_HOPS: Final = 255

_LONGEST: Final = {
    **dict.fromkeys(TYPE_NAMES, ENVELOPE_BYTES + VECTOR_BYTES),
    **{int(kind): ENVELOPE_BYTES + PAYLOAD_BYTES for kind in (*LINK_TYPES, NOTIFY)},
    **dict.fromkeys((RENEW, ADVERTISE, JOIN), ENVELOPE_BYTES + VECTOR_BYTES + 4),
}
"""Maximal end of the payload for each type. NOTIFICATION is below NOTIFY, because it may become one."""
_HEADER: Final = Struct(">BBBBIIIBB")
_read_header: Final = _HEADER.unpack_from
_write_header: Final = _HEADER.pack
_LINK: Final = frozenset(int(kind) for kind in LINK_TYPES)
_SIGNABLE: Final = frozenset(int(kind) for kind in SIGNABLE_TYPES)


@dataclass(frozen=True, slots=True)
class Header:
    """Fields of the envelope of a datagram, for a driver's trace."""

    type: int
    language: int
    table_check: int
    origin: int
    number: int
    age_ms: int
    lifetime_q: int
    hops: int
    copies: int
    is_tagged: bool

    @property
    def type_name(self) -> str:
        """Return the name of its type in traces."""
        return TYPE_NAMES[self.type]


def check_fits(item: Item) -> None:
    """Raise LocalProtocolError for a payload that is too long for an envelope."""
    if len(item.payload) > PAYLOAD_BYTES:
        raise LocalProtocolError(
            f"a payload of {len(item.payload)} bytes does not fit; the maximum is {PAYLOAD_BYTES}: split it"
        )


def pack(item: Item, table_check: int, age_ms: int, hops: int, flags: int) -> bytes:
    """Return the envelope and payload of a message, without a tag.

    `flags` is `TAGGED` or 0; the copies code is the item's.
    """
    check_fits(item)
    signature = item.signature
    header = _write_header(
        VERSION << 4 | flags | item.copies | (SIGNED if signature else 0),
        item.type,
        item.language,
        table_check,
        item.origin,
        item.number,
        age_ms if age_ms < OLDEST_AGE_MS else OLDEST_AGE_MS,
        item.lifetime_q,
        hops if hops < MOST_HOPS else MOST_HOPS,
    )
    return header + item.payload + signature if signature else header + item.payload


def pack_link(type: int, origin: int, number: int, table_check: int, flags: int, payload: bytes) -> bytes:
    """Return the envelope and payload of a link message, without a tag."""
    return _write_header(VERSION << 4 | flags, type, 0, table_check, origin, number, 0, 0, 0) + payload


def unpack(data: bytes, now_ms: int) -> tuple[Item, int, bool]:
    """Return the message in local time, its table check and whether it has a tag; or raise
    RemoteProtocolError.
    """
    length = len(data)
    if length < ENVELOPE_BYTES:
        raise RemoteProtocolError(f"an envelope has {ENVELOPE_BYTES} bytes, here are {length}", length)
    first, kind, language, check, origin, number, age_ms, lifetime_q, hops = _read_header(data)
    if kind not in TYPE_NAMES:
        raise RemoteProtocolError(f"message type {kind} is not known", 1)
    if first >> 4 != VERSION:
        raise OtherVersionError(f"version {first >> 4} is not known, {VERSION} is", 0)
    if origin > LAST_NODE:
        raise RemoteProtocolError(f"a node has a number up to {LAST_NODE}, not {origin}", 4)
    copies = first & COPIES
    signature_bytes = 0
    if copies and kind != NOTIFICATION:
        if copies != SIGNED or kind not in _SIGNABLE:
            raise RemoteProtocolError("only a notification counts copies, only a subscriber signs", 0)
        copies, signature_bytes = 0, SIGNATURE_BYTES
    if kind in _LINK:
        if number < LINK_NUMBER:
            raise RemoteProtocolError("a link message has a number from 2^31 on", 8)
        if language or age_ms or lifetime_q or hops:
            raise RemoteProtocolError("a link message has no language, age, lifetime or hops", 2)
    elif number >= LINK_NUMBER:
        raise RemoteProtocolError("a number from 2^31 on belongs to link messages", 8)
    tagged = bool(first & TAGGED)
    last = length - TAG_BYTES if tagged else length
    end = last - signature_bytes
    if not ENVELOPE_BYTES <= end <= _LONGEST[kind]:
        raise RemoteProtocolError(f"{length} bytes are not a valid length for this type", length)
    payload = data[ENVELOPE_BYTES:end]
    signature = data[end:last] if signature_bytes else b""
    item = Item(kind, language, origin, number, now_ms - age_ms, lifetime_q, hops, payload, copies, signature)
    return item, check, tagged


def peek(data: bytes) -> tuple[int, int, int, int, int, int] | None:
    """Return type, language, origin, number, age and hops without validating the rest; None without an
    envelope of this version or without a valid origin. For drivers, which record every frame.
    """
    if len(data) < ENVELOPE_BYTES:
        return None
    first, kind, language, _, origin, number, age_ms, _, hops = _read_header(data)
    is_envelope = kind in TYPE_NAMES and first >> 4 == VERSION and origin <= LAST_NODE
    return (kind, language, origin, number, age_ms, hops) if is_envelope else None


def other_version(data: bytes) -> int | None:
    """Return the version of a message that appears to be of another version, or None."""
    if len(data) < 2 or data[1] not in TYPE_NAMES:
        return None
    version = data[0] >> 4
    return version if 1 <= version != VERSION else None


def read_header(data: bytes) -> Header:
    """Return the fields of the envelope, or raise RemoteProtocolError."""
    item, check, tagged = unpack(data, 0)
    return Header(
        item.type,
        item.language,
        check,
        item.origin,
        item.number,
        -item.created_ms,
        item.lifetime_q,
        item.hops,
        item.copies,
        tagged,
    )
