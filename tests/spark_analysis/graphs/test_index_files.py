"""Indexes on the disk: versions appear whole, and nothing that is damaged or foreign is used."""

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from dens.config.problems import DocumentError
from knowledge_manager.mission_table import MissionTable, load_mission_table
from spark_analysis.graphs.index_files import (
    newest_version,
    packed_version,
    read_index,
    version_folder,
    write_index,
)

ARRAYS = {"bodies": np.arange(100, dtype=np.uint8), "ends": np.array([0, 40, 100], np.int64)}
NAMES = ("flood.xml", "brann/skog.xml")


@pytest.fixture(scope="module")
def table() -> MissionTable:
    return load_mission_table(["medical"])


@pytest.fixture
def index(tmp_path: Path, table: MissionTable) -> Path:
    write_index(tmp_path / "index", ARRAYS, {"layout": 1}, NAMES, table)
    return tmp_path / "index"


def refused(index: Path, table: MissionTable, version: int | None = None) -> str:
    with pytest.raises(DocumentError) as caught:
        read_index(index, table, version)
    [problem] = caught.value.problems
    assert problem.code == "D528"
    assert "dens graph index" in problem.message or "JSON" in problem.message
    return problem.message


def test_what_is_written_is_read(index: Path, table: MissionTable) -> None:
    found = read_index(index, table)
    assert found.names == NAMES
    assert found.version == 1
    assert {name: array.tolist() for name, array in found.arrays.items()} == {
        name: array.tolist() for name, array in ARRAYS.items()
    }
    assert {name: array.dtype for name, array in found.arrays.items()} == {
        name: array.dtype for name, array in ARRAYS.items()
    }


def test_versions_are_numbered_and_stay(index: Path, table: MissionTable) -> None:
    first = read_index(index, table)
    second = write_index(index, {**ARRAYS, "more": np.zeros(1)}, {}, NAMES, table)
    assert (first.version, second.version, newest_version(index)) == (1, 2, 2)
    assert first.digest != second.digest
    assert read_index(index, table, 1).digest == first.digest
    assert read_index(index, table).digest == second.digest
    assert sorted(one.name for one in index.iterdir()) == ["version-0001", "version-0002"]


def test_two_writers_get_two_versions(
    index: Path, table: MissionTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one takes the number between looking and renaming."""
    rename = Path.rename
    taken = []

    def overtaken(self: Path, target: Path) -> Path:
        if not taken:
            taken.append(target)
            shutil.copytree(version_folder(index, 1), target)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", overtaken)
    assert write_index(index, ARRAYS, {"layout": 1}, NAMES, table).version == 3


def test_an_index_of_another_mission_is_refused(index: Path) -> None:
    other = load_mission_table(["weather"])
    assert "another mission table" in refused(index, other)


@pytest.mark.parametrize("name", ["bodies.npy", "names.json"])
def test_one_changed_byte_is_noticed(index: Path, table: MissionTable, name: str) -> None:
    path = version_folder(index, 1) / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert refused(index, table) == (
        f"{name} is damaged: its digest differs; recreate it with `dens graph index`"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "has format 2; expected 1"),
        ({"subscriptions": 3}, "is inconsistent"),
        ({"arrays": {"../../bodies": "x"}}, "is inconsistent"),
        ({"arrays": [1]}, "is damaged"),
        ({"table": None}, "is damaged"),
        ({"arrays": {"absent": "x"}}, "absent.npy cannot be read"),
    ],
)
def test_facts_that_are_not_ours_are_refused(
    index: Path, table: MissionTable, change: dict[str, object], message: str
) -> None:
    path = version_folder(index, 1) / "index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert message in refused(index, table)


def test_invalid_index_is_refused(index: Path, tmp_path: Path, table: MissionTable) -> None:
    assert "not an index" in refused(tmp_path / "nowhere", table)
    assert "has no version 7" in refused(index, table, 7)
    (version_folder(index, 1) / "index.json").write_text("{")
    assert "invalid JSON" in refused(index, table)


def test_an_array_of_objects_is_never_unpickled(index: Path, table: MissionTable) -> None:
    import hashlib

    folder = version_folder(index, 1)
    np.save(folder / "bodies.npy", np.array([{}], object), allow_pickle=True)
    facts = json.loads((folder / "index.json").read_text())
    facts["arrays"]["bodies"] = hashlib.sha256((folder / "bodies.npy").read_bytes()).hexdigest()
    (folder / "index.json").write_text(json.dumps(facts))
    assert "is not an array" in refused(index, table)


def test_the_archive_holds_the_version(index: Path, tmp_path: Path) -> None:
    archive = packed_version(version_folder(index, 1), tmp_path / "x.zip")
    assert sorted(zipfile.ZipFile(archive).namelist()) == [
        "bodies.npy",
        "ends.npy",
        "index.json",
        "names.json",
    ]
