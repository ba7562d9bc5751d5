"""Random number generators of a run: one seed, and an independent named stream for every purpose.

A stream depends only on the seed and on its name, never on the use of other streams or the order of their
creation. A protocol that sends more therefore draws more from the radio's stream and changes no walk: two
protocols compared with one seed see the same contacts. Names are hashed with BLAKE2b, because Python's own
hash differs between processes.

The purposes in use, with the parts of their names:

    mobility GROUP node     the walk of one node
    mobility GROUP          what a whole group shares (a reference point, a vehicle's timetable)
    sensor SENSOR node      the values that one node's sensor reads
    error SENSOR node       the true values within the stated error
    population ENTRY        the subscriptions of one entry
    interests node          the interests of a participant, if not recorded
    traffic ENTRY           sources and destinations of the plain messages of one entry
    radio node              which frames of this sender are lost
    links                   the links of mediators and endpoints
    calls device            the path and the stay of a device that is called away
    faults ENTRY device     when a device fails
    faults ENTRY            which frames a fault hits
    process NAME            the numbers of a process beside the run
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np


@dataclass(frozen=True, slots=True)
class RandomStreams:
    """The random number generators of one run."""

    seed: int

    def rng(self, purpose: str, *which: int | str) -> np.random.Generator:
        """Return a new generator of this name, at its beginning."""
        name = "\x00".join([purpose, *(f"{type(part).__name__}:{part}" for part in which)])
        words = np.frombuffer(blake2b(name.encode(), digest_size=16).digest(), dtype=np.uint32)
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, *map(int, words)])))

    def numbered(self, purpose: str) -> "NumberedRngs":
        """Return the generators of one purpose by number."""
        return NumberedRngs(self, purpose)


class NumberedRngs(dict[int, np.random.Generator]):
    """Generators of one purpose, made on first use: most radios lose nothing."""

    def __init__(self, streams: RandomStreams, purpose: str) -> None:
        self._streams = streams
        self._purpose = purpose

    def __missing__(self, number: int) -> np.random.Generator:
        rng = self[number] = self._streams.rng(self._purpose, number)
        return rng
