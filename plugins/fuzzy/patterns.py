"""Boolean patterns over predicates as trees, and their encoding (docs/reference/vector-format.md).

Leaves are ranks: 0 is the first constraint of the vector, 1 the second. `canonical` returns the only tree
that can be encoded among those with the same meaning: connectives alternate, no double negation, operands
ordered by their lowest predicate.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from watchdog.tokens import AND, NOT, OR

Connective = Literal["and", "or"]

MOST_OPERANDS: Final = 63

NORMS: Final = ("minimum", "product", "lukasiewicz")
"""The T-norms of *and*, by their numbers in a block; *or* is the corresponding conorm."""

_SHORT_FORM = re.compile(r"([cd])((?:1|(?:[2-9]|[1-9]\d)[cd])+)")
_GROUPS = (re.compile(r"(1)()"), re.compile(r"([2-9]|[1-9]\d)([cd])"))
"""Continuations of a short form: a single predicate, or a size with its connective."""
_TOKEN: Final = {"and": AND, "or": OR}


@dataclass(frozen=True, slots=True)
class Leaf:
    """One predicate, by its rank."""

    rank: int


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a pattern."""

    part: "Pattern"


@dataclass(frozen=True, slots=True)
class Joined:
    """Patterns joined by one connective."""

    connective: Connective
    parts: tuple["Pattern", ...]


Pattern = Leaf | Not | Joined


def lowest(pattern: Pattern) -> int:
    """Return the lowest rank in the pattern."""
    match pattern:
        case Leaf(rank):
            return rank
        case Not(part):
            return lowest(part)
        case Joined(_, parts):
            return min(map(lowest, parts))


def is_predicate(pattern: Pattern) -> bool:
    """Return whether a pattern is one predicate, plain or negated."""
    while isinstance(pattern, Not):
        pattern = pattern.part
    return isinstance(pattern, Leaf)


def ranks(pattern: Pattern) -> list[int]:
    """Return the ranks of the pattern's predicates, from left to right."""
    match pattern:
        case Leaf(rank):
            return [rank]
        case Not(part):
            return ranks(part)
        case Joined(_, parts):
            return [rank for part in parts for rank in ranks(part)]


def canonical(pattern: Pattern) -> Pattern:
    """Return the canonical tree with this meaning."""
    match pattern:
        case Leaf():
            return pattern
        case Not(Not(part)):
            return canonical(part)
        case Not(part):
            inner = canonical(part)
            return inner.part if isinstance(inner, Not) else Not(inner)
        case Joined(connective, parts):
            flat: list[Pattern] = []
            for part in map(canonical, parts):
                same = isinstance(part, Joined) and part.connective == connective
                flat.extend(part.parts if isinstance(part, Joined) and same else [part])
            if len(flat) == 1:
                return flat[0]
            return Joined(connective, tuple(sorted(flat, key=lowest)))


def both(pattern: Pattern, condition: Pattern) -> Pattern:
    """Return the pattern and the condition, joined so that a failing condition yields 0 for every evaluation.

    Joined to an *and* over predicates the condition would become part of its group, whose pairs a break-down
    averages. Then ¬(¬pattern ∨ ¬condition) is used, which has the same meaning and keeps it separate.
    """
    tree = canonical(pattern)
    if isinstance(tree, Joined) and tree.connective == "and" and all(map(is_predicate, tree.parts)):
        return Not(Joined("or", (Not(tree), Not(condition))))
    return Joined("and", (tree, condition))


def pattern_bytes(pattern: Pattern, norm: int = 0) -> bytes:
    """Return the encoding of a pattern, one byte if a two-level form suffices, after one for any norm but the
    minimum. A pattern that is too large raises `ValueError`.
    """
    tree = canonical(pattern)
    prefix = bytes([NOT + norm]) if norm and len(ranks(tree)) > 1 else b""
    short = _two_level(tree)
    if short is not None:
        return prefix + bytes([short])
    return prefix + bytes(_postfix(tree))


def norm_of(block: bytes) -> int:
    """Return the number of the T-norm of a well-formed pattern, 0 for the minimum."""
    return block[0] - NOT if len(block) > 1 and block[0] > NOT else 0


def pattern_from_bytes(block: bytes, count: int) -> Pattern:
    """Return the tree of a well-formed pattern over `count` predicates."""
    if norm_of(block):
        block = block[1:]
    if len(block) == 1:
        return _from_two_level(block[0], count)
    stack: list[Pattern] = []
    for token in block:
        kind, n = token & NOT, token & 63
        if kind == 0:
            stack.append(Leaf(n))
        elif kind == NOT:
            stack.append(Not(stack.pop()))
        else:
            parts = tuple(stack[-n:])
            del stack[-n:]
            stack.append(Joined("and" if kind == AND else "or", parts))
    return stack[0]


def short_form(text: str, in_order: list[int]) -> Pattern:
    """Return the pattern of a short form such as `d2c1` over the predicates in document order.

    `c` is and, `d` is or: the outer connective, then the groups, each a size and, from two on, its
    connective. `c12d` is p1 ∧ (p2 ∨ p3): a 1 is a single predicate wherever the number of predicates allows
    it. An invalid short form, or one for another number of predicates, raises `ValueError`.
    """
    found = _SHORT_FORM.fullmatch(text)
    if found is None:
        raise ValueError(f'"{text}" is not a short form (d2c1, c12d, c3d1, d2c2c, c2d1 …)')
    words: dict[str, Connective] = {"c": "and", "d": "or"}
    totals: list[str] = []
    for sizes in _readings(found[2]):
        total = sum(size for size, _ in sizes)
        if total == len(in_order):
            break
        totals.append(str(total))
    else:
        wanted = " or ".join(dict.fromkeys(totals))
        raise ValueError(f'"{text}" is for {wanted} predicates, there are {len(in_order)}')
    groups: list[Pattern] = []
    taken = 0
    for size, inner in sizes:
        leaves = tuple(Leaf(rank) for rank in in_order[taken : taken + size])
        groups.append(leaves[0] if size == 1 else Joined(words[inner], leaves))
        taken += size
    return groups[0] if len(groups) == 1 else Joined(words[found[1]], tuple(groups))


def _readings(text: str, at: int = 0) -> Iterator[list[tuple[int, str]]]:
    """Yield every way to read the groups of a short form, those with single predicates first."""
    if at == len(text):
        yield []
    for form in _GROUPS:
        if group := form.match(text, at):
            for rest in _readings(text, group.end()):
                yield [(int(group[1]), group[2]), *rest]


def _two_level(tree: Pattern) -> int | None:
    """Return the one-byte form: bit 7 set joins the groups by or, bit i ends a group after predicate i."""
    order = ranks(tree)
    if len(order) > 8 or order != list(range(len(order))):
        return None
    match tree:
        case Leaf():
            return 0
        case Joined(connective, parts):
            if all(isinstance(part, Leaf) for part in parts):
                return 0 if connective == "or" else 128
            borders = 0
            end = 0
            for part in parts:
                size = _group_size(part)
                if size is None:
                    return None
                end += size
                borders |= 1 << end - 1
            borders &= ~(1 << end - 1)
            return borders | (128 if connective == "or" else 0)
        case Not():
            return None


def _group_size(part: Pattern) -> int | None:
    match part:
        case Leaf():
            return 1
        case Joined(_, inner) if all(isinstance(leaf, Leaf) for leaf in inner):
            return len(inner)
        case _:
            return None


def _postfix(tree: Pattern) -> list[int]:
    match tree:
        case Leaf(rank):
            return [rank]
        case Not(part):
            return [*_postfix(part), NOT]
        case Joined(connective, parts):
            if len(parts) > MOST_OPERANDS:
                raise ValueError(f"a connective joins at most {MOST_OPERANDS} operands")
            inner = [token for part in parts for token in _postfix(part)]
            return [*inner, _TOKEN[connective] | len(parts)]


def _from_two_level(pattern: int, count: int) -> Pattern:
    outer: Connective = "or" if pattern & 128 else "and"
    inner: Connective = "and" if outer == "or" else "or"
    groups: list[Pattern] = []
    start = 0
    for end in range(1, count + 1):
        if end == count or pattern >> (end - 1) & 1:
            leaves = tuple(map(Leaf, range(start, end)))
            groups.append(leaves[0] if len(leaves) == 1 else Joined(inner, leaves))
            start = end
    return groups[0] if len(groups) == 1 else Joined(outer, tuple(groups))
