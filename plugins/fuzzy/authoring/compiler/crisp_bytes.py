"""Crisp sets: from readings to the smallest byte interval, or complement of one, that contains all of them.

Readings share bytes, so a bound within a byte moves outward to the byte's border: the subscription may match
too much, never too little. The effective set is a `Shift`, in the unit of the document.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from knowledge_manager.units import UnitError, convert, convert_difference
from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.hedges import HEDGES
from knowledge_manager.vocabulary.terms import Shoulder, Trapezoidal, Triangular
from plugins.authoring.output.reading_words import amount_words, reading_words
from plugins.board_vectors import Triple
from plugins.byte_readings import Range, all_but, byte_of, count, readings_of, step_at
from plugins.fuzzy.authoring.compiler.constraint_specs import COMPLEMENT, CRISP, Crisp, Curved


@dataclass(frozen=True, slots=True)
class Shift:
    """Readings that crisp bytes match in addition.

    `true` are the matching readings, `moved` is the largest shift of a bound as a share of the domain,
    `words` describe both in the unit of the document.
    """

    true: tuple[Range, ...]
    moved: float
    words: str
    bounds: tuple[tuple[str, str], ...]
    step: str
    is_everything: bool

    def as_document(self) -> dict[str, Any]:
        bounds = [list(pair) for pair in self.bounds]
        return {"true": bounds, "step": self.step, "moved": self.moved, "words": self.words}


def least_triple(wanted: tuple[Range, ...], attribute: Attribute) -> Triple:
    """Return the crisp triple that matches all requested readings, and as few others as one interval can.

    It is the interval of their bytes, or the complement of the widest gap between them if both ends are
    requested.
    """
    bytes_ = [(byte_of(first, attribute), byte_of(last, attribute)) for first, last in wanted]
    v, V = bytes_[0][0], bytes_[-1][1]
    gaps = [
        (high[0] - low[1], low[1] + 1, high[0] - 1)
        for low, high in itertools.pairwise(bytes_)
        if high[0] - low[1] > 1 and readings_of(low[1] + 1, high[0] - 1, attribute)
    ]
    if not gaps:
        return v, V, CRISP
    _, first, last = max(gaps, key=lambda gap: gap[0])
    outside = [
        *(readings_of(0, v - 1, attribute) if v else []),
        *(readings_of(V + 1, 255, attribute) if V < 255 else []),
    ]
    inside = readings_of(first, last, attribute)
    if count(outside) < count(inside):
        return first, last, CRISP | COMPLEMENT
    return v, V, CRISP


def passing(triple: Triple, attribute: Attribute) -> tuple[Range, ...]:
    """Return the readings that crisp bytes match, as rising ranges."""
    v, V, g = triple
    inside = readings_of(v, V, attribute)
    return tuple(all_but(inside, attribute) if g & COMPLEMENT else inside)


def shift_of(shape: Crisp, triple: Triple, attribute: Attribute) -> Shift | None:
    """Return the additionally matching readings, or None if the bytes are exact."""
    true = passing(triple, attribute)
    if true == shape.wanted:
        return None
    everything = ((attribute.lo_scaled, attribute.hi_scaled),)
    edges = _moved_edges(shape.wanted, true)
    moved = max((abs(wanted - found) for wanted, found in edges), default=0)
    domain = attribute.hi_scaled - attribute.lo_scaled
    is_everything = true == everything
    at = max((found for _, found in edges), default=shape.wanted[0][0], key=lambda k: step_at(k, attribute))
    step = _told_step(step_at(at, attribute), attribute, shape.unit)
    words = "for every reading" if is_everything else range_words(true, attribute, shape.unit)
    return Shift(
        true,
        moved / domain,
        f"{'its opposite is ' if shape.written.startswith('not ') else ''}true {words}; steps of {step}",
        tuple(
            (_told(first, attribute, shape.unit), _told(last, attribute, shape.unit)) for first, last in true
        ),
        step,
        is_everything,
    )


def opposite(shape: Crisp, attribute: Attribute) -> Crisp:
    """Return the complement of a crisp set, for a pattern that negates it."""
    return Crisp(tuple(all_but(shape.wanted, attribute)), f"not {shape.written}", shape.unit)


def range_words(ranges: tuple[Range, ...], attribute: Attribute, unit: str) -> str:
    """Return the text of rising ranges of readings: `from 27.5 ppm on`, `up to 06:02 and from 21:57 on`."""
    texts = []
    for first, last in ranges:
        low, high = _told(first, attribute, unit), _told(last, attribute, unit)
        if first == last:
            texts.append(f"for {low} alone")
        elif last == attribute.hi_scaled:
            texts.append(f"from {low} on")
        elif first == attribute.lo_scaled:
            texts.append(f"up to {high}")
        else:
            texts.append(f"from {low} to {high}")
    return " and ".join(texts) or "for no reading"


def vertical_sides(shape: Curved, attribute: Attribute) -> Crisp | None:
    """Return the readings of a curve with vertical sides, which is a crisp set."""
    match shape.fuzzifier:
        case Trapezoidal(left, right, 0):
            low, high = _exact(left, attribute), _exact(right, attribute)
        case Triangular(center, 0):
            low = high = _exact(center, attribute)
        case Shoulder("right", _, end) if shape.fuzzifier.start == end:
            low, high = _exact(end, attribute), Fraction(attribute.hi_scaled)
        case Shoulder(_, start, end) if start == end:
            low, high = Fraction(attribute.lo_scaled), _exact(start, attribute)
        case _:
            return None
    first = max(-(-low.numerator // low.denominator), attribute.lo_scaled)
    last = min(high.numerator // high.denominator, attribute.hi_scaled)
    wanted = [(first, last)] if first <= last else []
    if (sum(HEDGES[name].turns_over for name in shape.hedges) + shape.complement) % 2:
        wanted = all_but(wanted, attribute)
    return Crisp(tuple(wanted), "a set with vertical sides", shape.unit)


def _exact(value: float, attribute: Attribute) -> Fraction:
    return Fraction(repr(value)) * Fraction(10**attribute.decimals)


def _moved_edges(wanted: tuple[Range, ...], true: tuple[Range, ...]) -> list[tuple[int, int]]:
    """Return (requested, effective) for each end of a range that moved.

    An end that vanished, because two ranges became one, is compared with the far end of the gap between them.
    """
    edges: list[tuple[int, int]] = []
    for first, last in wanted:
        low, high = next((a, b) for a, b in true if a <= first and last <= b)
        before = max((b for _, b in wanted if b < first), default=low - 1)
        behind = min((a for a, _ in wanted if a > last), default=high + 1)
        edges.append((first, max(low, before + 1)))
        edges.append((last, min(high, behind - 1)))
    return [(requested, found) for requested, found in edges if requested != found]


def _told(reading: int, attribute: Attribute, unit: str) -> str:
    if not unit or unit == attribute.unit or attribute.type != "number":
        return reading_words(reading, attribute)
    try:
        return f"{convert(reading / 10**attribute.decimals, attribute.unit, unit):.6g} {unit}"
    except UnitError:
        return reading_words(reading, attribute)


def _told_step(step: Fraction, attribute: Attribute, unit: str) -> str:
    if not unit or unit == attribute.unit or attribute.type != "number":
        return amount_words(step, attribute)
    try:
        return f"{convert_difference(float(step), attribute.unit, unit):.2g} {unit}"
    except UnitError:
        return amount_words(step, attribute)
