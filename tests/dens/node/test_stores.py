"""The stores of a node and of its endpoints: ownership, refusals and messages."""

import signal
from pathlib import Path

import pytest

from dens.node.storage.opening import MEDIATOR, NUMBER_MS, SUBSCRIBER, open_store
from dens.node.storage.owner import Owner
from dens.overlay.limits import Limits
from dens.overlay.storage.durable_state import DurableState
from dens.overlay.storage.store import Space
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import Item, item_id
from tests.dens.node.node_process import PATIENT, listening, node_file, processes, recording

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.mark.parametrize("more", [[], ["--recover"]])
def test_a_store_that_never_was_one_is_refused_and_left_alone(dens, tmp_path: Path, more: list[str]) -> None:
    path = node_file(tmp_path, 1)
    (tmp_path / "node.sqlite").write_bytes(PATIENT.read_bytes())
    for words in (["node", "run", path], listening(path, "--store", tmp_path / "node.sqlite")):
        ended = dens(*words, *more)
        assert ended.code == 3
        assert "error D349" in ended.err
        assert "is not the store of a DENS node" in ended.err
    assert (tmp_path / "node.sqlite").read_bytes() == PATIENT.read_bytes()
    assert {one.name for one in tmp_path.iterdir()} == {"node.sqlite", "node.toml"}


@pytest.mark.parametrize(
    ("store", "message"),
    [(".", "is a folder"), ("none/node.sqlite", "does not exist"), ("/dev/null", "not a regular file")],
)
def test_unusable_store_is_reported_in_words(dens, tmp_path: Path, store: str, message: str) -> None:
    path = node_file(tmp_path, 1)
    path.write_text(path.read_text().replace("node.sqlite", store))
    ended = dens("node", "run", path)
    assert ended.code == 3
    assert "error D349" in ended.err
    assert message in ended.err
    assert "another node" not in ended.err


def test_a_store_is_its_owners_alone(dens, tmp_path: Path) -> None:
    path, store = node_file(tmp_path, 1), tmp_path / "medic.sqlite"
    assert dens(*listening(path, "--as", "7", "--store", store)).code == 1
    before = store.read_bytes()
    others: list[list[str | Path]] = [
        listening(path, "--as", "8", "--store", store),
        ["node", "publish", path, recording(tmp_path), "--event", "patient", "--at", "127.0.0.1:9",
         "--as", "7", "--store", store],
        ["node", "run", node_file(tmp_path / "nine", 9)],
    ]  # fmt: skip
    (tmp_path / "nine" / "node.sqlite").symlink_to(store)
    for words in others:
        ended = dens(*words)
        assert ended.code == 3
        assert "error D347" in ended.err
        assert "belongs to subscriber 7" in ended.err
    assert store.read_bytes() == before
    assert dens(*listening(path, "--as", "7", "--store", store)).code == 1


def test_one_number_is_not_a_subscriber_and_a_publisher_of_one_folder(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    assert dens(*listening(path, "--as", "7")).code == 1
    ended = dens(
        "node", "publish", path, recording(tmp_path), "--event", "patient", "--at", "127.0.0.1:9", "--as", "7"
    )
    assert ended.code == 3
    assert "error D346" in ended.err
    assert "7 is a subscriber's number already" in ended.err
    assert not (tmp_path / "publisher-7.sqlite").exists()


def test_a_damaged_store_names_the_way_out_and_where_it_is_kept(dens, tmp_path: Path) -> None:
    path, store = node_file(tmp_path, 1), tmp_path / "medic.sqlite"
    words = listening(path, "--store", store)
    assert dens(*words).code == 1
    data = bytearray(store.read_bytes())
    data[100:4096] = b"\xa5" * 3996
    store.write_bytes(data)
    ended = dens(*words)
    assert ended.code == 3
    assert "error D348" in ended.err
    assert "--recover" in ended.err
    assert store.read_bytes() == data
    ended = dens(*words, "--recover")
    assert ended.code == 1
    assert f"it is kept as {store}.damaged" in ended.err
    assert (tmp_path / "medic.sqlite.damaged").read_bytes() == data
    assert "kept as" not in dens(*words, "--recover").err


def test_endpoint_whose_store_is_in_use_is_advised_to_take_another_number(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    store = open_store(
        tmp_path / "subscriber-65002.sqlite", Owner(SUBSCRIBER, 65002), 0, print, recover=False
    )
    ended = dens(*listening(path))
    store.close()
    assert ended.code == 3
    assert "error D349" in ended.err
    assert "or give this one a number of its own: --as" in ended.err
    store = open_store(tmp_path / "node.sqlite", Owner(MEDIATOR, 1), 0, print, recover=False)
    ended = dens("node", "run", path)
    store.close()
    assert ended.code == 3
    assert "another node is using it" in ended.err
    assert "--as" not in ended.err


def numbers_of(path: Path, owner: Owner, now_ms: int) -> tuple[int, int]:
    """Return the numbers that this owner's next message and next session would have."""
    store = open_store(path, owner, now_ms, lambda message: None, recover=True)
    ledger = DurableState(store, Limits())
    ledger.load()
    found = ledger.item_number(), ledger.session_number()
    ledger.commit()
    store.close()
    return found


def test_whoever_lost_its_store_says_nothing_under_old_numbers(tmp_path: Path) -> None:
    path, owner, day_ms = tmp_path / "medic.sqlite", Owner(SUBSCRIBER, 7), 86_400_000
    first = numbers_of(path, owner, 2_000 * day_ms)
    assert first == (2_000 * day_ms // NUMBER_MS,) * 2
    second = numbers_of(path, owner, 2_001 * day_ms)
    assert first < second < (first[0] + 100, first[1] + 100), "its own numbers go on"
    path.unlink()
    assert numbers_of(path, owner, 2_001 * day_ms) > (second[0] + 100, second[1] + 100)
    path.write_bytes(b"\0" * 8192)
    assert numbers_of(path, owner, 2_002 * day_ms)[0] == 2_002 * day_ms // NUMBER_MS, "recovered with nothing"
    assert numbers_of(tmp_path / "late.sqlite", owner, (1 << 31) * NUMBER_MS) == (1, 1), "34 years are over"


def test_clock_set_back_is_reported(tmp_path: Path) -> None:
    place, owner, messages = tmp_path / "node.sqlite", Owner(MEDIATOR, 1), []
    store = open_store(place, owner, 5_000_000, messages.append, recover=False)
    store.put(Space.ITEM, item_id(7, 1), Item(MessageType.SUBSCRIBE, 1, 7, 1, 5_000_000, 99, 1, b"\0\0\x63"))
    store.commit()
    store.close()
    open_store(place, owner, 4_995_000, messages.append, recover=False).close()
    assert messages == []
    open_store(place, owner, 1_400_000, messages.append, recover=False).close()
    assert "clock is 3,600 s behind what the store has seen" in messages[0]


@pytest.mark.slow
@pytest.mark.parametrize("is_idle", [True, False])
def test_a_node_whose_store_was_moved_away_says_so_and_ends(tmp_path: Path, is_idle: bool) -> None:
    """It went on acknowledging into a file that no restart would have found."""
    path = node_file(tmp_path, 1)
    with processes() as start:
        node = start("run", path)
        address = node.wait_for(event="begun")["address"]
        if not is_idle:
            medic = start("subscribe", path, PATIENT, "--at", address)
            medic.wait_for(event="acknowledged", type="subscribe")
        (tmp_path / "node.sqlite").rename(tmp_path / "away.sqlite")
        assert node.end() == 4
        assert f"{tmp_path / 'node.sqlite'}: error D371: " in node.said
        assert "put the file back and start again" in node.said
        (tmp_path / "away.sqlite").rename(tmp_path / "node.sqlite")
        again = start("run", path)
        again.wait_for(event="begun")
        assert again.end(signal.SIGTERM) == 0
