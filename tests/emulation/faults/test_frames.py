"""Faults of frames: whom they hit, when, and what is left of a frame."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emulation.scenario.settings.faults import CorruptSettings, LossSettings
from emulation.world.frame_faults import FrameFault, FrameFaults

LOSS = LossSettings(kind="loss", share=1.0, at_s=10, for_s=5)
FLIP = CorruptSettings(kind="corrupt", share=1.0, at_s=20)


def faults(*settings: LossSettings | CorruptSettings, who: frozenset[int] = frozenset({1})) -> FrameFaults:
    rng = np.random.default_rng(4)
    return FrameFaults([FrameFault(one, who, rng) for one in settings])


@given(st.integers(0, 30_000), st.integers(0, 3), st.integers(0, 3), st.binary(min_size=1))
def test_a_fault_hits_its_devices_in_its_time_only(
    at_ms: int, sender: int, receiver: int, data: bytes
) -> None:
    arrived = faults(LOSS, FLIP).pass_on(sender, receiver, data, at_ms)
    is_theirs = 1 in (sender, receiver)
    if is_theirs and 10_000 <= at_ms < 15_000:
        assert arrived is None
    elif is_theirs and at_ms >= 20_000:
        assert arrived is not None
        assert (int.from_bytes(arrived, "big") ^ int.from_bytes(data, "big")).bit_count() == 1
        assert len(arrived) == len(data)
    else:
        assert arrived is data


def test_the_share_is_met() -> None:
    half = faults(LossSettings(kind="loss", share=0.25))
    lost = sum(half.pass_on(1, 2, b"x", 0) is None for _ in range(4000))
    assert 900 < lost < 1100
