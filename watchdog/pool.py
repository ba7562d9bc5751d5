"""A ledger of subscriptions that is kept sorted, so that a filter visits them in its order."""

from watchdog.ledger import Ledger, difference


class Pool(Ledger):
    """A bounded store of subscriptions, found by (origin, id).

    After `survey`, `runs` lists where equal features begin and end (start, end, start, end …), over all
    blocks, those of the largest event feature, cardinality and attribute feature first.
    """

    def __init__(self, feature_bytes: int = 1, block_bytes: int = 4096, most_blocks: int = 64) -> None:
        super().__init__(feature_bytes, block_bytes, most_blocks)
        self.runs = []  # type: list[int]

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

    def survey(self) -> None:
        """List the runs anew; call it before the next scan when something was put or removed."""
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
