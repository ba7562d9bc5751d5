"""Recorded contacts and messages on the command line: agreement with The ONE, conversion, bad recordings."""

from pathlib import Path

import pytest

from tests.paths import ROOT

THE_ONE = ROOT / "tests" / "emulation" / "replay" / "the_one"


@pytest.mark.parametrize(
    ("run", "delivered", "relays", "mean_s"), [("a_u1", 1418, 69_291, 767.8), ("b3h_u1", 317, 63_375, 1185.0)]
)
def test_ideal_replay_of_the_one(dens, run: str, delivered: int, relays: int, mean_s: float) -> None:
    folder = THE_ONE / run
    ended = dens(
        "replay", "--ideal", "--json",
        "--contacts", folder / "ConnectivityONEReport.txt.gz",
        "--messages", folder / "CreatedMessagesReport.txt.gz",
    )  # fmt: skip
    figures = ended.document()
    assert (figures["delivered"], figures["relays"]) == (delivered, relays)
    assert figures["latency_mean_s"] == pytest.approx(mean_s, rel=0.001)


def test_contacts_keep_through_every_form(dens, tmp_path: Path) -> None:
    source = THE_ONE / "a_u1" / "ConnectivityONEReport.txt.gz"
    wanted = dens("contacts", source, "--json").document()
    assert wanted["contacts"] == 7912
    for form in ("one", "dtnsim2", "csv"):
        assert dens("contacts", source, "-o", tmp_path / form, "--format", form).code == 0
        kept = dens("contacts", tmp_path / form, "--json").document()
        assert kept["contact_total_s"] == wanted["contact_total_s"]


def test_a_median_that_the_recording_is_too_short_for_is_not_made_up(dens, tmp_path: Path) -> None:
    recorded = tmp_path / "recorded.csv"
    recorded.write_text("a,b,begin_s,end_s\n1,2,1,11\n1,2,31,50\n1,3,5,6\n2,3,5,7\n")
    found = dens("contacts", recorded, "--json").document()
    assert (found["inter_contact_known"], found["inter_contact_censored"]) == (1, 3)
    assert (found["inter_contact_median_s"], found["inter_contact_watched_s"]) == (None, 44.0)
    shown = dens("contacts", recorded)
    assert "more than 44.0" in shown.out
    assert "Kaplan–Meier" in shown.err


def test_contacts_of_a_scenario(dens) -> None:
    first, again = dens("contacts", "rescue", "--json"), dens("contacts", "rescue", "--json")
    other = dens("contacts", "rescue", "--seed", "9", "--json")
    assert first.document()["nodes"] > 10
    assert first.out == again.out
    assert first.out != other.out


def test_bad_recordings_and_options(dens, tmp_path: Path) -> None:
    broken = tmp_path / "broken.txt"
    broken.write_text("1.0 CONN 1 2 up\nnonsense\n")
    ended = dens("contacts", broken)
    assert ended.code == 3
    assert f"{broken}:2:" in ended.err
    assert dens("contacts", "rescue", "--format", "xyz").code == 2
    recorded = tmp_path / "recorded.txt"
    recorded.write_text("1.0 CONN 1 2 up\n3.0 CONN 1 2 down\n")
    assert dens("contacts", recorded).code == 0
    for ignored in (["--least-s", "1e400"], ["--least-s", "nan"], ["--seed", "3"], ["--format", "csv"]):
        assert dens("contacts", recorded, *ignored).code == 2
    assert dens("contacts", "rescue", "--least-s", "3").code == 2
    for nothing in ("", "# nothing\n", "a,b,begin_s,end_s\n"):
        (tmp_path / "empty.txt").write_text(nothing)
        ended = dens("contacts", tmp_path / "empty.txt")
        assert ended.code == 3
        assert "empty.txt: error D313: holds no contact" in ended.err
    replay = ["replay", "--contacts", broken, "--messages", broken]
    assert dens(*replay, "--ideal", "--transfer-s", "1").code == 2
    assert dens(*replay, "--transfer-s", "-1").code == 2
    assert dens(*replay, "--least-s", "inf").code == 2


def test_message_of_an_unknown_node_is_reported_with_its_line(dens, tmp_path: Path) -> None:
    contacts, messages = tmp_path / "contacts.txt", tmp_path / "messages.txt"
    contacts.write_text("1.0 CONN 1 4 up\n20.0 CONN 1 4 down\n")
    messages.write_text("0 M1 1 4\n5 M2 1 3\n6 M3 1 99\n")
    ended = dens("replay", "--contacts", contacts, "--messages", messages)
    assert ended.code == 3
    assert f"{messages}:3:1: error D321: node 99 is unknown: the contacts are among 1 to 4" in ended.err
    assert "M2" not in ended.err
    messages.write_text("0 M1 1 4\n5 M2 1 3\n6 M1 4 1\n")
    twice = dens("replay", "--contacts", contacts, "--messages", messages)
    assert twice.code == 3
    assert f"{messages}:3:1: error D313: line 1 has a message M1 already" in twice.err
    messages.write_text("0 M1 1 4\n5 M2 1 3\n")
    assert (
        dens("replay", "--contacts", contacts, "--messages", messages, "--json").document()["delivered"] == 1
    )
