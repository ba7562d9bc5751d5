"""Bugs planted into a copy of the tree are caught by what this suite runs, and by nothing but the bug."""

from pathlib import Path

import pytest

from tests.emulation.fault_injection.planted_bugs import PLANTED, PlantedBug, copy_tree, plant, run
from tests.paths import ROOT


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    copy_tree(folder)
    return folder


def test_every_text_to_replace_is_in_its_file_once() -> None:
    for bug in PLANTED:
        count = (ROOT / bug.file).read_text(encoding="utf-8").count(bug.old)
        assert count == 1, f"renew PLANTED: {bug.file} no longer has the text of {bug.name!r}: {bug.old!r}"


def test_a_text_that_is_gone_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dens" / "overlay" / "wire" / "item.py"
    path.parent.mkdir(parents=True)
    path.write_text("pass\n")
    bug = PlantedBug("gone", "dens/overlay/wire/item.py", "expires", "", (), "")
    with pytest.raises(
        ValueError, match=r"dens/overlay/wire/item.py has the text of the planted bug 'gone' 0 times"
    ):
        plant(bug, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("catcher", sorted({bug.catcher for bug in PLANTED}), ids=" ".join)
def test_without_a_bug_nothing_is_caught(catcher: tuple[str, ...], copy: Path) -> None:
    ended, told = run(catcher, copy)
    assert ended == 0, told


@pytest.mark.slow
@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.name)
def test_a_bug_in_a_copy_is_caught(bug: PlantedBug, copy: Path) -> None:
    text = plant(bug, copy)
    try:
        ended, told = run(bug.catcher, copy)
    finally:
        (copy / bug.file).write_text(text, encoding="utf-8")
    assert ended != 0, f"{bug.name}: {' '.join(bug.catcher)} did not notice"
    assert bug.told in told, told
