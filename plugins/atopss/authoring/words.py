"""Texts of shapes, predicates and functions."""

from knowledge_manager.vocabulary.event_class import Attribute, EventClass
from plugins.atopss.shapes.profiles import words as profile_words
from plugins.atopss.shapes.scale import HALF, INFINITE, LAST_THRESHOLD
from plugins.atopss.shapes.shapes import ANYTHING, Shape
from plugins.atopss.subscriptions import Function, Norm, Predicate, Subscription, tree_of
from plugins.authoring.output.reading_words import reading_words


def corner_words(corner: int, attribute: Attribute | None) -> str:
    """Return a corner in the attribute's unit, or as a number without an attribute."""
    if abs(corner) == INFINITE:
        return "∞" if corner > 0 else "−∞"
    if attribute is None:
        return str(corner)
    reading = corner + attribute.lo_scaled
    if attribute.type == "date" and not -700_000 < reading < 2_900_000:
        return f"day {reading}"
    if attribute.type == "nominal" and reading < 0:
        return f"value {reading}"
    return reading_words(reading, attribute)


def shape_words(shape: Shape, attribute: Attribute | None) -> str:
    m1, m2, m3, m4 = (corner_words(corner, attribute) for corner in (shape.m1, shape.m2, shape.m3, shape.m4))
    if shape == ANYTHING:
        return "anything"
    if shape.is_point:
        return m1
    if shape.m1 == -INFINITE:
        core, feet = f"up to {m3}", m4 if shape.m3 < shape.m4 else ""
    elif shape.m4 == INFINITE:
        core, feet = f"from {m2} on", m1 if shape.m1 < shape.m2 else ""
    else:
        core = m2 if shape.m2 == shape.m3 else f"{m2} to {m3}"
        feet = "" if shape.is_crisp else f"{m1} and {m4}"
    if not feet:
        return core
    bent = [
        f"{side} {profile_words(byte)}"
        for side, byte in (("left", shape.left), ("right", shape.right))
        if byte
    ]
    if shape.left == shape.right and shape.left:
        bent = [profile_words(shape.left)]
    curved = ", ".join(bent)
    return f"{core}, 0 at {feet} ({curved})" if bent else f"{core}, 0 at {feet}"


def predicate_words(predicate: Predicate, attribute: Attribute | None) -> str:
    """Return the text of a predicate, without its attribute."""
    condition = shape_words(predicate.shape, attribute)
    condition = f"not ({condition})" if predicate.complement else condition
    least = _thresholds(predicate.possibility, predicate.necessity)
    return f"{condition}{f' [{least}]' if least else ''}"


def _thresholds(possibility: int, necessity: int) -> str:
    found = [f"Π ≥ {short_threshold(possibility)}"] if possibility else []
    return ", ".join([*found, *([f"N ≥ {short_threshold(necessity)}"] if necessity else [])])


def short_threshold(threshold: int) -> str:
    """Return a threshold in fifteenths, or as one half.

    >>> short_threshold(15), short_threshold(16)
    ('1/2', '8/15')
    """
    return "1/2" if threshold == HALF else f"{threshold // 2}/15"


def threshold_words(threshold: int) -> str:
    """Return a threshold with its value.

    >>> threshold_words(15), threshold_words(16)
    ('0.5', '8/15 (0.533)')
    """
    return "0.5" if threshold == HALF else f"{short_threshold(threshold)} ({threshold / LAST_THRESHOLD:.3f})"


def name_of(event: EventClass | None, attribute: int) -> str:
    """Return the name of an attribute, or its number if unknown."""
    return f"attribute {attribute}" if event is None else event.attribute_at(attribute).name


def attribute_of(event: EventClass | None, attribute: int) -> Attribute | None:
    """Return an attribute of an event class, or None."""
    return None if event is None else event.attribute_at(attribute)


def function_words(function: Function, event: EventClass | None, *, is_inner: bool = False) -> str:
    if isinstance(function, Predicate):
        condition = predicate_words(function, attribute_of(event, function.attribute))
        return f"{name_of(event, function.attribute)} is {condition}"
    joint = " or " if function.is_or else " and "
    joined = joint.join(function_words(part, event, is_inner=True) for part in function.parts)
    return f"({joined})" if is_inner else joined


def subscription_words(wanted: Subscription, event: EventClass | None) -> list[str]:
    """Return the sentences of a subscription."""
    named = f"event {wanted.event}" if event is None else event.name
    sentences = [f"{named} where {function_words(tree_of(wanted), event)}."]
    if wanted.norm != Norm.MIN:
        sentences.append(f"Degrees are joined by {wanted.norm.name.lower().replace('_', ' ')}.")
    least = _thresholds(wanted.possibility, wanted.necessity)
    sentences.append(f"Released if {least}." if least else "Released whenever it is possible.")
    return sentences
