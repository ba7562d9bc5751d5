"""A DENS node as a process: its file, and a notification between real processes that are killed meanwhile."""

import json
import re
import signal
from pathlib import Path

import pytest

from dens.node.keys import derive, new_mission_key, new_signing_key, write_key
from dens.node.links.neighbours import Address
from dens.node.processes.addresses import ENDPOINT_SILENCE_MS, links_of_end
from dens.node.settings.node_file import load_node
from dens.node.settings.schema import address_of
from dens.overlay.wire.item import Item
from tests.dens.node.node_process import LONG_S, PATIENT, ROOT, listening, node_file, processes, recording

pytestmark = pytest.mark.usefixtures("impatient")


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


@pytest.mark.slow
def test_hosting_node_gets_pending_deliveries_under_any_policy(
    tmp_path: Path,
) -> None:
    """Direct delivery gives no mediator a copy, and the medic is reached through node 2 only."""
    two = node_file(tmp_path / "two", 2)
    two.write_text('policy = "direct"\nhosts = [65002]\n' + two.read_text())
    with processes() as start:
        far = start("run", two)
        at = far.wait_for(event="begun")["address"]
        one = node_file(tmp_path / "one", 1, f'[[peer]]\nnode = 2\naddress = "{at}"\n')
        one.write_text('policy = "direct"\n' + one.read_text())
        near = start("run", one)
        begun = near.wait_for(event="begun")
        medic = start("subscribe", two, PATIENT, "--at", at, "--count", "1", "--seconds", LONG_S)
        near.wait_for(event="replicated", type="subscribe", origin=65002)
        bed = start("publish", one, recording(tmp_path), "--event", "patient", "--at", begun["address"],
                    "--period", "0", "--wait", LONG_S)  # fmt: skip
        made = near.wait_for(event="stored", type="notification")
        heard = medic.wait_for(event="delivered")
        assert (heard["origin"], heard["number"]) == (made["origin"], made["number"])
        assert (medic.end(), bed.end()) == (0, 0)
        assert near.end(signal.SIGTERM) == far.end(signal.SIGTERM) == 0


def test_all_file_errors_are_reported_at_their_place(dens, tmp_path: Path) -> None:
    write_key(new_signing_key(3), tmp_path / "medic.key")
    path = tmp_path / "node.toml"
    path.write_text(
        """node = 7
store = "x.sqlite"
vocabularies = ["medicla", "none.toml"]
policy = "epidemc"
policies = { spray_and_wait = { copis = 8 }, dens = { copies = 3 } }
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
        ("5:33", "D342"),
        ("5:55", "D342"),
        ("6:1", "D345"),
        ("7:15", "D345"),
        ("9:1", "D342"),
        ("10:1", "D343"),
        ("11:1", "D346"),
        ("12:1", "D342"),
        ("18:1", "D346"),
        ("19:1", "D346"),
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


ON_LOOPBACK = 'node = 1\nstore = "x"\n[udp]\naddress = "127.0.0.1:1"\n[[discovery]]\n'


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ('node = 1\nstore = "x"\n', "D343", "this node has no link"),
        (
            'node = 1\nstore = ""\n[udp]\naddress = "127.0.0.1:1"\n',
            "D342",
            "a file name must not be empty",
        ),
        (
            'node = 1\nstore = "a\\u0000"\n[udp]\naddress = "127.0.0.1:1"\n',
            "D342",
            "a file name must not be empty",
        ),
        (
            'node = 1\nstore = "x"\nkey = "a\\u0000"\n[udp]\naddress = "[::1]:1"\n',
            "D342",
            "a file name must not",
        ),
        ('node = 1\nstor = "x"\n', "D341", 'did you mean "store"'),
        ('node = 1\nstore = "x"\nhosts = [7, 7]\n[udp]\naddress = "[::1]:1"\n', "D346", "hosts[0] already"),
        ('node = 1\nstore = "x"\nhosts = [1]\n[udp]\naddress = "[::1]:1"\n', "D346", "this node itself"),
        ('node = 1\nstore = "x"\nhosts = [2147483648]\n[udp]\naddress = "[::1]:1"\n', "D342", "2147483647"),
        (f'node = 1\nstore = "x"\nhosts = {list(range(2, 67))}\n', "D342", "at most 64"),
        ('node = 2147483648\nstore = "x"\n', "D342", "2147483647"),
        ('node = 1\nstore = "x"\n[udp]\naddress = "home:1"\n', "D342", "127.0.0.1:7001"),
        ('node = 1\nstore = "x"\n[udp]\naddress = "127.0.0.1:70000"\n', "D342", "127.0.0.1:7001"),
        ('node = 1\nstore = "x"\n[udp]\naddress = "10.0.0.1:7001"\n', "D344", "a mission key is needed"),
        ('node = 1\nstore = "x"\n[udp]\naddress = "[fe80::1]:7001"\n', "D344", "a mission key is needed"),
        (
            'node = 1\nstore = "x"\n[udp]\naddress = "[::1]:1"\n[[peer]]\nnode = 2\naddress = "10.0.0.1:1"\n',
            "D344",
            "a mission key is needed",
        ),
        (
            'node = 1\nstore = "x"\n[udp]\naddress = "[::1]:1"\n[[peer]]\nnode = 2\naddress = "[::1]:1"\n',
            "D346",
            "twice",
        ),
        (
            'node = 1\nstore = "x"\n[[discovery]]\ninterface = "lo"\n',
            "D343",
            "beacons announce",
        ),
        (f"{ON_LOOPBACK}interface = 'wlan0'\n", "D342", "nodes on wlan0 cannot reach 127.0.0.1:1"),
        (f"{ON_LOOPBACK}interface = ''\n", "D342", "not the name of an interface"),
        (f"{ON_LOOPBACK}interface = 'lo'\ngroup = '10.0.0.1'\n", "D342", "not a multicast group"),
        (f"{ON_LOOPBACK}interface = 'lo'\ngroup = 'ff02::4445'\n", "D342", "both are IPv4, or both IPv6"),
        (f"{ON_LOOPBACK}interface = 'lo'\ngroup = '239.1.1.1'\nbroadcast = true\n", "D342", "leave out"),
        (f"{ON_LOOPBACK.replace('127.0.0.1', '[::1]')}interface = 'lo'\nbroadcast = true\n", "D342", "IPv6"),
        (f"{ON_LOOPBACK}interface = 'lo'\nperiod_s = 0\n", "D342", "0.1"),
        (f"{ON_LOOPBACK}interface = 'lo'\nport = 0\n", "D342", "1"),
        (
            f"{ON_LOOPBACK}interface = 'lo'\n[[discovery]]\ninterface = 'lo'\n",
            "D346",
            "listed twice",
        ),
        (f"{ON_LOOPBACK}interfce = 'lo'\n", "D341", 'did you mean "interface"'),
        ('node = 1\nstore = "x"\n[[serial]]\nport = "/dev/x"\nnode = 2\ntrusted = 1\n', "D342", "boolean"),
        ('node = 1\nstore = "x"\n[[serial]]\nport = "/dev/x"\nnode = 2\n', "D343", "trusted"),
        (
            'node = 1\nstore = "x"\n[[serial]]\nport = "/"\nnode = 2\ntrusted = true\n',
            "D345",
            "is a folder, not a serial port",
        ),
        (
            'node = 1\nstore = "x"\n[[serial]]\nport = "/etc/passwd"\nnode = 2\ntrusted = true\n',
            "D345",
            "is a plain file, not a serial port",
        ),
    ],
)
def test_a_file_is_refused(dens, tmp_path: Path, text: str, code: str, message: str) -> None:
    path = tmp_path / "node.toml"
    path.write_text(text)
    for command in (["run", path], ["subscribe", path], ["publish", path, path, "--event", "patient"]):
        ended = dens("node", *command)
        assert ended.code == 3
        assert f"error {code}" in ended.err
        assert message in ended.err
    assert [one.name for one in tmp_path.iterdir()] == ["node.toml"]


def test_every_code_of_a_nodes_file_has_a_page() -> None:
    files = sorted((ROOT / "dens" / "node").rglob("*.py"))
    source = "".join(path.read_text() for path in files)
    pages = {
        page.stem
        for codes in ("D3[45][0-9].md", "D360.md", "D371.md")
        for page in (ROOT / "docs" / "errors").glob(codes)
    } - {"D356", "D357"}
    of_others = {"D364", "D383", "D392"}  # of advertisements, folders and matching
    assert pages == set(re.findall(r'"(D\d{3})"', source)) - of_others


def test_the_files_on_the_page_are_good(tmp_path: Path) -> None:
    mission, medic = new_mission_key(), new_signing_key(3)
    write_key(mission, tmp_path / "mission.key")
    write_key(derive(medic), tmp_path / "medic.pub")
    (tmp_path / "words.ttl").write_text("")
    shown = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "how-to" / "node.md").read_text(), re.DOTALL)
    plans = []
    for text in shown:
        (tmp_path / "node.toml").write_text(text)
        plans.append(load_node(tmp_path / "node.toml"))
    assert [plan.mission_key for plan in plans] == [None, mission, mission]
    assert plans[2].thesauri == (tmp_path / "words.ttl",)
    assert plans[2].peers == {2: ("192.168.1.5", 7001)}
    assert [(one.node, one.trusted) for one in plans[2].settings.serial] == [(7, True)]
    assert [links_of_end(plan, None).uses_discovery for plan in plans] == [False, True, False]
    assert [one.interface for one in plans[2].settings.discovery] == ["wlan0"]


@pytest.mark.parametrize("copies", [2, 32])
def test_a_node_replicates_with_the_parameters_of_its_file(tmp_path: Path, copies: int) -> None:
    path = node_file(tmp_path, 1, more=f"[policies.spray_and_wait]\ncopies = {copies}\n")
    path.write_text('policy = "spray_and_wait"\n' + path.read_text())
    fresh = Item(35, 1, 7, 1, 0, 90, 1, b"x", 0)
    assert load_node(path).replication().share(fresh, (), 5, 0) == copies.bit_length() - 1


def test_impossible_commands_are_reported(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    cases: list[tuple[list[str | Path], int, str]] = [
        (["subscribe", path, PATIENT], 3, "--at"),
        (["subscribe", path, "--at", "10.0.0.1:7001"], 3, "a mission key is needed"),
        (["subscribe", path, "--at", "nowhere"], 2, "is not an address"),
        (["subscribe", path, "--as", "1", "--at", "127.0.0.1:9"], 2, "the number of the DENS node itself"),
        (["subscribe", path, "--as", "2147483648"], 2, "2147483647"),
        (["subscribe", path, "--withdraw", "4", "--at", "127.0.0.1:9"], 3, 'no subscription "4" is active'),
        (["subscribe", path, "--at", "127.0.0.1:9", "--seconds", "nan"], 2, "'--seconds'"),
        (["subscribe", path, "--at", "127.0.0.1:9", "--seconds", "inf"], 2, "'--seconds'"),
        (["publish", path, path, "--event", "patient", "--period", "1e300"], 2, "'--period'"),
        (["publish", path, path, "--event", "patient", "--wait", "-1"], 2, "'--wait'"),
        (["publish", path, tmp_path, "--event", "patient", "--at", "127.0.0.1:9"], 3, "is not a file"),
        (["publish", path, path, "--event", "patient", "--at", "127.0.0.1:9"], 3, "no column of patient"),
        (["publish", path, path, "--event", "patiend", "--at", "127.0.0.1:9"], 3, "patient"),
    ]
    for words, code, message in cases:
        ended = dens("node", *words)
        assert (ended.code, message in ended.err.replace("\n", " ")) == (code, True), (words, ended.err)


def test_repeated_subscription_is_one_and_a_change_is_a_newer_revision(dens, tmp_path: Path) -> None:
    """No node listens at that address; messages wait in the store until one does."""
    path = node_file(tmp_path, 1)
    words = ["node", "subscribe", path, PATIENT, "--at", "127.0.0.1:9", "--seconds", "0"]
    first = dens(*words, "--json")
    assert first.code == 1
    assert "the node has not answered" in first.err
    assert [json.loads(line)["event"] for line in first.out.splitlines()] == ["created"]
    again = dens(*words)
    assert "is active already and stays as it is" in again.err
    changed = tmp_path / "patient.xml"
    changed.write_text(PATIENT.read_text().replace('threshold="0.6"', 'threshold="0.8"'))
    words[3] = changed
    newer = dens(*words)
    assert "subscription 0 (patient.xml) replaces its earlier version: 0001" in newer.err
    waiting = dens("node", "subscribe", path, "--at", "127.0.0.1:9", "--seconds", "0", "--count", "1")
    assert waiting.code == 1
    assert "0 of 1 notifications" in waiting.err


@pytest.mark.parametrize("as_json", [True, False])
def test_skipped_lines_of_a_recording_are_reported_with_their_number(
    dens, tmp_path: Path, as_json: bool
) -> None:
    path, day = node_file(tmp_path, 1), tmp_path / "day.csv"
    day.write_bytes(b"patient_temperature,heart_rate\n37,70\n37\n37,71\n\xff,1\n\n37,72\n38,7")
    words = ["--at", "127.0.0.1:9", "--period", "0", "--wait", "0"]
    ended = dens("node", "publish", path, day, "--event", "patient", *words, *["--json"] * as_json)
    assert ended.code == 1
    told = [line for line in ended.err.splitlines() if line.startswith(str(day))]
    assert told == [
        f"{day}:3:1: error D351: it has 1 field, and the first line has 2; the line is skipped",
        f"{day}:5:1: error D351: it is not UTF-8; the line is skipped",
        f"{day}:6:1: error D351: it has 1 field, and the first line has 2; the line is skipped",
        f"{day}:8:1: error D351: the last line has no line break at its end, as if it were cut off; "
        "the line is skipped",
        f"{day}: lines rejected completely or in part: 4, values left out: 0",
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
    assert links.silence_ms == ENDPOINT_SILENCE_MS <= 5_000


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
def test_subscription_refused_unsigned_is_accepted_when_signed(tmp_path: Path) -> None:
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
        assert "node 1 refused it: not_signed; subscribe again with --key" in unsigned.said
        signing = start(*words, "--key", tmp_path / "medic.key")
        signing.wait_for(event="acknowledged", type="subscribe", reason=None)
        assert signing.end(signal.SIGTERM) == 0
        assert "is sent again, signed" in signing.said
        assert node.end(signal.SIGTERM) == 0


def test_unanswered_command_fails(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    silent = "node 1 never answered; is it running at 127.0.0.1:9"
    assert dens(*listening(path, PATIENT)).code == 1
    for words in (listening(path), listening(path, PATIENT)):
        ended = dens(*words)
        assert (ended.code, silent in ended.err) == (1, True), ended.err
    words = ["--event", "patient", "--at", "127.0.0.1:9", "--period", "0", "--wait", "0"]
    ended = dens("node", "publish", path, recording(tmp_path), *words)
    assert (ended.code, silent in ended.err) == (1, True)
    assert "no subscription arrived" not in ended.err, "which is unknown without a node"


def test_active_subscriptions_are_listed_and_withdrawn_by_name(dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    other = tmp_path / "other.xml"
    other.write_text(PATIENT.read_text().replace('threshold="0.6"', 'threshold="0.8"'))
    assert dens("node", "subscriptions", path, "--json").document()["subscriptions"] == []
    for file in (PATIENT, other):
        dens("node", "subscribe", path, file, "--at", "127.0.0.1:9", "--seconds", "0")
    rows = dens("node", "subscriptions", path, "--json").document()["subscriptions"]
    assert [(row["id"], row["name"], row["language"]) for row in rows] == [
        (0, "patient.xml", "fuzzy"),
        (1, "other.xml", "fuzzy"),
    ]
    assert all(0 < row["remaining_s"] <= 3 * 3600 for row in rows)
    shown = dens("node", "subscriptions", path)
    assert "other.xml" in shown.out
    dens("node", "subscribe", path, "--withdraw", "patient.xml", "--at", "127.0.0.1:9", "--seconds", "0")
    rows = dens("node", "subscriptions", path, "--json").document()["subscriptions"]
    assert [row["name"] for row in rows] == ["other.xml"]
    ended = dens("node", "subscribe", path, "--withdraw", "none.xml", "--at", "127.0.0.1:9")
    assert (ended.code, "other.xml" in ended.err) == (3, True)
