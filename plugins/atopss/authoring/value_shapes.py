"""From the text of a value to its shape: 38.2, 37.9..38.5, 38.2±0.3, a term, or ? for anything."""

from fractions import Fraction
from typing import Final

from dens.config.problems import did_you_mean, likely_meant, listed
from knowledge_manager.vocabulary.event_class import Attribute
from knowledge_manager.vocabulary.terms import Hedged
from plugins.atopss.authoring.term_shapes import shape_of
from plugins.atopss.shapes.shapes import ANYTHING, Shape, interval, point
from plugins.authoring.constants import BadConstant, domain_words, exact_constant, extent
from plugins.authoring.xml.comparisons import nearest_reading

BAD_VALUE: Final = "D166"
_NO_NUMBERS: Final = ("nan", "inf", "infinity")
"""Words that look like numbers."""
_UNREADABLE: Final = "D105"
_OUTSIDE: Final = "D106"


def value_shape(text: str, attribute: Attribute, unit: str) -> Shape:
    """Return the shape of a value text. An invalid one raises `BadConstant`."""
    text = text.strip()
    if text == "?":
        return ANYTHING
    if attribute.type == "nominal":
        return point(int(exact_constant(text, attribute, "")))
    if text in attribute.terms:
        return term_value(text, attribute)
    if ".." in text:
        first, _, last = text.partition("..")
        low, high = (_reading(part, attribute, unit) for part in (first, last))
        if low > high:
            raise BadConstant(BAD_VALUE, f'"{text}" is empty: its first value is above its last')
        return interval(low, high)
    if "±" in text:
        return _around(text, attribute, unit)
    if text.isidentifier() and text.casefold() not in _NO_NUMBERS:
        known = f"({listed(list(attribute.terms))})" if attribute.terms else "(it has none)"
        message = f'"{text}" is neither a value of {attribute.name} nor one of its terms {known}'
        meant = likely_meant(text, list(attribute.terms))
        raise BadConstant(BAD_VALUE, message + did_you_mean(text, list(attribute.terms)), text, meant)
    return point(_reading(text, attribute, unit))


def term_value(name: str, attribute: Attribute) -> Shape:
    """Return the shape of a value described by a term."""
    hedges: tuple[str, ...] = ()
    term = attribute.terms[name]
    while isinstance(term, Hedged):
        hedges = (*hedges, *term.hedges)
        term = attribute.terms[term.of]
    return told_shape(*shape_of(term, tuple(reversed(hedges)), attribute), name)


def told_shape(shape: Shape, is_complement: bool, name: str) -> Shape:
    """Return the shape of a value; a complement is invalid."""
    if is_complement:
        raise BadConstant(BAD_VALUE, f'"{name}" excludes values; name the possible ones')
    return shape


def _around(text: str, attribute: Attribute, unit: str) -> Shape:
    middle, _, spread = text.partition("±")
    centre = _reading(middle, attribute, unit)
    wide = extent(spread, attribute, unit)
    if wide < 0:
        raise BadConstant(BAD_VALUE, f'"{text}": the number after ± is negative')
    width = nearest_reading(Fraction(repr(wide)) * 10**attribute.decimals)
    if centre < width or centre + width > attribute.hi_scaled - attribute.lo_scaled:
        raise BadConstant(
            BAD_VALUE, f'"{text}" exceeds the domain of {attribute.name}, {domain_words(attribute)}'
        )
    return Shape(centre - width, centre, centre, centre + width)


def _reading(text: str, attribute: Attribute, unit: str) -> int:
    """Return a value on the axis as a source measures it."""
    try:
        return nearest_reading(exact_constant(text, attribute, unit)) - attribute.lo_scaled
    except BadConstant as error:
        code = BAD_VALUE if error.code in (_OUTSIDE, _UNREADABLE) else error.code
        raise BadConstant(code, str(error), error.word, error.meant) from None
