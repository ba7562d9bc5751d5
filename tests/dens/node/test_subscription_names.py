"""A subscription is named by its file: other files never replace it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.refusal import Refusal
from dens.node.processes.subscriber import id_of, subscribe_files
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from knowledge_manager.mission_table import load_mission_table

TABLE = load_mission_table(["medical"])
NOW_MS = 1_000
FUZZY = """<subscription xmlns="urn:dens:subscription:1" event="patient" valid="PT2H">
  <crisp-predicate attribute="heart_rate" operator="ge">{bound}</crisp-predicate>
</subscription>"""
BOXES = """<subscription xmlns="urn:dens:boxes:1" event="patient" valid="PT2H">
  <or>{alternatives}</or>
</subscription>"""
NAMES = ("fever.xml", "pulse.xml", "wide.xml", "x.xml")


def document(bound: int, parts: int) -> str:
    """Return a fuzzy document, or one of boxes that occupies further ids for its parts."""
    if not parts:
        return FUZZY.format(bound=bound)
    alternatives = "".join(
        f'<and><crisp-predicate attribute="heart_rate" operator="ge">{bound + 3 * number}</crisp-predicate>'
        f'<crisp-predicate attribute="patient_temperature" operator="{("le", "ge")[number % 2]}">'
        f"{35 + number / 4}</crisp-predicate></and>"
        for number in range(parts)
    )
    return BOXES.format(alternatives=alternatives)


def subscribe(end: SubscriberEndpoint, *files: Path) -> list[str]:
    said: list[str] = []
    subscribe_files(end, files, TABLE, NOW_MS, said.append, None)
    return said


def test_a_second_file_leaves_the_first_active(tmp_path: Path) -> None:
    first, second = tmp_path / "fever.xml", tmp_path / "pulse.xml"
    first.write_text(document(100, 0))
    second.write_text(document(120, 0))
    store = MemoryStore()
    for path in (first, second):
        end = SubscriberEndpoint(7, Mission(TABLE.check), store, NOW_MS)
        subscribe(end, path)
        store.commit()
        store = store.crash()
    assert dict(end.labels) == {0: "fever.xml", 1: "pulse.xml"}
    assert dict(SubscriberEndpoint(7, Mission(TABLE.check), store, NOW_MS).labels) == {
        0: "fever.xml",
        1: "pulse.xml",
    }


def test_a_changed_file_replaces_its_earlier_version_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "fever.xml"
    end = SubscriberEndpoint(7, Mission(TABLE.check), MemoryStore(), NOW_MS)
    path.write_text(document(100, 0))
    assert "replaces" not in subscribe(end, path)[-1]
    path.write_text(document(110, 0))
    assert "subscription 0 (fever.xml) replaces its earlier version" in subscribe(end, path)[-1]
    assert [held.seq for held in end.in_force] == [1]


def test_a_subscription_of_an_older_store_gets_the_name_of_an_equal_file(tmp_path: Path) -> None:
    path = tmp_path / "fever.xml"
    path.write_text(document(100, 0))
    end = SubscriberEndpoint(7, Mission(TABLE.check), MemoryStore(), NOW_MS)
    subscribe(end, path)
    [held] = end.in_force
    old = SubscriberEndpoint(8, Mission(TABLE.check), MemoryStore(), NOW_MS)
    old.subscribe(held.vector, held.item.language, NOW_MS)
    assert "stays as it is" in subscribe(old, path)[-1]
    assert dict(old.labels) == {0: "fever.xml"}


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    paths = tmp_path / "fever.xml", tmp_path / "other" / "fever.xml"
    for path in paths:
        path.write_text(document(100, 0))
    end = SubscriberEndpoint(7, Mission(TABLE.check), MemoryStore(), NOW_MS)
    with pytest.raises(Refusal, match="given twice"):
        subscribe(end, *paths)
    assert end.in_force == ()


step = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from(NAMES), st.integers(80, 90), st.sampled_from([0, 0, 2, 5, 9])),
    st.tuples(st.just("withdraw"), st.sampled_from(NAMES), st.just(0), st.just(0)),
    st.tuples(st.just("restart"), st.just(""), st.just(0), st.just(0)),
)


@given(st.lists(step, max_size=12))
def test_what_is_active_is_what_a_dictionary_of_names_says(tmp_path_factory, steps) -> None:
    """After any subscribe, change, withdrawal and restart each name has its newest document, and no two
    subscriptions share an id."""
    folder = tmp_path_factory.mktemp("documents")
    store = MemoryStore()
    end = SubscriberEndpoint(7, Mission(TABLE.check), store, NOW_MS)
    active: dict[str, str] = {}
    alone: dict[str, bytes] = {}
    for kind, name, bound, parts in steps:
        if kind == "ask":
            text = document(bound, parts)
            (folder / name).write_text(text)
            subscribe(end, folder / name)
            active[name] = text
        elif kind == "withdraw" and name in active:
            end.unsubscribe(id_of(end, name), NOW_MS)
            del active[name]
        elif kind == "restart":
            store.commit()
            store = store.crash()
            end = SubscriberEndpoint(7, Mission(TABLE.check), store, NOW_MS)
    names = end.labels
    assert sorted(names.values()) == sorted(active)
    assert len(end.in_force) == len(active)
    for held in end.in_force:
        fresh = SubscriberEndpoint(9, Mission(TABLE.check), MemoryStore(), NOW_MS)
        (folder / "one.xml").write_text(active[names[held.id]])
        subscribe(fresh, folder / "one.xml")
        alone[names[held.id]] = fresh.in_force[0].body
        assert held.body == fresh.in_force[0].body
    ids = [
        one
        for held in end.in_force
        for one in range(held.id, held.id + 1 + end._durable.occupied(held.item.id))
    ]
    assert len(ids) == len(set(ids))
    assert all(0 <= one <= 255 for one in ids)
