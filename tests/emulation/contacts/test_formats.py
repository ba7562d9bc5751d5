"""Recorded contacts come in as they were written, and go out so that they come in again."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from emulation.contacts.contact import Contacts, contacts_from_pieces
from emulation.contacts.formats.one_events import read_one_events
from emulation.contacts.formats.registry import FORMATS, format_of, read_contacts
from emulation.contacts.statistics import WatchedTimes, contact_statistics


def read(tmp_path: Path, *lines: str, least_ms: float = 0.0) -> Contacts:
    path = tmp_path / "trace.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return read_one_events(path, least_ms)


def rows(contacts: Contacts) -> list[tuple[int, int, float, float, bool]]:
    columns = (contacts.a, contacts.b, contacts.begin_ms, contacts.end_ms, contacts.censored)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_ups_and_downs_become_contacts(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "# a comment",
        "1.0 CONN n2 1 up",
        "1.5 CONN 1 3 up",
        "2.0 C M1 1 3 1000",
        "4.0 CONN 1 2 down",
    )
    assert rows(found) == [(1, 2, 1000.0, 4000.0, False), (1, 3, 1500.0, 4000.0, True)]


def test_what_both_devices_logged_is_one_contact(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "1 CONN 1 2 up",
        "2 CONN 2 1 up",
        "3 CONN 1 2 down",
        "5 CONN 2 1 down",
        "5 CONN 1 2 up",
        "7 CONN 1 2 down",
    )
    assert rows(found) == [(1, 2, 1000.0, 7000.0, False)]


def test_a_contact_of_no_length_is_one_whichever_line_comes_first(tmp_path: Path) -> None:
    for lines in (("9 CONN 1 2 up", "9 CONN 1 2 down"), ("9 CONN 1 2 down", "9 CONN 1 2 up")):
        assert [row[:4] for row in rows(read(tmp_path, *lines))] == [(1, 2, 9000.0, 9000.0)]
    assert [row[:4] for row in rows(read(tmp_path, *lines, least_ms=500.0))] == [(1, 2, 9000.0, 9500.0)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["5 CONN 1 2 up", "4 CONN 1 2 down"],
            "trace.txt:2:1: error D314: time 4 s is before the line above",
        ),
        (["5 CONN 1 2 down", "6 CONN 1 2 up"], "trace.txt:1:1: error D315: the contact of 1 and 2 ends"),
        (["5 CONN 1 2"], "trace.txt:1:1: error D313: a contact is written"),
        (["5 CONN 1 x up"], 'trace.txt:1:1: error D313: invalid node "x": expected a number'),
        (["5 CONN 1 n1000000 up"], 'trace.txt:1:1: error D313: node "n1000000" is above 999,999'),
        (["-5 CONN 1 2 up"], 'trace.txt:1:1: error D313: invalid time "-5": expected seconds'),
        (["5 CONN 1 1 up"], "trace.txt:1:1: error D313: node 1 cannot be in contact with itself"),
        (["5 LINK 1 2 up"], 'trace.txt:1:1: error D313: unknown event "LINK" of The ONE'),
    ],
)
def test_a_line_that_cannot_be_is_refused(tmp_path: Path, lines: list[str], expected: str) -> None:
    with pytest.raises(DocumentError) as refused:
        read(tmp_path, *lines)
    assert expected in str(refused.value)


spans = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 10**7), st.integers(1, 10**6)).filter(
        lambda span: span[0] != span[1]
    ),
    min_size=1,
    max_size=20,
)


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(spans)
@settings(max_examples=30, deadline=None)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, name: str, given_spans: list[tuple[int, int, int, int]]
) -> None:
    a, b, begin, length = (np.array(column) for column in zip(*given_spans, strict=True))
    end = begin + length
    last = float(end.max())
    contacts = contacts_from_pieces(
        a.astype(np.int32), b.astype(np.int32), begin.astype(float), end.astype(float), last + 1.0
    )
    path = tmp_path_factory.mktemp("trace") / "trace.txt"
    path.write_text("\n".join(FORMATS[name].lines(contacts)))
    assert format_of(path) == name
    again = read_contacts(path)
    assert [row[:2] for row in rows(again)] == [row[:2] for row in rows(contacts)]
    assert again.begin_ms == pytest.approx(contacts.begin_ms, abs=1e-6)
    assert again.end_ms == pytest.approx(contacts.end_ms, abs=1e-6)
    assert not again.censored.any()


@pytest.mark.parametrize("name", ["one", "dtnsim2"])
@given(st.data())
@settings(max_examples=30, deadline=None)
def test_events_of_one_instant_keep_the_order_of_the_lines(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    """Every pair meets once, at few moments, in any order of lines: what is read is written as it was."""
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    times = data.draw(st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=6, max_size=6))
    events = [
        (at, is_down, *pair)
        for pair, span in zip(pairs, times, strict=True)
        for is_down, at in enumerate((min(span), max(span) + 1))
    ]
    events = sorted(data.draw(st.permutations(events)), key=lambda event: event[0])
    written = [
        f"{at} CONN {a} {b} {('up', 'down')[is_down]}"
        if name == "one"
        else f"@{at} {a} <-> {b} {('up', 'down')[is_down]}"
        for at, is_down, a, b in events
    ]
    path = tmp_path_factory.mktemp("trace") / "trace.txt"
    path.write_text("\n".join(written))
    assert list(FORMATS[name].lines(read_contacts(path))) == written


def test_sightings_of_both_devices_begin_with_the_first_line_and_end_with_the_last(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text("a,b,begin_s,end_s\n1,2,5,9\n3,4,5,9\n2,1,5,7\n2,1,6,9\n")
    order = read_contacts(path).order
    assert order is not None
    assert order.begin.tolist() == [2, 3]
    assert order.end.tolist() == [5, 3]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["@5 1 -> 2 up"], 'trace.txt:1:1: error D313: a contact is written "@time node <-> node up|down"'),
        (["@5 1 <-> b up"], 'trace.txt:1:1: error D313: invalid node "b": expected a number'),
        (
            ["a,b,begin_s,ends_s", "1,2,3,4"],
            'trace.txt:1:1: error D313: column "end_s" is missing; did you mean',
        ),
        (["a,b,a,begin_s,end_s", "1,2,3,4,5"], 'trace.txt:1:1: error D313: there are 2 columns "a"'),
        (["a,b,begin_s,end_s", "1,2,3"], "trace.txt:2:1: error D313: 3 fields, the header has 4"),
        (["a,b,begin_s,end_s", "1,2,5,4"], "trace.txt:2:1: error D314: the contact ends before it begins"),
        (["a,b,begin_s,end_s", "1,1,3,4"], "trace.txt:2:1: error D313: node 1 cannot be in contact"),
        (
            ["a,b,begin_s,end_s", "1,2,x,4"],
            'trace.txt:2:1: error D313: invalid time "x": expected seconds',
        ),
    ],
)
def test_other_forms_are_refused_line_by_line(tmp_path: Path, lines: list[str], expected: str) -> None:
    path = tmp_path / "trace.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(DocumentError) as refused:
        read_contacts(path)
    assert expected in str(refused.value)


def test_statistics_of_contacts_worked_out_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("a,b,begin_s,end_s\n1,2,0,10\n2,1,30,50\n1,3,5,5\n")
    found = contact_statistics(read_contacts(path))
    assert (found.nodes, found.pairs, found.contacts, found.contact_total_s) == (3, 2, 3, 30.0)

    def watched(times: WatchedTimes) -> list[tuple[float, bool]]:
        return sorted(zip(times.times_ms.tolist(), times.censored.tolist(), strict=True))

    assert watched(found.contact) == [(0.0, False), (10_000.0, True), (20_000.0, False)]
    assert watched(found.inter_contact) == [(0.0, True), (20_000.0, False), (45_000.0, True)]


def test_statistics_of_no_contacts(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("a,b,begin_s,end_s\n")
    with pytest.raises(DocumentError, match="holds no contact"):
        read_contacts(path)
    found = contact_statistics(FORMATS["csv"].read(path, 0.0))
    assert (found.contacts, found.pairs, found.nodes, len(found.contact.times_ms)) == (0, 0, 0, 0)


def test_sightings_of_socialblueconn_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "sightings.txt"
    start = 1_390_917_436_617
    seen = [(1, 2, 0), (2, 1, 300_000), (1, 2, 900_000), (1, 2, 1_500_001), (3, 1, 5_000)]
    path.write_text("".join(f"{a}\t{b}\t{start + at}\n" for a, b, at in seen))
    found = read_contacts(path)
    rows = list(zip(found.a.tolist(), found.b.tolist(), found.begin_ms, found.end_ms, strict=True))
    assert rows == [(1, 2, 0.0, 900_000.0), (1, 3, 5_000.0, 5_000.0), (1, 2, 1_500_001.0, 1_500_001.0)]


def test_both_devices_logs_of_haggle_are_one_contact(tmp_path: Path) -> None:
    path = tmp_path / "contacts.dat"
    path.write_text("1\t40\t21574\t21687\t1\t0\n40\t1\t21600\t21700\t1\t0\n1\t29\t21578\t21578\t1\t0\n")
    found = read_contacts(path, 120_000.0)
    rows = list(zip(found.a.tolist(), found.b.tolist(), found.begin_ms, found.end_ms, strict=True))
    assert rows == [(1, 40, 21_574_000.0, 21_720_000.0), (1, 29, 21_578_000.0, 21_698_000.0)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 2 5\n1 1 6\n", "2:1: error D313: node 1 cannot see itself"),
        ("1 2 5\n1 2\n", '2:1: error D313: a sighting is written "id id milliseconds"'),
        ("1 2 5 6 1 0\n1 2 9 8 1 0\n", "2:1: error D314: the contact ends before it begins"),
        ("1 2 5 6 1 0\n1 2 x 8 1 0\n", '2:1: error D313: invalid time "x": expected seconds, at least 0'),
    ],
)
def test_broken_recordings_of_sightings_are_refused_line_by_line(
    tmp_path: Path, text: str, expected: str
) -> None:
    path = tmp_path / "broken.txt"
    path.write_text(text)
    with pytest.raises(DocumentError) as refused:
        read_contacts(path)
    assert [str(problem) for problem in refused.value.problems] == [f"{path}:{expected}"]
