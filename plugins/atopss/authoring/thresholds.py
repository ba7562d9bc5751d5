"""Thresholds in documents: fifteenths, rounded up, or exactly one half."""

from typing import Final

from plugins.atopss.authoring.words import threshold_words
from plugins.atopss.shapes.scale import LAST_THRESHOLD, threshold_of
from plugins.authoring.constants import plain_number
from plugins.authoring.xml.reader import PredicateReader
from plugins.authoring.xml.root_attributes import read_fifteenths
from plugins.authoring.xml.spans import Span

ROUNDED: Final = "D169"
_TIE: Final = 1e-9


def read_threshold(text: str | None, name: str, span: Span, reader: PredicateReader) -> int:
    """Return a minimum degree in thirtieths. Rounding is a warning."""
    known = len(reader.problems)
    read_fifteenths(text, name, span, reader)
    if text is None or len(reader.problems) > known:
        return 0
    wanted = plain_number(text)
    threshold = threshold_of(wanted)
    if abs(threshold / LAST_THRESHOLD - wanted) > _TIE:
        message = f"{name} {text.strip()} is rounded up to {threshold_words(threshold)}"
        reader.warn(span, ROUNDED, f"{message}: a threshold is a fifteenth, or 0.5")
    return threshold
