"""Recordings that unpack to far more than they are: read as a stream, refused at a bound."""

import gzip
import io
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from emulation.contacts.formats.registry import read_contacts
from emulation.mobility.formats import tracks
from emulation.mobility.formats.registry import read_movement
from emulation.mobility.model import Area
from emulation.recordings.lines import Lines
from emulation.recordings.text import LONGEST_LINE, TextBounds, text_lines
from emulation.replay import messages
from emulation.replay.messages import read_messages
from emulation.sensors import recording as sensors
from emulation.sensors.recording import Layout, read_recording

LAYOUT = Layout("t", None, {"temperature": "c"}, frozenset(), {})
MEGABYTE = 1 << 20
Read = Callable[[Path], object]
READERS: dict[str, Read] = {
    "contacts": read_contacts,
    "movement": lambda path: read_movement(path, Area(100, 100)),
    "messages": read_messages,
    "sensor": lambda path: read_recording(path, LAYOUT),
}


def packed(path: Path, head: bytes, block: bytes, times: int) -> Path:
    """Write a packed file without ever holding what it unpacks to."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head)
        for _ in range(times):
            file.write(block)
    return path


def peak_of(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", READERS)
def test_a_line_without_end_is_refused_in_little_memory(tmp_path: Path, name: str) -> None:
    path = packed(tmp_path / "line.txt.gz", b"", b"1" * MEGABYTE, 200)
    assert path.stat().st_size < 2 * MEGABYTE

    def refused() -> None:
        with pytest.raises(DocumentError, match=r"line\.txt\.gz:1:1: error D386: this line is longer than"):
            READERS[name](path)

    assert peak_of(refused) < 5 * LONGEST_LINE


@pytest.mark.parametrize(
    ("name", "head"),
    [("contacts", b"1 CONN 1 2 up\n"), ("messages", b"1 M1 1 2\n"), ("movement", b"0 1 1\n")],
)
def test_text_is_read_as_a_stream(tmp_path: Path, name: str, head: bytes) -> None:
    path = packed(tmp_path / "long.txt.gz", head, (b"#" + b" " * 1022 + b"\n") * 1024, 100)
    assert peak_of(lambda: READERS[name](path)) < 10 * MEGABYTE


def test_excess_bytes_lines_and_points_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "long.txt.gz", b"", b"1 CONN 1 2 up\n2 CONN 1 2 down\n", 100)
    few = TextBounds(most_bytes=1000)
    with pytest.raises(DocumentError, match=r"gz:67:1: error D385: more than 1,000 bytes of text, dec"):
        list(Lines(path, few))
    with pytest.raises(DocumentError, match=r"gz:51:1: error D385: more than 50 lines, .*; split the rec"):
        list(Lines(path, TextBounds(most_lines=50)))
    monkeypatch.setattr(messages, "MOST_MESSAGES", 3)
    sent = packed(tmp_path / "messages.txt.gz", b"", b"1 M 1 2\n", 4)
    with pytest.raises(DocumentError, match="more than 3 lines"):
        read_messages(sent)
    monkeypatch.setattr(tracks, "MOST_POINTS", 3)
    walk = tmp_path / "walk.txt"
    walk.write_text("0 1 1 1 1 1 2 1 1 3 1 1 4 1 1\n")
    with pytest.raises(DocumentError, match="D385: there are more than 3 points"):
        READERS["movement"](walk)
    monkeypatch.setattr(sensors, "BOUNDS", TextBounds(most_lines=3))
    day = packed(tmp_path / "day.csv.gz", b"t,c\n", b"1,2\n", 3)
    with pytest.raises(DocumentError, match="more than 3 lines"):
        read_recording(day, LAYOUT)


def test_many_contacts_take_little_more_than_their_numbers(tmp_path: Path) -> None:
    """24 bytes a contact while it is read; sorting them takes some copies of that."""
    path = tmp_path / "many.txt"
    contacts = 50_000
    path.write_text("".join(f"{k % 90} {90 + k % 7} {10 * k} {10 * k + 5}\n" for k in range(contacts)))
    assert peak_of(lambda: read_contacts(path)) < 500 * contacts


def test_unterminated_quoted_field_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text('a,b,begin_s,end_s\n1,2,"' + "3\n" * 100_000)
    with pytest.raises(DocumentError, match="D313: not CSV: field larger than field limit"):
        read_contacts(path)


@pytest.mark.parametrize("time", ["1e999999", "-1e400", "1e15", "nan", "inf"])
def test_time_of_millions_of_digits_is_refused(tmp_path: Path, time: str) -> None:
    path = tmp_path / "day.csv"
    path.write_text(f"t,c\n0,1\n{time},2\n")
    with pytest.raises(DocumentError, match="is neither seconds nor ISO 8601"):
        read_recording(path, LAYOUT)


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_lines_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cut: bool
) -> None:
    """What comes out is what the text is, line by line; nothing but `DocumentError` is raised."""
    path = tmp_path_factory.mktemp("any") / "file"
    content = gzip.compress(data)
    path.write_bytes(content[:-9] if cut else content)
    try:
        found = "".join(text_lines(path, "D313"))
    except DocumentError:
        assert cut or b"\0" in data or not _is_utf8(data)
    else:
        assert not cut
        assert found == "".join(
            line.removeprefix("\ufeff") for line in io.StringIO(data.decode(), newline="\n")
        )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
