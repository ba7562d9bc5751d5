"""From a document to a composite subscription: primitives, pattern, prediction."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from knowledge_manager.durations import duration_s, written_duration
from knowledge_manager.mission_table import MissionTable
from plugins.authoring import DEFAULTS, Authoring, Compiled, CompileOptions
from plugins.authoring.xml.document import read_subscription
from plugins.authoring.xml.root_attributes import read_fifteenths, read_valid
from plugins.authoring.xml.words import AuthorsWords
from plugins.composite import NAMESPACE
from plugins.composite.alternatives import expanded, mixes_too_much
from plugins.composite.authoring.elements import read_pattern
from plugins.composite.authoring.prediction import read_prediction
from plugins.composite.authoring.primitives import PrimitiveReader, ReadPrimitive
from plugins.composite.authoring.problems import Complaints
from plugins.composite.authoring.resolve import Resolved, resolved
from plugins.composite.authoring.schema import SCHEMA
from plugins.composite.bounds import DEFAULT_WINDOW_S, LONGEST_WINDOW_S, MOST_MIXED_GROUPS
from plugins.composite.pattern import leaves_of
from plugins.composite.search.watched import is_possible
from plugins.composite.vectors import CompositeBody, encode_body

_KEEP_S: Final = 3_600
_NEAR: Final = 0.75
"""A window above this share of the lifetime of notifications is warned about."""


def compile_composite(
    source: bytes,
    file: str,
    table: MissionTable,
    atoms: Authoring,
    atoms_namespace: str,
    options: CompileOptions = DEFAULTS,
    *,
    is_learning: bool = False,
) -> Compiled:
    """Return the compiled subscription. All errors raise one `DocumentError`.

    `atoms` compiles primitives, as documents of `atoms_namespace`. With `is_learning` the model of a
    prediction is not read, because it is about to be written.
    """
    document = read_subscription(source, file, SCHEMA, "composite")
    complaints = Complaints(document)
    words = AuthorsWords(table, document.language, options.thesaurus)
    reader = PrimitiveReader(atoms, atoms_namespace, words, complaints, options)
    names = reader.names()
    primitives = reader.read()
    root = document.root
    valid = read_valid(root.get("valid"), document.attribute_span(root, "valid"), complaints)
    window_s = _window(complaints)
    [holder] = root.iterchildren(f"{{{NAMESPACE}}}pattern")
    found = resolved(read_pattern(holder, complaints), names, window_s, complaints)
    body = _without_prediction(complaints, names, primitives, found, window_s, options.stamp_s)
    if unspoken := words.unspoken_language():
        complaints.warning(document.span(root), "D159", unspoken)
    predict = root.find(f"{{{NAMESPACE}}}predict")
    if predict is not None:
        is_any = root.get("scope", "source").strip() == "any"
        usual = None if complaints.has_errors else body
        width = table.feature_bytes
        prediction = read_prediction(
            predict, complaints, usual, width, is_any=is_any, is_learning=is_learning
        )
        body = None if body is None else replace(body, prediction=prediction)
    for one in primitives:
        complaints.problems += one.warnings
    complaints.refuse(strict=options.strict)
    assert found is not None  # None: an error was reported
    assert body is not None
    return Compiled(
        body=encode_body(body, table.feature_bytes),
        lifetime_q=valid,
        warnings=tuple(sorted(complaints.problems)),
        remarks=tuple(_remarks(body)),
        steps={
            "primitives": [
                {"name": one.name, "event": one.event.name, "part": one.body.hex()} for one in primitives
            ],
            "uses": [
                {"name": name, "primitive": names[number]}
                for name, number in zip(found.uses, body.leaf_primitives, strict=True)
            ],
            "words": [word.as_document() for word in words.resolved],
        },
    )


def _without_prediction(
    complaints: Complaints,
    names: list[str],
    primitives: list[ReadPrimitive],
    found: Resolved | None,
    window_s: int,
    stamp_s: int,
) -> CompositeBody | None:
    """Return the subscription without its prediction; None if it has errors."""
    document = complaints.document
    root = document.root
    keep_span = document.attribute_span(root, "keep")
    keep_q = read_valid(root.get("keep"), keep_span, complaints, _KEEP_S, name="keep")
    threshold_span = document.attribute_span(root, "threshold")
    threshold = read_fifteenths(root.get("threshold"), "threshold", threshold_span, complaints)
    select = root.get("select", "ends").strip()
    is_any = root.get("scope", "source").strip() == "any"
    quiet_q = _quiet(complaints, select)
    if is_any and select == "first":
        message = "select first needs the order of one source's readings; remove scope"
        complaints.complain(document.attribute_span(root, "select"), "D242", message)
    if found is None:
        return None
    pattern, conditions = found.pattern, found.conditions
    used = {names[leaf.primitive] for leaf in leaves_of(pattern)}
    for element in root.iterchildren(f"{{{NAMESPACE}}}primitive"):
        if (name := str(element.get("name")).strip()) not in used:
            message = f'the primitive "{name}" is not used in the pattern'
            complaints.complain(document.span(element), "D231", message)
    _warn_of_window(complaints, primitives, window_s)
    if complaints.has_errors:
        return None
    events = tuple(primitives[leaf.primitive].event.index for leaf in leaves_of(pattern))
    alternatives = expanded(pattern, conditions)
    if is_any and mixes_too_much(alternatives):
        message = f"with scope any, at most {MOST_MIXED_GROUPS} runs of , are allowed; use ; or remove scope"
        [holder] = root.iterchildren(f"{{{NAMESPACE}}}pattern")
        complaints.complain(document.span(holder), "D256", message)
        return None
    if not any(is_possible(one, events) for one in alternatives):
        message = "readings of different event classes are never adjacent; use ; instead of ,"
        [holder] = root.iterchildren(f"{{{NAMESPACE}}}pattern")
        complaints.complain(document.span(holder), "D249", message)
        return None
    return CompositeBody(
        stamp_s % 65536,
        threshold,
        select,
        is_any,
        window_s,
        keep_q,
        quiet_q,
        pattern,
        conditions,
        tuple(one.body[2:] for one in primitives),
        tuple(one.keys for one in primitives),
    )


def _window(complaints: Complaints) -> int:
    document = complaints.document
    text = document.root.get("window")
    if text is None:
        return DEFAULT_WINDOW_S
    seconds = duration_s(text)
    if seconds is None or not 0 < math.ceil(seconds) <= LONGEST_WINDOW_S:
        longest = f"up to {written_duration(LONGEST_WINDOW_S)}"
        message = f'window is "{text.strip()[:40]}"; it is a positive duration such as PT10M, {longest}'
        complaints.complain(document.attribute_span(document.root, "window"), "D236", message)
        return LONGEST_WINDOW_S
    return math.ceil(seconds)


def _quiet(complaints: Complaints, select: str) -> int:
    document = complaints.document
    text = document.root.get("quiet")
    if text is None:
        return 0
    span = document.attribute_span(document.root, "quiet")
    if select != "ends":
        complaints.complain(span, "D247", f"quiet requires select end, not {select}; remove one")
    return read_valid(text, span, complaints, name="quiet")


def _warn_of_window(complaints: Complaints, primitives: list[ReadPrimitive], window_s: int) -> None:
    """Warn if parts may expire before the last event of a match."""
    document = complaints.document
    shortest = min(primitives, key=lambda one: one.event.notification_lifetime_s, default=None)
    if shortest is None or window_s < _NEAR * shortest.event.notification_lifetime_s:
        return
    lives = written_duration(shortest.event.notification_lifetime_s)
    message = (
        f"notifications of {shortest.event.name} live {lives}; with a window of {written_duration(window_s)} "
        "the first event of a match may have expired when the last one comes"
    )
    complaints.warning(document.attribute_span(document.root, "window"), "D252", message)


def _remarks(body: CompositeBody) -> Iterator[str]:
    if body.select == "first":
        yield "select first is evaluated only by sources that see every reading, not by boards and mediators"
    elif body.prediction is not None:
        yield "predictions come only from sources that see every reading; boards contribute to matches only"
