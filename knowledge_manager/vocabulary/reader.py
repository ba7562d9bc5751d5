"""Reads a vocabulary file into a `Vocabulary`, or reports all problems."""

import datetime
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Final

from dens.config.problems import DocumentError, Problem, did_you_mean, likely_meant
from dens.config.toml_documents import SchemaCodes, read_past_unknown_keys
from dens.config.toml_positions import Path, TomlPositions
from knowledge_manager.durations import duration_s, written_duration
from knowledge_manager.graphs.taxonomy_files import FindTaxonomy, shipped_taxonomy
from knowledge_manager.thesaurus.concept import fold
from knowledge_manager.units import UnitError, check_unit
from knowledge_manager.vocabulary.event_class import (
    NOTIFICATION_LIFETIME_S,
    Attribute,
    EventClass,
    Vocabulary,
)
from knowledge_manager.vocabulary.graph_validation import GraphValidator
from knowledge_manager.vocabulary.scales import (
    Breakpoints,
    faults_of_breakpoints,
    is_even,
    log_breakpoints,
    scaled_breakpoints,
)
from knowledge_manager.vocabulary.schema import (
    AttributeTable,
    DomainEnd,
    EventTable,
    FacetTable,
    GraphTable,
    VocabularyTable,
)
from knowledge_manager.vocabulary.terms import Hedged, Term, misses
from watchdog.lifetime import LONGEST_LIFETIME_S

CODES: Final = SchemaCodes(unknown_key="D201", missing_key="D202", bad_value="D203")

SCALED_RANGE_LIMIT: Final = 1 << 21
"""Bound of hi − lo, scaled, so that the arithmetic of boards stays below 2**30."""

SCALED_END_LIMIT: Final = 1 << 29
"""Bound of both ends of a domain, scaled, so that boards can subtract them."""

SECONDS_OF_A_DAY: Final = 86400
LONGEST_VALUE_LIST: Final = 256

_EPOCH: Final = datetime.date(1970, 1, 1)

TermFault = Callable[[Attribute, str], str]
"""Returns why a language cannot express a term of an attribute, or nothing."""


def read_vocabulary(
    text: str,
    file: str,
    *,
    with_units: bool = True,
    term_fault: TermFault | None = None,
    taxonomy: FindTaxonomy = shipped_taxonomy,
) -> Vocabulary:
    """Return the vocabulary; invalid input raises `DocumentError` with all problems.

    `with_units=False` skips the check of units, and loading the unit table, for files of the package.
    `term_fault` checks every term if there are no other problems: curves depend on the language. `taxonomy`
    finds the taxonomies that graph classes name.
    """
    table, positions, problems = read_past_unknown_keys(text, file, VocabularyTable, CODES)
    validator = _Validator(table, positions, file)
    problems += validator.problems(with_units)
    graphs = GraphValidator(table, positions, file, taxonomy)
    problems += graphs.problems()
    if not problems and term_fault is not None:
        problems += validator.check_curves(term_fault)
    if problems:
        raise DocumentError(sorted(problems, key=lambda problem: (problem.line, problem.column)))
    events = tuple(_event(event) for event in sorted(table.event, key=lambda event: event.index))
    found = (graphs.graph_class(inner, _lifetime_s(inner)) for inner in table.graph)
    classes = tuple(sorted(found, key=lambda one: one.index))
    return Vocabulary(table.name, table.version, table.feature_bytes, events, table.about, classes)


def days_since_epoch(day: datetime.date) -> int:
    return (day - _EPOCH).days


class _Validator:
    """Checks that involve several keys of a vocabulary file."""

    def __init__(self, table: VocabularyTable, positions: TomlPositions, file: str) -> None:
        self.table = table
        self.positions = positions
        self.file = file

    def problems(self, with_units: bool) -> Iterator[Problem]:
        bits = 8 * self.table.feature_bytes
        indexes: dict[int, str] = {}
        names: set[str] = set()
        listed: list[tuple[Path, EventTable | GraphTable]] = [
            *((("event", position), event) for position, event in enumerate(self.table.event)),
            *((("graph", position), graph) for position, graph in enumerate(self.table.graph)),
        ]
        for path, event in listed:
            if not 0 <= event.index < bits:
                yield self._problem(
                    (*path, "index"), "D205", f"event index {event.index} is outside 0..{bits - 1}"
                )
            elif event.index in indexes:
                clash = f'event index {event.index} is taken by "{indexes[event.index]}"'
                yield self._problem((*path, "index"), "D205", clash)
            indexes.setdefault(event.index, event.name)
            if fold(event.name) in names:
                twice = f'event "{event.name}" is defined twice (case and _ do not count)'
                yield self._problem((*path, "name"), "D207", twice)
            names.add(fold(event.name))
            yield from self._check_lifetime(event, path)
            if isinstance(event, EventTable):
                yield from self._check_event(event, path, bits, with_units)
            else:
                yield from self._check_indexes(event.name, event.facet, (*path, "facet"), bits)

    def check_curves(self, term_fault: TermFault) -> Iterator[Problem]:
        """Yield the terms that the language cannot express, for a file without other problems."""
        for position, event in enumerate(self.table.event):
            for place, table in enumerate(event.attribute):
                attribute = _attribute(table)
                for name in table.terms:
                    fault = term_fault(attribute, name)
                    if fault:
                        path: Path = ("event", position, "attribute", place, "terms", name)
                        yield self._problem(path, "D217", f'term "{name}" of {table.name}: {fault}')

    def _check_lifetime(self, event: EventTable | GraphTable, path: Path) -> Iterator[Problem]:
        if event.notification_lifetime is not None and _lifetime_s(event) is None:
            message = (
                f'"{event.notification_lifetime}" is not a duration (PT10M) from PT1S to '
                f"{written_duration(LONGEST_LIFETIME_S)}"
            )
            yield self._problem((*path, "notification_lifetime"), "D140", message)

    def _check_indexes(
        self, owner: str, attributes: Sequence[AttributeTable | FacetTable], path: Path, bits: int
    ) -> Iterator[Problem]:
        """Yield indexes that are out of range or taken, and duplicate names."""
        indexes: dict[int, str] = {}
        folded: set[str] = set()
        for position, attribute in enumerate(attributes):
            inner = (*path, position)
            at_index = (*inner, "index")
            if attribute.index == bits - 1:
                reserved = f"attribute index {attribute.index} is reserved for the event's age"
                yield self._problem(at_index, "D206", f"{reserved}; use 0..{bits - 2}")
            elif not 0 <= attribute.index < bits:
                outside = f"attribute index {attribute.index} is outside 0..{bits - 2}"
                yield self._problem(at_index, "D206", outside)
            elif attribute.index in indexes:
                clash = f'attribute index {attribute.index} is taken by "{indexes[attribute.index]}"'
                yield self._problem(at_index, "D206", clash)
            indexes.setdefault(attribute.index, attribute.name)
            if fold(attribute.name) in folded:
                twice = f'attribute "{attribute.name}" is defined twice in {owner}'
                message = f"{twice} (case and _ do not count)"
                yield self._problem((*inner, "name"), "D207", message)
            folded.add(fold(attribute.name))

    def _check_event(self, event: EventTable, path: Path, bits: int, with_units: bool) -> Iterator[Problem]:
        yield from self._check_indexes(event.name, event.attribute, (*path, "attribute"), bits)
        names = {attribute.name for attribute in event.attribute}
        for position, attribute in enumerate(event.attribute):
            inner = (*path, "attribute", position)
            yield from self._check_attribute(attribute, inner)
            if with_units and attribute.unit is not None:
                yield from self._check_unit(attribute.unit, inner)
        for position, name in enumerate(event.location or ()):
            if name not in names:
                message = (
                    f'location names attribute "{name}", which {event.name} lacks{did_you_mean(name, names)}'
                )
                problem = self._problem((*path, "location"), "D213", message)
                meant = likely_meant(name, names)
                yield replace(problem, fixes=self.positions.replaced((*path, "location", position), meant))

    def _check_attribute(self, attribute: AttributeTable, path: Path) -> Iterator[Problem]:
        if attribute.type == "nominal":
            yield from self._check_value_list(attribute, path)
        else:
            if attribute.values is not None:
                message = f"values belong to a nominal attribute; {attribute.name} is a {attribute.type}"
                yield self._problem((*path, "values"), "D209", message)
            faults = [*self._check_domain(attribute, path)]
            yield from faults or self._check_scale(attribute, path)
            yield from () if faults else self._check_terms_in_domain(attribute, path)
        for name, table in attribute.terms.items():
            reason = _broken_reference(name, {key: inner.term() for key, inner in attribute.terms.items()})
            if reason:
                yield self._problem((*path, "terms", name), "D211", reason)
            if attribute.type == "nominal" and table.universal is None:
                message = f"{attribute.name} is nominal: its values have no order for a curve"
                yield self._problem((*path, "terms", name), "D210", message)

    def _check_value_list(self, attribute: AttributeTable, path: Path) -> Iterator[Problem]:
        values = attribute.values
        unfit = (attribute.domain, attribute.decimals, attribute.unit) != (None, None, None)
        if unfit or attribute.scale != "linear":
            message = f"{attribute.name} is nominal: give `values`, not a domain, decimals, unit or scale"
            yield self._problem(path, "D208", message)
        if not values:
            yield self._problem(path, "D209", f"{attribute.name} is nominal: list its values")
            return
        if len(values) > LONGEST_VALUE_LIST:
            message = f"{len(values)} values; the maximum is {LONGEST_VALUE_LIST}"
            yield self._problem((*path, "values"), "D209", message)
        for position, value in enumerate(values):
            if value in values[:position]:
                yield self._problem((*path, "values", position), "D209", f'value "{value}" is listed twice')
            elif not value or value != value.strip() or not value.isprintable():
                message = f"value {value!r} is empty, starts or ends with a blank, or is not printable"
                yield self._problem((*path, "values", position), "D209", message)

    def _check_domain(self, attribute: AttributeTable, path: Path) -> Iterator[Problem]:
        place = (*path, "domain")
        if attribute.type in ("time", "date") and (attribute.decimals or attribute.unit is not None):
            message = f"{attribute.name} is a {attribute.type}: it has no decimals and no unit"
            yield self._problem(path, "D208", message)
        if attribute.type == "time":
            if attribute.domain is not None:
                yield self._problem(place, "D208", "time of day has the domain 0..86400 s; leave it out")
            return
        if attribute.domain is None:
            yield self._problem(path, "D208", f"{attribute.name} is a {attribute.type}: it needs a domain")
            return
        wanted = datetime.date if attribute.type == "date" else Decimal
        if not all(type(end) is wanted for end in attribute.domain):
            kind = "dates (2026-01-31)" if attribute.type == "date" else "numbers"
            yield self._problem(place, "D208", f"the domain of {attribute.name} must be two {kind}")
            return
        lo, hi = (_exactly_scaled(end, _decimals(attribute)) for end in attribute.domain)
        if lo.denominator != 1 or hi.denominator != 1:
            message = (
                f"the domain has more than {_decimals(attribute)} decimals; raise `decimals` or round it"
            )
            yield self._problem(place, "D208", message)
        elif lo >= hi:
            yield self._problem(place, "D208", "the domain is empty: its first end is not below its second")
        elif hi - lo >= SCALED_RANGE_LIMIT or max(abs(lo), abs(hi)) >= SCALED_END_LIMIT:
            message = (
                f"the domain has {int(hi - lo)} steps of {_decimals(attribute)} decimals; boards support "
                f"fewer than {SCALED_RANGE_LIMIT} (and ends below {SCALED_END_LIMIT}); lower `decimals`"
            )
            yield self._problem(place, "D208", message)

    def _check_scale(self, table: AttributeTable, path: Path) -> Iterator[Problem]:
        if table.scale == "linear":
            return
        place, attribute = (*path, "scale"), _attribute(table, with_scale=False)
        if table.type != "number" or table.domain is None:
            message = f"{table.name} is a {table.type}: only numbers have a scale"
            yield self._problem(place, "D215", message)
        elif table.scale == "log":
            if attribute.lo_scaled <= 0:
                message = f"a logarithmic scale needs a domain above 0, not from {attribute.lo:g}"
                yield self._problem(place, "D215", f"{message}; give breakpoints [[value, byte], …]")
        else:
            lo, hi = (Decimal(str(end)) for end in table.domain)
            for fault in faults_of_breakpoints(table.scale, lo, hi, attribute.decimals):
                yield self._problem(place, "D215", f"the scale of {table.name}: {fault}")

    def _check_terms_in_domain(self, table: AttributeTable, path: Path) -> Iterator[Problem]:
        """Yield the terms that lie outside of the domain, which no reading can satisfy."""
        attribute = _attribute(table, with_scale=False)
        for name, term in attribute.terms.items():
            if not isinstance(term, Hedged) and misses(term, attribute.lo, attribute.hi):
                message = (
                    f'term "{name}" lies outside of the domain of {table.name}, '
                    f"{attribute.lo:g}..{attribute.hi:g} {attribute.unit}".rstrip()
                )
                yield self._problem(
                    (*path, "terms", name), "D216", f"{message}: no reading can satisfy it; move it"
                )

    def _check_unit(self, unit: str, path: Path) -> Iterator[Problem]:
        try:
            check_unit(unit)
        except UnitError as error:
            yield self._problem((*path, "unit"), "D212", str(error))

    def _problem(self, path: Path, code: str, message: str) -> Problem:
        return self.positions.problem(self.file, path, code, message)


def _broken_reference(name: str, terms: dict[str, Term]) -> str:
    """Return why a hedged term is undefined or circular, or nothing."""
    seen = [name]
    term = terms[name]
    while isinstance(term, Hedged):
        if term.of not in terms:
            return (
                f'term "{seen[-1]}" refers to "{term.of}", which is not defined{did_you_mean(term.of, terms)}'
            )
        if term.of in seen:
            return f'term "{name}" refers to itself: {" → ".join([*seen, term.of])}'
        seen.append(term.of)
        term = terms[term.of]
    return ""


def _decimals(attribute: AttributeTable) -> int:
    if attribute.type != "number":
        return 0
    return 2 if attribute.decimals is None else attribute.decimals


def _exactly_scaled(end: DomainEnd, decimals: int) -> Fraction:
    if isinstance(end, Decimal):
        return Fraction(end) * Fraction(10) ** decimals
    return Fraction(days_since_epoch(end))


def _event(table: EventTable) -> EventClass:
    attributes = tuple(_attribute(inner) for inner in sorted(table.attribute, key=lambda inner: inner.index))
    places = {place.name: (place.x, place.y) for place in table.place}
    return EventClass(
        table.name,
        table.index,
        attributes,
        table.location,
        places,
        table.about,
        _lifetime_s(table) or NOTIFICATION_LIFETIME_S,
    )


def _lifetime_s(table: EventTable | GraphTable) -> int | None:
    """Return the notification lifetime in seconds, rounded up; None if it is missing or invalid."""
    seconds = None if table.notification_lifetime is None else duration_s(table.notification_lifetime)
    return math.ceil(seconds) if seconds is not None and 1 <= seconds <= LONGEST_LIFETIME_S else None


def _attribute(table: AttributeTable, *, with_scale: bool = True) -> Attribute:
    decimals = _decimals(table)
    if table.type == "nominal":
        lo, hi = 0, max(len(table.values or ()) - 1, 0)
    elif table.type == "time" or table.domain is None:
        lo, hi = 0, SECONDS_OF_A_DAY
    else:
        lo, hi = (int(_exactly_scaled(end, decimals)) for end in table.domain)
    unit = {"time": "s", "date": "day"}.get(table.type, table.unit or "")
    terms = {name: inner.term() for name, inner in table.terms.items()}
    return Attribute(
        table.name,
        table.index,
        table.type,
        lo,
        hi,
        decimals,
        unit,
        tuple(table.values or ()),
        terms,
        table.about,
        _breakpoints(table, lo, hi) if with_scale else (),
    )


def _breakpoints(table: AttributeTable, lo_scaled: int, hi_scaled: int) -> Breakpoints:
    if table.scale == "linear" or table.type != "number":
        return ()
    if table.scale == "log":
        return log_breakpoints(lo_scaled, hi_scaled)
    found = scaled_breakpoints(table.scale, _decimals(table))
    return () if is_even(lo_scaled, hi_scaled, found) else found
