"""Files appear whole or not at all, and nothing else is ever put in the place of what was there."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dens.config.atomic_write import write_whole
from dens.config.problems import DocumentError
from tests.paths import ROOT


def test_folders_are_made_and_files_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_a_link_is_replaced_and_what_it_led_to_is_left_alone(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    for leads_to in (target, tmp_path / "nothing", tmp_path):
        link.unlink(missing_ok=True)
        link.symlink_to(leads_to)
        write_whole(link, b"new")
        assert not link.is_symlink()
        assert link.read_bytes() == b"new"
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.txt", "target.txt"]


def test_another_name_of_a_file_keeps_what_it_had(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("old")
    os.link(one, other)
    write_whole(other, b"new")
    assert one.read_text() == "old"


def test_the_systems_own_links_are_followed() -> None:
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "from pathlib import Path; from dens.config.atomic_write import write_whole; "
            "write_whole(Path('/dev/stdout'), b'out')",
        ],
        capture_output=True,
        check=True,
        cwd=ROOT,
    )
    assert ended.stdout == b"out"


def test_within_a_folder_no_link_leads_out_and_nothing_is_waited_for(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (folder / "deep").symlink_to(outside)
    with pytest.raises(DocumentError, match=r"folder/deep: error D381: is a link"):
        write_whole(folder / "deep" / "file", b"new", within=folder)
    assert list(outside.iterdir()) == []
    os.mkfifo(folder / "pipe")
    write_whole(folder / "pipe", b"new", within=folder)
    assert (folder / "pipe").read_bytes() == b"new"


def test_who_may_read_what_is_written(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "open", b"x")
        write_whole(tmp_path / "closed", b"x", private=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "closed").stat().st_mode) == 0o600


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, b"through")
    reader.join(timeout=20)
    assert got == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_folder_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as raised:
        write_whole(tmp_path, b"x")
    assert raised.value.filename == str(tmp_path)
