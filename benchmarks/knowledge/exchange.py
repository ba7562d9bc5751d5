"""Two DENS nodes with 1,000 extracts that differ in 10 meet: what DENS/DENS sends, beside sending all."""

import time
from collections.abc import Iterator

from benchmarks.measurement import Measurement, at_least, at_most
from benchmarks.sizes import sized
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.session.protocol import ProtocolEngine
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import ENVELOPE_BYTES
from dens.overlay.wire.messages import Batch
from emulation.fault_injection.topics import TopicHost
from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.dictionary.extract import Extract, OfferedSource
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import load_mission_table

PUBLISHERS = sized(1_000, 20)
DIFFERENCES = 10
NODES = (1_001, 1_002)
NOW_MS = 10_000


def measure() -> Iterator[Measurement]:
    """Count extracts and bytes, which no machine changes, and the processor time of one meeting."""
    dictionaries = tuple(DistributedDataDictionary() for _ in NODES)
    nodes = tuple(
        DensNode(node, Mission(7), MemoryStore(), 0, directory=dictionary)
        for node, dictionary in zip(NODES, dictionaries, strict=True)
    )
    every = 1_000 // DIFFERENCES
    for publisher in range(PUBLISHERS):
        hearing = (0, 1) if publisher % every else (publisher // every % 2,)
        _announce(publisher, [(NODES[which], nodes[which]) for which in hearing])
    begin = time.process_time()
    sent = _meet((NODES[0], nodes[0]), (NODES[1], nodes[1]))
    meet_s = time.process_time() - begin
    contents = [[held.content for held in dictionary.held()] for dictionary in dictionaries]
    if contents[0] != contents[1] or len(contents[0]) != PUBLISHERS:
        raise AssertionError("the dictionaries are not equal after they met")
    everything = sum(ENVELOPE_BYTES + len(content) for content in contents[0])
    extracts = sum(message[1] == MessageType.ANNOUNCE for data in sent for message in _messages_in(data))
    yield at_most("exchange_extracts_sent_for_10_differences", extracts, DIFFERENCES, 1.5)
    yield at_least("exchange_times_fewer_bytes_than_sending_all", everything, sum(map(len, sent)), 3.0)
    yield at_most("exchange_ms_of_one_meeting_against_100_ms", 1e3 * meet_s, 100.0, 1.0)
    yield at_most("dictionary_learn_us_against_50_us", 1e6 * _learn_s(), 50.0, 1.0)
    yield at_most("extract_bytes_of_a_publisher_against_64", _typical_extract_bytes(), 64.0, 1.0)


def _messages_in(data: bytes) -> tuple[bytes, ...]:
    """Return what a datagram carries, which may be several messages."""
    if data[1] != MessageType.BATCH:
        return (data,)
    return Batch.decode(data[ENVELOPE_BYTES:]).messages


def _announce(publisher: int, listeners: list[tuple[int, DensNode]]) -> None:
    end = PublisherEndpoint(publisher, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
    end.announce(_extract(publisher), 0)
    for listener in listeners:
        _meet((publisher, end), listener)


def _extract(publisher: int) -> bytes:
    return Extract(1, 140, 1, (OfferedSource(0, 1 + publisher % 127, 2, 2),)).encode()


def _meet(a: tuple[int, ProtocolEngine], b: tuple[int, ProtocolEngine]) -> list[bytes]:
    """Let two machines talk until they are silent; return everything they sent."""
    (a_number, a_machine), (b_number, b_machine) = a, b
    a_machine.contact_opened(b_number, NOW_MS)
    b_machine.contact_opened(a_number, NOW_MS)
    sent: list[bytes] = []
    for now_ms in range(NOW_MS, NOW_MS + 1_000, 10):
        for here, machine, there in ((a_number, a_machine, b_machine), (b_number, b_machine, a_machine)):
            for datagram in machine.datagrams_to_send(now_ms):
                sent.append(datagram.data)
                there.receive(datagram.data, here, now_ms)
    a_machine.contact_lost(b_number, NOW_MS + 1_000)
    b_machine.contact_lost(a_number, NOW_MS + 1_000)
    return sent


def _learn_s() -> float:
    """Return the processor time of learning one extract."""
    dictionary = DistributedDataDictionary()
    begin = time.process_time()
    for publisher in range(PUBLISHERS):
        dictionary.learn(publisher, _extract(publisher), NOW_MS, age_ms=publisher)
    return (time.process_time() - begin) / PUBLISHERS


def _typical_extract_bytes() -> int:
    """Return the bytes of a publisher that measures everything of all three shipped vocabularies."""
    table = load_mission_table(["medical", "weather", "fire"])
    local = LocalDataDictionary(table)
    for event in table.events:
        local.offer(event.name, [attribute.name for attribute in event.attributes], "file", "text/csv")
    return len(local.extract(1))
