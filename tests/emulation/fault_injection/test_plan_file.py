"""Plans are read as they were written, and whatever else comes is refused with all that is wrong with it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from dens.overlay.policies.policy import ReplicationPolicy
from dens.overlay.policies.registry import POLICIES
from emulation.fault_injection import plan as plans
from emulation.fault_injection.campaign import judge, kept
from emulation.fault_injection.plan import FAULTS, Plan, draw
from emulation.fault_injection.plan_file import KeptPlan, encode_plan, read_plan
from tests.sizes import examples

FAILING_PLANS = Path(__file__).parent / "failing_plans"


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**40), allowed=st.sets(st.sampled_from(sorted(FAULTS))))
def test_a_plan_comes_back_as_it_was_written(seed: int, allowed: set[str]) -> None:
    kept_plan = KeptPlan(seed, draw(seed, allowed), "all", "invariant 2: expected and never delivered")
    assert read_plan(encode_plan(kept_plan).encode(), "plan.json") == kept_plan


def test_homes_and_no_key_come_back_too() -> None:
    kept_plan = KeptPlan(1, replace(Plan(), homes={1: 4, 2: 5}, mission_key=None, policy="prophet"))
    assert read_plan(encode_plan(kept_plan).encode(), "plan.json") == kept_plan


def test_what_a_file_does_not_say_is_as_it_is_by_default() -> None:
    assert read_plan(b'{"version": 1, "plan": {"mediators": 7}}', "f") == KeptPlan(0, Plan(mediators=7))


VALUE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.lists(st.integers(-1, 300), max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=2),
)


@settings(max_examples=examples(200))
@given(data=st.data())
def test_whatever_a_file_says_it_is_a_plan_that_can_be_written_again_or_refused_with_places(
    data: st.DataObject,
) -> None:
    document = json.loads(encode_plan(KeptPlan(3, draw(3, tuple(FAULTS)))))
    place = data.draw(st.sampled_from((document, document["plan"], document["plan"]["faults"])))
    for name in data.draw(st.lists(st.sampled_from(sorted(place)), max_size=3)):
        place[name] = data.draw(VALUE)
    refused, read = (), None
    try:
        read = read_plan(json.dumps(document).encode(), "f")
    except DocumentError as error:
        refused = error.problems
    assert (read is None) == bool(refused)
    assert all((one.code, one.line > 0, one.column > 0) == ("D404", True, True) for one in refused)
    assert read is None or read_plan(encode_plan(read).encode(), "f") == read


@settings(max_examples=examples(200))
@given(
    content=st.one_of(
        st.binary(max_size=60), st.recursive(VALUE, st.lists).map(lambda v: json.dumps(v).encode())
    )
)
def test_invalid_plan_is_refused(content: bytes) -> None:
    with pytest.raises(DocumentError):
        read_plan(content, "f")


def test_all_errors_are_reported_at_once() -> None:
    content = b"""{"version": 1, "sed": 4,
 "plan": {"subscribers": 0, "policy": "prophte",
  "contact_ms": [9, 9], "limits": {"number_step": 0}, "first_node": 2147483647}}"""
    with pytest.raises(DocumentError) as refused:
        read_plan(content, "p.json")
    assert str(refused.value).splitlines() == [
        'p.json:1:16: error D404: sed: unknown key; did you mean "seed"?',
        "p.json:2:11: error D404: subscribers: this has to be a whole number from 1 to 64",
        "p.json:2:29: error D404: policy: this has to be null, or one of dens, direct, epidemic, prophet, "
        'spray_and_wait; did you mean "prophet"?',
        "p.json:3:3: error D404: contact_ms: this has to be a list of two whole numbers, the second above "
        "the first",
        "p.json:3:36: error D404: number_step: this has to be a whole number from 1 to 281474976710656",
        "p.json:3:55: error D404: first_node: the numbers of the nodes would exceed 2147483647, the highest",
    ]


@pytest.mark.parametrize("kept_plan", kept(FAILING_PLANS), ids=lambda kept_plan: str(kept_plan.seed))
def test_plans_that_failed_once_hold_now(kept_plan: KeptPlan) -> None:
    assert kept_plan.broke
    verdict = judge(kept_plan)
    assert verdict.ok, verdict.as_line()


def test_a_policy_more_changes_no_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [draw(seed, tuple(FAULTS)) for seed in range(1, 301)]

    def another(node: int) -> ReplicationPolicy:
        return POLICIES["epidemic"](node)

    monkeypatch.setitem(POLICIES, "epidemic_too", another)
    assert [draw(seed, tuple(FAULTS)) for seed in range(1, 301)] == before
    assert set(plans.DRAWN_POLICIES) <= POLICIES.keys()
