"""Records of subscriptions in blocks of bytes: finding, judging, renewing and expiring them.

A record is

    length/2 | SEF | rank | SAF | origin (2) | id | seq | expiry_s (4) | byte 5 of the vector | block | v V g

that is 22 bytes for three attributes and one-byte features: the 17 of the vector and five more. `rank` is
the cardinality of SAF without the age bit. Within a block the records are sorted by SEF, rank and SAF, the
largest first. Equal ones form a run, and `runs` lists the runs of all blocks in the same order, which is the
order in which a filter visits them. Blocks exist because a board's heap has room for many small pieces where
it has none for a big one.

A record is addressed by one number, block·block_bytes + offset, which is good until the pool changes.
"""

INSTALLED = 0
KNOWN = 1
REPLACED = 2
STALE = 3
"""What a revision is to a pool: new, the one that is held, newer or older than the one that is held."""

KEY = 0
SEQ = 3
EXPIRY = 4
"""Where origin·256 + id (3 bytes), revision (1) and expiry (4) stand, counted from behind the features."""

NEVER = 1073741823
"""The expiry of what does not expire: the largest number that costs a board no memory."""


def difference(a: bytes | bytearray, at: int, b: bytes | bytearray, bt: int, length: int) -> int:
    """Compare `length` bytes of both: above 0 if a's are larger, 0 if they are the same."""
    while length:
        if a[at] != b[bt]:
            return a[at] - b[bt]
        at += 1
        bt += 1
        length -= 1
    return 0


class Ledger:
    """A bounded number of blocks, and the records in them."""

    def __init__(self, feature_bytes: int = 1, block_bytes: int = 4096, most_blocks: int = 64) -> None:
        self.feature_bytes = feature_bytes
        self.block_bytes = block_bytes
        self.most_blocks = most_blocks
        self.blocks = []  # type: list[bytearray]
        self.used = []  # type: list[int]
        self.count = 0

    def grow(self) -> bool:
        """Allocate one more block, if the pool may have one; a board does so before it takes readings."""
        if len(self.blocks) >= self.most_blocks:
            return False
        self.blocks.append(bytearray(self.block_bytes))
        self.used.append(0)
        return True

    def field(self, address: int, offset: int, length: int) -> int:
        """Return `length` bytes of a record's header as a number: KEY and 3, SEQ and 1, or EXPIRY and 4."""
        block = self.blocks[address // self.block_bytes]
        at = address % self.block_bytes + 2 + 2 * self.feature_bytes + offset
        value = 0
        while length:
            value = value << 8 | block[at]
            at += 1
            length -= 1
        return value

    def after(self, address: int) -> int:
        """Return the address of the record after this one, of the first one for -1; -1 when there is none."""
        number = 0
        at = 0
        if address >= 0:
            number = address // self.block_bytes
            at = address % self.block_bytes
            at += self.blocks[number][at] << 1
        while number < len(self.blocks):
            if at < self.used[number]:
                return number * self.block_bytes + at
            number += 1
            at = 0
        return -1

    def find(self, origin: int, id: int) -> int:
        """Return the address of a subscription, or -1."""
        key = 2 + 2 * self.feature_bytes
        high = origin >> 8
        low = origin & 255
        for number in range(len(self.blocks)):
            block = self.blocks[number]
            end = self.used[number]
            at = 0
            while at < end:
                k = at + key
                if block[k + 2] == id and block[k + 1] == low and block[k] == high:
                    return number * self.block_bytes + at
                at += block[at] << 1
        return -1

    def judge(self, origin: int, id: int, seq: int) -> int:
        """Tell what this revision would be here: INSTALLED (new), KNOWN, REPLACED (newer) or STALE."""
        address = self.find(origin, id)
        if address < 0:
            return INSTALLED
        ahead = (seq - self.field(address, SEQ, 1)) & 255
        if ahead == 0:
            return KNOWN
        return REPLACED if ahead < 128 else STALE

    def renew(self, address: int, seq: int, expires_s: int) -> None:
        """Set the revision of a record, and when it expires."""
        block = self.blocks[address // self.block_bytes]
        at = address % self.block_bytes + 5 + 2 * self.feature_bytes
        block[at] = seq
        for i in range(4, 0, -1):
            block[at + i] = expires_s & 255
            expires_s >>= 8

    def first_expired(self, now_s: int) -> int:
        """Return the address of a record whose time is over, or -1."""
        address = self.after(-1)
        while address >= 0 and self.field(address, EXPIRY, 4) > now_s:
            address = self.after(address)
        return address

    def next_expiry_s(self) -> int:
        """Return when the next record expires, or NEVER."""
        soonest = NEVER
        address = self.after(-1)
        while address >= 0:
            soonest = min(soonest, self.field(address, EXPIRY, 4))
            address = self.after(address)
        return soonest
