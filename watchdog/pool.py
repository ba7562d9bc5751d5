"""Subscriptions packed into preallocated blocks of bytes: no object for any one of them.

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


class Pool:
    """A bounded store of subscriptions, found by (origin, id)."""

    def __init__(self, feature_bytes: int = 1, block_bytes: int = 4096, most_blocks: int = 64) -> None:
        self.feature_bytes = feature_bytes
        self.block_bytes = block_bytes
        self.most_blocks = most_blocks
        self.blocks = []  # type: list[bytearray]
        self.used = []  # type: list[int]
        self.runs = []  # type: list[int]  # start, end, start, end …
        self.count = 0

    def grow(self) -> bool:
        """Allocate one more block, if the pool may have one; a board does so before it takes readings."""
        if len(self.blocks) >= self.most_blocks:
            return False
        self.blocks.append(bytearray(self.block_bytes))
        self.used.append(0)
        return True

    def field(self, address: int, offset: int, length: int) -> int:
        """Return `length` bytes of a record's header as a number, from `offset` behind its features on."""
        block = self.blocks[address // self.block_bytes]
        at = address % self.block_bytes + 2 + 2 * self.feature_bytes + offset
        value = 0
        while length:
            value = value << 8 | block[at]
            at += 1
            length -= 1
        return value

    def key(self, address: int) -> int:
        """Return origin·256 + id of a record."""
        return self.field(address, 0, 3)

    def seq(self, address: int) -> int:
        """Return the revision of a record."""
        return self.field(address, 3, 1)

    def expires_s(self, address: int) -> int:
        """Return when a record expires."""
        return self.field(address, 4, 4)

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
        key = origin << 8 | id
        address = self.after(-1)
        while address >= 0 and self.key(address) != key:
            address = self.after(address)
        return address

    def judge(self, origin: int, id: int, seq: int) -> int:
        """Tell what this revision would be here: INSTALLED (new), KNOWN, REPLACED (newer) or STALE."""
        address = self.find(origin, id)
        if address < 0:
            return INSTALLED
        ahead = (seq - self.seq(address)) & 255
        if ahead == 0:
            return KNOWN
        return REPLACED if ahead < 128 else STALE

    def put(
        self, origin: int, id: int, seq: int, expires_s: int, vector: bytes | bytearray, start: int, end: int
    ) -> bool:
        """Hold vector[start:end], the part from byte 5 on, instead of what is held under this key, if
        anything.

        The last bytes of that part are the features. False means that there is no room, and nothing changed.
        """
        F = self.feature_bytes
        end -= 2 * F
        header = 10 + 2 * F
        length = (header + end - start + 1) & ~1
        leaving = self.find(origin, id)
        number = self._with_room(length, leaving)
        if number < 0:
            return False
        if leaving >= 0:
            self.remove(leaving)
        record = bytearray(length)
        record[0] = length >> 1
        for i in range(F):
            record[1 + i] = vector[end + i]
            bits = record[2 + F + i] = vector[end + F + i]
            if i == 0:
                bits &= 127
            while bits:
                bits &= bits - 1
                record[1 + F] += 1
        record[2 + 2 * F] = origin >> 8
        record[3 + 2 * F] = origin & 255
        record[4 + 2 * F] = id
        for i in range(start, end):
            record[header + i - start] = vector[i]
        block = self.blocks[number]
        at = 0
        while at < self.used[number] and difference(record, 1, block, at + 1, 1 + 2 * F) <= 0:
            at += block[at] << 1
        i = self.used[number]
        while i > at:
            i -= 1
            block[i + length] = block[i]
        for i in range(length):
            block[at + i] = record[i]
        self.used[number] += length
        self.count += 1
        self.renew(number * self.block_bytes + at, seq, expires_s)
        self._survey()
        return True

    def _with_room(self, length: int, leaving: int) -> int:
        """Return a block with room for `length` bytes, once the record `leaving` is gone; -1 if there is
        none.
        """
        for number in range(len(self.blocks)):
            free = self.block_bytes - self.used[number]
            if leaving >= 0 and leaving // self.block_bytes == number:
                free += self.blocks[number][leaving % self.block_bytes] << 1
            if free >= length:
                return number
        if length <= self.block_bytes and self.grow():
            return len(self.blocks) - 1
        return -1

    def renew(self, address: int, seq: int, expires_s: int) -> None:
        """Set the revision of a record, and when it expires."""
        block = self.blocks[address // self.block_bytes]
        at = address % self.block_bytes + 5 + 2 * self.feature_bytes
        block[at] = seq
        for i in range(4, 0, -1):
            block[at + i] = expires_s & 255
            expires_s >>= 8

    def remove(self, address: int) -> None:
        """Forget a record; every address is void afterwards."""
        number = address // self.block_bytes
        block = self.blocks[number]
        at = address % self.block_bytes
        length = block[at] << 1
        self.used[number] -= length
        while at < self.used[number]:
            block[at] = block[at + length]
            at += 1
        self.count -= 1
        self._survey()

    def _survey(self) -> None:
        """List the runs anew."""
        runs = self.runs
        while runs:
            runs.pop()
        key_bytes = 1 + 2 * self.feature_bytes
        for number in range(len(self.blocks)):
            block = self.blocks[number]
            base = number * self.block_bytes
            start = 0
            while start < self.used[number]:
                end = start
                while end < self.used[number] and not difference(block, start + 1, block, end + 1, key_bytes):
                    end += block[end] << 1
                place = 0
                while place < len(runs):
                    there = runs[place]
                    other = self.blocks[there // self.block_bytes]
                    if difference(block, start + 1, other, there % self.block_bytes + 1, key_bytes) > 0:
                        break
                    place += 2
                runs.insert(place, base + end)
                runs.insert(place, base + start)
                start = end

    def first_expired(self, now_s: int) -> int:
        """Return the address of a record whose time is over, or -1."""
        address = self.after(-1)
        while address >= 0 and self.expires_s(address) > now_s:
            address = self.after(address)
        return address

    def next_expiry_s(self) -> int:
        """Return when the next record expires, or NEVER."""
        soonest = NEVER
        address = self.after(-1)
        while address >= 0:
            soonest = min(soonest, self.expires_s(address))
            address = self.after(address)
        return soonest
