"""Copy budgets under thousands of new histories (tests/dens/overlay/policies/test_copy_budgets.py)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dens.overlay.policies.budget_world import Faults
from tests.dens.overlay.policies.test_copy_budgets import (
    Change,
    Step,
    changes,
    check_budget,
    check_definition,
    worlds,
)


@pytest.mark.parametrize("policy", ["spray_and_wait", "dens"])
@given(**worlds)
@settings(max_examples=3_000, derandomize=False)
def test_never_more_carriers_than_copies(
    policy: str, copies: int, history: list[Step], faults: Faults, key: bytes | None, seed: int
) -> None:
    check_budget(policy, copies, history, faults, key, seed)


@given(copies=st.sampled_from([2, 4, 8, 1]), changes=changes, met=st.integers(0, 8), made=st.integers(0, 8))
@settings(max_examples=10_000, derandomize=False)
def test_without_loss_copies_go_where_the_definition_says(
    copies: int, changes: list[Change], met: int, made: int
) -> None:
    check_definition(copies, changes, met, made)
