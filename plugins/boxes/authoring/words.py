"""Texts of boxes."""

from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring.output.reading_words import reading_words
from plugins.boxes.vectors import Box
from plugins.byte_readings import Range, readings_of


def byte_words(runs: tuple[Range, ...]) -> str:
    """Return ranges of bytes.

    >>> byte_words(((0, 152), (154, 255)))
    '00..98 and 9a..ff'
    """
    return " and ".join(f"{low:02x}..{high:02x}" for low, high in runs)


def runs_words(runs: tuple[Range, ...], attribute: Attribute) -> str:
    """Return the readings of byte ranges as text: `from 27.5 ppm on`, `up to 06:02 and from 22:00`."""
    return " and ".join(_range_words(run, attribute) for run in runs)


def _range_words(run: Range, attribute: Attribute) -> str:
    readings = readings_of(*run, attribute)
    if not readings:
        return "for no reading"
    first, last = readings[0]
    low, high = reading_words(first, attribute), reading_words(last, attribute)
    if attribute.type == "nominal":
        return "for " + ", ".join(reading_words(reading, attribute) for reading in range(first, last + 1))
    if first == last:
        return f"for {low} alone"
    if last == attribute.hi_scaled:
        return f"from {low} on"
    if first == attribute.lo_scaled:
        return f"up to {high}"
    return f"from {low} to {high}"


def box_words(box: Box, attributes: dict[int, Attribute]) -> str:
    """Return the text of a box; without a mission, its bytes."""
    told = []
    for index, low, high in box:
        attribute = attributes.get(index)
        if attribute is None:
            told.append(f"attribute {index} in {byte_words(((low, high),))}")
        else:
            told.append(f"{attribute.name} {runs_words(((low, high),), attribute)}")
    return " and ".join(told)
