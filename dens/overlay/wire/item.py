"""A message as a node holds it, in the local time of that node."""

from typing import Final

from dens.overlay.wire.codes import TYPE_NAMES
from watchdog.lifetime import lifetime_code, lifetime_s

ItemId = int
"""Origin and number of a message in one integer: `item_id(origin, number)`. Ids are compared, hashed and
sorted as integers, by origin and then by number.
"""
NUMBER_BITS: Final = 32
NUMBER_MASK: Final = (1 << NUMBER_BITS) - 1


def item_id(origin: int, number: int) -> ItemId:
    """Return the id of a message.

    >>> item_id(7, 1) >> NUMBER_BITS, item_id(7, 1) & NUMBER_MASK
    (7, 1)
    """
    return origin << NUMBER_BITS | number


def format_id(item_id: ItemId) -> str:
    """Return an id as text.

    >>> format_id(item_id(7, 1))
    '(7, 1)'
    """
    return f"({item_id >> NUMBER_BITS}, {item_id & NUMBER_MASK})"


ENVELOPE_BYTES: Final = 18
NEVER_MS: Final = 1 << 62
"""Later than any time."""
AT_ONCE_MS: Final = -NEVER_MS
"""Earlier than any time."""
OLDEST_AGE_MS: Final = 0xFFFF_FFFF
"""The largest age that fits into the four bytes of the envelope; anything older has expired."""

LIFETIME_MS: Final = tuple(lifetime_s(q) * 1000 for q in range(256))
"""Lifetime of each code, as a table because every received message needs it."""


def lifetime_code_ms(lifetime_ms: int) -> int:
    """Return the lowest code whose lifetime is at least this long (255 if there is none)."""
    return lifetime_code(-(-lifetime_ms // 1000))


class Item:
    """One message in the local time of the node that holds it. Immutable.

    `created_ms` is the creation time on the local clock: time of receipt minus age, so it may be negative.
    `copies` is the copies code of binary spraying, 0 if copies are not counted. `signature` is the
    subscriber's, if subscribers sign (dens/overlay/session/signatures.py).

    Derived once: `id`; `expires_ms`, the first local millisecond after its lifetime; `size`, its length on
    the air without a tag.

    >>> item = Item(35, 1, 7, 1, 1_000, 8, 0, b"abc")
    >>> format_id(item.id), item.expires_ms, item.size
    ('(7, 1)', 3000, 21)
    """

    __slots__ = (
        "copies",
        "created_ms",
        "expires_ms",
        "hops",
        "id",
        "language",
        "lifetime_q",
        "number",
        "origin",
        "payload",
        "signature",
        "size",
        "type",
    )

    def __init__(
        self,
        type: int,
        language: int,
        origin: int,
        number: int,
        created_ms: int,
        lifetime_q: int,
        hops: int,
        payload: bytes,
        copies: int = 0,
        signature: bytes = b"",
    ) -> None:
        self.type = type
        self.language = language
        self.origin = origin
        self.number = number
        self.created_ms = created_ms
        self.lifetime_q = lifetime_q
        self.hops = hops
        self.payload = payload
        self.copies = copies
        self.signature = signature
        self.id: ItemId = origin << NUMBER_BITS | number
        self.expires_ms: int = created_ms + LIFETIME_MS[lifetime_q]
        self.size = ENVELOPE_BYTES + len(payload) + len(signature)

    def _fields(self) -> tuple[object, ...]:
        return (
            self.type,
            self.language,
            self.origin,
            self.number,
            self.created_ms,
            self.lifetime_q,
            self.hops,
            self.payload,
            self.copies,
            self.signature,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"Item{self._fields()}"

    def replace(
        self,
        *,
        type: int | None = None,
        language: int | None = None,
        number: int | None = None,
        created_ms: int | None = None,
        lifetime_q: int | None = None,
        hops: int | None = None,
        payload: bytes | None = None,
        copies: int | None = None,
        signature: bytes | None = None,
    ) -> "Item":
        """Return a copy with these fields changed and the derived ones recomputed.

        >>> format_id(Item(35, 1, 7, 1, 1_000, 8, 0, b"abc").replace(number=2, payload=b"").id)
        '(7, 2)'
        """
        return Item(
            self.type if type is None else type,
            self.language if language is None else language,
            self.origin,
            self.number if number is None else number,
            self.created_ms if created_ms is None else created_ms,
            self.lifetime_q if lifetime_q is None else lifetime_q,
            self.hops if hops is None else hops,
            self.payload if payload is None else payload,
            self.copies if copies is None else copies,
            self.signature if signature is None else signature,
        )

    @property
    def type_name(self) -> str:
        """Return the name of its type in traces."""
        return TYPE_NAMES[self.type]

    def age_ms(self, now_ms: int) -> int:
        """Return its age now, within the bounds of the envelope."""
        age_ms = now_ms - self.created_ms
        if age_ms < 0:
            return 0
        return age_ms if age_ms < OLDEST_AGE_MS else OLDEST_AGE_MS
