"""The book of what stands for what, against a slow one that compares everything with everything."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.covering import index as covering
from dens.overlay.covering.index import CoverTable
from dens.overlay.session.context import NodeContext
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.storage.subscription_table import Subscription
from dens.overlay.wire.codes import SUBSCRIBE
from dens.overlay.wire.item import Item
from dens.overlay.wire.messages import Subscribed
from emulation.fault_injection.topics import EITHER, LANGUAGE, TOPICS, TopicCovers, topic_covers

Key = tuple[int, int]
COVERED = replace(TOPICS, covers=TopicCovers)


def held(key: Key, number: int, topic: int, least: int, language: int = LANGUAGE) -> Subscription:
    payload = bytes((key[1], number % 256, 96, topic, least))
    return Subscription.of(
        Item(SUBSCRIBE, language, key[0], number, 0, 96, 0, payload), Subscribed.from_subscribe(payload)
    )


def book() -> CoverTable:
    return CoverTable(NodeContext(1, MemoryStore()), {LANGUAGE: COVERED}, is_on=True)


steps = st.lists(
    st.tuples(
        st.booleans(),
        st.tuples(st.integers(2, 4), st.integers(0, 2)),
        st.sampled_from((1, 2)),
        st.sampled_from((0, 40, 80)),
    ),
    max_size=40,
)


@given(steps)
def test_law_the_bodies_above_are_those_that_stand_for_it(
    steps: list[tuple[bool, Key, int, int]],
) -> None:
    covers, known = book(), dict[Key, Subscription]()
    for number, (goes, key, topic, least) in enumerate(steps):
        if goes and key in known:
            covers.remove(known.pop(key), 0)
        else:
            known[key] = held(key, number, topic, least)
            covers.add(known[key], 0)
    bodies = {covers.number(key): one.body for key, one in known.items()}
    assert len(covers) == len(bodies) == len({one.body for one in known.values()})
    for one in known.values():
        above = [bodies[number] for number in covers.covers(one, 0)]
        assert above[0] == one.body
        assert set(above) == {body for body in bodies.values() if topic_covers(body, one.body)}
        assert covers.depth(one, 0) == len(above) - 1
    assert covers.number((99, 0)) is None


def test_other_languages_and_no_covering_at_all() -> None:
    covers, off = book(), CoverTable(NodeContext(1, MemoryStore()), {LANGUAGE: COVERED}, is_on=False)
    assert (covers.is_on, off.is_on) == (True, False)
    for one in (covers, off):
        for number, language in enumerate((EITHER, LANGUAGE)):
            one.add(held((2, number), number, 1, 0, language), 0)
    assert (len(covers), len(off)) == (1, 0)
    assert covers.depth(held((2, 0), 0, 1, 0, EITHER), 0) == 0


def test_those_beyond_the_bound_stand_for_their_equals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covering, "COMPARED_MAX", 1)
    covers = book()
    one, other, equal = (held((2, id), id, 1, least) for id, least in enumerate((0, 40, 40)))
    for subscription in (one, other, equal):
        covers.add(subscription, 0)
    assert list(covers.covers(other, 0)) == list(covers.covers(equal, 0)) == [covers.number((2, 1))]
    covers.remove(one, 0)
    covers.add(held((2, 3), 3, 1, 20), 0)  # There is room again.
    covers.remove(other, 0)
    covers.remove(equal, 0)
    assert len(covers) == 1
