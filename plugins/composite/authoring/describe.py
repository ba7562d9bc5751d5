"""Description of the bytes of composites."""

from collections.abc import Sequence
from typing import Any

from knowledge_manager.durations import written_duration
from knowledge_manager.mission_table import MissionTable
from plugins.authoring import Authoring
from plugins.authoring.output.description import (
    Description,
    Fields,
    created_words,
    happened_words,
    header_fields,
    lifetime_words,
)
from plugins.composite.alternatives import expanded, meeting_places, written_pattern
from plugins.composite.composites import KINDS, Composite, decode_composite
from plugins.composite.pattern import postfix
from plugins.composite.vectors import (
    DURATION,
    SUBSCRIPTION,
    CompositeBody,
    Prediction,
    constraints_of,
    decode_body,
    framed_body,
    split_body,
)
from watchdog.header import framed
from watchdog.lifetime import lifetime_s
from watchdog.vector import VectorError


def letters(count: int) -> list[str]:
    """Return names for primitives, which are not encoded: a, b, c, …"""
    return [chr(ord("a") + number) for number in range(count)]


def describe(vector: bytes, table: MissionTable | None, kind: str | None, atoms: Authoring) -> Description:
    """Describe a vector. Bytes that are invalid, or not of the requested kind, raise `VectorError`."""
    width = 1 if table is None else table.feature_bytes
    if kind != "nv":
        try:
            return _subscription(vector, table, width, atoms)
        except VectorError:
            if kind == "sv" or not _is_composite(vector):
                raise
    return _composite(vector, decode_composite(vector))


def _is_composite(vector: bytes) -> bool:
    try:
        decode_composite(vector)
    except VectorError:
        return False
    return True


def condition_words(body: CompositeBody, names: Sequence[str]) -> list[str]:
    """Return the conditions as in a document; `names` are those of the leaves."""
    meet = meeting_places(body.pattern)
    found = []
    for one in body.conditions:
        first, second = names[one.first], names[one.second]
        apart = f"{second} - {first}"
        if meet[one.first, one.second] == "and":
            found.append(f"|{apart}| <= {one.high}s")
        elif not one.low:
            found.append(f"{apart} <= {one.high}s")
        elif one.high == body.window_s:
            found.append(f"{apart} >= {one.low}s")
        else:
            found.append(f"{apart} in {one.low}s..{one.high}s")
    return found


def pattern_words(body: CompositeBody, names: Sequence[str]) -> str:
    """Return the pattern as in a document; `names` are those of the primitives."""
    leaves = body.leaf_primitives
    return written_pattern(body.pattern, lambda leaf: names[leaves[leaf]])


def horizon_words(unit: int, horizon: int) -> str:
    """Return the text of a horizon."""
    if unit == DURATION:
        return f"within {written_duration(lifetime_s(horizon))}"
    return f"within {horizon} reading{'' if horizon == 1 else 's'}"


def primitive_words(body: CompositeBody, number: int, table: MissionTable | None, atoms: Authoring) -> str:
    """Return the description of a primitive by its language."""
    part = atoms.describe(framed(0, 0, 0, body.part(number)), table, "sv")
    known = part.facts.get("constraints")
    if not known:
        return " ".join(sentence.strip() for sentence in part.sentences)
    wanted = ", ".join(f"{one['attribute']} {one['words']}" for one in known)
    return f"{part.facts.get('event', 'event')} with {wanted}"


def _subscription(vector: bytes, table: MissionTable | None, width: int, atoms: Authoring) -> Description:
    body = decode_body(framed_body(vector), width, table)
    names = letters(len(body.primitives))
    leaves = [f"t{number + 1}" for number in range(len(body.leaf_primitives))]
    scope = "from any source" if body.is_any_source else "from one source"
    words = pattern_words(body, names)
    conditions = condition_words(body, leaves)
    primitives = [primitive_words(body, number, table, atoms) for number in range(len(names))]
    predicts = "predicts" if body.prediction is not None else "does not predict"
    quiet = written_duration(lifetime_s(body.quiet_q))
    field_words = {
        "stamp": created_words(body.stamp_s),
        "threshold, flags": f"every degree at least {body.threshold}/15; {body.select}, {scope}, {predicts}",
        "window": f"{body.window_s} s",
        "counts": f"{len(body.conditions)} conditions, {len(body.primitives)} primitives",
        "keep": f"composites live {written_duration(lifetime_s(body.keep_q))}",
        "quiet": f"one in {quiet}" if body.quiet_q else "every end is reported",
        "pattern": [f"{len(postfix(body.pattern))} bytes", words],
        "conditions": conditions,
        "primitives": primitives,
        "key": _key_words(body, table, width),
        "prediction": _prediction_words(body.prediction),
    }
    fields, _ = header_fields(vector)
    pieces = split_body(framed_body(vector), width)
    fields.take_annotated(SUBSCRIPTION.annotate(pieces, field_words))
    parts = [f"{name}: {condition}" for name, condition in zip(names, primitives, strict=True)]
    sentence = f"{words}, within {written_duration(body.window_s)}, {scope}"
    sentence += f"; {', '.join(conditions)}." if conditions else "."
    facts: dict[str, Any] = {
        "pattern": words,
        "leaves": [names[number] for number in body.leaf_primitives],
        "conditions": conditions,
        "window_s": body.window_s,
        "select": body.select,
        "scope": "any" if body.is_any_source else "source",
        "alternatives": len(expanded(body.pattern, body.conditions)),
        "parts": [body.part(number).hex() for number in range(len(body.primitives))],
    }
    return Description("subscription", vector, fields.found(), (sentence, *parts), facts)


def _prediction_words(prediction: Prediction | None) -> list[str]:
    """Return a text for the prediction, and one for each state of its model."""
    if prediction is None:
        return []
    soon = horizon_words(prediction.unit, prediction.horizon)
    states = [" ".join(f"{beta / 255:.2f}" for beta in betas) for _, betas in prediction.model]
    return [f"probability {prediction.probability / 255:.2f} {soon}", *states]


def _key_words(body: CompositeBody, table: MissionTable | None, width: int) -> str:
    if not body.keys[0]:
        return "none"
    about = constraints_of(body.primitives[0], width)
    if table is None:
        return "attributes " + ", ".join(map(str, body.keys[0]))
    event = table.event_at(about.event)
    return "equal " + ", ".join(event.attribute_at(index).name for index in body.keys[0])


def composite_words(found: Composite) -> str:
    """Return a composite as one sentence."""
    events = ", ".join(
        f"t{one.leaf + 1} reading {one.number}"
        + (f" ({one.seconds_before} s before)" if one.seconds_before else "")
        for one in found.witness
    )
    whose = f"subscription {found.id} of node {found.subscriber}"
    words = f"{KINDS[found.kind]} for {whose} at node {found.source}"
    if found.opening is not None:
        words += f", opened at reading {found.opening.number} with probability {found.opening.beta / 255:.2f}"
    return f"{words}: {events}." if events else f"{words}."


def _composite(vector: bytes, found: Composite) -> Description:
    fields = Fields(vector)
    fields.take(2, "event number", f"{found.number} at its source")
    fields.take(1, "valid", lifetime_words(found.keep_q))
    fields.take(2, "stamp", happened_words(found.stamp_s))
    fields.take(1, "degree, kind", f"{found.degree}/15, {KINDS[found.kind]}")
    fields.take(len(vector) - 6, "subscription, witness", composite_words(found))
    facts: dict[str, Any] = {
        "kind_of_composite": KINDS[found.kind],
        "degree": found.degree / 15,
        "subscriber": found.subscriber,
        "id": found.id,
        "seq": found.revision,
        "source": found.source,
        "event_index": found.event,
        "number": found.number,
        "stamp_s": found.stamp_s,
        "witness": [
            {"leaf": one.leaf, "number": one.number, "seconds_before": one.seconds_before}
            for one in found.witness
        ],
    }
    return Description("notification", vector, fields.found(), (composite_words(found),), facts)
