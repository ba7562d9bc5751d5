"""How two dictionaries become equal when their nodes meet, sending little more than what differs.

Four messages, none of which needs memory of another; losing or repeating any does no harm:

| byte 0 | message | then |
| --- | --- | --- |
| 0x11 | digest | log₂ of the number of buckets; a 32-bit fingerprint for each |
| 0x12 | versions | log₂ of the number of buckets; a mask of those that differ; node (2), counter (4) and
check (2) of everything held in them |
| 0x13 | extracts | node (2), age in ms (4), hops (1), length (2) and bytes of each |
| 0x14 | wants | node (2) of each extract that is wanted |

    A digest → B   B versions → A   A extracts and wants → B   B extracts → A

A bucket's fingerprint is the sum of 32-bit hashes over the extracts in it; nodes fall into buckets by a hash
of their number. There are about eight extracts to a bucket, so a digest of a thousand is half a kilobyte and
one of ten is ten bytes. Whoever is asked counts in the asker's number of buckets.
"""

import struct
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Final

from knowledge_manager.distributed_dictionary import DistributedDataDictionary, Held
from knowledge_manager.extract import ExtractError

DIGEST: Final = 0x11
VERSIONS: Final = 0x12
EXTRACTS: Final = 0x13
WANTS: Final = 0x14

EXTRACTS_TO_A_BUCKET: Final = 8
MOST_BUCKETS_LOG2: Final = 8
MESSAGE_BYTES: Final = 4096
"""An extracts message is closed when it has grown beyond this."""

_VERSION: Final = struct.Struct(">HIH")
_COPY: Final = struct.Struct(">HIBH")
_LARGEST_AGE_MS: Final = (1 << 32) - 1


class DictionaryExchange:
    """Speaks for one node's dictionary. It owns no socket and no clock: bytes and time in, bytes out."""

    def __init__(self, dictionary: DistributedDataDictionary) -> None:
        self._dictionary = dictionary
        self.refused = 0
        """Extracts inside well-formed messages that could not be decoded; the others were taken."""

    def digest(self, now_ms: int) -> bytes:
        """Return what to say first when a contact opens."""
        self._dictionary.time_is(now_ms)
        full_buckets = len(self._dictionary) // EXTRACTS_TO_A_BUCKET
        buckets_log2 = min(full_buckets.bit_length(), MOST_BUCKETS_LOG2)
        sums = _fingerprints(self._dictionary.held(), buckets_log2)
        return bytes([DIGEST, buckets_log2]) + struct.pack(f">{len(sums)}I", *sums)

    def receive(self, message: bytes, peer: int, now_ms: int) -> list[bytes]:
        """Take a message and return the answers to it; one that is not well-formed raises `ExtractError`."""
        self._dictionary.time_is(now_ms)
        kind = message[0] if message else 0
        if kind == DIGEST:
            return self._answer_digest(message)
        if kind == VERSIONS:
            return self._answer_versions(message, now_ms)
        if kind == EXTRACTS:
            self._take(message, peer, now_ms)
            return []
        if kind == WANTS:
            wanted = map(self._dictionary.get, _nodes(message))
            return list(_copies((held for held in wanted if held is not None), now_ms))
        raise ExtractError(0, f"message kind {kind} is unknown")

    def _answer_digest(self, message: bytes) -> list[bytes]:
        buckets_log2 = _buckets_log2(message)
        count = 1 << buckets_log2
        if len(message) != 2 + 4 * count:
            raise ExtractError(
                min(len(message), 2 + 4 * count), f"{count} fingerprints have {4 * count} bytes"
            )
        theirs = struct.unpack_from(f">{count}I", message, 2)
        ours = _fingerprints(self._dictionary.held(), buckets_log2)
        differing = {bucket for bucket in range(count) if theirs[bucket] != ours[bucket]}
        if not differing:
            return []
        mask = sum(1 << bucket for bucket in differing)
        entries = (
            _VERSION.pack(held.node, held.extract.counter, _check(held))
            for held in self._dictionary.held()
            if _bucket(held.node, buckets_log2) in differing
        )
        head = bytes([VERSIONS, buckets_log2]) + mask.to_bytes(_mask_bytes(buckets_log2), "big")
        return [head + b"".join(entries)]

    def _answer_versions(self, message: bytes, now_ms: int) -> list[bytes]:
        buckets_log2 = _buckets_log2(message)
        begin = 2 + _mask_bytes(buckets_log2)
        if len(message) < begin or (len(message) - begin) % _VERSION.size:
            raise ExtractError(len(message), f"versions have {_VERSION.size} bytes each")
        mask = int.from_bytes(message[2:begin], "big")
        theirs = {
            node: (counter, check)
            for node, counter, check in _VERSION.iter_unpack(message[begin:])
            if mask >> _bucket(node, buckets_log2) & 1
        }
        missing: list[Held] = []
        for held in self._dictionary.held():
            if not mask >> _bucket(held.node, buckets_log2) & 1:
                continue
            known = theirs.get(held.node)
            if known is None or (known != _version(held) and known[0] <= held.extract.counter):
                missing.append(held)
        wanted = [node for node, version in theirs.items() if self._lacks(node, version)]
        answers = list(_copies(missing, now_ms))
        if wanted:
            answers.append(bytes([WANTS]) + b"".join(node.to_bytes(2, "big") for node in wanted))
        return answers

    def _lacks(self, node: int, version: tuple[int, int]) -> bool:
        held = self._dictionary.get(node)
        return held is None or (version != _version(held) and version[0] >= held.extract.counter)

    def _take(self, message: bytes, peer: int, now_ms: int) -> None:
        copies: list[tuple[int, int, int, bytes]] = []
        at = 1
        while at < len(message):
            if at + _COPY.size > len(message):
                raise ExtractError(at, "an extract is cut off")
            node, age_ms, hops, length = _COPY.unpack_from(message, at)
            at += _COPY.size
            if at + length > len(message):
                raise ExtractError(at, "an extract is cut off")
            copies.append((node, age_ms, hops, message[at : at + length]))
            at += length
        for node, age_ms, hops, content in copies:
            try:
                self._dictionary.learn(
                    node, content, now_ms, age_ms=age_ms, via=peer, hops=min(hops + 1, 255)
                )
            except ExtractError:
                self.refused += 1


def _buckets_log2(message: bytes) -> int:
    if len(message) < 2 or message[1] > MOST_BUCKETS_LOG2:
        raise ExtractError(1, f"the number of buckets is 2 to the power of 0..{MOST_BUCKETS_LOG2}")
    return message[1]


def _mask_bytes(buckets_log2: int) -> int:
    return max(1, (1 << buckets_log2) // 8)


def _bucket(node: int, buckets_log2: int) -> int:
    """Spread node numbers, which come in runs, over the buckets (Knuth's multiplicative hash)."""
    return (node * 0x9E3779B1 >> 20) & ((1 << buckets_log2) - 1)


def _fingerprints(held: Iterable[Held], buckets_log2: int) -> list[int]:
    sums = [0] * (1 << buckets_log2)
    for one in held:
        digest = blake2b(one.node.to_bytes(2, "big") + one.content, digest_size=4).digest()
        bucket = _bucket(one.node, buckets_log2)
        sums[bucket] = sums[bucket] + int.from_bytes(digest, "big") & 0xFFFFFFFF
    return sums


def _check(held: Held) -> int:
    return int.from_bytes(blake2b(held.content, digest_size=2).digest(), "big")


def _version(held: Held) -> tuple[int, int]:
    return held.extract.counter, _check(held)


def _nodes(message: bytes) -> list[int]:
    if len(message) % 2 == 0:
        raise ExtractError(len(message), "nodes have two bytes each")
    return [int.from_bytes(message[at : at + 2], "big") for at in range(1, len(message), 2)]


def _copies(extracts: Iterable[Held], now_ms: int) -> Iterator[bytes]:
    """Yield messages with these extracts, each with its age as of now."""
    message = bytes([EXTRACTS])
    for held in extracts:
        age_ms = min(max(0, now_ms - held.born_ms), _LARGEST_AGE_MS)
        message += _COPY.pack(held.node, age_ms, held.provenance.hops, len(held.content)) + held.content
        if len(message) > MESSAGE_BYTES:
            yield message
            message = bytes([EXTRACTS])
    if len(message) > 1:
        yield message
