"""Explains why a subscription matches or not: the degree of every clause for given values, by the code of
boards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.authoring.constants import reading_of
from plugins.authoring.output.byte_words import Names
from plugins.authoring.output.description import Description
from plugins.authoring.output.reading_words import reading_words
from plugins.board_vectors import SubscriptionBody, subscription_body
from plugins.byte_readings import byte_of
from plugins.fuzzy.ages import age_code
from plugins.fuzzy.authoring.describe import describe_vector
from plugins.fuzzy.authoring.words import constraint_words
from plugins.fuzzy.codec import FuzzyCodec
from watchdog.membership import degree
from watchdog.score import satisfies, vector_degree


@dataclass(frozen=True, slots=True)
class Clause:
    """One constraint and its result for a value; `byte` and `degree_u8` are None without a value.

    `reading` is the value as a source measures it: rounded to the table's decimals, clipped to the domain.
    """

    attribute: str
    words: str
    value: str | None
    reading: str | None
    byte: int | None
    degree_u8: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A described subscription, and the result for the values: `degree_u8` is None if a required value is
    missing.
    """

    description: Description
    clauses: tuple[Clause, ...]
    degree_u8: int | None
    least_u8: int
    matches: bool | None

    def lines(self) -> list[str]:
        found = list(self.description.lines())
        if any(clause.value is not None for clause in self.clauses):
            found.append("")
            found.extend(_clause_line(clause) for clause in self.clauses)
            found.append(self.verdict())
        return found

    def verdict(self) -> str:
        """Return the result for these values in one sentence."""
        if self.degree_u8 is None:
            missing = ", ".join(clause.attribute for clause in self.clauses if clause.byte is None)
            return f"no result: {missing} is not given"
        wanted = f"at least {self.least_u8}" if self.least_u8 else "any above 0"
        verb = "matches" if self.matches else "does not match"
        return f"{verb}: degree {self.degree_u8}/255 ({self.degree_u8 / 255:.3f}), wanted {wanted}"

    def as_document(self) -> dict[str, Any]:
        return {
            **self.description.as_document(),
            "clauses": [
                {
                    "attribute": clause.attribute,
                    "words": clause.words,
                    "value": clause.value,
                    "reading": clause.reading,
                    "byte": clause.byte,
                    "degree_u8": clause.degree_u8,
                }
                for clause in self.clauses
            ],
            "degree_u8": self.degree_u8,
            "least_u8": self.least_u8,
            "matches": self.matches,
        }


def explain_vector(
    vector: bytes, table: MissionTable, values: Mapping[str, str] | None = None, age_s: int = 0
) -> Explanation:
    """Explain the subscription for these values, each rounded as a source does.

    A value for an unknown attribute raises `UnknownName`, an unreadable one `BadConstant`, bytes that are not
    a subscription `VectorError`.
    """
    parts = FuzzyCodec(table).subscription(subscription_body(vector))
    given = values or {}
    event = table.event_at(parts.event)
    known = {attribute.name: attribute for attribute in event.attributes}
    for name in given:
        if name not in known:
            raise UnknownName("attribute", name, list(known), event.name)
    row = bytearray(8 * table.feature_bytes)
    row[table.age_index] = age_code(1000 * age_s)
    present = {table.age_index}
    readings: dict[str, tuple[str, str]] = {}
    for name, text in given.items():
        reading = reading_of(text, known[name])
        readings[name] = text, reading_words(reading, known[name])
        row[known[name].index] = byte_of(reading, known[name])
        present.add(known[name].index)
    clauses = tuple(
        _clause(parts, rank, Names(table, table.feature_bytes), readings, row, present, age_s)
        for rank in range(len(parts.attributes))
    )
    overall = None
    if set(parts.attributes) <= present:
        overall = vector_degree(vector, table.feature_bytes, row)
    return Explanation(
        description=describe_vector(vector, table, "sv"),
        clauses=clauses,
        degree_u8=overall,
        least_u8=17 * parts.threshold,
        matches=None if overall is None else satisfies(vector[5], overall),
    )


def _clause(
    parts: SubscriptionBody,
    rank: int,
    names: Names,
    readings: Mapping[str, tuple[str, str]],
    row: bytearray,
    present: set[int],
    age_s: int,
) -> Clause:
    index = parts.attributes[rank]
    triple = parts.constraints[rank]
    name = names.attribute(parts.event, index)
    is_age = names.is_age(index)
    words = constraint_words(triple, names.attribute_of(parts.event, index), age=is_age)
    if index not in present:
        return Clause(name, words, None, None, None, None)
    value, reading = (f"{age_s} s", f"{age_s} s") if is_age else readings[name]
    return Clause(name, words, value, reading, row[index], degree(row[index], *triple))


def _clause_line(clause: Clause) -> str:
    if clause.degree_u8 is None:
        return f"     ?  {clause.attribute}: no value given"
    is_same = clause.reading is None or clause.reading.split(" ")[0] == clause.value
    read = "" if is_same else f", read as {clause.reading}"
    place = f"{clause.value}{read} (byte {clause.byte})"
    return f"{clause.degree_u8:>6}  {clause.attribute} = {place}: {clause.words}"
