"""An oracle for documents of boxes: what a condition means is worked out reading by reading, without the
compiler, and held against what `dens compile` and `dens match` say, by every algorithm.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.boxes import ALGORITHM_NAMES
from watchdog.normalise import normal_byte


@dataclass(frozen=True, slots=True)
class Comparison:
    """One predicate as it was written: constants in scaled readings."""

    attribute: Attribute
    operator: str
    constants: tuple[int, ...]

    def holds_for(self, byte: int) -> bool:
        """Return whether some reading of this byte satisfies it; for `ne`, that none equals the constant."""
        if self.operator == "ne":
            return byte != byte_of(self.constants[0], self.attribute)
        asked = (self.attribute.name, self.operator, self.constants)
        if asked not in _TRUE:
            _TRUE[asked] = {
                one for one in range(256) if any(map(self._is_true, readings(one, self.attribute)))
            }
        return byte in _TRUE[asked]

    def _is_true(self, reading: int) -> bool:
        first, *more = self.constants
        return {
            "eq": reading == first,
            "lt": reading < first,
            "le": reading <= first,
            "gt": reading > first,
            "ge": reading >= first,
            "between": bool(more) and first <= reading <= more[0],
            "in": reading in self.constants,
        }[self.operator]

    def text(self) -> str:
        """Return it as XML."""
        values = [_written(constant, self.attribute) for constant in self.constants]
        inner = values[0]
        if self.operator == "between":
            inner = f"<min>{values[0]}</min><max>{values[1]}</max>"
        elif self.operator == "in":
            inner = "".join(f"<value>{one}</value>" for one in values)
        name = self.attribute.name
        return f'<crisp-predicate attribute="{name}" operator="{self.operator}">{inner}</crisp-predicate>'


_OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge", "between", "in")

Tree = Comparison | tuple[str, tuple["Tree", ...]]


def byte_of(reading: int, attribute: Attribute) -> int:
    """Return the byte of a reading."""
    if attribute.type == "nominal":
        return reading
    return normal_byte(reading, attribute.lo_scaled, attribute.hi_scaled, attribute.inner)


_READINGS: dict[str, list[list[int]]] = {}
_TRUE: dict[tuple[str, str, tuple[int, ...]], set[int]] = {}
"""What was worked out once: the readings of bytes, and the bytes for which a comparison holds."""


def readings(byte: int, attribute: Attribute) -> list[int]:
    """Return every reading of a byte, by asking all readings there are."""
    if attribute.name not in _READINGS:
        table: list[list[int]] = [[] for _ in range(256)]
        for reading in range(attribute.lo_scaled, attribute.hi_scaled + 1):
            table[byte_of(reading, attribute)].append(reading)
        _READINGS[attribute.name] = table
    return _READINGS[attribute.name][byte]


def holds(tree: Tree, values: dict[int, int], negated: bool = False) -> bool:
    """Return whether a condition holds: a missing value satisfies neither a comparison nor its opposite."""
    if isinstance(tree, Comparison):
        byte = values.get(tree.attribute.index)
        return byte is not None and tree.holds_for(byte) != negated
    kind, parts = tree
    if kind == "not":
        return holds(parts[0], values, not negated)
    some = [holds(part, values, negated) for part in parts]
    return all(some) if (kind == "and") != negated else any(some)


def xml(tree: Tree) -> str:
    """Return a condition as XML."""
    if isinstance(tree, Comparison):
        return tree.text()
    kind, parts = tree
    return f"<{kind}>{''.join(map(xml, parts))}</{kind}>"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Conditions at random, and events, many of them near the constants of the conditions."""

    event: EventClass
    trees: tuple[Tree, ...]
    told: tuple[dict[int, int], ...]

    def document(self, number: int) -> str:
        """Return a condition as a subscription in XML."""
        inner = xml(self.trees[number])
        return f'<subscription xmlns="urn:dens:boxes:1" event="{self.event.name}">{inner}</subscription>'

    def notification(self, number: int) -> str:
        """Return an event as a line of hexadecimal."""
        values = self.told[number]
        told = bytes(values[index] for index in sorted(values))
        features = bytes([1 << self.event.index, sum(1 << index for index in values)])
        return (bytes(6) + told + features).hex()

    def wanted(self, number: int) -> list[int]:
        """Return the conditions that an event satisfies, by their definition."""
        return [n for n, tree in enumerate(self.trees) if holds(tree, self.told[number])]


def drawn(documents: int, events: int, seed: int, event: EventClass) -> Drawn:
    """Return this many conditions and events of a class."""
    chance = Random(seed)
    trees = tuple(_tree(chance, event, 3) for _ in range(documents))
    return Drawn(event, trees, tuple(_event(chance, event, trees) for _ in range(events)))


def check(case: Drawn, folder: Path, dens: Callable[..., Any]) -> int:
    """Compile the documents of a case and match its events by every algorithm, with the commands that people
    use, and hold each answer to the definition; return how many were yes. Some conditions contradict
    themselves or have too many boxes: exactly those are refused.
    """
    documents = folder / "documents"
    subscriptions, notifications = folder / "subscriptions.hex", folder / "notifications.hex"
    documents.mkdir()
    for number in range(len(case.trees)):
        (documents / f"{number:05d}.xml").write_text(case.document(number))
    first = dens("compile", documents)
    refused = {
        int(found[1]): found[2] for found in re.finditer(r"(\d{5})\.xml:\d+:\d+: error (D\d+)", first.err)
    }
    assert set(refused.values()) <= {"D185", "D186"}
    for number in refused:
        (documents / f"{number:05d}.xml").unlink()
    compiled = first if first.code == 0 else dens("compile", documents)
    assert compiled.code == 0
    vectors = dict(line.split("\t") for line in compiled.out.splitlines())
    numbers = {int(Path(name).stem): vector for name, vector in vectors.items()}
    assert set(numbers) == set(range(len(case.trees))) - set(refused)
    subscriptions.write_text("".join(numbers.get(n, "") + "\n" for n in range(len(case.trees))))
    notifications.write_text("".join(case.notification(n) + "\n" for n in range(len(case.told))))
    wanted = [[n for n in case.wanted(at) if n not in refused] for at in range(len(case.told))]
    hopeless = [number for number, code in refused.items() if code == "D185"]
    assert not any(holds(case.trees[number], values) for number in hopeless for values in case.told)
    files = ("--subscriptions", subscriptions, "--notifications", notifications, "--language", "boxes")
    for more in (*((name,) for name in ALGORITHM_NAMES), *ORDERED):
        ended = dens("match", *files, "--algorithm", *more)
        assert ended.code == 0
        found = {
            one["n"]: [line for line, *_ in one["matches"]] for one in map(json.loads, ended.out.splitlines())
        }
        assert [found[at] for at in range(len(case.told))] == wanted, more
    return sum(map(len, wanted))


ORDERED = (
    ("rtree", "--batch", "9", "--level", "2"),
    ("rtree", "--batch", "32", "--level", "auto"),
    ("blocks", "--batch", "9", "--level", "auto"),
    ("blocks", "--batch", "100"),
)


def _tree(chance: Random, event: EventClass, depth: int) -> Tree:
    if depth == 0 or chance.random() < 0.3:
        return _comparison(chance, event)
    kind = chance.choice(("and", "or", "and", "or", "not"))
    parts = 1 if kind == "not" else chance.randint(2, 3)
    return kind, tuple(_tree(chance, event, depth - 1) for _ in range(parts))


def _comparison(chance: Random, event: EventClass) -> Comparison:
    attribute = chance.choice(event.attributes)
    operators = ("eq", "ne", "in") if attribute.type == "nominal" else tuple(_OPERATORS)
    operator = chance.choice(operators)
    count = {"between": 2, "in": chance.randint(1, 3)}.get(operator, 1)
    lo, hi = attribute.lo_scaled + 1, attribute.hi_scaled - 1
    constants = [chance.randint(min(lo, hi), max(lo, hi)) for _ in range(count)]
    if operator == "between":
        constants.sort()
    return Comparison(attribute, operator, tuple(constants))


def _event(chance: Random, event: EventClass, trees: tuple[Tree, ...]) -> dict[int, int]:
    near = {one.attribute.index: chance.choice(one.constants) for one in _leaves(chance.choice(trees))}
    values = {}
    for attribute in event.attributes:
        if chance.random() < 0.85:
            reading = chance.randint(attribute.lo_scaled, attribute.hi_scaled)
            if attribute.index in near and chance.random() < 0.8:
                reading = near[attribute.index] + chance.randint(-30, 30)
            within = min(max(reading, attribute.lo_scaled), attribute.hi_scaled)
            values[attribute.index] = byte_of(within, attribute)
    return values or {event.attributes[0].index: 0}


def _leaves(tree: Tree) -> list[Comparison]:
    return [tree] if isinstance(tree, Comparison) else [leaf for part in tree[1] for leaf in _leaves(part)]


def _written(reading: int, attribute: Attribute) -> str:
    if attribute.type == "nominal":
        return attribute.values[reading]
    exact = Fraction(reading, 10**attribute.decimals)
    return f"{float(exact):.{attribute.decimals}f}"
