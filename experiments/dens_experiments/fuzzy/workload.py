"""The workloads of the experiments: number, similarity and attributes of subscriptions, and the attributes of
events.

The paper states 3 and 4 attributes, the share of equal subscriptions for 100 (60 %), 500 (92 %) and 1000
(96 %), and that notifications have the attributes of a subscription's feature. Shares between and beyond are
ours.
"""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal

from watchdog.reading import Reading

SIMILARITY: Final[Mapping[int, float]] = MappingProxyType(
    {40: 0.5, 100: 0.6, 200: 0.8, 500: 0.92, 1000: 0.96}
)
"""Number of subscriptions → share of them that equals another one."""

EVENT: Final = b"\x01"
MOST_ATTRIBUTES: Final = 7
"""As many as a feature of one byte has beside the age."""


def similarity_at(count: int) -> float:
    """Return the share of equal subscriptions: as stated, else on the line between two that are, over the
    logarithm of their number.
    """
    known = sorted(SIMILARITY)
    if count <= known[0]:
        return SIMILARITY[known[0]]
    for low, high in pairwise(known):
        if count <= high:
            part = math.log(count / low) / math.log(high / low)
            return SIMILARITY[low] + part * (SIMILARITY[high] - SIMILARITY[low])
    return SIMILARITY[known[-1]]


@dataclass(frozen=True, slots=True)
class Form:
    """How a subscription combines its predicates: aggregator, block, and least number of attributes."""

    aggregator: int
    block: bytes = b""
    least: int = 1


def _root_table(order: int) -> bytes:
    """Return the block of √(ab) by Takagi–Sugeno rules over pairs, five regions for each degree."""
    centres = (10, 45, 100, 170, 255)
    rules = bytearray()
    for a in centres:
        for b in centres:
            rules.append(round(math.sqrt(a * b)))
            if order == 1:
                for slope in (math.sqrt(b / a) / 2, math.sqrt(a / b) / 2):
                    rules.append(min(127, round(64 * slope)))
    block = bytes([2, len(centres), *centres]) + bytes(rules)
    return bytes([len(block)]) + block


MIN: Final = Form(0)
PATTERN: Final = Form(14, bytes([1, 0x82]), 3)
"""(p1 ∧ p2) ∨ the rest: d2c1 for three predicates, d2c2c for four."""
FIRST_ORDER: Final = Form(8, _root_table(1), 2)
ZERO_ORDER: Final = Form(7, _root_table(0), 2)
"""The root of every pair by rules over pairs, as the paper breaks a function down."""
GENERATED: Final = Form(7, bytes([1, 0]), 2)
"""The geometric mean by its generator (decision 0017)."""

CRISP_SLOPE: Final = 127


@dataclass(frozen=True, slots=True)
class Workload:
    """What subscriptions and events are like. `similarity` None is the paper's, by the number of them."""

    name: str
    attributes: tuple[int, int, int]
    """Each subscription constrains least to most, of so many."""
    condition: str
    stated: Literal["feature", "all"]
    """A notification that a DENS node matches has the attributes of one feature, drawn as those of
    subscriptions are, or all. A source measures all in both cases."""
    similarity: float | None = None
    narrow: bool = False
    """Whether predicates are so narrow and thresholds so high that an event satisfies hardly anybody: then a
    filter has to judge all of a feature, whatever form they have, and does not end at the first hit."""

    def for_forms(self, *forms: Form) -> "Workload":
        """Return it narrow, and with as many attributes at least as these forms need, to compare them."""
        least, most, of = self.attributes
        needed = max(form.least for form in forms)
        return replace(self, attributes=(max(least, needed), max(most, needed), max(of, needed)), narrow=True)

    def alike(self, count: int) -> float:
        """Return the share of so many subscriptions that equals another one."""
        return similarity_at(count) if self.similarity is None else self.similarity

    def subscriptions(self, count: int, seed: int, form: Form = MIN, crisp: bool = False) -> list[bytes]:
        """Return as many vectors; those that equal another differ from it in nothing but their number."""
        rng = random.Random(2 * seed - 1)
        different = max(1, round(count * (1 - self.alike(count))))
        bodies: dict[bytes, None] = {}
        while len(bodies) < different:
            bodies[self._body(rng, form, crisp)] = None
        kinds = list(bodies)
        everybody = kinds + [rng.choice(kinds) for _ in range(count - different)]
        rng.shuffle(everybody)
        return [bytes([number & 255, 0, 255, 0, 0]) + body for number, body in enumerate(everybody)]

    def notifications(self, count: int, seed: int) -> list[bytes]:
        """Return as many notifications."""
        rng = random.Random(2 * seed)
        found = []
        for _ in range(count):
            stated = self._attributes(rng) if self.stated == "feature" else list(range(self.attributes[2]))
            found.append(bytes(6) + rng.randbytes(len(stated)) + EVENT + bytes([_feature(stated)]))
        return found

    def readings(self, count: int, seed: int) -> list[Reading]:
        """Return as many events as a source measures them: with every attribute. What it publishes of them is
        what its filter makes of subscriptions."""
        rng = random.Random(2 * seed)
        of = self.attributes[2]
        every = bytes([_feature(list(range(of)))])
        return [reading_of(bytes(6) + rng.randbytes(of) + EVENT + every) for _ in range(count)]

    def words(self) -> str:
        """Return what it is, for people."""
        least, most, of = self.attributes
        share = "as in the paper" if self.similarity is None else f"{self.similarity:.0%}"
        stated = "of one feature" if self.stated == "feature" else "all"
        narrow = ", narrow" if self.narrow else ""
        return (
            f"{self.name} ({least} to {most} of {of} attributes, {self.condition}, {stated} stated, equal "
            f"{share}{narrow})"
        )

    def _attributes(self, rng: random.Random) -> list[int]:
        least, most, of = self.attributes
        return sorted(rng.sample(range(of), rng.randint(least, most)))

    def _body(self, rng: random.Random, form: Form, crisp: bool) -> bytes:
        attributes = self._attributes(rng)
        triples = b""
        for _ in attributes:
            low = rng.randint(0, 200)
            width, slope = rng.randint(10, 55), rng.randint(20, 80)
            if self.narrow:
                width, slope = width // 10, slope + 40
            triples += bytes([low, low + width, CRISP_SLOPE if crisp else slope])
        threshold = (12 if self.narrow else rng.randint(0, 10)) << 4
        return (
            bytes([threshold | form.aggregator])
            + form.block
            + triples
            + EVENT
            + bytes([_feature(attributes)])
        )


WORKLOADS: Final[Mapping[str, Workload]] = MappingProxyType(
    {
        "paper": Workload("paper", (3, 4, 4), "exact", "feature"),
        "wide": Workload("wide", (1, 4, 7), "exact", "feature"),
        "every_attribute": Workload("every_attribute", (3, 4, 4), "subset", "all"),
    }
)
"""`paper` is what the paper says; `wide` has more features; in `every_attribute` they decide nothing."""


def reading_of(notification: bytes) -> Reading:
    """Return a reading with the attributes of a notification of one-byte features."""
    reading = Reading(1)
    reading.clear(0, 0, 0)
    place = 6
    for attribute in range(MOST_ATTRIBUTES):
        if notification[-1] >> attribute & 1:
            reading.set(attribute, notification[place])
            place += 1
    return reading


def _feature(attributes: list[int]) -> int:
    return sum(1 << attribute for attribute in attributes)
