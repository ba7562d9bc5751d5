"""A DENS node as a process: its file, and a notification between real processes that are killed meanwhile."""

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dens.drivers.keys import derive, new_mission_key, new_signing_key, write_key
from dens.drivers.neighbours import Address
from dens.item import Item
from dens.ledger import Ledger
from dens.limits import Limits
from dens.numbers import MessageType
from dens.store import Put, Space
from dens.stores.owner import Owner
from studio.node import asking
from studio.node.links import SOON_MS, links_of_end
from studio.node.loading import load_node
from studio.node.settings import address_of
from studio.node.stores import MEDIATOR, NUMBER_MS, SUBSCRIBER, open_store

ROOT = Path(__file__).parent.parent.parent
PATIENT = ROOT / "docs" / "examples" / "patient.xml"
LONG_S = 240.0
"""A process is there after two seconds; on a machine that is busy it may take minutes."""


class Process:
    """A command in a process of its own, whose documents are read as they come."""

    def __init__(self, *arguments: str | Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "studio", "node", *map(str, arguments), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._told: queue.Queue[dict[str, Any]] = queue.Queue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._told.put(json.loads(line))
        finally:
            self._told.put({"event": "output ended"})

    def wait_for(self, **facts: Any) -> dict[str, Any]:
        """Return the next document that has these facts."""
        while True:
            told = self._told.get(timeout=LONG_S)
            if all(told.get(name) == value for name, value in facts.items()):
                return told
            assert told["event"] != "output ended", (facts, self._process.stderr.read())  # type: ignore[union-attr]

    def end(self, how: signal.Signals | None = None) -> int:
        """Send a signal, or wait for its own end; return how it ended."""
        if how is not None:
            self._process.send_signal(how)
        code = self._process.wait(timeout=LONG_S)
        self._thread.join(timeout=LONG_S)
        assert self._process.stderr is not None
        self.said = self._process.stderr.read()
        assert "Traceback" not in self.said
        return code

    def rest(self) -> list[dict[str, Any]]:
        """Return what has been told and not been waited for."""
        return [self._told.get_nowait() for _ in range(self._told.qsize())]

    def clear_away(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def processes() -> Iterator[Callable[..., Process]]:
    """Make processes, none of which outlives the test."""
    started: list[Process] = []

    def start(*arguments: str | Path) -> Process:
        started.append(Process(*arguments))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            process.clear_away()


def node_file(folder: Path, node: int, more: str = "", address: str = "127.0.0.1:0", key: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "node.toml"
    named = f'key = "{key}"\n' if key else ""
    path.write_text(
        f'node = {node}\nstore = "node.sqlite"\nvocabularies = ["medical"]\n{named}'
        f'[udp]\naddress = "{address}"\n{more}'
    )
    return path


def recording(folder: Path) -> Path:
    path = folder / "day.csv"
    path.write_text("patient_temperature,heart_rate,oxygen_saturation\n36.8,71,98\n40.1,134,88\n37,70,97\n")
    return path


@pytest.mark.slow
def test_a_notification_travels_between_processes_that_are_killed_and_started_again(tmp_path: Path) -> None:
    """The medic is at node 2, the bed at node 1; each node is killed while only it has what matters."""
    key = tmp_path / "mission.key"
    write_key(new_mission_key(), key)
    two = node_file(tmp_path / "two", 2, key="../mission.key")
    with processes() as start:
        far = start("run", two)
        peer = f'[[peer]]\nnode = 2\naddress = "{far.wait_for(event="begun")["address"]}"\n'
        near = start("run", node_file(tmp_path / "one", 1, peer, key="../mission.key"))
        begun = near.wait_for(event="begun")
        assert begun["key"] is not None
        medic = start("subscribe", two, PATIENT, "--at", peer.split('"')[1])
        medic.wait_for(event="acknowledged", type="subscribe", peer=2)
        near.wait_for(event="replicated", type="subscribe", origin=65002)
        assert medic.end(signal.SIGINT) == 130
        assert far.end(signal.SIGKILL) == -signal.SIGKILL

        one = tmp_path / "one" / "node.toml"
        bed = start("publish", one, recording(tmp_path), "--event", "patient", "--at", begun["address"],
                    "--period", "0", "--wait", LONG_S)  # fmt: skip
        figures = bed.wait_for(event="ended")
        assert bed.end() == 0
        assert (figures["readings"], figures["kept_at_source"], figures["taken_by_node"]) == (3, 2, 1)
        made = near.wait_for(event="stored", type="notification")
        assert near.end(signal.SIGKILL) == -signal.SIGKILL

        far = start("run", two)
        address = far.wait_for(event="begun")["address"]
        again = node_file(
            tmp_path / "one", 1, f'[[peer]]\nnode = 2\naddress = "{address}"\n', key="../mission.key"
        )
        near = start("run", again)
        far.wait_for(event="replicated", type="notification", origin=made["origin"], number=made["number"])
        medic = start("subscribe", two, "--at", address, "--count", "1", "--seconds", LONG_S)
        heard = medic.wait_for(event="delivered")
        assert medic.end() == 0
        assert (heard["origin"], heard["number"], heard["satisfied"]) == (
            65003,
            made["number"],
            [[0, 0, 255]],
        )
        assert [told for told in medic.rest() if told["event"] == "delivered"] == []
        assert near.end(signal.SIGTERM) == 0
        assert far.end(signal.SIGINT) == 130
        assert "everything is committed" in far.said


def test_everything_wrong_with_a_file_is_said_at_its_place(dens, tmp_path: Path) -> None:
    write_key(new_signing_key(3), tmp_path / "medic.key")
    path = tmp_path / "node.toml"
    path.write_text(
        """node = 7
store = "x.sqlite"
vocabularies = ["medicla", "none.toml"]
policy = "epidemc"
key = "medic.key"
identities = ["missing.pub"]
[limits]
notification_itms = 3
[[peer]]
node = 7
address = "127.0.0.1:0"
[[serial]]
port = "/dev/ttyACM0"
node = 8
trusted = true
[[serial]]
port = "/dev/ttyACM0"
node = 8
trusted = false
"""
    )
    ended = dens("node", "run", path)
    assert ended.code == 3
    told = [line.removeprefix(f"{path}:") for line in ended.err.splitlines()]
    assert [re.match(r"(\d+:\d+): error (D\d+)", line).groups() for line in told] == [  # type: ignore[union-attr]
        ("3:17", "D345"),
        ("3:28", "D345"),
        ("4:1", "D342"),
        ("5:1", "D345"),
        ("6:15", "D345"),
        ("8:1", "D342"),
        ("9:1", "D343"),
        ("10:1", "D346"),
        ("11:1", "D342"),
        ("17:1", "D346"),
        ("18:1", "D346"),
    ]
    assert "is a signing key; a mission key is needed" in ended.err
    assert not (tmp_path / "x.sqlite").exists()


def test_dens_check_knows_a_nodes_file(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    assert dens("check", path).code == 0
    path.write_text('node = "one"\nstore = "x"\n')
    ended = dens("check", path)
    assert ended.code == 1
    assert f"{path}:1:1: error D342" in ended.out
    path.write_text('node = \nstore = "x"\n')
    assert f"{path}:1:8: error D005" in dens("check", path).out


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ('node = 1\nstore = "x"\n', "D343", "talk to nobody"),
        ('node = 1\nstore = ""\n[udp]\naddress = "127.0.0.1:1"\n', "D342", "no name of a file"),
        ('node = 1\nstore = "a\\u0000"\n[udp]\naddress = "127.0.0.1:1"\n', "D342", "no name of a file"),
        ('node = 1\nstore = "x"\nkey = "a\\u0000"\n[udp]\naddress = "[::1]:1"\n', "D342", "name of a file"),
        ('node = 1\nstor = "x"\n', "D341", 'did you mean "store"'),
        ('node = 70000\nstore = "x"\n', "D342", "65535"),
        ('node = 1\nstore = "x"\n[udp]\naddress = "home:1"\n', "D342", "127.0.0.1:7001"),
        ('node = 1\nstore = "x"\n[udp]\naddress = "127.0.0.1:70000"\n', "D342", "127.0.0.1:7001"),
        ('node = 1\nstore = "x"\n[udp]\naddress = "10.0.0.1:7001"\n', "D344", "keys are needed"),
        ('node = 1\nstore = "x"\n[udp]\naddress = "[fe80::1]:7001"\n', "D344", "keys are needed"),
        (
            'node = 1\nstore = "x"\n[udp]\naddress = "[::1]:1"\n[[peer]]\nnode = 2\naddress = "10.0.0.1:1"\n',
            "D344",
            "keys are needed",
        ),
        (
            'node = 1\nstore = "x"\n[udp]\naddress = "[::1]:1"\n[[peer]]\nnode = 2\naddress = "[::1]:1"\n',
            "D346",
            "twice",
        ),
        ('node = 1\nstore = "x"\n[[serial]]\nport = "/dev/x"\nnode = 2\ntrusted = 1\n', "D342", "boolean"),
        ('node = 1\nstore = "x"\n[[serial]]\nport = "/dev/x"\nnode = 2\n', "D343", "trusted"),
        (
            'node = 1\nstore = "x"\n[[serial]]\nport = "/"\nnode = 2\ntrusted = true\n',
            "D345",
            "is a folder, and no serial port",
        ),
        (
            'node = 1\nstore = "x"\n[[serial]]\nport = "/etc/passwd"\nnode = 2\ntrusted = true\n',
            "D345",
            "is a plain file, and no serial port",
        ),
    ],
)
def test_a_file_is_refused(dens, tmp_path: Path, text: str, code: str, said: str) -> None:
    path = tmp_path / "node.toml"
    path.write_text(text)
    for command in (["run", path], ["subscribe", path], ["publish", path, path, "--event", "patient"]):
        ended = dens("node", *command)
        assert ended.code == 3
        assert f"error {code}" in ended.err
        assert said in ended.err
    assert [one.name for one in tmp_path.iterdir()] == ["node.toml"]


def test_every_code_of_a_nodes_file_has_a_page() -> None:
    source = "".join(path.read_text() for path in (ROOT / "studio" / "node").glob("*.py"))
    pages = {page.stem for page in (ROOT / "docs" / "errors").glob("D34*.md")}
    assert pages == set(re.findall(r'"(D\d{3})"', source))


def test_the_files_on_the_page_are_good(tmp_path: Path) -> None:
    mission, medic = new_mission_key(), new_signing_key(3)
    write_key(mission, tmp_path / "mission.key")
    write_key(derive(medic), tmp_path / "medic.pub")
    shown = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "node.md").read_text(), re.DOTALL)
    plans = []
    for text in shown:
        (tmp_path / "node.toml").write_text(text)
        plans.append(load_node(tmp_path / "node.toml"))
    assert [plan.mission_key for plan in plans] == [None, mission]
    assert plans[1].peers == {2: ("192.168.1.5", 7001)}
    assert [(one.node, one.trusted) for one in plans[1].settings.serial] == [(7, True)]


def test_what_cannot_be_done_is_said(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    cases: list[tuple[list[str | Path], int, str]] = [
        (["subscribe", path, PATIENT], 3, "--at"),
        (["subscribe", path, "--at", "10.0.0.1:7001"], 3, "keys are needed"),
        (["subscribe", path, "--at", "nowhere"], 2, "is no address"),
        (["subscribe", path, "--as", "1", "--at", "127.0.0.1:9"], 2, "own number"),
        (["subscribe", path, "--as", "70000"], 2, "65535"),
        (["subscribe", path, "--withdraw", "4", "--at", "127.0.0.1:9"], 3, "no subscription 4 is in force"),
        (["subscribe", path, "--at", "127.0.0.1:9", "--seconds", "nan"], 2, "'--seconds'"),
        (["subscribe", path, "--at", "127.0.0.1:9", "--seconds", "inf"], 2, "'--seconds'"),
        (["publish", path, path, "--event", "patient", "--period", "1e300"], 2, "'--period'"),
        (["publish", path, path, "--event", "patient", "--wait", "-1"], 2, "'--wait'"),
        (["publish", path, tmp_path, "--event", "patient", "--at", "127.0.0.1:9"], 3, "is no file"),
        (["publish", path, path, "--event", "patient", "--at", "127.0.0.1:9"], 3, "no column of patient"),
        (["publish", path, path, "--event", "patiend", "--at", "127.0.0.1:9"], 3, "patient"),
    ]
    for words, code, said in cases:
        ended = dens("node", *words)
        assert (ended.code, said in ended.err.replace("\n", " ")) == (code, True), (words, ended.err)


def test_what_is_asked_twice_is_asked_once_and_a_change_is_a_newer_revision(dens, tmp_path: Path) -> None:
    """Nobody is at that address; what was said waits in the store for when somebody is."""
    path = node_file(tmp_path, 1)
    words = ["node", "subscribe", path, PATIENT, "--at", "127.0.0.1:9", "--seconds", "0"]
    first = dens(*words, "--json")
    assert first.code == 1
    assert "the node has not answered" in first.err
    assert [json.loads(line)["event"] for line in first.out.splitlines()] == ["created"]
    again = dens(*words)
    assert "was asked for before and stays as it is" in again.err
    changed = tmp_path / "patient.xml"
    changed.write_text(PATIENT.read_text().replace('threshold="0.6"', 'threshold="0.8"'))
    words[3] = changed
    newer = dens(*words)
    assert "subscription 0 (patient.xml): 0001" in newer.err
    waiting = dens("node", "subscribe", path, "--at", "127.0.0.1:9", "--seconds", "0", "--count", "1")
    assert waiting.code == 1
    assert "0 of 1 notifications" in waiting.err


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody is there, nothing is gained by waiting for the answer."""
    monkeypatch.setattr(asking, "SETTLED_S", 0.2)


def listening(path: Path, *more: str | Path) -> list[str | Path]:
    """Return a call of a subscriber whom nobody answers, and who ends at once."""
    return ["node", "subscribe", path, "--at", "127.0.0.1:9", "--seconds", "0", *more]


@pytest.mark.parametrize("more", [[], ["--recover"]])
def test_a_store_that_never_was_one_is_refused_and_left_alone(dens, tmp_path: Path, more: list[str]) -> None:
    path = node_file(tmp_path, 1)
    (tmp_path / "node.sqlite").write_bytes(PATIENT.read_bytes())
    for words in (["node", "run", path], listening(path, "--store", tmp_path / "node.sqlite")):
        ended = dens(*words, *more)
        assert ended.code == 3
        assert "error D349" in ended.err
        assert "is no store of a DENS node" in ended.err
    assert (tmp_path / "node.sqlite").read_bytes() == PATIENT.read_bytes()
    assert {one.name for one in tmp_path.iterdir()} == {"node.sqlite", "node.toml"}


@pytest.mark.parametrize(
    ("store", "said"),
    [(".", "is a folder"), ("none/node.sqlite", "there is no folder"), ("/dev/null", "no regular file")],
)
def test_a_store_that_cannot_be_is_said_in_words(dens, tmp_path: Path, store: str, said: str) -> None:
    path = node_file(tmp_path, 1)
    path.write_text(path.read_text().replace("node.sqlite", store))
    ended = dens("node", "run", path)
    assert ended.code == 3
    assert "error D349" in ended.err
    assert said in ended.err
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


def begun_with(output: Any, *arguments: str | Path) -> subprocess.Popen[str]:
    """Start a node's command whose standard output is this."""
    command = [sys.executable, "-m", "studio", "node", *map(str, arguments)]
    return subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def said_until(process: subprocess.Popen[str], word: str) -> str:
    """Return the line of stderr in which this word stands."""
    assert process.stderr is not None
    return next(line for line in process.stderr if word in line)


def test_a_node_whose_log_cannot_be_written_says_so_and_goes_on(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        node = begun_with(full, "run", node_file(tmp_path, 1), "--json")
    try:
        said = said_until(node, "standard output")
        assert "No space left on device; this goes on" in said
        assert node.poll() is None
        node.send_signal(signal.SIGTERM)
        assert node.wait(timeout=LONG_S) == 0
        assert node.stderr is not None
        assert node.stderr.read() == ""
    finally:
        node.kill()
        node.communicate()


def test_a_node_whose_events_nobody_reads_any_more_says_so_and_goes_on(tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    node = begun_with(subprocess.PIPE, "run", path, "--json")
    try:
        assert node.stdout is not None
        address = json.loads(node.stdout.readline())["address"]
        node.stdout.close()
        asking = ["subscribe", path, PATIENT, "--at", address, "--json"]
        for number in ("7", "8"):
            asked = begun_with(subprocess.DEVNULL, *asking, "--as", number)
            assert "has it" in said_until(asked, "node 1")
            asked.send_signal(signal.SIGTERM)
            assert asked.wait(timeout=LONG_S) == 0
            asked.communicate()
        assert "Broken pipe; this goes on" in said_until(node, "standard output")
        node.send_signal(signal.SIGTERM)
        assert node.wait(timeout=LONG_S) == 0
    finally:
        node.kill()
        node.stderr.close()  # type: ignore[union-attr]


def test_a_publisher_whose_output_is_lost_publishes_all_the_same(tmp_path: Path) -> None:
    words = ["--event", "patient", "--at", "127.0.0.1:9", "--period", "0", "--wait", "0", "--json"]
    with Path("/dev/full").open("w") as full:
        end = begun_with(full, "publish", node_file(tmp_path, 1), recording(tmp_path), *words)
    _, said = end.communicate(timeout=LONG_S)
    assert end.returncode == 1, "nobody was there to take anything"
    assert "standard output: No space left on device; this goes on" in said


@pytest.mark.parametrize(("is_full", "code"), [(True, 3), (False, 0)])
def test_a_subscriber_whose_output_is_lost_ends_and_says_which_output(
    tmp_path: Path, is_full: bool, code: int
) -> None:
    """A reader that went away is no failure, as in `dens … | head`; a full disk is."""
    words = ["subscribe", node_file(tmp_path, 1), PATIENT, "--at", "127.0.0.1:9", "--json"]
    if is_full:
        with Path("/dev/full").open("w") as full:
            end = begun_with(full, *words)
    else:
        read, write = os.pipe()
        os.close(read)
        end = begun_with(write, *words)
        os.close(write)
    _, said = end.communicate(timeout=LONG_S)
    assert end.returncode == code
    assert "standard output: " in said
    assert "everything is committed" in said


@pytest.mark.parametrize("as_json", [True, False])
def test_lines_of_a_recording_that_are_skipped_are_told_with_their_number(
    dens, tmp_path: Path, as_json: bool
) -> None:
    path, day = node_file(tmp_path, 1), tmp_path / "day.csv"
    day.write_bytes(b"patient_temperature,heart_rate\n37,70\n37\n37,71\n\xff,1\n\n37,72\n38,7")
    words = ["--at", "127.0.0.1:9", "--period", "0", "--wait", "0"]
    ended = dens("node", "publish", path, day, "--event", "patient", *words, *["--json"] * as_json)
    assert ended.code == 1
    told = [line for line in ended.err.splitlines() if line.startswith(str(day))]
    assert told == [
        f"{day}:3: it has 1 fields, and the first line has 2; it is skipped",
        f"{day}:5: it is no UTF-8; it is skipped",
        f"{day}:6: it has 1 fields, and the first line has 2; it is skipped",
        f"{day}:8: the last line has no line break at its end, as if it were cut off; it is skipped",
    ]
    if as_json:
        figures = json.loads(ended.out.splitlines()[-1])
        assert (figures["readings"], figures["broken_lines"]) == (3, 4)
        assert [one["line"] for one in figures["broken"]] == [3, 5, 6, 8]


@pytest.mark.parametrize(
    ("address", "own"),
    [
        (("127.0.0.1", 7001), "127.0.0.1"),
        (("::1", 7001), "::1"),
        (("10.0.0.1", 7001), "0.0.0.0"),
        (("fe80::1", 7001), "::"),
    ],
)
def test_an_end_talks_to_its_node_alone_and_notices_soon_that_it_is_deaf(
    tmp_path: Path, address: Address, own: str
) -> None:
    write_key(new_mission_key(), tmp_path / "mission.key")
    plan = load_node(node_file(tmp_path, 1, key="mission.key"))
    links = links_of_end(plan, address)
    assert (links.address, links.listed, links.serial) == ((own, 0), {1: address}, ())
    assert not links.accepts_others
    assert links.silence_ms == SOON_MS <= 5_000


@pytest.mark.parametrize(
    ("everywhere", "reached"),
    [("0.0.0.0:7002", ("127.0.0.1", 7002)), ("[::]:7002", ("::1", 7002)), ("[::0]:7002", ("::1", 7002))],
)
def test_an_end_reaches_a_node_that_listens_everywhere_over_loopback(
    tmp_path: Path, everywhere: str, reached: Address
) -> None:
    write_key(new_mission_key(), tmp_path / "mission.key")
    plan = load_node(node_file(tmp_path, 1, address=everywhere, key="mission.key"))
    for links in (links_of_end(plan, None), links_of_end(plan, address_of(everywhere))):
        assert (links.address, links.listed) == ((reached[0], 0), {1: reached})


@pytest.mark.slow
def test_what_was_refused_unsigned_is_taken_when_it_is_asked_for_with_a_key(tmp_path: Path) -> None:
    medic = new_signing_key(3)
    write_key(medic, tmp_path / "medic.key")
    write_key(derive(medic), tmp_path / "medic.pub")
    path = node_file(tmp_path, 1)
    path.write_text('identities = ["medic.pub"]\n' + path.read_text())
    with processes() as start:
        node = start("run", path)
        address = node.wait_for(event="begun")["address"]
        words = ["subscribe", path, PATIENT, "--as", "3", "--at", address]
        unsigned = start(*words)
        unsigned.wait_for(event="acknowledged", type="subscribe", reason="not_signed")
        assert unsigned.end(signal.SIGTERM) == 0
        assert "node 1 refused it: not_signed; ask for it again with --key" in unsigned.said
        signing = start(*words, "--key", tmp_path / "medic.key")
        signing.wait_for(event="acknowledged", type="subscribe", reason=None)
        assert signing.end(signal.SIGTERM) == 0
        assert "asked for anew, signed" in signing.said
        assert node.end(signal.SIGTERM) == 0


def test_an_end_whose_store_is_in_use_is_told_to_take_another_number(dens, tmp_path: Path) -> None:
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


def test_what_nobody_answered_is_no_success(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    silent = "node 1 never answered; is it running at 127.0.0.1:9"
    assert dens(*listening(path, PATIENT)).code == 1
    for words in (listening(path), listening(path, PATIENT)):
        ended = dens(*words)
        assert (ended.code, silent in ended.err) == (1, True), ended.err
    words = ["--event", "patient", "--at", "127.0.0.1:9", "--period", "0", "--wait", "0"]
    ended = dens("node", "publish", path, recording(tmp_path), *words)
    assert (ended.code, silent in ended.err) == (1, True)
    assert "nobody has asked" not in ended.err, "nobody knows"


def numbers_of(path: Path, owner: Owner, now_ms: int) -> tuple[int, int]:
    """Return the numbers that this owner's next message and next session would have."""
    store = open_store(path, owner, now_ms, lambda said: None, recover=True)
    ledger = Ledger(store, Limits())
    ledger.load()
    found = ledger.item_number(), ledger.link_number()
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


def test_a_clock_that_went_back_is_told(tmp_path: Path) -> None:
    place, owner, said = tmp_path / "node.sqlite", Owner(MEDIATOR, 1), []
    store = open_store(place, owner, 5_000_000, said.append, recover=False)
    store.stage(Put(Space.ITEM, (7, 1), Item(MessageType.SUBSCRIBE, 1, 7, 1, 5_000_000, 99, 1, b"\0\0\x63")))
    store.commit()
    store.close()
    open_store(place, owner, 4_995_000, said.append, recover=False).close()
    assert said == []
    open_store(place, owner, 1_400_000, said.append, recover=False).close()
    assert "clock is 3,600 s behind what the store has seen" in said[0]
