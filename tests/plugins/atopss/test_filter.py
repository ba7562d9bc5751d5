"""The filter at the source: whatever would match passes, once, and what passes matches."""

from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.mission_table import load_mission_table
from plugins.atopss.canonical import canonical
from plugins.atopss.filter import AtopssFilter
from plugins.atopss.matching.naive import NaiveMatcher
from plugins.atopss.notifications import Notification
from plugins.atopss.published_values import shape_of_byte, values_of_reading
from plugins.atopss.shapes.shapes import ANYTHING, Shape, at_least, interval, point
from plugins.atopss.subscriptions import Joined, Predicate, Subscription
from plugins.atopss.vectors import decode_notification, encode_notification, encode_subscription
from plugins.readings import Corners, ExactReading
from plugins.value_texts import corners_of
from tests.plugins.atopss.subscriptions import PUBLICATION, SUBSCRIPTION, subscriptions
from watchdog.lifetime import lifetime_code
from watchdog.normalise import normal_byte
from watchdog.reading import Reading

TABLE = load_mission_table(["housing"])
EVENT = TABLE.event("apartment")

corners = st.lists(st.integers(0, 45), min_size=4, max_size=4).map(lambda four: tuple(sorted(four)))


def of_apartments(wanted: Subscription) -> bytes:
    """Return the body of a subscription, to event 3."""
    body = encode_subscription(wanted)
    return body[:3] + bytes([body[3] | 3]) + body[4:]


def read(values: dict[int, Corners]) -> ExactReading:
    """Return a reading with these corners."""
    reading = ExactReading()
    reading.clear(3, 9, 77)
    for index, known in values.items():
        reading.measure(EVENT.attribute_at(index), known)
    return reading


@given(
    held=st.lists(subscriptions(), min_size=1, max_size=4),
    values=st.dictionaries(st.integers(0, 3), corners, min_size=1),
    is_whole=st.booleans(),
)
def test_law_what_would_match_passes_and_matches(
    held: list[Subscription], values: dict[int, Corners], is_whole: bool
) -> None:
    source, matcher = AtopssFilter(TABLE, is_whole=is_whole), NaiveMatcher(TABLE)
    for number, wanted in enumerate(held):
        source.add((1, number), of_apartments(wanted))
        matcher.add((1, number), of_apartments(wanted))
    reading = read(values)
    whole = Notification(9, 0, 77, 3, values_of_reading(reading, TABLE))
    expected = matcher.match(encode_notification(whole), 0, 0)
    released = source.feed(reading)
    assert len(released) == bool(expected)
    for release in released:
        assert matcher.match(release.vector, 0, 0) == expected
        best = max((match.degree_u8, match.detail[0]) for match in expected)
        told = decode_notification(release.vector)
        assert (told.possibility, told.necessity) == (best[0] // 17, best[1] // 17)
        assert (told.number, told.stamp_s, release.degree_u8) == (9, 77, best[0])


def test_only_attributes_of_satisfied_subscriptions_are_released() -> None:
    source, whole = AtopssFilter(TABLE), AtopssFilter(TABLE, is_whole=True)
    for one in (source, whole):
        one.add((1, 0), of_apartments(canonical(0, Predicate(1, at_least(40, 50)))))
        one.add((1, 1), of_apartments(canonical(0, Predicate(0, at_least(4000)))))
    reading = read({0: (900,) * 4, 1: (60,) * 4, 2: (7,) * 4})
    assert decode_notification(source.feed(reading)[0].vector).values == {1: point(60)}
    assert decode_notification(whole.feed(reading)[0].vector).values.keys() == {0, 1, 2}
    assert source.feed(reading)[0].lifetime == lifetime_code(86400)
    source.remove((1, 0))
    source.remove((5, 5))
    assert source.feed(reading) == []


def test_a_publication_passes_with_its_degrees() -> None:
    source = AtopssFilter(TABLE)
    assert source.offer(PUBLICATION) == []
    source.add((1, 0), SUBSCRIPTION[3:])
    (release,) = source.offer(PUBLICATION)
    assert release.vector == PUBLICATION[:5] + bytes([15 << 4 | 13]) + PUBLICATION[6:]
    assert release.degree_u8 == 255


def test_all_of_the_domain_is_anything() -> None:
    size = EVENT.attribute("size")
    known = corners_of("?", size)
    assert known is not None
    assert values_of_reading(read({1: known}), TABLE) == {1: ANYTHING}


@given(byte=st.integers(0, 255))
def test_law_a_byte_is_the_values_that_have_it(byte: int) -> None:
    for attribute in EVENT.attributes:
        shape = shape_of_byte(byte, attribute)
        having = [
            value
            for value in range(attribute.hi_scaled + 1)
            if normal_byte(value, attribute.lo_scaled, attribute.hi_scaled, attribute.inner) == byte
        ]
        if having:
            expected = point(having[0]) if len(having) == 1 else interval(having[0], having[-1])
            assert shape == expected
        else:
            assert shape.is_point


def test_a_boards_reading_is_judged_by_its_byte() -> None:
    reading = Reading()
    reading.clear(3, 1, 0)
    reading.set(1, 51)
    found = values_of_reading(reading, TABLE)[1]
    assert isinstance(found, Shape)
    source = AtopssFilter(TABLE)
    both = Joined(False, (Predicate(1, at_least(0)),))
    source.add((1, 0), of_apartments(canonical(0, both)))
    assert decode_notification(source.feed(reading)[0].vector).values == {1: found}
