"""Faults that frames meet on their way: some are lost, of some a bit flips."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from emulation.scenario.fault_settings import CorruptSettings, LossSettings


@dataclass(frozen=True, slots=True)
class FrameFault:
    """One entry of the scenario: which frames, when, and how many of them."""

    settings: LossSettings | CorruptSettings
    devices: Collection[int]
    chance: np.random.Generator

    def strikes(self, sender: int, receiver: int, now_ms: int) -> bool:
        """Say whether it hits this frame. Only frames that could be hit cost a draw."""
        settings = self.settings
        begin_ms = 1000.0 * settings.at_s
        if now_ms < begin_ms or (settings.for_s is not None and now_ms >= begin_ms + 1000.0 * settings.for_s):
            return False
        if sender not in self.devices and receiver not in self.devices:
            return False
        return bool(self.chance.random() < settings.share)

    def flipped(self, data: bytes) -> bytes:
        """Return the bytes with one bit changed."""
        bit = int(self.chance.integers(8 * len(data)))
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        return bytes(changed)
