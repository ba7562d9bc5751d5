"""What a language knows of a match beside its degree, and languages that hear another's notifications."""

from collections.abc import Mapping

import pytest

from dens.interfaces import BoundLanguage
from dens.overlay.endpoints.publisher import PublisherEndpoint
from dens.overlay.endpoints.subscriber import SubscriberEndpoint
from dens.overlay.events import MessageQuarantined, NotificationDelivered
from dens.overlay.mediator import matching
from dens.overlay.mediator.node import DensNode
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from dens.overlay.wire.item import lifetime_code_ms
from dens.overlay.wire.messages import Satisfied
from emulation.fault_injection.topics import (
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    TopicMatch,
    TopicMatcher,
    subscription,
)
from plugins import language

MEDIATOR, ASKER, SOURCE, LISTENER = 1, 2, 3, 10
HOUR_Q = lifetime_code_ms(3_600_000)


class Detailed(TopicMatcher):
    """Knows more of a match than its degree: how far the value is above the least, in as many bytes."""

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[TopicMatch]:
        found = super().match(vector, event_ms, now_ms)
        return [TopicMatch(one.key, one.degree_u8, bytes((vector[1],)) * (2 * vector[1])) for one in found]


def delivered(
    language_id: int,
    value: int,
    languages: Mapping[int, BoundLanguage],
) -> tuple[list[tuple[Satisfied, ...]], int]:
    """Return what a subscriber of this language is shown of a value, and how much was quarantined; the
    mediator starts again before the subscriber is met.
    """
    asker = SubscriberEndpoint(ASKER, Mission(7), MemoryStore(), 0)
    source = PublisherEndpoint(SOURCE, Mission(7), MemoryStore(), 0, filter_host=TopicHost())
    store = MemoryStore()
    asker.subscribe(subscription(5, 0, HOUR_Q, 3, 0), language_id, 0)
    source.publish(LANGUAGE, bytes((3, value)), HOUR_Q, 0)
    shown: list[tuple[Satisfied, ...]] = []
    quarantined = 0
    for now_ms, end, number in ((1_000, asker, ASKER), (20_000, source, SOURCE), (40_000, asker, ASKER)):
        node = DensNode(
            MEDIATOR,
            Mission(7, languages),
            store,
            now_ms,
            directory=TopicDirectory(),
        )
        node.contact_opened(number, now_ms)
        end.contact_opened(MEDIATOR, now_ms)
        for step_ms in range(now_ms, now_ms + 5_000, 50):
            for machine, peer in ((node, end), (end, node)):
                machine.timer_due(step_ms)
                me = MEDIATOR if machine is node else number
                for datagram in machine.datagrams_to_send(step_ms):
                    peer.receive(datagram.data, me, step_ms)
                while (event := machine.next_event()) is not None:
                    if isinstance(event, NotificationDelivered):
                        shown.append(event.satisfied)
                    quarantined += isinstance(event, MessageQuarantined)
        end.contact_lost(MEDIATOR, now_ms + 5_000)
    return shown, quarantined


def test_a_detail_reaches_the_application_over_a_restart() -> None:
    shown, quarantined = delivered(LANGUAGE, 4, {LANGUAGE: BoundLanguage(matchers={LANGUAGE: Detailed})})
    assert (shown, quarantined) == ([(Satisfied(5, 0, 4, b"\x04" * 8),)], 0)


def test_a_detail_that_is_too_long_is_a_defect_of_its_language_and_ends_nothing() -> None:
    shown, quarantined = delivered(LANGUAGE, 200, {LANGUAGE: BoundLanguage(matchers={LANGUAGE: Detailed})})
    assert shown == []
    assert quarantined > 0


@pytest.mark.parametrize("heard", [LISTENER, LANGUAGE])
def test_a_language_hears_notifications_of_another_where_it_says_so(
    heard: int,
) -> None:
    listener = BoundLanguage(matchers={heard: TopicMatcher})
    shown, _ = delivered(LISTENER, 9, {LANGUAGE: TOPICS, LISTENER: listener})
    assert shown == ([] if heard == LISTENER else [(Satisfied(5, 0, 9),)])


class Lower(TopicMatcher):
    """Judges the same subscriptions by notifications in another form: the value stands first."""

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[TopicMatch]:
        return super().match(bytes((vector[1], vector[0])), event_ms, now_ms)


def test_a_language_reads_each_form_with_a_matcher_of_its_own() -> None:
    listener = BoundLanguage(matchers={LISTENER: TopicMatcher, LANGUAGE: Lower})
    languages = {LANGUAGE: TOPICS, LISTENER: listener}
    assert delivered(LISTENER, 9, languages)[0] == []
    assert delivered(LISTENER, 3, languages)[0] == [(Satisfied(5, 0, 3),)]


def test_overlay_and_languages_agree_on_how_long_a_detail_may_be() -> None:
    assert matching.DETAIL_BYTES == language.DETAIL_BYTES
