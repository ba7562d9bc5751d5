"""A run that is being written is distinguished from one whose writer was killed."""

import signal
import subprocess
import sys
from pathlib import Path

from dens.trace.folder_lock import FolderLock, is_being_written
from dens.trace.run_folder import RunFolder
from tests.paths import ROOT

WRITER = """
import sys, time
from pathlib import Path
from dens.trace.run_folder import RunFolder

with RunFolder(Path(sys.argv[1]), force=False):
    print("writing", flush=True)
    time.sleep(600)
"""


def test_a_run_is_held_as_long_as_it_is_written(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run", force=False) as folder:
        assert is_being_written(folder.path)
        assert is_being_written(folder.path)
    assert folder.path.is_dir()
    assert not is_being_written(folder.path)
    assert list(folder.path.iterdir()) == []


def test_a_hold_ends_with_whoever_has_it(tmp_path: Path) -> None:
    hold = FolderLock(tmp_path)
    assert is_being_written(tmp_path)
    del hold
    assert not is_being_written(tmp_path)


def test_a_writer_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "-c", WRITER, str(tmp_path / "run")]
    writer = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"writing\n"
        assert is_being_written(tmp_path / "run")
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    assert not is_being_written(tmp_path / "run")


def test_of_a_folder_that_is_gone_nothing_is_claimed(tmp_path: Path) -> None:
    assert is_being_written(tmp_path / "nowhere")
