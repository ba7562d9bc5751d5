"""Frames per message between two devices, and their overhead.

A link uses the smaller frame size and the larger overhead of its two radios (docs/reference/scenario.md), as
the emulator does. The trace column `bytes` is the length of the message without frames.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dens.trace.manifest import Manifest

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RadioLinks:
    """Frame size and overhead by device; 0 if the radio states none."""

    frame_bytes: Mapping[int, int]
    overhead_bytes: Mapping[int, int]

    def frames(self, one: Numbers, other: Numbers, octets: Numbers) -> Numbers:
        """Return the number of frames for messages of these lengths between these devices."""
        if not self.frame_bytes:
            return np.ones_like(octets)
        unbounded = np.iinfo(np.int64).max
        limits = [_looked_up(self.frame_bytes, nodes) for nodes in (one, other)]
        limit = np.minimum(*(np.where(most > 0, most, unbounded) for most in limits))
        return np.maximum(1, -(-octets // limit))

    def overhead(self, one: Numbers, other: Numbers, frames: Numbers) -> Numbers:
        """Return the overhead bytes of these frames."""
        if not self.overhead_bytes:
            return np.zeros_like(frames)
        return frames * np.maximum(*(_looked_up(self.overhead_bytes, nodes) for nodes in (one, other)))


def radio_links(manifest: Manifest, nodes: Iterable[Mapping[str, Any]]) -> RadioLinks:
    """Return the frame sizes and overheads from the radios of a run's scenario."""
    rows = list(nodes)

    def stated(key: str) -> dict[int, int]:
        by_group = manifest.radio_numbers(key)
        return {row["node"]: by_group[row["group"]] for row in rows if by_group.get(row["group"])}

    return RadioLinks(stated("frame_bytes"), stated("overhead_bytes"))


def _looked_up(numbers: Mapping[int, int], nodes: Numbers) -> Numbers:
    known = np.array(sorted(numbers), np.int64)
    values = np.array([numbers[node] for node in known.tolist()], np.int64)
    places = np.minimum(np.searchsorted(known, nodes), len(known) - 1)
    return np.where(known[places] == nodes, values[places], 0)
