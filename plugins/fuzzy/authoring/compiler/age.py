"""Reads `<within-last>` and `keep`: limits on the age of events when they are matched."""

import math
from typing import TYPE_CHECKING, Final

from knowledge_manager.durations import duration_s, written_duration
from plugins.authoring.xml.reader import PredicateReader, own_text
from plugins.authoring.xml.spans import Span
from plugins.fuzzy import NAMESPACE
from plugins.fuzzy.ages import OLDEST_S
from plugins.fuzzy.authoring.compiler.constraint_specs import CRISP, ConstraintSpec, Exact
from watchdog.lifetime import lifetime_code, lifetime_s

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

ONE_DOUBLING: Final = 108
"""Slope of an approximate age. Eight codes double the age, and γ(108) = 32 lowers a degree to 0 in eight
steps."""

LONGEST_S: Final = lifetime_s(lifetime_code(OLDEST_S) - 1)
"""Ages saturate, so a longer limit would let every event pass."""


def read_within_last(element: "Element", reader: PredicateReader) -> list[ConstraintSpec]:
    """Return the spec on the event's age: crisp, up to the code of the duration, or with `<more-or-less>`
    falling to 0 until twice as long.
    """
    document = reader.document
    span = document.text_span(element)
    universal = element.find(f"{{{NAMESPACE}}}universal")
    roughly = element.find(f"{{{NAMESPACE}}}more-or-less")
    text = own_text(element)
    if universal is not None and not text:
        v, V, g = (int(str(universal.get(name))) for name in ("v", "V", "g"))
        if v > V:
            reader.complain(document.span(universal), "D108", f"<universal>: v ({v}) is greater than V ({V})")
            return []
        shape = Exact((v, V, g))
    elif roughly is not None and not text and universal is None:
        text = own_text(roughly)
        code = _age_code(text, text, document.text_span(roughly), reader, LONGEST_S // 2)
        if code is None:
            return []
        until = written_duration(lifetime_s(code + 8))
        longer = _longer(code, text)
        shape = Exact((0, code, ONE_DOUBLING), longer and f"{longer}, and not at all from {until} on")
    else:
        beside = universal is not None or roughly is not None
        code = _age_code("" if beside else text, text, span, reader)
        if code is None:
            return []
        shape = Exact((0, code, CRISP), _longer(code, text))
    return [ConstraintSpec(reader.age_index, None, shape, reader.weight(element), document.span(element))]


def read_keep(root: "Element", reader: PredicateReader) -> list[ConstraintSpec]:
    """Return the spec on the event's age of the attribute `keep`, if given.

    It can only shorten the lifetime that the source sets; a longer one is reported.
    """
    text, event = root.get("keep"), reader.event
    if text is None:
        return []
    span = reader.document.attribute_span(root, "keep")
    code = _age_code(text, text, span, reader)
    if code is None:
        return []
    given = lifetime_code(event.notification_lifetime_s)
    if code > given:
        lives = written_duration(lifetime_s(given))
        message = (
            f"keep {text.strip()}: a notification of {event.name} lives {lives}, not longer; its "
            "notification_lifetime is set in the vocabulary"
        )
        reader.warn(span, "D142", message)
    return [ConstraintSpec(reader.age_index, None, Exact((0, code, CRISP), _longer(code, text)), 1.0, span)]


def _longer(code: int, written: str) -> str:
    """Return the effective age limit if it differs from the document."""
    reached = lifetime_s(code)
    return "" if reached == duration_s(written) else f"true up to {written_duration(reached)}"


def _age_code(
    duration: str, written: str, span: Span, reader: PredicateReader, longest_s: int = LONGEST_S
) -> int | None:
    """Return the least sufficient code of an age. An invalid age is reported."""
    seconds = duration_s(duration)
    if seconds is None or not 0 < seconds <= longest_s:
        longest = written_duration(longest_s)
        message = f'"{written}" is not a duration (PT30S) above 0 and up to {longest}'
        reader.complain(span, "D119", message)
        return None
    return lifetime_code(math.ceil(seconds))
