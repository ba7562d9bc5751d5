"""Whole runs in which publishers are further away than a radio reaches."""

from pathlib import Path

import pytest

from emulation.motion import walks_of
from emulation.random.rng import RandomStreams
from emulation.rerun import rerun
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.emulation.forwarding.lines import line, rows, run


def is_same(run: Path, again: Path) -> bool:
    """Do a run again, and return whether it is the same to the byte."""
    comparison = rerun(run, again).comparison
    return comparison is not None and comparison.same_trace


def delivered_from(out: Path) -> set[int]:
    return {row["origin"] for row in rows(out, "messages") if row["kind"] == "delivered"}


def assert_all_expected_deliveries_arrive(out: Path, subscriber: int, until_ms: int) -> None:
    """What was acknowledged to its source and published before this moment was delivered, once."""
    taken = {
        (row["origin"], row["number"])
        for row in rows(out, "messages")
        if row["kind"] == "acknowledged" and row["type"] == "notification" and row["node"] == row["origin"]
    }
    wanted = {
        (row["origin"], row["number"]) for row in rows(out, "notifications") if row["at_ms"] < until_ms
    } & taken
    seen = [
        (row["origin"], row["number"])
        for row in rows(out, "messages")
        if row["kind"] == "delivered" and row["node"] == subscriber
    ]
    assert len(seen) == len(set(seen))
    assert wanted
    assert wanted <= set(seen)


def test_a_publisher_two_hops_from_the_mediator_is_served(tmp_path: Path) -> None:
    """The line of the paper's MANET: subscriber, mediator, publisher, publisher; all are in one partition."""
    path = line(tmp_path, "smpp")
    _, alone = run(path, "none")
    _, routed = run(path, "shortest_path")
    assert delivered_from(alone) == {2}
    assert delivered_from(routed) == {2, 3}
    installed = {row["node"]: row["installed"] for row in rows(alone, "filter_decisions")}
    assert installed == {2: 1, 3: 0}
    assert rows(alone, "hops") == rows(alone, "overlay_contacts") == []
    contacts = rows(routed, "overlay_contacts")
    assert [(row["a"], row["b"], row["hops"], row["censored"]) for row in contacts] == [(1, 3, 2, True)]
    assert contacts[0]["begin_ms"] == 7_100, "setup, and the usual convergence"


def test_every_hop_of_a_frame_is_in_the_trace(tmp_path: Path) -> None:
    _, out = run(line(tmp_path, "sffmfp"), "shortest_path")
    assert delivered_from(out) == {5}
    ways: dict[int, list[tuple[int, int]]] = {}
    for row in rows(out, "hops"):
        assert row["lost"] is None
        assert row["hop"] == len(ways.setdefault(row["frame"], [])) + 1
        ways[row["frame"]].append((row["node"], row["peer"]))
    assert {tuple(way) for way in ways.values()} == {
        ((0, 1), (1, 2), (2, 3)),
        ((3, 2), (2, 1), (1, 0)),
        ((3, 4), (4, 5)),
        ((5, 4), (4, 3)),
    }
    sent = [row for row in rows(out, "messages") if row["kind"] == "sent"]
    assert len(sent) == len(ways), "messages record a frame once, end to end"
    assert {(row["node"], row["peer"]) for row in sent} == {(0, 3), (3, 0), (3, 5), (5, 3)}
    first = {row["frame"]: row["bytes"] for row in rows(out, "hops") if row["hop"] == 1}
    assert sorted(first.values()) == sorted(row["bytes"] for row in sent), "with their headers"


def test_devices_that_only_forward_do_nothing_without_it(tmp_path: Path) -> None:
    summary, out = run(line(tmp_path, "sfmp"), "none")
    assert summary.delivered == 0
    assert {row["node"] for row in rows(out, "messages") if row["kind"] == "sent"} == {2, 3}
    assert {row["role"] for row in rows(out, "nodes")} == {"subscriber", "forwarder", "mediator", "publisher"}


@pytest.mark.parametrize("store", ["kept", "lost"])
def test_relays_and_mediators_crash_and_everything_acknowledged_arrives(tmp_path: Path, store: str) -> None:
    """Crashes of everybody on the way, for shorter and longer than anybody needs to notice."""
    faults = "".join(
        f'[[fault]]\nkind = "crash"\nwho = ["{who}"]\nat_s = 60\nevery_s = {every_s}\nfor_s = {for_s}\n'
        f'store = "{kept}"\n'
        for who, every_s, for_s, kept in (
            ("f1", 120, 3, store), ("f3", 150, 30, store), ("m2", 200, 2, "kept"), ("m4", 300, 40, "kept"),
        )
    )  # fmt: skip
    path = line(tmp_path, "sfmfmfp", faults, radio=", loss = 0.1", duration_s=3600)
    summary, out = run(path, "shortest_path")
    assert_all_expected_deliveries_arrive(out, 0, 3_000_000)
    assert summary.delivered > 20
    assert {row["lost"] for row in rows(out, "hops")} >= {None, "no_route", "radio"}


def test_batteries_run_empty_by_forwarding_and_partitions_cut_ways(tmp_path: Path) -> None:
    more = (
        "[energy.cell]\nbattery_j = 0.1\nsend_j_per_byte = 1e-5\nreceive_j_per_byte = 1e-5\n"
        '[[fault]]\nkind = "partition"\nwho = ["s0"]\nat_s = 100\nfor_s = 100\n'
    )
    path = line(tmp_path, "sfmp", more)
    text = path.read_text().replace('role = "forwarder"', 'role = "forwarder"\nenergy = "cell"')
    path.write_text(text)
    _, out = run(path, "shortest_path")
    [empty] = [row for row in rows(out, "node_state") if row["reason"] == "battery"]
    assert empty["node"] == 1
    contacts = rows(out, "overlay_contacts")
    assert [(row["a"], row["b"], row["begin_ms"], row["end_ms"]) for row in contacts] == [
        (0, 2, 7_100, 107_000),
        (0, 2, 207_000, empty["at_ms"] + 7_000),
    ]
    used = [row for row in rows(out, "energy") if row["node"] == 1][-1]
    hops = [row for row in rows(out, "hops") if row["at_ms"] <= empty["at_ms"]]
    sent = sum(row["bytes"] for row in hops if row["node"] == 1 and row["sent_ms"] is not None)
    got = sum(row["bytes"] for row in hops if row["peer"] == 1 and row["lost"] is None)
    assert used["radio_j"] == pytest.approx(1e-5 * (sent + got))


def test_a_long_and_slow_line_retransmits_little(tmp_path: Path) -> None:
    """Round trips of many seconds: retransmission timeouts grow to what they take."""
    path = line(tmp_path, "s" + "f" * 10 + "mp")
    slow = ["radio.handheld.rate_bytes_per_s=400", "duration_s=3600"]
    summary, out = run(path, "shortest_path", slow)
    assert_all_expected_deliveries_arrive(out, 0, 3_000_000)
    contacts = rows(out, "overlay_contacts")
    assert [(row["a"], row["b"], row["hops"]) for row in contacts] == [(0, 11, 11)]
    duplicates = [row for row in rows(out, "messages") if row["kind"] == "duplicate"]
    assert len(duplicates) < summary.delivered / 10


def test_recorded_contacts_are_links_too_and_a_run_can_be_done_again(tmp_path: Path) -> None:
    """The chain stands in a recording; after 600 s the link in its middle is gone."""
    path = line(tmp_path, "sfmp")
    (tmp_path / "met.txt").write_text(
        "0 CONN 0 1 up\n0 CONN 1 2 up\n0 CONN 2 3 up\n600 CONN 1 2 down\n1200 CONN 0 1 down\n"
    )
    path.write_text('contacts.file = "met.txt"\n' + path.read_text())
    summary, out = run(path, "shortest_path")
    assert summary.delivered > 0
    assert [(row["begin_ms"], row["end_ms"]) for row in rows(out, "overlay_contacts")] == [(7_100, 607_000)]
    assert max(row["at_ms"] for row in rows(out, "messages") if row["kind"] == "delivered") <= 600_000
    assert is_same(out, tmp_path / "again")


def test_nodes_that_are_called_away_are_links_too(tmp_path: Path) -> None:
    """An hour of `rescue`, whose bearers go where they are called: a run is its own repetition."""
    changes = ["network.forwarding=shortest_path", "duration_s=3600"]
    scenario = load_scenario("rescue", changes)
    run_scenario(scenario, 3, tmp_path / "run")
    assert rows(tmp_path / "run", "overlay_contacts")
    legs, planned = (
        len(rows(tmp_path / "run", "motion")),
        sum(map(len, walks_of(scenario, RandomStreams(3)))),
    )
    assert legs != planned, "at least one node was called"
    assert is_same(tmp_path / "run", tmp_path / "again")


def test_the_hop_limit_keeps_contacts_near(tmp_path: Path) -> None:
    path = line(tmp_path, "sffmp")
    summary, _ = run(path, "shortest_path", ["network.hop_limit=3"])
    assert summary.delivered > 0
    summary, out = run(path, "shortest_path", ["network.hop_limit=2"])
    assert summary.delivered == 0
    assert rows(out, "overlay_contacts") == []
