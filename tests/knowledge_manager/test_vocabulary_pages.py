"""Pages that name the vocabularies that ship name all of them, with their event indexes."""

import tomllib
from pathlib import Path

import pytest

import knowledge_manager
from tests.paths import ROOT

SHIPPED = sorted((Path(knowledge_manager.__file__).parent / "vocabularies").glob("*.toml"))


def by_index() -> list[str]:
    """The vocabularies in the order of the event indexes they have, which are 0, 1, 2 …"""
    indexes = {}
    for path in SHIPPED:
        text = tomllib.loads(path.read_text(encoding="utf-8"))
        for one in [*text.get("event", []), *text.get("graph", [])]:
            indexes[one["index"]] = path.stem
    assert sorted(indexes) == list(range(len(indexes)))
    assert set(indexes.values()) == {path.stem for path in SHIPPED}
    return list(dict.fromkeys(indexes[index] for index in sorted(indexes)))


@pytest.mark.parametrize("page", ["docs/reference/vocabulary.md", "docs/errors/D214.md"])
def test_a_page_names_every_shipped_vocabulary(page: str) -> None:
    *names, last = (f"`{name}`" for name in by_index())
    assert f"{', '.join(names)} and {last}" in (ROOT / page).read_text(encoding="utf-8")
