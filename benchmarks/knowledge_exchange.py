"""Two dictionaries of 1,000 extracts that differ in 10: what is sent, beside sending everything."""

import time
from collections.abc import Iterator

from benchmarks.measurement import Measurement, at_least, at_most
from knowledge_manager.distributed_dictionary import DistributedDataDictionary
from knowledge_manager.distributed_dictionary_exchange import EXTRACTS, DictionaryExchange
from knowledge_manager.extract import Extract, OfferedSource
from knowledge_manager.local_dictionary import LocalDataDictionary
from knowledge_manager.mission_table import load_mission_table

NODES = 1_000
DIFFERENCES = 10
NOW_MS = 10_000_000
COPY_HEAD_BYTES = 9


def measure() -> Iterator[Measurement]:
    """Count extracts and bytes, which no machine changes, and the processor time of one meeting."""
    ours = range(0, NODES, 2 * NODES // DIFFERENCES)
    theirs = range(NODES // DIFFERENCES, NODES, 2 * NODES // DIFFERENCES)
    begin = time.process_time()
    a, b = _filled(set(ours)), _filled(set(theirs))
    learn_s = (time.process_time() - begin) / (2 * NODES)
    begin = time.process_time()
    sent = _meet(a, b)
    meet_s = time.process_time() - begin
    if [held.content for held in a.held()] != [held.content for held in b.held()]:
        raise AssertionError("the dictionaries are not equal after they met")
    everything = sum(COPY_HEAD_BYTES + len(held.content) for held in a.held())
    yield at_most("exchange_extracts_sent_for_10_differences", sum(map(_extracts, sent)), DIFFERENCES, 1.5)
    yield at_least("exchange_times_fewer_bytes_than_sending_all", everything, sum(map(len, sent)), 8.0)
    yield at_most("exchange_digest_bytes_of_1000_against_1026", len(_meet(a, b)[0]), 1026.0, 1.0)
    yield at_most("exchange_ms_of_one_meeting_against_100_ms", 1e3 * meet_s, 100.0, 1.0)
    yield at_most("dictionary_learn_us_against_50_us", 1e6 * learn_s, 50.0, 1.0)
    yield at_most("extract_bytes_of_a_publisher_against_64", _typical_extract_bytes(), 64.0, 1.0)


def _filled(newer: set[int]) -> DistributedDataDictionary:
    dictionary = DistributedDataDictionary()
    for node in range(NODES):
        source = OfferedSource(0, 1 + node % 127, 2, 2)
        dictionary.learn(node, Extract(1 + (node in newer), 140, 1, (source,)).encode(), NOW_MS, age_ms=node)
    return dictionary


def _meet(a: DistributedDataDictionary, b: DistributedDataDictionary) -> list[bytes]:
    ends = (DictionaryExchange(a), DictionaryExchange(b))
    sent: list[bytes] = []
    waiting = [(1, ends[0].digest(NOW_MS))]
    while waiting:
        to, message = waiting.pop(0)
        sent.append(message)
        waiting += [(1 - to, answer) for answer in ends[to].receive(message, 1 - to, NOW_MS)]
    return sent


def _extracts(message: bytes) -> int:
    at, count = 1, 0
    while message[0] == EXTRACTS and at < len(message):
        at += COPY_HEAD_BYTES + int.from_bytes(message[at + 7 : at + 9], "big")
        count += 1
    return count


def _typical_extract_bytes() -> int:
    """Return the bytes of a publisher that measures everything of all three shipped vocabularies."""
    table = load_mission_table(["medical", "weather", "fire"])
    local = LocalDataDictionary(table)
    for event in table.events:
        local.offer(event.name, [attribute.name for attribute in event.attributes], "file", "text/csv")
    return len(local.extract(1))
