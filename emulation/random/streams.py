"""Chance, forked by name: one seed, and a stream of its own for every purpose.

What a stream yields depends on the seed and on its name only, never on how much any other stream was used
or in which order they were made. So a protocol that talks more draws more from the radio's stream and
changes no node's walk: two protocols compared on one seed see the same contacts. Names are hashed with
BLAKE2b, because Python's own hash of a text differs from process to process.

The purposes in use, each followed by the numbers that tell its streams apart:

    mobility GROUP node     the walk of one node
    mobility GROUP          what a whole group shares (a reference point, a vehicle's timetable)
    sensor SENSOR node      the values that one node's sensor reads
    error SENSOR node       where within its stated error the truth lies
    population ENTRY        what the subscribers of one entry ask for
    interests node          what a participant likes, where no recording says it
    traffic ENTRY           who sends the plain messages of one entry, and to whom
    radio node              which frames of this sender get lost
    links                   which mediators are joined, and which of them ends hang on
    calls device            how a device that is called away goes, and how long it stays
    faults ENTRY device     when a device breaks down
    faults ENTRY            which frames a fault hits
    process NAME            what a process beside the run draws
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np


@dataclass(frozen=True, slots=True)
class Streams:
    """The random streams of one run."""

    seed: int

    def stream(self, purpose: str, *which: int | str) -> np.random.Generator:
        """Return the stream of this name, at its beginning."""
        name = "\x00".join([purpose, *(f"{type(part).__name__}:{part}" for part in which)])
        words = np.frombuffer(blake2b(name.encode(), digest_size=16).digest(), dtype=np.uint32)
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, *map(int, words)])))

    def numbered(self, purpose: str) -> "NumberedStreams":
        """Return the streams of one purpose by their numbers."""
        return NumberedStreams(self, purpose)


class NumberedStreams(dict[int, np.random.Generator]):
    """Streams of one purpose, each made when it is first asked for: most radios lose nothing."""

    def __init__(self, streams: Streams, purpose: str) -> None:
        self._streams = streams
        self._purpose = purpose

    def __missing__(self, number: int) -> np.random.Generator:
        stream = self[number] = self._streams.stream(self._purpose, number)
        return stream
