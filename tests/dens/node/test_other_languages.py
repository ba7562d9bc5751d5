"""A subscriber's process asks in whichever language its documents are written, and hears in its words."""

from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from dens.node.output.event_output import match_words, notification_words
from dens.node.processes.subscriber import subscribe_files
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import NotificationDelivered
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Satisfied
from knowledge_manager.mission_table import load_mission_table
from tests.paths import ROOT
from tests.plugins.toy_language import LIFETIME_Q, NAMESPACE, TOY, alarm, register
from watchdog.header import framed

TABLE = load_mission_table(["medical"])
PATIENT = ROOT / "docs" / "examples" / "patient.xml"


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


def ask(end: SubscriberEndpoint, *files: Path) -> list[str]:
    said: list[str] = []
    subscribe_files(end, files, TABLE, 1_000, said.append, None)
    return said


def test_documents_of_two_languages_are_subscribed_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "fast.xml"
    path.write_text(alarm())
    end = SubscriberEndpoint(7, Mission(TABLE.check), MemoryStore(), 1_000)
    ask(end, PATIENT, path)
    first, second = end.in_force
    assert (first.item.language, second.item.language) == (1, TOY.language_id)
    assert second.vector[:3] == bytes((1, 0, LIFETIME_Q))
    assert ["stays as it is" in line for line in ask(end, PATIENT, path)] == [True, True]


def test_another_bound_and_another_language_are_newer_revisions(tmp_path: Path) -> None:
    path = tmp_path / "fast.xml"
    path.write_text(alarm())
    end = SubscriberEndpoint(7, Mission(TABLE.check), MemoryStore(), 1_000)
    ask(end, path)
    path.write_text(alarm(least="140"))
    ask(end, path)
    path.write_bytes(PATIENT.read_bytes())
    ask(end, path)
    [held] = end.in_force
    assert (held.seq, held.item.language) == (2, 1)


def test_the_same_bytes_in_another_language_ask_for_something_else(tmp_path: Path) -> None:
    path = tmp_path / "fast.xml"
    path.write_text(alarm())
    end = SubscriberEndpoint(7, Mission(TABLE.check), MemoryStore(), 1_000)
    ask(end, path)
    [held] = end.in_force
    other = SubscriberEndpoint(8, Mission(TABLE.check), MemoryStore(), 1_000)
    other.subscribe(framed(0, 0, held.vector[2], held.body), 0, 1_000)
    assert "stays as it is" not in ask(other, path)[0]
    assert [one.item.language for one in other.in_force] == [0, TOY.language_id]


def test_document_of_unknown_language_is_refused_before_subscribing(tmp_path: Path) -> None:
    path = tmp_path / "odd.xml"
    path.write_text('<subscription xmlns="urn:unknown"/>')
    end = SubscriberEndpoint(7, Mission(TABLE.check), MemoryStore(), 1_000)
    with pytest.raises(DocumentError, match=rf"odd.xml:1:1: error D010: .*{NAMESPACE}"):
        ask(end, path)
    assert end.in_force == ()


def test_delivery_is_described_by_its_language() -> None:
    said = notification_words(TOY.language_id, b"\x00\x03\x85", TABLE)
    assert said == "attribute 3 of event class 0 is 133"
    fuzzy = notification_words(1, bytes.fromhex("0001670000909292010107"), TABLE)
    assert fuzzy.startswith("patient event 1: ")


@pytest.mark.parametrize(("language", "vector"), [(0, "0005aa"), (99, "0005aa"), (1, "00"), (200, "00")])
def test_delivery_without_description_is_shown_as_bytes(language: int, vector: str) -> None:
    said = notification_words(language, bytes.fromhex(vector), TABLE)
    assert said.startswith(f"{len(vector) // 2} bytes {vector}")


def test_degree_is_described_by_the_subscribing_language(tmp_path: Path) -> None:
    path = tmp_path / "fast.xml"
    path.write_text(alarm())
    end = SubscriberEndpoint(7, Mission(TABLE.check), MemoryStore(), 1_000)
    ask(end, PATIENT, path)
    item = Item(MessageType.NOTIFICATION, 1, 4, 1, 0, 99, 2, b"\x03\x09")
    satisfied = (Satisfied(0, 0, 51), Satisfied(1, 0, 255, b"\x05"))
    both = NotificationDelivered(0, item, 2, None, satisfied=satisfied)
    assert match_words(both, end, TABLE) == "5 above its bound"
    lying = NotificationDelivered(0, item, 2, None, satisfied=(Satisfied(1, 0, 255, b"what"),))
    assert match_words(lying, end, TABLE) == "degree 1.00"
    one = NotificationDelivered(0, item, 2, None, satisfied=satisfied[:1])
    assert match_words(one, end, TABLE) == "degree 0.20"
    gone = NotificationDelivered(0, item, 2, None, satisfied=(Satisfied(9, 0, 51),))
    assert match_words(gone, end, TABLE) == "degree 0.20"
