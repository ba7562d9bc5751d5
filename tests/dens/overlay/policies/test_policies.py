"""Laws that every replication policy keeps, and what distinguishes each."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.overlay.errors import LocalProtocolError
from dens.overlay.events import CopyReplicated
from dens.overlay.limits import Limits
from dens.overlay.policies.encounters import ONE, PARAMETERS, Encounters
from dens.overlay.policies.kind import Parameter, PolicyKind
from dens.overlay.policies.registry import POLICIES
from dens.overlay.policies.spray_and_wait import SprayAndWait
from dens.overlay.wire.codes import MessageType
from dens.overlay.wire.item import Item
from emulation.fault_injection.plan import Faults, Plan
from emulation.fault_injection.world import World
from tests.paths import page_path

QUICK = Limits(hello_ms=300, retry_ms=150, retry_most_ms=600)
every_policy = pytest.mark.parametrize("name", sorted(POLICIES))


every_parameter = pytest.mark.parametrize(
    ("name", "parameter"),
    [(kind.name, parameter) for kind in POLICIES.values() for parameter in kind.parameters],
    ids=lambda one: one if isinstance(one, str) else one.name,
)


def learning(**given: int) -> Encounters:
    """What policies that learn begin with."""
    return Encounters(**{parameter.name: parameter.default for parameter in PARAMETERS} | given)


def notification(copies: int = 0) -> Item:
    return Item(MessageType.NOTIFICATION, 1, 7, 1, 0, 90, 1, b"x", copies)


@every_policy
def test_the_promises_hold_under_every_policy(name: str) -> None:
    delivered = 0
    for seed in range(600, 602):
        faults = Faults(loss=0.2, repeat=0.1, crash=0.01)
        world = World(seed, Plan(faults=faults, limits=QUICK, policy=name))
        world.live_through()
        world.heal(8_000)
        assert world.checker.missing_deliveries(world.now_ms) == []
        delivered += len(world.delivered)
    assert delivered > 5


@every_policy
def test_the_promises_hold_where_subscribers_are_reached_through_their_hosts(name: str) -> None:
    """Subscribers 1 and 2 are on the devices of the mediators 4 and 5, and subscriber 3 walks about alone."""
    delivered = 0
    for seed in range(610, 613):
        plan = Plan(
            subscribers=3,
            faults=Faults(loss=0.2, repeat=0.1, slow=0.1, crash=0.01),
            limits=QUICK,
            policy=name,
            homes={1: 4, 2: 5},
            contact_every_ms=500,
        )
        world = World(seed, plan)
        world.live_through()
        delivered += len(world.delivered)
        world.heal(8_000)
        world.checker.conclude()
    assert delivered > 5


@every_policy
@given(
    note=st.binary(max_size=40),
    copies=st.integers(0, 7),
    owed_to=st.lists(st.integers(0, 20), unique=True, max_size=4),
    now_ms=st.integers(0, 10**9),
)
def test_codes_stay_codes_whatever_a_peer_says(
    name: str, note: bytes, copies: int, owed_to: list[int], now_ms: int
) -> None:
    policy = POLICIES[name](1)
    policy.met(5, True, note, now_ms)
    policy.met(6, False, b"", now_ms)
    item = notification(copies)
    given_code = policy.share(item, owed_to, 5, now_ms)
    assert given_code is None or 0 <= given_code <= 7
    if given_code is not None:
        assert 0 <= policy.kept(item, given_code) <= 7
        assert given_code <= max(copies, 4)
    assert len(policy.note(now_ms)) % 6 == 0


@pytest.mark.parametrize("copies", [1, 2, 4, 8, 16, 32, 64])
def test_spraying_makes_exactly_the_copies_it_was_allowed(copies: int) -> None:
    """Halving until every holder has one gives as many holders as copies, whoever meets whom."""
    policy = SprayAndWait(copies)
    holders = [notification()]
    waiting = []
    while holders:
        item = holders.pop()
        share = policy.share(item, (), 3, 0)
        if share is None:
            waiting.append(item)
        else:
            holders += [notification(share), notification(policy.kept(item, share))]
    assert len(waiting) == copies


def test_copies_that_cannot_be_halved_are_refused() -> None:
    with pytest.raises(LocalProtocolError, match="power of two"):
        SprayAndWait(6)


@pytest.mark.parametrize(
    ("page", "listed"),
    [
        ("node.md", r'^policy = "(\w+)" +# ((?:\w+, )+\w+);'),
        ("scenario.md", r"^ +policy = \"\w+\" +# ((?:\w+ \| )+\w+)$"),
        ("protocols.md", r"^\| `(\w+)` \| .* \| \d+, \d+ \|$"),
    ],
)
def test_pages_list_the_policies_that_there_are(page: str, listed: str) -> None:
    text = page_path(page).read_text()
    found = [word for match in re.finditer(listed, text, re.MULTILINE) for word in match.groups()]
    assert sorted(re.findall(r"\w+", " ".join(found))) == sorted(POLICIES)


def replicated(name: str, seeds: range) -> tuple[int, int]:
    """Return how many notifications were copied between mediators, and how many were delivered."""
    copies = delivered = 0
    for seed in seeds:
        world = World(seed, Plan(mediators=8, limits=QUICK, policy=name, withdraws=False))
        note = world.checker.note

        def count(node: int, event: object, note: object = note) -> None:
            nonlocal copies
            if isinstance(event, CopyReplicated) and event.item.type == MessageType.NOTIFICATION:
                copies += 1
            note(node, event)  # type: ignore[operator]

        world.checker.note = count  # type: ignore[method-assign]
        world.live_through()
        delivered += len(world.delivered)
    return copies, delivered


def test_policies_trade_copies_for_deliveries() -> None:
    seeds = range(700, 706)
    by_name = {name: replicated(name, seeds) for name in POLICIES}
    assert by_name["direct"][0] == 0
    assert by_name["epidemic"][0] == max(copies for copies, _ in by_name.values())
    assert by_name["epidemic"][1] == max(delivered for _, delivered in by_name.values())
    assert by_name["direct"][1] == min(delivered for _, delivered in by_name.values())
    assert 0 < by_name["prophet"][0] < by_name["epidemic"][0]
    assert by_name["dens"][1] > by_name["direct"][1]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 10**7), st.binary(max_size=16)), max_size=30))
def test_likelihoods_stay_between_nothing_and_certainty(steps: list[tuple[int, int, bytes]]) -> None:
    encounters = learning()
    now_ms = 0
    for node, pause_ms, note in steps:
        now_ms += pause_ms
        before = encounters.likelihood(node, now_ms)
        encounters.met(node, now_ms)
        assert before <= encounters.likelihood(node, now_ms) <= ONE
        encounters.on_note(node, note, 99, now_ms)
        assert all(0 <= encounters.likelihood(other, now_ms) <= ONE for other in range(6))
        assert encounters.likelihood(node, now_ms + 10**6) <= encounters.likelihood(node, now_ms)


@every_parameter
def test_a_parameter_has_bounds_that_its_policy_takes(name: str, parameter: Parameter) -> None:
    kind = POLICIES[name]
    for value in {parameter.default, parameter.least, parameter.most, *parameter.among}:
        assert parameter.fault(value) is None
        policy = kind(1, **{parameter.name: value})
        policy.met(5, True, b"\0\x09\x80\0", 0)
        assert policy.share(notification(), (9,), 5, 0) in (None, *range(8))
    for value in (parameter.least - 1, parameter.most + 1):
        with pytest.raises(LocalProtocolError, match=f"{name}.{parameter.name}: .*not {value}"):
            kind(1, **{parameter.name: value})
    for odd in (True, 1.5, "8", None):
        assert parameter.fault(odd) == "an integer is required"


@every_parameter
def test_the_protocols_page_has_its_line(name: str, parameter: Parameter) -> None:
    text = page_path("protocols.md").read_text()
    section = text[text.index("### Parameters of policies") :]
    bounds = f"{parameter.least} to {parameter.most}"
    line = rf"^\| `{parameter.name}` \| .*`{name}` {parameter.default}\b.* \| {bounds}.* \| "
    assert re.search(line, section, re.MULTILINE)


def test_a_parameter_that_a_policy_does_not_have_is_refused() -> None:
    with pytest.raises(LocalProtocolError, match=r"spray_and_wait.copy: .*no such parameter \(copies\)"):
        POLICIES["spray_and_wait"](1, copy=8)
    with pytest.raises(LocalProtocolError, match=r"direct.copies: .*it has none"):
        POLICIES["direct"](1, copies=8)


@every_policy
def test_a_kind_says_what_it_does_and_is_registered_under_its_name(name: str) -> None:
    kind = POLICIES[name]
    assert isinstance(kind, PolicyKind)
    assert kind.name == name
    assert len(kind.meaning) > 10
    assert all(len(parameter.meaning) > 10 for parameter in kind.parameters)


def note(node: int, predictability: int) -> bytes:
    return node.to_bytes(4, "big") + predictability.to_bytes(2, "big")


@pytest.mark.parametrize("name", ["dens", "prophet"])
@pytest.mark.parametrize("threshold", [0, 1, 4_096, 20_000])
def test_the_second_of_two_copies_follows_only_whoever_is_clearly_likelier(name: str, threshold: int) -> None:
    """Exactly above the threshold: a sixteenth by default, and 0 in prophet."""
    beyond = threshold if name == "dens" else 0
    given = {} if name == "prophet" or threshold == 4_096 else {"utility_threshold": threshold}
    last = notification(copies=2)
    for more, follows in ((beyond, False), (beyond + 1, True)):
        policy = POLICIES[name](1, **given)
        policy.met(9, False, b"", 0)  # own predictability: one half
        policy.met(5, True, note(9, ONE // 2 + more), 0)
        own = ONE // 2
        assert (policy.share(last, (9,), 5, 0) is not None) is follows, (more, own)


def test_copy_budget_equals_the_configured_one() -> None:
    for name, copies in (("spray_and_wait", 8), ("dens", 8)):
        assert POLICIES[name](1).share(notification(), (), 3, 0) == copies.bit_length() - 1
        assert POLICIES[name](1, copies=32).share(notification(), (), 3, 0) == 5


def test_what_is_learnt_follows_its_parameters() -> None:
    slow, quick = learning(unit_s=60), learning(unit_s=15)
    for encounters in (slow, quick):
        encounters.met(7, 0)
    assert slow.likelihood(7, 60_000) == quick.likelihood(7, 15_000) == ONE // 2 * (ONE * 98 // 100) // ONE
    sure = learning(encounter_percent=100)
    sure.met(7, 0)
    assert sure.likelihood(7, 0) == ONE
    deaf = learning(transitivity_percent=0)
    deaf.met(5, 0)
    deaf.on_note(5, note(9, 60_000), 1, 0)
    assert deaf.likelihood(9, 0) == 0
    lasting = learning(ageing_percent=100)
    lasting.met(7, 0)
    assert lasting.likelihood(7, 10**9) == ONE // 2
