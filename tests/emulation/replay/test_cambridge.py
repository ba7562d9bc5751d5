"""The Cambridge students' contacts (CRAWDAD cambridge/haggle), where the recording is present.

It does not ship. `DENS_CAMBRIDGE` names a folder that holds it in The ONE's form, and our 1440 messages.
"""

import os
from pathlib import Path

import pytest

from emulation.contacts.formats.registry import read_contacts
from emulation.replay.flood import replay
from emulation.replay.messages import read_messages

FOLDER = os.environ.get("DENS_CAMBRIDGE", "")


@pytest.mark.skipif(not FOLDER, reason="DENS_CAMBRIDGE names no folder with the recording")
def test_ideal_replay_of_merged_contacts() -> None:
    contacts = read_contacts(Path(FOLDER) / "haggle-one-cambridge-city-students.tsv.gz")
    assert len(contacts) == 7_592
    assert float((contacts.end_ms - contacts.begin_ms).sum()) == pytest.approx(8_872_988_000)
    result = replay(contacts, read_messages(Path(FOLDER) / "messages_1440.txt.gz"))
    assert (result.delivered, result.relays) == (1116, 38_871)
    assert result.as_document()["latency_mean_s"] == pytest.approx(61_535.1, abs=0.1)
