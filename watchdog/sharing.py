"""Equal subscriptions share one record: later ones are followers of the first.

A follower is a record in a block of followers (watchdog.pool). It has the form of a subscription to one
attribute, so that no other packing is needed, and its constraint is the key of the record that it follows:

    origin (2) | id | seq | expiry_s (4) | 0 | origin (2) and id of the one that it follows

When the first one is withdrawn, replaced or expires, its first follower takes over the record, and the others
follow that one. Filters skip followers, so a thousand equal subscriptions cost one evaluation.
"""

from watchdog.aggregators import WITH_BLOCK
from watchdog.covering import rouse, settle
from watchdog.grader import PATTERNS, QUICK
from watchdog.pool import FOLLOWERS, Pool

SHARING = 1
"""Whether equal subscriptions share a record; the build of a board without room for that sets it to 0."""

SPARE = 99
"""A heap without this many contiguous bytes counts as full; a pool needs fewer to search for a place."""


def equal(pool: Pool, vector: bytes | bytearray, start: int, end: int) -> int:
    """Return the address of the record equal to vector[start:end], or -1."""
    F = pool.feature_bytes
    end -= 2 * F
    first = start + 1
    if PATTERNS and WITH_BLOCK >> (vector[start] & 15) & 1:
        first += 1 + vector[first]
    sef = bytes(vector[end : end + F])
    saf = bytes(vector[end + F : end + 2 * F])
    for number in range(len(pool.blocks)):
        block = pool.blocks[number]
        at = pool.header()
        if block[2] == FOLLOWERS:
            continue
        for _ in range(block[1]):
            features = at + 8 if pool.flat else 2
            j = at + pool.body(block)
            if block[j] == vector[start] and bytes(block[features : features + F]) == sef:
                if bytes(block[features + F + 1 : features + 2 * F + 1]) == saf:
                    i = start
                    while i < end and block[j] == vector[i]:
                        i += 1
                        j += 1
                        if QUICK and i > first and (i - first) % 3 == 0:
                            j += 1
                    if i == end:
                        return number << 16 | at
            at += block[0] << 1
    return -1


def enter(
    pool: Pool,
    origin: int,
    id: int,
    seq: int,
    expires_s: int,
    vector: bytes | bytearray,
    start: int,
    end: int,
) -> bool:
    """Store vector[start:end] under a new key; False means that the pool is full and nothing changed.

    Without memory for a block of followers, an equal subscription gets its own record. Without memory for
    covering, the record stays active, which costs time only.
    """
    if SHARING:
        try:
            leader = equal(pool, vector, start, end)
            if leader >= 0:
                block = pool.blocks[leader >> 16]
                follower = bytearray(4 + 2 * pool.feature_bytes)
                for i in range(3):
                    follower[1 + i] = block[(leader & 65535) + i]
                follower[4] = FOLLOWERS
                if pool.put(origin, id, seq, expires_s, follower, 0, len(follower)):
                    return True
            bytearray(SPARE)
        except MemoryError:
            return False
    if not pool.put(origin, id, seq, expires_s, vector, start, end):
        return False
    if pool.covering:
        try:
            settle(pool, pool.find(origin, id))
        except MemoryError:
            pass
    return True


def vector_part(pool: Pool, address: int) -> bytearray:
    """Return the part from byte 5 on of the vector of the subscription at this address."""
    block = pool.blocks[address >> 16]
    at = address & 65535
    if block[2] == FOLLOWERS:
        address = pool.find(block[at + 9] << 8 | block[at + 10], block[at + 11])
    return pool.part(address)


def leave(pool: Pool, address: int) -> None:
    """Remove the subscription at this address; its followers and covered records stay in force."""
    if SHARING:
        block = pool.blocks[address >> 16]
        at = address & 65535
        key = bytes(block[at : at + 3])
        heir = -1
        for number in range(len(pool.blocks)):
            its = pool.blocks[number]
            if its[2] != FOLLOWERS:
                break
            there = pool.header()
            for _ in range(its[1]):
                if bytes(its[there + 9 : there + 12]) == key:
                    if heir < 0:
                        heir = number << 16 | there
                        for i in range(8):
                            block[at + i] = its[there + i]
                    else:
                        for i in range(3):
                            its[there + 9 + i] = block[at + i]
                there += its[0] << 1
        if heir >= 0:
            pool.remove(heir)
            return
    if pool.covering:
        head = bytes(pool.blocks[address >> 16][2 : 3 + 2 * pool.feature_bytes])
    pool.remove(address)
    if pool.covering:
        rouse(pool, head)
