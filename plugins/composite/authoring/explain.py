"""Explains a composite subscription: its alternatives, its machines, where it is evaluated, its prediction,
and which primitives a reading satisfies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowledge_manager.durations import written_duration
from knowledge_manager.mission_table import MissionTable
from plugins.authoring import Authoring, Compiled
from plugins.composite.alternatives import Alternative, expanded
from plugins.composite.authoring.describe import (
    condition_words,
    horizon_words,
    letters,
    pattern_words,
    primitive_words,
)
from plugins.composite.authoring.picture import MachinesPicture
from plugins.composite.prediction.model import highest_beta
from plugins.composite.search.machines import drawn
from plugins.composite.vectors import CompositeBody, constraints_of, decode_body, framed_body
from watchdog.header import framed


@dataclass(frozen=True, slots=True)
class ExplainedComposite:
    """The explanation of a composite subscription."""

    sentences: tuple[str, ...]
    alternatives: tuple[str, ...]
    places: tuple[tuple[str, str], ...]
    prediction: str | None
    highest: float | None
    primitives: tuple[str, ...]
    readings: tuple[tuple[str, tuple[str, ...]], ...]
    """For each primitive, the evaluation of the given values."""

    def lines(self) -> list[str]:
        lines = [*self.sentences, *self.primitives, "", f"alternatives: {len(self.alternatives)}"]
        lines += [f"  {one}" for one in self.alternatives]
        lines += ["", "where it runs:", *(f"  {where}: {what}" for where, what in self.places)]
        if self.prediction is not None:
            lines += ["", self.prediction]
        for name, listed in self.readings:
            lines += ["", f"{name}:", *(f"  {line}" for line in listed)]
        return lines

    def as_document(self) -> dict[str, Any]:
        return {
            "words": list(self.sentences),
            "primitives": list(self.primitives),
            "alternatives": list(self.alternatives),
            "runs": dict(self.places),
            "prediction": self.prediction,
            "highest_probability": self.highest,
            "readings": {name: list(listed) for name, listed in self.readings},
        }


def explain_composite(
    vector: bytes, table: MissionTable, values: Mapping[str, str], age_s: int, atoms: Authoring
) -> ExplainedComposite:
    """Explain a subscription. Invalid bytes raise `VectorError`."""
    body = decode_body(framed_body(vector), table.feature_bytes, table)
    names = letters(len(body.primitives))
    leaves = [f"t{number + 1}" for number in range(len(body.leaf_primitives))]
    scope = "any source" if body.is_any_source else "one source"
    selections = {"ends": "every end", "all": "every match", "first": "non-overlapping matches"}
    sentence = (
        f"{pattern_words(body, names)} within {written_duration(body.window_s)}, of {scope}; reported: "
    )
    conditions = condition_words(body, leaves)
    sentences = [sentence + selections[body.select] + (f"; {', '.join(conditions)}" if conditions else "")]
    primitives = [
        f"{name} = {primitive_words(body, number, table, atoms)}" for number, name in enumerate(names)
    ]
    prediction, highest = _prediction(body)
    return ExplainedComposite(
        tuple(sentences),
        tuple(_alternative(one, body, names) for one in expanded(body.pattern, body.conditions)),
        tuple(places_of(body)),
        prediction,
        highest,
        tuple(primitives),
        tuple(_readings(body, table, values, age_s, atoms, names)),
    )


def machines_picture(vector: bytes, table: MissionTable, compiled: Compiled | None) -> MachinesPicture:
    """Return a drawing of the machines of a subscription."""
    body = decode_body(framed_body(vector), table.feature_bytes, table)
    names = letters(len(body.primitives))
    leaves = [names[number] for number in body.leaf_primitives]
    if compiled is not None:
        leaves = [use["primitive"] for use in compiled.steps["uses"]]
    conditions = [""] * len(leaves)
    words = condition_words(body, [f"t{number + 1}" for number in range(len(leaves))])
    for one, text in zip(body.conditions, words, strict=True):
        conditions[one.second] += f"@({text})"
    return MachinesPicture(drawn(body.pattern, leaves, conditions))


def places_of(body: CompositeBody) -> list[tuple[str, str]]:
    """Return which parts of a subscription are evaluated where."""
    count = len(body.primitives)
    parts = f"{count} part{'' if count == 1 else 's'}, as ordinary filters"
    if body.select == "first":
        parts = "nothing: select first needs every reading in order, so parts are not released"
    whole = "matches" + (" and predictions" if body.prediction is not None else "")
    node = "composes matches" if body.select != "first" else "nothing: it does not see a complete stream"
    return [
        ("micro:bit", parts),
        ("Pico, ESP32", parts),
        ("host source", f"{whole}, of every reading"),
        ("DENS node", node),
    ]


def _prediction(body: CompositeBody) -> tuple[str | None, float | None]:
    wanted = body.prediction
    if wanted is None:
        return None, None
    horizon = f"predicts at {wanted.probability / 255:.2f} {horizon_words(wanted.unit, wanted.horizon)}"
    if not wanted.model:
        return f"{horizon}; without a model: sources count by themselves, from 20 visits on", None
    highest = highest_beta(wanted) / 255
    words = f"{horizon}; the model has {len(wanted.model)} states, its highest probability is {highest:.2f}"
    return words, round(highest, 4)


def _alternative(one: Alternative, body: CompositeBody, names: list[str]) -> str:
    leaves = body.leaf_primitives
    called = {leaf: f"t{leaf + 1} {names[leaves[leaf]]}" for leaf in one.leaves}
    rules = [f"t{a + 1} , t{b + 1}" for a, b in sorted(one.next_to)]
    rules += [f"t{a + 1} ; t{b + 1}" for a, b in sorted(one.before - one.next_to)]
    rules += [f"t{a + 1} not after t{b + 1}" for a, b in sorted(one.not_after)]
    listed = ", ".join(called.values())
    return f"{listed}: {'; '.join(rules)}" if rules else listed


def _readings(
    body: CompositeBody,
    table: MissionTable,
    values: Mapping[str, str],
    age_s: int,
    atoms: Authoring,
    names: list[str],
) -> list[tuple[str, tuple[str, ...]]]:
    explain = atoms.explain
    if not values or explain is None:
        return []
    found = []
    for number, name in enumerate(names):
        event = table.event_at(constraints_of(body.primitives[number], table.feature_bytes).event)
        known = {attribute.name for attribute in event.attributes}
        own = {attribute: text for attribute, text in values.items() if attribute in known}
        explanation = explain(framed(0, 0, 0, body.part(number)), table, own, age_s)
        lines = explanation.lines()
        begin = max((at for at, line in enumerate(lines) if not line.strip()), default=-1) + 1
        found.append((name, tuple(lines[begin:])))
    return found
