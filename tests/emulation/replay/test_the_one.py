"""Agreement with The ONE on its own traces."""

import gzip
from pathlib import Path

import pytest

from emulation.contacts.contact import Contacts
from emulation.contacts.formats.one_events import read_one_events
from emulation.replay.flood import replay
from emulation.replay.messages import Message, read_messages

HERE = Path(__file__).parent / "the_one"


def recorded(run: str) -> tuple[Contacts, list[Message]]:
    return (
        read_one_events(HERE / run / "ConnectivityONEReport.txt.gz"),
        read_messages(HERE / run / "CreatedMessagesReport.txt.gz"),
    )


def delivered_by_the_one(run: str) -> dict[str, float]:
    text = gzip.decompress((HERE / run / "DeliveredMessagesReport.txt.gz").read_bytes()).decode()
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {row[1]: float(row[0]) for row in rows}


@pytest.mark.parametrize(
    ("run", "contacts", "delivered", "relays", "latency_s"),
    [("a_u1", 7912, 1418, 69_291, 767.8), ("b3h_u1", 8341, 317, 63_375, 1185.0)],
)
def test_ideal_links(run: str, contacts: int, delivered: int, relays: int, latency_s: float) -> None:
    meetings, messages = recorded(run)
    assert len(meetings) == contacts
    result = replay(meetings, messages)
    assert (result.delivered, result.relays) == (delivered, relays)
    assert result.as_document()["latency_mean_s"] == pytest.approx(latency_s, rel=0.001)
    ours = {message.name: at for message, at in zip(messages, result.delivered_ms, strict=True)}
    for name, at_s in delivered_by_the_one(run).items():
        at_ms = ours[name]
        assert at_ms is not None
        assert at_ms <= 1000 * at_s


@pytest.mark.parametrize(
    ("run", "delivered", "relays", "latency_s"),
    [("a_u1", 1418, 69_241, 798.45), ("b3h_u1", 315, 63_026, 1226.7)],
)
def test_one_transfer_of_a_second_at_a_time(run: str, delivered: int, relays: int, latency_s: float) -> None:
    result = replay(*recorded(run), transfer_s=1.0)
    assert abs(result.delivered - delivered) <= 2
    assert result.relays == pytest.approx(relays, rel=0.005)
    assert result.as_document()["latency_mean_s"] == pytest.approx(latency_s, rel=0.01)
