"""Faults of frames: loss and flipped bits."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from emulation.random.rng import RandomStreams
from emulation.scenario import Scenario
from emulation.scenario.settings.faults import CorruptSettings, LossSettings


@dataclass(frozen=True, slots=True)
class FrameFault:
    """One entry of the scenario: which frames, when, and their share."""

    settings: LossSettings | CorruptSettings
    devices: Collection[int]
    rng: np.random.Generator

    def strikes(self, sender: int, receiver: int, now_ms: int) -> bool:
        """Return whether the fault hits this frame. Only frames that can be hit take a random number."""
        settings = self.settings
        begin_ms = 1000.0 * settings.at_s
        if now_ms < begin_ms or (settings.for_s is not None and now_ms >= begin_ms + 1000.0 * settings.for_s):
            return False
        if sender not in self.devices and receiver not in self.devices:
            return False
        return bool(self.rng.random() < settings.share)

    def flipped(self, data: bytes) -> bytes:
        """Return the bytes with one bit changed."""
        bit = int(self.rng.integers(8 * len(data)))
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        return bytes(changed)


class FrameFaults:
    """All faults of frames in a run."""

    def __init__(self, faults: Iterable[FrameFault]) -> None:
        faults = list(faults)
        self._losses = [fault for fault in faults if isinstance(fault.settings, LossSettings)]
        self._corruptions = [fault for fault in faults if isinstance(fault.settings, CorruptSettings)]

    def pass_on(self, sender: int, receiver: int, data: bytes, now_ms: int) -> bytes | None:
        """Return the bytes of a frame as they arrive, or None if it is lost."""
        if any(fault.strikes(sender, receiver, now_ms) for fault in self._losses):
            return None
        for fault in self._corruptions:
            if fault.strikes(sender, receiver, now_ms):
                data = fault.flipped(data)
        return data


def frame_faults_of(scenario: Scenario, streams: RandomStreams) -> FrameFaults | None:
    """Return the faults of frames in a scenario, or None if it has none."""
    faults = [
        FrameFault(fault, frozenset(scenario.devices_named(fault.who)), streams.rng("faults", index))
        for index, fault in enumerate(scenario.settings.fault)
        if isinstance(fault, LossSettings | CorruptSettings)
    ]
    return FrameFaults(faults) if faults else None
