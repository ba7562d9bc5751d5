"""Patterns in elements: <then><one>denied</one><one>successful</one></then> and <time>."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lxml import etree

from plugins.authoring.xml.reader import own_text
from plugins.authoring.xml.spans import Span
from plugins.composite.authoring.drafts import (
    Draft,
    DraftCondition,
    DraftJoined,
    DraftLeaf,
    DraftPattern,
    bounds_of,
    seconds_of,
)
from plugins.composite.authoring.problems import Complaints
from plugins.composite.authoring.text import BadText, plain_text, read_text
from plugins.composite.pattern import OPERATORS

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_SIGNS: Final = {"less-than": "<", "at-most": "<=", "more-than": ">", "at-least": ">="}


def read_pattern(element: "Element", complaints: Complaints) -> DraftPattern:
    """Return the pattern of an element, as elements or as text. Errors are reported."""
    document = complaints.document
    children = list(element.iterchildren(etree.Element))
    if not children:
        return _from_text(element, complaints)
    if own_text(element):
        complaints.complain(document.text_span(element), "D254", "a <pattern> is text or elements, not both")
        return DraftPattern()
    found = DraftPattern()
    counter = iter(range(1, 10_000))
    for child in children:
        if etree.QName(child).localname == "time":
            condition = _time(child, complaints)
            found.conditions += [] if condition is None else [condition]
        else:
            found.tree = _operand(child, complaints, counter)
    if found.tree is None:
        complaints.complain(document.span(element), "D254", "the <pattern> is empty")
    return found


def _from_text(element: "Element", complaints: Complaints) -> DraftPattern:
    document = complaints.document
    content = document.content_span(element)
    if not own_text(element):
        complaints.complain(document.span(element), "D254", "the <pattern> is empty")
        return DraftPattern()
    text, places = plain_text(document.source[content.start : content.end])

    def span_of(begin: int, end: int) -> Span:
        return document.span_of_bytes(content.start + places[begin], content.start + places[end])

    try:
        found = read_text(text, span_of)
    except BadText as error:
        complaints.complain(span_of(error.begin, error.end), "D248", str(error))
        return DraftPattern()
    for span, read in found.unclear:
        complaints.warning(span, "D257", f'";" binds before "and", so this means {read}; write parentheses')
    return found


def _operand(element: "Element", complaints: Complaints, counter: Iterator[int]) -> Draft:
    document = complaints.document
    name = etree.QName(element).localname
    if name == "one":
        usual = f"t{next(counter)}"
        called = str(element.get("name", usual)).strip()
        return DraftLeaf((element.text or "").strip(), called, document.text_span(element))
    operator = next(one for one in OPERATORS if one == name)
    parts = tuple(_operand(child, complaints, counter) for child in element.iterchildren(etree.Element))
    return DraftJoined(operator, parts, document.span(element))


def _time(element: "Element", complaints: Complaints) -> DraftCondition | None:
    document = complaints.document
    low: int | None = None
    high: int | None = None
    bounds = 0
    for attribute, sign in _SIGNS.items():
        text = element.get(attribute)
        if text is None:
            continue
        bounds += 1
        seconds = seconds_of(text)
        if seconds is None:
            message = f'{attribute} is "{text.strip()[:40]}"; it is a duration such as PT5M, or 300s'
            complaints.complain(document.attribute_span(element, attribute), "D119", message)
            return None
        least, most = bounds_of(sign, seconds)
        low = least if low is None else max(low, least if least is not None else low)
        high = most if high is None else min(high, most if most is not None else high)
    if not bounds:
        message = "a <time> has a bound: less-than, at-most, more-than or at-least"
        complaints.complain(document.span(element), "D249", message)
        return None
    first, second = (str(element.get(end)).strip() for end in ("from", "to"))
    return DraftCondition(first, second, low, high, document.span(element))
