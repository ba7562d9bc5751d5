"""Every language: the registry finds it, and the laws that hold for all of them."""

from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dens.config.entry_points import OutsidePackageError
from knowledge_manager.mission_table import load_mission_table
from plugins.board_vectors import SubscriptionBody, encode_body
from plugins.direct.language import DIRECT, notification_for, subscription_to
from plugins.fuzzy.language import FUZZY
from plugins.language import Match, Requirement
from plugins.registry import RegistryError, language, languages
from watchdog.header import body_of, framed
from watchdog.reading import Reading
from watchdog.vector import VectorError

TABLE = load_mission_table(["medical"])


FOREIGN = replace(DIRECT, language_id=77, name="foreign")
"""A third party's language, for the registry."""
NAMESAKE = replace(DIRECT, language_id=78, name="fuzzy")


def entry(name: str) -> EntryPoint:
    return EntryPoint(name=name, value=f"{__name__}:{name}", group="dens.languages")


def test_the_built_in_languages() -> None:
    found = languages([])
    names = {0: "direct", 1: "fuzzy", 2: "atopss", 3: "graph", 4: "composite", 5: "boxes"}
    assert {number: known.name for number, known in found.items()} == names
    assert language(1).name == "fuzzy"
    with pytest.raises(RegistryError, match="language 99 is unknown"):
        language(99)


def test_a_third_partys_language_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EntryPoint, "load", lambda self: globals()[self.name])
    assert languages([entry("FOREIGN")])[77].name == "foreign"
    with pytest.raises(OutsidePackageError, match="is taken by fuzzy"):
        languages([entry("NAMESAKE")])
    with pytest.raises(OutsidePackageError, match="takes a number from 16 to 255"):
        languages([entry("FUZZY")])
    with pytest.raises(OutsidePackageError, match="is a MissionTable; name a SubscriptionLanguage"):
        languages([entry("TABLE")])
    with pytest.raises(OutsidePackageError, match="cannot be loaded"):
        languages([entry("Missing")])


def test_direct_matches_by_destination() -> None:
    matcher = DIRECT.matcher(TABLE)
    matcher.add((5, 0), body_of(subscription_to(5, 0, 0, 40)))
    matcher.add((9, 1), body_of(subscription_to(5, 1, 0, 40)))
    matcher.add((6, 0), body_of(subscription_to(6, 0, 0, 40)))
    assert matcher.match(notification_for(5, b"payload"), 0, 0) == [Match((5, 0), 255), Match((9, 1), 255)]
    matcher.remove((5, 0))
    matcher.remove((5, 0))
    batch = [(notification_for(5, b""), 0), (notification_for(7, b""), 0)]
    assert dict(matcher.match_batch(batch, 0)) == {0: [Match((9, 1), 255)], 1: []}


def test_direct_asks_no_sensor_and_releases_nothing() -> None:
    direct = DIRECT
    assert direct.lookup(TABLE).question(body_of(subscription_to(3, 1, 0, 40))).alternatives == ()
    source = direct.source_filter(TABLE)
    source.add((1, 1), body_of(subscription_to(3, 1, 0, 40)))
    assert source.feed(Reading()) == []


@pytest.mark.parametrize("number", [0, 1, 2, 5])
@given(vector=st.binary(max_size=24))
def test_law_a_bad_vector_is_a_vector_error_and_changes_nothing(number: int, vector: bytes) -> None:
    spoken = languages([])[number]
    matcher, source = spoken.matcher(TABLE), spoken.source_filter(TABLE)
    try:
        spoken.lookup(TABLE).question(vector)
    except VectorError:
        for holder in (matcher, source):
            with pytest.raises(VectorError):
                holder.add((1, 1), vector)
    else:
        matcher.add((1, 1), vector)
        source.add((1, 1), vector)
    with pytest.raises(VectorError):
        matcher.match(b"", 0, 0)


def test_fuzzy_look_up_leaves_the_age_out() -> None:
    parts = SubscriptionBody(0, 0, 0, b"", ((0, 9, 3), (1, 2, 127)), 0, (1, 7))
    found = FUZZY.lookup(TABLE).question(encode_body(parts))
    assert found.alternatives == (Requirement(0, frozenset({1})),)


bytes_ = st.integers(0, 255)
triples = st.tuples(bytes_, bytes_, bytes_).map(lambda t: (min(t[:2]), max(t[:2]), t[2]))


@st.composite
def subscriptions(draw: st.DrawFn) -> bytes:
    attributes = sorted(draw(st.sets(st.sampled_from([0, 1, 3, 4, 7]), min_size=1)))
    constraints = tuple(draw(triples) for _ in attributes)
    aggregator = draw(st.sampled_from([0, 1, 2, 3, 4, 5, 6, 15, 14]))
    block = b""
    if aggregator == 6:
        block = bytes([draw(st.integers(1, 255)), *(draw(bytes_) for _ in attributes[1:])])
    elif aggregator >= 14:
        block = bytes([128 if len(attributes) > 1 else 0])
    threshold = draw(st.integers(0, 15))
    parts = SubscriptionBody(0, threshold, aggregator, block, constraints, 0, tuple(attributes))
    return framed(0, 0, 99, encode_body(parts))


@given(
    vector=subscriptions(),
    values=st.dictionaries(st.sampled_from([0, 1, 3, 4]), bytes_, min_size=1),
    age_ms=st.integers(0, 70_000_000),
)
def test_law_what_would_match_passes_the_filter(vector: bytes, values: dict[int, int], age_ms: int) -> None:
    fuzzy = FUZZY
    source, matcher = fuzzy.source_filter(TABLE), fuzzy.matcher(TABLE)
    source.add((1, 0), body_of(vector))
    matcher.add((1, 0), body_of(vector))
    reading = Reading()
    reading.clear(0, 1, 0)
    for index, value in values.items():
        reading.set(index, value)
    released = source.feed(reading)
    attributes = sorted(values)
    mask = sum(1 << index for index in attributes)
    whole = bytes([0, 1, 95, 0, 0, 0, *(values[index] for index in attributes), 1, mask])
    if matcher.match(whole, 0, age_ms):
        assert released, "a filter may pass too much, never too little"
        assert any(matcher.match(release.vector, 0, age_ms) for release in released)


@given(node=st.integers(0, (1 << 31) - 1), payload=st.binary(max_size=9))
@example(node=65_534, payload=b"")
@example(node=65_535, payload=b"")
@example(node=65_536, payload=b"\xff\xff\xff\xff")
@example(node=(1 << 24) - 1, payload=b"")
@example(node=1 << 24, payload=b"")
@example(node=(1 << 31) - 1, payload=b"")
def test_law_direct_reaches_every_node_number(node: int, payload: bytes) -> None:
    other = node ^ 1
    matcher = DIRECT.matcher(TABLE)
    matcher.add((node, 255), body_of(subscription_to(node, 255, 0, 40)))
    matcher.add((other, 255), body_of(subscription_to(other, 255, 0, 40)))
    vector = notification_for(node, payload)
    assert matcher.match(vector, 0, 0) == [Match((node, 255), 255)]
    assert vector.endswith(payload)
    assert len(vector) - len(payload) == (2 if node < 65_535 else 6)


@given(node=st.integers(0, 65_535), size=st.integers(0, 9))
@example(node=65_535, size=0)
@example(node=65_535, size=4)
def test_law_addresses_of_two_bytes_in_old_traces_are_read(node: int, size: int) -> None:
    """Until version 0.3 every address had two bytes, and runs sent zeros as payload."""
    matcher = DIRECT.matcher(TABLE)
    matcher.add((node, 255), node.to_bytes(2, "big"))
    assert matcher.match(node.to_bytes(2, "big") + bytes(size), 0, 0) == [Match((node, 255), 255)]


@pytest.mark.parametrize("node", [-1, 1 << 31])
def test_a_number_that_no_node_has_has_no_address(node: int) -> None:
    with pytest.raises(ValueError, match=r"node number .* is out of range"):
        notification_for(node, b"")
