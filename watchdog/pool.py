"""Subscriptions packed in blocks of bytes: find, compare revisions, renew, replace and expire them.

A block holds subscriptions with the same feature and the same record length, so what they share is stored
once:

    block    record bytes | records | SEF | rank | SAF | record | record | …
    record   origin (2) | id | seq | expiry_s (4) | byte 5 of the vector | pattern block | v V g r | v V g r …

That is 22 bytes for three attributes where the vector has 17. `rank` is the cardinality of SAF without the
age bit. r is what a filter looks at first: no value farther than r from [v, V] can satisfy the subscription,
or for `max` help to. (For the means: if all other degrees are 255, this one is still too small.)

Blocks are sorted by SEF, rank and SAF, the largest first, which is the order in which a filter visits them.
That is FNIFS. The other two algorithms of the paper hold subscriptions a little differently:

    FNIF     blocks have no features; each record has SEF | rank | SAF before byte 5 of its vector
    FNIFC    a block has one byte more before its records: how many of them are active. Those come first; the
             others are covered by active ones (watchdog.covering), and a filter never looks at them.

A subscription equal to a stored one is a follower (watchdog.sharing): its record is in a block whose SEF
begins with FOLLOWERS, which is not an event class, so that filters skip the block.

A block is allocated with its first subscription and freed with its last. If a board's heap has no room for a
whole block, a quarter or less is allocated, which leaves the rest to the program.

A record is addressed by one number, block·65536 + offset, which is valid until the pool changes.
"""

from watchdog.aggregators import MOST_BASIC, PRODUCT, WITH_BLOCK
from watchdog.codes import FNIF, FNIFC, FNIFS, INSTALLED, KNOWN, REPLACED, STALE
from watchdog.grader import PATTERNS, QUICK
from watchdog.membership import SLOPES

KEY = 0
SEQ = 3
EXPIRY = 4
"""Where origin·256 + id (3 bytes), revision (1) and expiry (4) stand in a record."""

NEVER = 1073741823
"""The expiry of what does not expire: the largest number that costs a board no memory."""

FOLLOWERS = 255
"""Begins the SEF of a block of followers."""


class Pool:
    """A bounded store of subscriptions, found by (origin, id)."""

    def __init__(
        self, feature_bytes: int = 1, block_bytes: int = 1024, most_blocks: int = 4096, algorithm: int = FNIFS
    ) -> None:
        self.feature_bytes = feature_bytes
        self.block_bytes = block_bytes
        self.most_blocks = most_blocks
        self.flat = algorithm == FNIF
        self.covering = int(algorithm == FNIFC)
        self.blocks = []  # type: list[bytearray]
        self.count = 0

    def header(self) -> int:
        """Return where the first record of a block begins."""
        return 3 + 2 * self.feature_bytes + self.covering

    def search(self, offset: int, length: int, low: int, high: int) -> int:
        """Return the address of the first record whose number of `length` bytes at `offset` lies in
        low..high, or -1. KEY has 3 bytes, SEQ 1 and EXPIRY 4.
        """
        for number in range(len(self.blocks)):
            block = self.blocks[number]
            at = self.header()
            for _ in range(block[1]):
                value = 0
                for i in range(at + offset, at + offset + length):
                    value = value << 8 | block[i]
                if low <= value <= high:
                    return number << 16 | at
                at += block[0] << 1
        return -1

    def put(
        self, origin: int, id: int, seq: int, expires_s: int, vector: bytes | bytearray, start: int, end: int
    ) -> bool:
        """Store vector[start:end], the part from byte 5 on, under a new key.

        The last bytes of that part are the features. False means that the pool is full and nothing changed;
        so does MemoryError, raised if even the search for a place fails (`watchdog.sharing.enter`).
        """
        F = self.feature_bytes
        end -= 2 * F
        p = start + 1
        kind = vector[start] & 15
        if QUICK:
            least = (vector[start] >> 4) * 17 or 1
        if PATTERNS and kind > MOST_BASIC:
            least = 0
            if WITH_BLOCK >> kind & 1:
                p += 1 + vector[p]
        n = (end - p) // 3
        if QUICK and kind > PRODUCT:
            least = n * (least - 1) - 255 * (n - 1)
        length = 9 + end - start + n * QUICK & ~1
        rank = n - (vector[end + F] >> 7)
        head = bytes(vector[end : end + F]) + bytes([rank]) + bytes(vector[end + F : end + 2 * F])
        if self.flat:
            own = b""
            if vector[end] != FOLLOWERS:
                own = head
                head = bytes(1 + 2 * F)
                length = 10 + 2 * F + end - start + n * QUICK & ~1
        header = self.header()
        place = 0
        found = None
        for block in self.blocks:
            its = bytes(block[2 : 3 + 2 * F])
            if its == head and block[0] << 1 == length and block[1] < 255:
                if header + length * block[1] < len(block):
                    found = block
                    break
            elif its < head:
                break
            place += 1
        if found is None:
            size = min(255, (self.block_bytes - header) // length)
            while size and len(self.blocks) < self.most_blocks:
                try:
                    found = bytearray(header + length * size)
                    self.blocks.insert(place, found)
                    break
                except MemoryError:
                    size >>= 2
            else:
                return False
            found[0] = length >> 1
            for i in range(len(head)):
                found[2 + i] = head[i]
        at = header + found[1] * length
        found[1] += 1
        self.count += 1
        if self.covering:
            first = header + found[header - 1] * length
            found[header - 1] += 1
            for i in range(length):
                found[at + i] = found[first + i]
            at = first
        found[at] = origin >> 8
        found[at + 1] = origin & 255
        found[at + 2] = id
        found[at + 3] = seq
        for i in range(4):
            found[at + 7 - i] = expires_s >> 8 * i & 255
        at += 8
        if self.flat:
            for i in own:
                found[at] = i
                at += 1
        for i in range(start, end):
            found[at] = vector[i]
            at += 1
            if QUICK and i > p and (i - p) % 3 == 2:
                found[at] = 255
                if least > 0 and vector[i] < 128:
                    found[at] = min(255, (65407 - (least << 8)) // SLOPES[vector[i]])
                at += 1
        return True

    def remove(self, address: int) -> None:
        """Forget a record; every address is void afterwards."""
        block = self.blocks[address >> 16]
        at = address & 65535
        length = block[0] << 1
        block[1] -= 1
        if self.covering:
            header = self.header()
            last = header + block[header - 1] * length - length
            if at <= last:
                block[header - 1] -= 1
                for i in range(length):
                    block[at + i] = block[last + i]
                at = last
        last = self.header() + block[1] * length
        for i in range(length):
            block[at + i] = block[last + i]
        if block[1] == 0:
            self.blocks.pop(address >> 16)
        self.count -= 1

    def find(self, origin: int, id: int) -> int:
        """Return the address of a subscription, or -1."""
        return self.search(KEY, 3, origin << 8 | id, origin << 8 | id)

    def field(self, address: int, offset: int, length: int) -> int:
        """Return `length` bytes of a record as a number: KEY and 3, SEQ and 1, or EXPIRY and 4."""
        block = self.blocks[address >> 16]
        at = (address & 65535) + offset
        value = 0
        for i in range(at, at + length):
            value = value << 8 | block[i]
        return value

    def body(self, block: bytearray) -> int:
        """Return how far behind the beginning of its record byte 5 of a vector stands."""
        return 9 + 2 * self.feature_bytes if self.flat and block[2] != FOLLOWERS else 8

    def part(self, address: int) -> bytearray:
        """Return the part of a record's vector from byte 5 on, as `put` took it."""
        F = self.feature_bytes
        block = self.blocks[address >> 16]
        at = (address & 65535) + self.body(block)
        features = at - 1 - 2 * F if self.flat and block[2] != FOLLOWERS else 2
        constraints = at + 1
        if WITH_BLOCK >> (block[at] & 15) & 1:
            constraints += 1 + block[constraints]
        k = block[features + F] + (block[features + F + 1] >> 7)
        part = bytearray(block[at:constraints])
        for i in range(constraints, constraints + 4 * k, 4):
            part.extend(block[i : i + 3])
        part.extend(block[features : features + F])
        part.extend(block[features + F + 1 : features + 2 * F + 1])
        return part

    def judge(self, origin: int, id: int, seq: int) -> int:
        """Compare this revision with the stored one: INSTALLED (none is stored), KNOWN, REPLACED or STALE."""
        address = self.search(KEY, 3, origin << 8 | id, origin << 8 | id)
        if address < 0:
            return INSTALLED
        ahead = (seq - self.blocks[address >> 16][(address & 65535) + SEQ]) & 255
        if ahead == 0:
            return KNOWN
        return REPLACED if ahead < 128 else STALE

    def renew(self, address: int, seq: int, expires_s: int) -> None:
        """Set the revision of a record, and when it expires."""
        block = self.blocks[address >> 16]
        at = address & 65535
        block[at + SEQ] = seq
        for i in range(4):
            block[at + 7 - i] = expires_s >> 8 * i & 255

    def judged(self) -> int:
        """Return how many records a filter evaluates: followers and covered records are skipped."""
        count = 0
        for block in self.blocks:
            if block[2] != FOLLOWERS:
                count += block[self.header() - 1] if self.covering else block[1]
        return count

    def first_expired(self, now_s: int) -> int:
        """Return the address of an expired record, or -1."""
        return self.search(EXPIRY, 4, 0, now_s)

    def next_expiry_s(self) -> int:
        """Return when the next record expires, or NEVER."""
        soonest = NEVER
        for number in range(len(self.blocks)):
            block = self.blocks[number]
            for i in range(block[1]):
                at = self.header() + i * (block[0] << 1)
                soonest = min(soonest, self.field(number << 16 | at, EXPIRY, 4))
        return soonest
