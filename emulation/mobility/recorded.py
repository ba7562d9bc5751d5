"""Recorded: nodes follow recorded tracks.

A track is a list of points with times. A node waits at its first point, goes straight at constant speed
between points, and stays at the last one. The nodes of a group take one track each, in the order of the
recording.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from emulation.mobility.model import Area, Legs, Path
from emulation.mobility.table import AnyMobilityTable

Track = tuple[tuple[float, float, float], ...]
"""(at_ms, x_m, y_m), times rising strictly; at least one point"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The tracks of a group, at least one for each of its nodes."""

    tracks: tuple[Track, ...]

    def walks(
        self,
        area: Area,
        duration_ms: float,
        own: Sequence[np.random.Generator],
        together: np.random.Generator,
    ) -> list[Legs]:
        """Return the tracks as walks; the generators are not used."""
        return [_walk(track, duration_ms) for track in self.tracks[: len(own)]]


def _walk(track: Track, duration_ms: float) -> Legs:
    _, x, y = track[0]
    path = Path(x, y)
    for at_ms, x, y in track:
        path.reach(x, y, at_ms - path.now_ms)
    path.wait_until(duration_ms)
    return path.legs(duration_ms)


class RecordedTable(AnyMobilityTable):
    """Follow a recorded track."""

    model: Literal["recorded"]
    file: Annotated[str, Field(min_length=1)]
