"""Equal wishes are one record: who else wants the same is a follower of the subscription that came first.

A follower is a record in a block of followers (watchdog.pool). It has the form of a subscription to one
attribute, so that nothing new has to be packed, and its constraint is the key of the record that it follows:

    origin (2) | id | seq | expiry_s (4) | 0 | origin (2) and id of the one that it follows

When the one that was first goes, by withdrawal, revision or expiry, its first follower takes over the record,
and the others follow that one. No filter looks at followers, so a thousand equal wishes cost one evaluation.
"""

from watchdog.aggregators import WITH_BLOCK
from watchdog.covering import rouse, settle
from watchdog.grader import PATTERNS, QUICK
from watchdog.pool import FOLLOWERS, Pool

SHARING = 1
"""Whether equal wishes are one record; a build for a board without room for that sets it to 0."""

SPARE = 99
"""A heap without so many bytes in one piece counts as full: a pool needs fewer to look for a place."""


def equal(pool: Pool, vector: bytes | bytearray, start: int, end: int) -> int:
    """Return the address of the record that wishes what vector[start:end] does, or -1."""
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
    """Hold vector[start:end] under a key that is not held; False means no room, and nothing changed.

    Where there is no room for a block of followers, an equal wish gets a record of its own. One for which
    there is no room to be compared with others stays in the filter's sight, which costs time alone.
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


def wish(pool: Pool, address: int) -> bytearray:
    """Return the part of the vector from byte 5 on that the subscription at this address was entered with."""
    block = pool.blocks[address >> 16]
    at = address & 65535
    if block[2] == FOLLOWERS:
        address = pool.find(block[at + 9] << 8 | block[at + 10], block[at + 11])
    return pool.part(address)


def leave(pool: Pool, address: int) -> None:
    """Forget the subscription at this address; whoever follows it, or is covered by it, is looked for on."""
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
