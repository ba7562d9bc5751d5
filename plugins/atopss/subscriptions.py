"""Subscriptions: predicates, and a Boolean function over them.

A function is in negation normal form: *not* occurs only as the complement of a predicate. It is an *and* or
an *or* of all predicates, or tokens in postfix order (as in `watchdog.tokens`): 0 to 63 is a predicate by its
rank, 64 + n an *and* and 128 + n an *or* of the n operands before it.

Minimum and maximum join degrees unchanged. Products and means join bytes, rounded to the nearest byte.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from plugins.atopss.shapes.degrees import Degrees, judged
from plugins.atopss.shapes.scale import BYTE_TOP, LEAST, THIRTIETH, byte_of
from plugins.atopss.shapes.shapes import Shape
from watchdog.aggregate import aggregate, weighted_mean
from watchdog.aggregators import ARITHMETIC_MEAN, PRODUCT
from watchdog.tokens import AND, OR


class Norm(IntEnum):
    """How degrees are joined."""

    MIN = 0
    PRODUCT = 1
    AVERAGE = 2
    WEIGHTED_AVERAGE = 3

    @property
    def is_mean(self) -> bool:
        """Return whether it is a mean, which joins a flat list and requires every predicate."""
        return self >= Norm.AVERAGE


class Form(IntEnum):
    """Kind of function that joins the predicates."""

    AND = 0
    OR = 1
    TOKENS = 2


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition on one attribute, or its complement, and the minimum degrees of both kinds, in thirtieths.

    The weight counts in a weighted average only.
    """

    attribute: int
    shape: Shape
    complement: bool = False
    possibility: int = 0
    necessity: int = 0
    weight: int = 0

    def degrees(self, value: Shape | None) -> Degrees:
        """Return possibility and necessity, (0, 0) if the predicate is not satisfied. A missing value is
        None.
        """
        if value is None:
            return 0, 0
        return self.reached(*judged(self.shape, value, complement=self.complement))

    def reached(self, possible: int, necessary: int) -> Degrees:
        """Return both degrees if they reach the thresholds, else (0, 0)."""
        if possible < max(THIRTIETH * self.possibility, LEAST) or necessary < THIRTIETH * self.necessity:
            return 0, 0
        return possible, necessary


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription. Thresholds of the whole are thirtieths too."""

    event: int
    predicates: tuple[Predicate, ...]
    form: Form = Form.AND
    tokens: bytes = b""
    norm: Norm = Norm.MIN
    possibility: int = 0
    necessity: int = 0
    stamp_s: int = 0

    def judge(self, values: Mapping[int, Shape]) -> Degrees | None:
        """Return (Π, N) if these values satisfy the subscription, else None."""
        return self.verdict(
            [predicate.degrees(values.get(predicate.attribute)) for predicate in self.predicates]
        )

    def verdict(self, reached: Sequence[Degrees]) -> Degrees | None:
        """Return (Π, N) of the whole, given those of its predicates; None below its thresholds."""
        return self.verdict_of(self.joined(reached))

    def verdict_of(self, joined: Degrees) -> Degrees | None:
        """Return (Π, N) of the whole, or None below its thresholds."""
        possible, necessary = joined
        if possible < max(THIRTIETH * self.possibility, LEAST) or necessary < THIRTIETH * self.necessity:
            return None
        return joined

    def joined(self, reached: Sequence[Degrees]) -> Degrees:
        """Return the combination of both kinds of degrees."""
        if self.norm.is_mean and not all(possible for possible, _ in reached):
            return 0, 0
        possible, necessary = zip(*reached, strict=True)
        return self._joined(possible), self._joined(necessary)

    def _joined(self, degrees: Sequence[int]) -> int:
        if self.form != Form.TOKENS:
            return self._all(degrees) if self.form == Form.AND else self._any(degrees)
        stack: list[int] = []
        for token in self.tokens:
            if token < AND:
                stack.append(degrees[token])
                continue
            operands = stack[-(token & 63) :]
            del stack[-(token & 63) :]
            stack.append(self._all(operands) if token < OR else self._any(operands))
        return stack[0]

    def _all(self, degrees: Sequence[int]) -> int:
        if self.norm == Norm.MIN or len(degrees) == 1:
            return min(degrees)
        counted = bytes(map(byte_of, degrees))
        if self.norm == Norm.PRODUCT:
            joined = aggregate(PRODUCT, counted, len(counted))
        elif self.norm == Norm.AVERAGE:
            joined = aggregate(ARITHMETIC_MEAN, counted, len(counted))
        else:
            joined = weighted_mean(self.weights, 0, counted, len(counted))
        return 2 * joined

    def _any(self, degrees: Sequence[int]) -> int:
        if self.norm == Norm.MIN:
            return max(degrees)
        missing = bytes(BYTE_TOP - byte_of(degree) for degree in degrees)
        return 2 * (BYTE_TOP - aggregate(PRODUCT, missing, len(missing)))

    @property
    def weights(self) -> bytes:
        return bytes(predicate.weight for predicate in self.predicates)

    @property
    def attributes(self) -> frozenset[int]:
        return frozenset(predicate.attribute for predicate in self.predicates)


@dataclass(frozen=True, slots=True)
class Joined:
    """A function as a tree: parts joined by *and* or by *or*."""

    is_or: bool
    parts: tuple["Function", ...]


Function = Predicate | Joined
"""A tree whose leaves are predicates."""


def tree_of(subscription: Subscription) -> Function:
    predicates = subscription.predicates
    if subscription.form != Form.TOKENS:
        is_one = len(predicates) == 1
        return predicates[0] if is_one else Joined(subscription.form == Form.OR, predicates)
    stack: list[Function] = []
    for token in subscription.tokens:
        if token < AND:
            stack.append(predicates[token])
        else:
            parts = tuple(stack[-(token & 63) :])
            del stack[-(token & 63) :]
            stack.append(Joined(token >= OR, parts))
    return stack[0]
