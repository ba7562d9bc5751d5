"""Patterns as trees, and their canonical encoding.

A leaf is one use of a primitive. Leaves are numbered in the order of the encoding, and conditions refer to
two of them. The encoding is postfix:

    0x00..0x0E  leaf with this primitive        0x1n  next     0x2n  then     0x3n  and     0x4n  or
                                                (over the n operands before it, 2..15)

No operand has the operator of its parent; no operand of `next` is a `then`, because (A; B), C is A; (B, C);
operands of `and` and `or` are sorted by their bytes. So equal patterns have equal bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from plugins.composite.bounds import MOST_LEAVES, MOST_POSTFIX, MOST_PRIMITIVES
from watchdog.vector import VectorError

Operator = Literal["next", "then", "and", "or"]
OPERATORS: Final[tuple[Operator, ...]] = ("next", "then", "and", "or")
SIGNS: Final = {"next": ",", "then": ";", "and": "and", "or": "or"}
ORDERED: Final = ("next", "then")
"""Operators with ordered operands."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One use of a primitive. `mark` is its name in the document and is not encoded."""

    primitive: int
    mark: int = -1


@dataclass(frozen=True, slots=True)
class Joined:
    """Two or more patterns under one operator."""

    operator: Operator
    parts: "tuple[Pattern, ...]"


Pattern = Leaf | Joined


def leaves_of(pattern: Pattern) -> Iterator[Leaf]:
    """Yield the leaves in their order."""
    if isinstance(pattern, Leaf):
        yield pattern
    else:
        for part in pattern.parts:
            yield from leaves_of(part)


def canonical(pattern: Pattern) -> Pattern:
    """Return the canonical tree among those with the same meaning."""
    if isinstance(pattern, Leaf):
        return pattern
    parts: list[Pattern] = []
    for part in map(canonical, pattern.parts):
        if isinstance(part, Joined) and part.operator == pattern.operator:
            parts.extend(part.parts)
        else:
            parts.append(part)
    if len(parts) == 1:
        return parts[0]
    if pattern.operator == "next":
        return _without_then(parts)
    if pattern.operator in ("and", "or"):
        parts.sort(key=postfix)
    return Joined(pattern.operator, tuple(parts))


def _without_then(parts: list[Pattern]) -> Pattern:
    """Return operands of `next` without a `then` among them: of A; B only B is adjacent to what follows."""
    groups: list[list[Pattern]] = [[]]
    for part in parts:
        if isinstance(part, Joined) and part.operator == "then":
            first, *between, last = part.parts
            groups[-1].append(first)
            groups.extend([one] for one in between)
            groups.append([last])
        else:
            groups[-1].append(part)
    runs = [_joined("next", group) for group in groups]
    return canonical(_joined("then", runs)) if len(runs) > 1 else runs[0]


def _joined(operator: Operator, parts: list[Pattern]) -> Pattern:
    flat = [
        inner
        for part in parts
        for inner in (part.parts if isinstance(part, Joined) and part.operator == operator else (part,))
    ]
    return flat[0] if len(flat) == 1 else Joined(operator, tuple(flat))


def postfix(pattern: Pattern) -> bytes:
    """Return the encoding of a tree."""
    if isinstance(pattern, Leaf):
        return bytes((pattern.primitive,))
    operands = b"".join(postfix(part) for part in pattern.parts)
    return operands + bytes(((OPERATORS.index(pattern.operator) + 1) << 4 | len(pattern.parts) & 15,))


def read_postfix(spelt: bytes, at: int, primitives: int) -> Pattern:
    """Return the tree of bytes at offset `at` of their vector. Anything but the canonical encoding of a
    pattern that uses all of these primitives raises `VectorError`.
    """
    if not 1 <= len(spelt) <= MOST_POSTFIX:
        raise VectorError(at, f"a pattern has 1 to {MOST_POSTFIX} bytes, not {len(spelt)}")
    held: list[tuple[Pattern, bytes]] = []
    used: set[int] = set()
    leaves = 0
    for place, byte in enumerate(spelt, at):
        if byte < MOST_PRIMITIVES:
            if byte >= primitives:
                raise VectorError(place, f"unknown primitive {byte}")
            leaves += 1
            used.add(byte)
            held.append((Leaf(byte), bytes((byte,))))
            continue
        number, count = (byte >> 4) - 1, byte & 15
        if not 0 <= number < len(OPERATORS) or not 2 <= count <= len(held):
            raise VectorError(place, "expected an operator with operands before it")
        operands = held[-count:]
        del held[-count:]
        operator = OPERATORS[number]
        _check_operands(operator, operands, place)
        whole = b"".join(bytes_ for _, bytes_ in operands) + bytes((byte,))
        held.append((Joined(operator, tuple(part for part, _ in operands)), whole))
    if len(held) != 1:
        raise VectorError(at + len(spelt), "a pattern is one tree")
    if leaves > MOST_LEAVES:
        raise VectorError(at, f"{leaves} leaves; at most {MOST_LEAVES} are allowed")
    if len(used) != primitives:
        raise VectorError(at, "a primitive is not used")
    return held[0][0]


def _check_operands(operator: Operator, operands: list[tuple[Pattern, bytes]], place: int) -> None:
    for part, _ in operands:
        if isinstance(part, Joined) and (
            part.operator == operator or (operator == "next" and part.operator == "then")
        ):
            raise VectorError(place, f"a {SIGNS[part.operator]} inside a {SIGNS[operator]} must be flattened")
    spelt = [bytes_ for _, bytes_ in operands]
    if operator in ("and", "or") and spelt != sorted(spelt):
        raise VectorError(place, f"operands of {operator} are not sorted by their bytes")
