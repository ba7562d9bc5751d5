"""`dens node publish` of documents: through mediators and brokers, and with invalid documents."""

import signal
from pathlib import Path

import pytest

from tests.dens.cli.conftest import Dens
from tests.dens.node.node_process import LONG_S, PATIENT, ROOT, node_file, processes

SUBSCRIPTION = ROOT / "docs" / "examples" / "apartment.xml"
OFFER = ROOT / "docs" / "examples" / "apartment_offer.xml"


def flats(folder: Path, node: int, routing: str, more: str = "") -> Path:
    path = node_file(folder, node, more)
    text = path.read_text().replace('["medical"]', '["housing"]')
    path.write_text(f'routing = "{routing}"\n{text}')
    return path


@pytest.mark.slow
@pytest.mark.parametrize("routing", ["carry", "broker", "flood"])
def test_document_reaches_subscriber_over_two_nodes(routing: str, dens_process: Dens, tmp_path: Path) -> None:
    two = flats(tmp_path / "two", 2, routing)
    with processes() as start:
        far = start("run", two)
        at = far.wait_for(event="begun")["address"]
        one = flats(tmp_path / "one", 1, routing, f'[[peer]]\nnode = 2\naddress = "{at}"\n')
        near = start("run", one, "--trace", tmp_path / "trace")
        begun = near.wait_for(event="begun")
        seeker = start("subscribe", two, SUBSCRIPTION, "--at", at, "--count", "1", "--seconds", LONG_S)
        seeker.wait_for(event="acknowledged", type="subscribe", peer=2)
        if routing == "carry":
            near.wait_for(event="replicated", type="subscribe")
        given = ("--at", begun["address"], "--wait", LONG_S, "--json")
        ended = dens_process("node", "publish", one, OFFER, *given)
        assert ended.code == 0, ended.err
        assert '"taken_by_node": 1' in ended.out
        heard = seeker.wait_for(event="delivered")
        assert heard["satisfied"] == [[0, 0, 255, "df"]]
        assert seeker.end() == 0
        assert near.end(signal.SIGTERM) == far.end(signal.SIGTERM) == 0


HEAD = '<subscription xmlns="urn:dens:subscription:1" event="apartment" valid="PT2H">'
RENT = '<crisp-predicate attribute="rent" operator="le">{}</crisp-predicate></subscription>'


@pytest.mark.slow
def test_readings_with_gaps_reach_a_fuzzy_subscriber_of_a_broker(dens_process: Dens, tmp_path: Path) -> None:
    """A written advertisement takes the place of that of its language: it announces flats up to 1150."""
    one = flats(tmp_path / "one", 1, "broker")
    subscription, cheap, readings = (
        tmp_path / "subscription.xml",
        tmp_path / "cheap.xml",
        tmp_path / "flats.csv",
    )
    subscription.write_text(HEAD + RENT.format(1500))
    cheap.write_text(HEAD + RENT.format(1150))
    readings.write_text("rent,size\n1000,50\n1100,\n1200,60\n")
    with processes() as start:
        near = start("run", one)
        at = near.wait_for(event="begun")["address"]
        seeker = start("subscribe", one, subscription, "--at", at, "--count", "5", "--seconds", LONG_S)
        seeker.wait_for(event="acknowledged", type="subscribe", peer=1)
        given = ("node", "publish", one, readings, "--event", "apartment", "--at", at, "--period", "0.05")
        ended = dens_process(*given, "--json")
        assert ended.code == 0, ended.err
        assert "advertised to brokers in the fuzzy, atopss language" in ended.err
        assert '"kept_at_source": 0' in ended.out
        ended = dens_process(*given, "--json", "--advertise", cheap, "--as", "302")
        assert ended.code == 0, ended.err
        for _ in range(5):
            seeker.wait_for(event="delivered")
        assert seeker.end() == 0
        assert near.end(signal.SIGTERM) == 0


def test_an_advertisement_with_errors_is_named_with_its_place(dens: Dens, tmp_path: Path) -> None:
    one = flats(tmp_path, 1, "broker")
    (tmp_path / "flats.csv").write_text("rent\n1000\n")
    (tmp_path / "bad.xml").write_text(HEAD + RENT.format(1500).replace('"rent"', '"rnt"'))
    given = ("node", "publish", one, tmp_path / "flats.csv", "--event", "apartment", "--at", "127.0.0.1:9")
    ended = dens(*given, "--advertise", tmp_path / "bad.xml", "--advertise", SUBSCRIPTION)
    assert ended.code == 3
    assert "bad.xml:1:" in ended.err
    assert f"{SUBSCRIPTION}: error D364: an advertisement joins by and" in ended.err


def test_nothing_is_published_unless_everything_is_good(dens: Dens, tmp_path: Path) -> None:
    node = flats(tmp_path, 1, "carry")
    broken = tmp_path / "broken.xml"
    broken.write_text(OFFER.read_text().replace("20..45", "45..20").replace('"size"', '"sise"'))
    subscription = tmp_path / "subscription.xml"
    subscription.write_text(SUBSCRIPTION.read_text())
    ended = dens("node", "publish", node, OFFER, broken, subscription)
    assert ended.code == 3
    codes = [line.split("error ")[1][:4] for line in ended.err.splitlines()]
    assert codes == ["D103", "D166", "D010"]
    assert "not a <publication" in ended.err
    assert not list(tmp_path.glob("*.sqlite"))


def test_a_language_without_publications_says_so(dens: Dens, tmp_path: Path) -> None:
    node = node_file(tmp_path, 1)
    ended = dens("node", "publish", node, PATIENT)
    assert (ended.code, ended.err.strip()) == (3, "error: the fuzzy language does not support publications")


def test_without_a_node_it_ends_with_a_finding(dens: Dens, tmp_path: Path) -> None:
    node = flats(tmp_path, 1, "carry")
    ended = dens("node", "publish", node, OFFER, "--at", "127.0.0.1:9", "--wait", "0")
    assert ended.code == 1
    assert "node 1 never answered" in ended.err
    assert "no subscription matched it within 0 s" in ended.err


def test_missing_node_file_is_reported(dens: Dens, tmp_path: Path) -> None:
    ended = dens("node", "publish", tmp_path / "none.toml", OFFER)
    assert ended.code == 3
    assert "none.toml" in ended.err


def test_broker_file_errors_are_reported_at_their_place(dens: Dens, tmp_path: Path) -> None:
    path = node_file(tmp_path, 1)
    path.write_text(
        'routing = "brokr"\nbroker = { patience = 3, merging = { overlap = 2.0 } }\n' + path.read_text()
    )
    ended = dens("check", path)
    assert ended.code == 1
    assert "node.toml:1:1: error D342: routing: input should be 'carry', 'broker' or 'flood'" in ended.out
    assert 'key "broker.patience" is unknown; did you mean "patience_s"?' in ended.out
    assert "broker.merging.overlap: input should be less than or equal to 1" in ended.out
