"""Subscriptions packed into preallocated blocks of bytes: no object for any one of them.

A record is

    length/2 | SEF | SAF | rank | origin (2) | id | seq | expiry_s (4) | byte 5 of the vector | block | v V g

that is 22 bytes for three attributes and one-byte features: the 17 of the vector and five more. `rank` is
the cardinality of SAF without the age bit. Within a block the records are sorted by SEF, then in the order
in which a filter visits them: falling rank, falling feature, and the age bit last. Between blocks there is
no order; whoever scans merges them. Blocks exist because a board's heap has room for many small pieces where
it has none for a big one.

A record is addressed by one number, block·block_bytes + offset, which is good until the pool changes.
"""

from watchdog.vector import cardinality, is_newer

INSTALLED = 0
KNOWN = 1
REPLACED = 2
STALE = 3
FULL = 4
"""What became of a subscription that was offered: new here, the same revision as the one held (whose expiry
is renewed), newer than the one held, older than the one held, or without room. Only the last two change
nothing.
"""

NEVER = 1073741823
"""The expiry of what does not expire: the largest number that costs a board no memory."""


def _moved(block: bytearray, start: int, end: int, to: int) -> None:
    """Move block[start:end] to `to` within the block, whichever way it overlaps."""
    if to < start:
        while start < end:
            block[to] = block[start]
            start += 1
            to += 1
    else:
        to += end - start
        while end > start:
            end -= 1
            to -= 1
            block[to] = block[end]


class Pool:
    """A bounded store of subscriptions, found by (origin, id)."""

    def __init__(self, feature_bytes: int = 1, block_bytes: int = 4096, most_blocks: int = 64) -> None:
        self.feature_bytes = feature_bytes
        self.block_bytes = block_bytes
        self.most_blocks = most_blocks
        self.blocks = []  # type: list[bytearray]
        self.used = []  # type: list[int]
        self.count = 0
        self.header = 10 + 2 * feature_bytes

    def reserve(self) -> None:
        """Allocate every block that the pool may ever use, so that nothing is allocated later."""
        while len(self.blocks) < self.most_blocks:
            self._grow()

    def _grow(self) -> None:
        self.blocks.append(bytearray(self.block_bytes))
        self.used.append(0)

    def find(self, origin: int, id: int) -> int:
        """Return the address of a subscription, or -1."""
        key = 2 + 2 * self.feature_bytes
        for number in range(len(self.blocks)):
            block = self.blocks[number]
            end = self.used[number]
            at = 0
            while at < end:
                k = at + key
                if block[k + 2] == id and block[k + 1] == origin & 255 and block[k] == origin >> 8:
                    return number * self.block_bytes + at
                at += block[at] << 1
        return -1

    def field(self, address: int, offset: int, length: int) -> int:
        """Return `length` bytes of a record's header as a number, from `offset` behind its features on."""
        block = self.blocks[address // self.block_bytes]
        at = address % self.block_bytes + 1 + 2 * self.feature_bytes + offset
        value = 0
        for i in range(at, at + length):
            value = value << 8 | block[i]
        return value

    def origin(self, address: int) -> int:
        """Return the subscriber's node of the record at this address."""
        return self.field(address, 1, 2)

    def id(self, address: int) -> int:
        """Return the subscriber's number for the record at this address."""
        return self.field(address, 3, 1)

    def seq(self, address: int) -> int:
        """Return the revision of the record at this address."""
        return self.field(address, 4, 1)

    def expires_s(self, address: int) -> int:
        """Return when the record at this address expires."""
        return self.field(address, 5, 4)

    def judge(self, origin: int, id: int, seq: int) -> int:
        """Tell what this revision would be here: INSTALLED (new), KNOWN, REPLACED (newer) or STALE."""
        address = self.find(origin, id)
        if address < 0:
            return INSTALLED
        held = self.seq(address)
        if held == seq:
            return KNOWN
        return REPLACED if is_newer(seq, held) else STALE

    def put(
        self, origin: int, id: int, seq: int, expires_s: int, vector: bytes | bytearray, start: int, end: int
    ) -> bool:
        """Hold vector[start:end], the part from byte 5 on, instead of what is held under this key, if
        anything.

        The last bytes of that part are the features. False means that there is no room, and nothing changed.
        """
        address = self.find(origin, id)
        features = 2 * self.feature_bytes
        length = (self.header + end - start - features + 1) & ~1
        number = self._with_room(length, address)
        if number < 0:
            return False
        if address >= 0:
            self.remove(address)
        block = self.blocks[number]
        saf = end - self.feature_bytes
        rank = cardinality(vector, saf, self.feature_bytes) - (vector[saf] >> 7)
        at = self._place(block, self.used[number], vector, end - features, rank)
        _moved(block, at, self.used[number], at + length)
        self.used[number] += length
        self.count += 1
        block[at] = length >> 1
        for i in range(features):
            block[at + 1 + i] = vector[end - features + i]
        key = at + 1 + features
        block[key] = rank
        block[key + 1] = origin >> 8
        block[key + 2] = origin & 255
        block[key + 3] = id
        for i in range(start, end - features):
            block[at + self.header + i - start] = vector[i]
        self.renew(number * self.block_bytes + at, seq, expires_s)
        return True

    def _with_room(self, length: int, leaving: int) -> int:
        """Return the number of a block with room for `length` bytes, once the record `leaving` is gone; -1
        if none.
        """
        for number in range(len(self.blocks)):
            free = self.block_bytes - self.used[number]
            if leaving >= 0 and leaving // self.block_bytes == number:
                free += self.blocks[number][leaving % self.block_bytes] << 1
            if free >= length:
                return number
        if len(self.blocks) < self.most_blocks and length <= self.block_bytes:
            self._grow()
            return len(self.blocks) - 1
        return -1

    def _place(self, block: bytearray, end: int, vector: bytes | bytearray, features: int, rank: int) -> int:
        """Return where in the block a record with these features belongs: behind its equals."""
        at = 0
        while at < end and not self.precedes(block, at, vector, features, rank):
            at += block[at] << 1
        return at

    def precedes(
        self, block: bytearray, at: int, vector: bytes | bytearray, features: int, rank: int
    ) -> bool:
        """Tell whether the features at vector[features] come before those of the record at block[at]."""
        F = self.feature_bytes
        at += 1
        for i in range(F):
            if vector[features + i] != block[at + i]:
                return vector[features + i] < block[at + i]
        if rank != block[at + 2 * F]:
            return rank > block[at + 2 * F]
        features += F
        at += F
        for i in range(F):
            used = 127 if i == 0 else 255
            mine = vector[features + i] & used
            other = block[at + i] & used
            if mine != other:
                return mine > other
        return vector[features] < block[at]

    def renew(self, address: int, seq: int, expires_s: int) -> None:
        """Set the revision of the record at this address, and when it expires."""
        block = self.blocks[address // self.block_bytes]
        at = address % self.block_bytes + self.header
        for _ in range(4):
            at -= 1
            block[at] = expires_s & 255
            expires_s >>= 8
        block[at - 1] = seq

    def remove(self, address: int) -> None:
        """Forget the record at this address; every address is void afterwards."""
        number = address // self.block_bytes
        block = self.blocks[number]
        at = address % self.block_bytes
        length = block[at] << 1
        _moved(block, at + length, self.used[number], at)
        self.used[number] -= length
        self.count -= 1

    def first_expired(self, now_s: int) -> int:
        """Return the address of a record whose time is over, or -1."""
        for number in range(len(self.blocks)):
            at = 0
            while at < self.used[number]:
                address = number * self.block_bytes + at
                if self.expires_s(address) <= now_s:
                    return address
                at += self.blocks[number][at] << 1
        return -1

    def next_expiry_s(self) -> int:
        """Return when the next record expires, or NEVER."""
        soonest = NEVER
        for number in range(len(self.blocks)):
            at = 0
            while at < self.used[number]:
                expiry = self.expires_s(number * self.block_bytes + at)
                if expiry < soonest:
                    soonest = expiry
                at += self.blocks[number][at] << 1
        return soonest
