"""Engines are made in one place, and with everything that a mission has."""

import re

from dens.node.assembly import assembly_of
from dens.overlay.assembly import Assembly
from dens.overlay.limits import Limits
from dens.overlay.mission import Mission
from dens.overlay.storage.memory import MemoryStore
from emulation.fault_injection.topics import (
    EITHER,
    EITHER_TOPICS,
    LANGUAGE,
    TOPICS,
    TopicDirectory,
    TopicHost,
    subscription,
)
from knowledge_manager.mission_table import load_mission_table
from plugins.language import no_parts
from plugins.registry import languages
from tests.paths import ROOT

LIMITS = Limits(announcements=7)
MISSION = Assembly(
    Mission(7, {LANGUAGE: TOPICS, EITHER: EITHER_TOPICS}, key=b"mission", limits=LIMITS),
    directory=TopicDirectory,
)


def test_no_other_file_of_the_product_makes_an_engine() -> None:
    rooms = ("dens", "emulation", "experiments", "plugins", "spark_analysis")
    makers = {
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in (ROOT / room).rglob("*.py")
        if re.search(
            r"(?<!class )\b(DensNode|SubscriberEndpoint|PublisherEndpoint)\(", path.read_text("utf-8")
        )
    }
    assert makers == {"dens/overlay/assembly.py"}


def test_every_engine_is_given_key_limits_and_table() -> None:
    engines = (
        MISSION.mediator(1, MemoryStore(), 0, hosts=frozenset((2,))),
        MISSION.subscriber(2, MemoryStore(), 0),
        MISSION.publisher(3, MemoryStore(), 0, filter_host=TopicHost()),
    )
    for engine in engines:
        assert engine.limits is LIMITS
        assert engine.context.authenticator.tag_bytes == 8
        engine.contact_opened(9, 0)
        [greeting] = engine.datagrams_to_send(0)
        hello = greeting.data
        assert hello[3] == 7


def test_a_subscriber_knows_what_its_subscriptions_occupy() -> None:
    end = MISSION.subscriber(2, MemoryStore(), 0)
    made = end.subscribe(subscription(5, 0, 90, 1, 0, 2, 0), EITHER, 0)
    assert end.context.durable.occupied(made) == 2


def test_a_mission_speaks_every_language_that_is_installed() -> None:
    table = load_mission_table(["medical"])
    made = assembly_of(table, limits=LIMITS)
    bound = made.mission.languages
    assert bound.keys() == languages().keys()
    assert all(
        bound[number].matchers.keys() == known.matchers.keys() for number, known in languages().items()
    )
    apart = {number for number, known in languages().items() if known.parts is not no_parts}
    assert {number for number in bound if bound[number].decompose is not None} == apart == {4, 5}, (
        "of those that ship composites and boxes can be taken apart"
    )
    composed = {number for number in bound if bound[number].composer is not None}
    assert composed == made.mission.results.keys() == {4}, "and composites alone are made of others"
    assert made.mission.table_check == table.check
    assert made.directory() is not made.directory(), "each mediator has its own"
