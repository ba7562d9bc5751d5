"""Lines of messages that cannot be are refused by their numbers."""

from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from emulation.contacts.formats.registry import read_contacts
from emulation.replay.messages import Message, read_messages

MET = "10 CONN 1 2 up\n20 CONN 1 2 down\n30 CONN 2 3 up\n40 CONN 2 3 down\n"


def test_three_forms_are_read(tmp_path: Path) -> None:
    path = tmp_path / "messages.txt"
    path.write_text("5 M1 1 3\n6 M2 1000 n2 n3 300 N\n7 C M3 1 2 500\n")
    assert read_messages(path) == [
        Message("M1", 5000.0, 1, 3),
        Message("M2", 6000.0, 2, 3),
        Message("M3", 7000.0, 1, 2),
    ]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["5 M1 1 9"], "1:1: error D321: node 9 is unknown: the contacts are among 1 to 3"),
        (["5 M1 1 3", "4 M2 1 3"], "2:1: error D314: this time is before the line above; sort the file"),
        (["5 M1 1 3", "6 M1 1 2"], "2:1: error D313: line 1 has a message M1 already"),
        (["5 M1 1"], '1:1: error D313: a message is written "time ID size from to …"'),
        (["5 M1 1 n1"], "1:1: error D313: node 1 cannot send to itself"),
        (["-5 M1 1 3"], '1:1: error D313: invalid time "-5": expected seconds'),
        (["5 M1 1 1000000"], '1:1: error D313: node "1000000" is above 999,999'),
        (["5 M1 1 three"], '1:1: error D313: invalid node "three"'),
        (["# nothing"], " error D313: holds no message"),
    ],
)
def test_invalid_message_is_refused(tmp_path: Path, lines: list[str], expected: str) -> None:
    met, path = tmp_path / "met.txt", tmp_path / "messages.txt"
    met.write_text(MET)
    path.write_text("\n".join(lines))
    with pytest.raises(DocumentError) as refused:
        read_messages(path, read_contacts(met))
    assert [str(problem)[: len(str(path)) + 1 + len(expected)] for problem in refused.value.problems] == [
        f"{path}:{expected}"
    ]
