"""Invariant 6: what does not verify changes nothing; what was recorded is of no use later."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from dens.overlay.events import DatagramRefused, NotificationDelivered
from dens.overlay.limits import Limits
from dens.overlay.session.engine import Engine
from dens.overlay.wire.authentication import Authenticator, node_key
from dens.overlay.wire.codes import ADVERTISE, JOIN, PRUNE, UNADVERTISE, MessageType, Role
from emulation.fault_injection.plan import Plan
from emulation.fault_injection.world import World
from tests.dens.overlay.on_air import messages_in
from tests.sizes import full_in_soak

QUICK = Limits(hello_ms=300, retry_ms=150, retry_most_ms=600)


def state(thing: object, seen: frozenset[int] = frozenset()) -> Any:
    """Return everything an engine is made of as plain values, apart from its events."""
    if isinstance(thing, int | str | bytes | float | None.__class__ | type):
        return thing
    if id(thing) in seen or callable(thing):
        return "…"
    seen |= {id(thing)}
    if isinstance(thing, dict):
        return [(state(key, seen), state(value, seen)) for key, value in thing.items()]
    if isinstance(thing, set | frozenset):
        return sorted(map(repr, thing))
    if isinstance(thing, list | tuple):
        return [state(value, seen) for value in thing]
    if is_dataclass(thing):
        return [(field.name, state(getattr(thing, field.name), seen)) for field in fields(thing)]
    return [
        (name, state(getattr(thing, name), seen)) for name in names(thing) if name not in ("_events", "_keys")
    ]


def names(thing: object) -> Iterator[str]:
    for owner in type(thing).__mro__:
        yield from getattr(owner, "__slots__", ())
    yield from getattr(thing, "__dict__", ())


def events(engine: Engine) -> list[object]:
    out: list[object] = []
    while (event := engine.next_event()) is not None:
        out.append(event)
    return out


def recorded(seed: int, **changes: Any) -> World:
    """Return a world that stops while contacts are open, with all frames it saw."""
    world = World(seed, Plan(limits=QUICK, duration_ms=20_000, **changes))
    world.live_through()
    world.heal(3_000)
    return world


OF_BROKERS = {ADVERTISE, UNADVERTISE, JOIN, PRUNE}
"""What only brokers and their publishers say (tests/dens/overlay/broker)."""


@pytest.mark.slow
def test_every_bit_of_every_field_is_covered() -> None:
    """In soak every bit, otherwise every seventh: at least one of each byte, every position in turn."""
    checked: set[int] = set()
    for seed in range(1, 9):
        if checked == set(MessageType) - OF_BROKERS:
            break
        world = recorded(seed, operation_every_ms=200, looks_up=True)
        kinds: dict[int, tuple[int, int, bytes]] = {}
        for node, peer, data in world.frames:
            for kind in {data[1], *(item.type for item in messages_in(data))} - checked:
                kinds[kind] = (node, peer, data)
        checked.update(kinds)
        check_every_bit(world, kinds.values())
    assert checked == set(MessageType) - OF_BROKERS


def check_every_bit(world: World, frames: Iterable[tuple[int, int, bytes]]) -> None:
    for node, peer, data in frames:
        engine = world.machines[peer]
        events(engine)
        before = state(engine)
        for bit in range(0, 8 * len(data), full_in_soak(7, 1)):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            engine.receive(bytes(flipped), node, world.local(peer))
        assert state(engine) == before
        assert all(isinstance(event, DatagramRefused) for event in events(engine))


def test_another_mission_key_and_another_sender_change_nothing() -> None:
    world = recorded(2)
    node, peer, data = next(frame for frame in reversed(world.frames) if frame[1] in world.mediators)
    engine = world.machines[peer]
    events(engine)
    before = state(engine)
    other = next(other for other in world.all_nodes() if other not in (node, peer))
    engine.receive(data, other, world.local(peer))
    session = engine.context.sessions[node].own_session
    role = world.machines[node].role
    another = Authenticator(node, b"another").tag(data[:-8], role, peer, session)
    engine.receive(data[:-8] + another, node, world.local(peer))
    engine.receive(data[:-8], node, world.local(peer))
    assert state(engine) == before
    assert [getattr(event, "reason", "") for event in events(engine)][:2] == ["bad_tag", "bad_tag"]


@pytest.mark.slow
def test_frames_for_one_receiver_are_refused_by_every_other() -> None:
    """Sessions of all stores begin at the same number here, as on machines without a clock: a tag over the
    receiver's session alone verified at other receivers too, and a contact was lost for half a minute.
    """
    played = 0
    for seed in (1, 2):
        world = recorded(seed, operation_every_ms=1_000)
        for engine in world.machines.values():
            events(engine)
        before = [state(engine) for engine in world.machines.values()]
        for node, peer, data in list(world.frames):
            for other in world.all_nodes():
                if other not in (node, peer) and (min(node, other), max(node, other)) in world.contacts:
                    engine = world.machines[other]
                    engine.receive(data, node, world.local(other))
                    assert {getattr(event, "reason", "") for event in events(engine)} == {"bad_tag"}
                    played += 1
        assert [state(engine) for engine in world.machines.values()] == before
    assert played > 1_000


def test_recorded_frames_are_of_no_use_in_another_contact() -> None:
    replayed = 0
    for seed in range(3, 17):
        world = recorded(seed, mediators=8, operation_every_ms=400)
        frames = list(world.frames)
        seen = dict(world.delivered)
        for pair in list(world.contacts):
            world.close(pair)
        # Long after everything has expired and is forgotten, and with every contact begun again.
        world.run(world.now_ms + 3_000_000)
        for node in world.all_nodes():
            engine = world.machines[node]
            engine.timer_due(world.local(node))
            for peer in world.all_nodes():
                if peer != node:
                    engine.contact_opened(peer, world.local(node))
            events(engine)
        for node, peer, data in frames:
            world.machines[peer].receive(data, node, world.local(peer))
            replayed += 1
        for node in world.all_nodes():
            assert not any(isinstance(event, NotificationDelivered) for event in events(world.machines[node]))
        assert world.delivered == seen
    assert replayed > 10_000


def test_within_a_contact_repeated_frames_deliver_nothing_twice() -> None:
    world = recorded(9)
    assert world.delivered
    for node, peer, data in list(world.frames):
        world.arrive(node, peer, data)
    world.run(world.now_ms + 1_000)  # the checker fails on anything delivered twice


def test_keys_are_derived_and_differ() -> None:
    golden = "361b72d44446942c25aea3c6ef67c3b38c17c402ed8de2e5e5840fa8196c903c"
    assert node_key(b"mission", 1, Role.MEDIATOR).hex() == golden
    keys = {node_key(key, node, role) for key in (b"a", b"b") for node in range(50) for role in Role}
    assert len(keys) == 300
