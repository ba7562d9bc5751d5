"""The mission table: one table from many vocabularies, and a check byte that notices a difference."""

import zlib
from pathlib import Path

import pytest

from dens.config.problems import DocumentError
from knowledge_manager.mission_table import MissionTable, load_mission_table
from knowledge_manager.vocabulary.reader import read_vocabulary
from knowledge_manager.vocabulary.vocabulary import UnknownName
from tests.paths import ROOT

MEDICAL = (ROOT / "knowledge_manager" / "vocabularies" / "medical.toml").read_text("utf-8")


def table_of(*texts: str) -> MissionTable:
    return MissionTable(tuple(read_vocabulary(text, "v.toml", with_units=False) for text in texts))


def test_events_by_name_and_by_index() -> None:
    table = load_mission_table(["weather", "medical", "fire"])
    assert [event.name for event in table.events] == ["patient", "weather", "fire"]
    assert table.event("fire") is table.event_at(2)
    assert (table.feature_bytes, table.age_index) == (1, 7)
    with pytest.raises(UnknownName, match='did you mean "weather"'):
        table.event("wether")
    with pytest.raises(UnknownName, match="event index"):
        table.event_at(5)


def test_the_canonical_form_is_laid_down() -> None:
    text = 'name = "a"\nversion = 1\n[[event]]\nname = "e"\nindex = 4\n'
    text += '[[event.attribute]]\nname = "n"\nindex = 1\ntype = "nominal"\nvalues = ["x", "y z"]\n'
    text += '[[event.attribute]]\nname = "q"\nindex = 0\ndomain = [-1, 2.5]\nunit = "m"\n'
    table = table_of(text)
    assert table.canonical() == b"features 1\nevent 4\n0 number -100 250 2 m\n1 nominal\n= x\n= y z\n"
    assert table.check == zlib.crc32(table.canonical()) & 255


def test_the_check_does_not_depend_on_the_order_of_loading_or_on_words() -> None:
    assert (
        load_mission_table(["weather", "medical"]).check == load_mission_table(["medical", "weather"]).check
    )
    renamed = MEDICAL.replace("patient_temperature", "fever_reading").replace("terms.low", "terms.lowish")
    assert table_of(renamed.replace('of = "low"', 'of = "lowish"')).check == table_of(MEDICAL).check


@pytest.mark.parametrize(
    "change",
    [
        ("domain = [30.0, 45.0]", "domain = [30.0, 46.0]"),
        ('"W1", "W2"', '"W2", "W1"'),
        ("index = 0\n  type", "index = 7\n  type"),
        ('unit = "degC"\n  decimals = 2', 'unit = "degF"\n  decimals = 2'),
        ('name = "patient"\nindex = 0', 'name = "patient"\nindex = 3'),
    ],
)
def test_what_nodes_must_agree_on_changes_the_canonical_form(change: tuple[str, str]) -> None:
    assert MEDICAL.count(change[0]) == 1
    changed = MEDICAL.replace("feature_bytes = 1", "feature_bytes = 2").replace(*change)
    same = MEDICAL.replace("feature_bytes = 1", "feature_bytes = 2")
    assert table_of(changed).canonical() != table_of(same).canonical()


def test_clashing_vocabularies_are_refused_with_both_names() -> None:
    other = MEDICAL.replace('name = "medical"', 'name = "clinic"').replace(
        'name = "patient"', 'name = "guest"'
    )
    with pytest.raises(
        DocumentError, match=r"event index 0 of clinic\.guest is already taken by medical\.patient"
    ):
        table_of(MEDICAL, other)


def test_all_files_are_judged_before_the_first_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text("name = 1\n")
    with pytest.raises(DocumentError) as raised:
        load_mission_table(["medicine", broken])
    assert {problem.code for problem in raised.value.problems} >= {"D204", "D203", "D202"}
