"""From a document to boxes: predicates, then conditions, then the canonical form."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lxml import etree

from dens.config.problems import DocumentError, Problem
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import Attribute
from plugins.authoring import DEFAULTS, Compiled, CompileOptions
from plugins.authoring.output.reading_words import amount_words
from plugins.authoring.xml.compared_readings import compared_readings
from plugins.authoring.xml.comparisons import compared_constants
from plugins.authoring.xml.compiling import reader_of, refuse, refuse_problems, rounded_lifetime
from plugins.authoring.xml.document import SubscriptionDocument, read_subscription, read_xml
from plugins.authoring.xml.domain import unit_of
from plugins.authoring.xml.reader import PredicateReader
from plugins.authoring.xml.root_attributes import read_valid
from plugins.authoring.xml.schema import DocumentSchema
from plugins.boxes import NAMESPACE
from plugins.boxes.authoring.conditions import (
    Condition,
    Joined,
    Not,
    Predicate,
    TooManyBoxes,
    boxes_of,
    multiplies_most,
    other_runs,
    runs_of,
)
from plugins.boxes.authoring.words import byte_words, runs_words
from plugins.boxes.nodes import MOST_EXACT_PARTS
from plugins.boxes.simplify import simplified
from plugins.boxes.vectors import MOST_BOXES, BoxesBody, encode_body, last_bytes
from plugins.byte_readings import Range, all_but, count, readings_of, step_at

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

SCHEMA: Final = DocumentSchema(NAMESPACE, "plugins.boxes", "boxes.xsd")


_FUZZY: Final = "use the fuzzy language (urn:dens:subscription:1) for that; boxes are crisp"
_ELSEWHERE: Final = {
    "aggregating-function": ("D182", "boxes have no degrees to aggregate"),
    "function": ("D182", "boxes have no degrees to aggregate"),
    "predicate-pattern": ("D182", "here, and, or and not enclose predicates directly"),
    "approximate-predicate": ("D183", "an approximate predicate has degrees"),
    "fuzzy-set": ("D183", "a fuzzy set has degrees"),
    "hedge": ("D184", "a hedge modifies degrees"),
    "within-last": ("D184", "boxes ignore the age of events"),
}
"""Elements of the fuzzy language that are not allowed here: their codes, and why."""
_ELSEWHERE_ATTRIBUTES: Final = {
    "threshold": ("D181", "a box has no degree"),
    "keep": ("D184", "boxes ignore the age of events"),
}


def compile_boxes(
    source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
) -> Compiled:
    """Return the compiled subscription. All errors raise one `DocumentError`."""
    _refuse_degrees(read_xml(source, file))
    document = read_subscription(source, file, SCHEMA)
    reader = reader_of(document, table, options.thesaurus)
    condition, valid = _Reading(reader).read()
    last = last_bytes(reader.event)
    try:
        boxes = simplified(boxes_of(condition), last)
    except TooManyBoxes:
        boxes = ()
        reader.problems.append(_too_many(document, condition, "far more"))
    else:
        if not boxes:
            message = "no event can satisfy this: its conditions contradict each other"
            reader.complain(document.span(document.root), "D185", message)
        elif len(boxes) > MOST_BOXES:
            reader.problems.append(_too_many(document, condition, str(len(boxes))))
    refuse(reader.problems, document, strict=options.strict)
    body = encode_body(BoxesBody(options.stamp_s % 65536, reader.event.index, boxes), table.feature_bytes)
    remarks = list(rounded_lifetime(document, valid))
    if len(boxes) > MOST_EXACT_PARTS:
        remarks.append(
            f"{len(boxes)} boxes: boards filter by the hulls of those with the same attributes and may "
            "release too much"
        )
    return Compiled(
        body=body,
        lifetime_q=valid,
        warnings=tuple(sorted(reader.problems)),
        remarks=tuple(remarks),
        steps={
            "boxes": [
                [{"attribute": index, "v": low, "V": high} for index, low, high in box] for box in boxes
            ],
            "words": [word.as_document() for word in reader.words.resolved],
        },
    )


def _refuse_degrees(document: SubscriptionDocument) -> None:
    """Refuse elements of the fuzzy language before the schema reports them as unknown."""
    problems = []
    for name, (code, why) in _ELSEWHERE_ATTRIBUTES.items():
        if name in document.root.attrib:
            span = document.attribute_span(document.root, name)
            problems.append(document.problem(span, code, f'"{name}": {why}; {_FUZZY}'))
    for element in document.root.iter(etree.Element):
        name = etree.QName(element).localname
        if name in _ELSEWHERE:
            code, why = _ELSEWHERE[name]
            problems.append(document.problem(document.span(element), code, f"<{name}>: {why}; {_FUZZY}"))
    if problems:
        raise DocumentError(problems)


def _too_many(document: SubscriptionDocument, condition: Condition, boxes: str) -> Problem:
    most = multiplies_most(condition)
    if isinstance(most, Predicate):
        named = f"{most.name} has the most alternatives"
    else:
        named = f"this <{most.connective}> has the most alternatives, {len(most.parts)}"
    message = f"{boxes} boxes, at most {MOST_BOXES} are allowed; {named}: write several subscriptions"
    return document.problem(most.span, "D186", message)


@dataclass(slots=True)
class _Read:
    """A predicate."""

    attribute: Attribute
    wanted: tuple[Range, ...]
    runs: tuple[Range, ...]


class _Reading:
    """Reads the conditions of one document."""

    def __init__(self, reader: PredicateReader) -> None:
        self.document = reader.document
        self.reader = reader

    def read(self) -> tuple[Condition, int]:
        """Return the condition and the encoded lifetime. All errors raise one `DocumentError`."""
        root = self.document.root
        valid = read_valid(root.get("valid"), self.document.attribute_span(root, "valid"), self.reader)
        condition = self._joined("and", root)
        refuse_problems(self.reader)
        assert condition is not None
        return condition, valid

    def _joined(self, connective: str, element: "Element", *, turned: bool = False) -> Condition | None:
        parts = [self._condition(child, turned=turned) for child in element.iterchildren(etree.Element)]
        present = tuple(part for part in parts if part is not None)
        if len(present) < 2:
            return present[0] if present else None
        return Joined(connective, present, self.document.span(element))

    def _condition(self, element: "Element", *, turned: bool) -> Condition | None:
        """Return the condition of an element; `turned` is set inside an odd number of <not>."""
        name = etree.QName(element).localname
        if name == "not":
            part = self._condition(next(element.iterchildren(etree.Element)), turned=not turned)
            return None if part is None else Not(part)
        if name in ("and", "or"):
            return self._joined(name, element, turned=turned)
        read = self._bytes(element) if name == "bytes" else self._comparison(element)
        if read is None:
            return None
        others, span = other_runs(read.runs, read.attribute), self.document.span(element)
        if read.wanted:
            requested = tuple(all_but(read.wanted, read.attribute)) if turned else read.wanted
            if rounded := _rounded(read.attribute, requested, others if turned else read.runs):
                self.reader.warn(span, "D187", ("inside <not>, " if turned else "") + rounded)
        return Predicate(read.attribute.index, read.runs, others, read.attribute.name, span)

    def _bytes(self, element: "Element") -> _Read | None:
        named = self.reader.attribute(element)
        if named is None:
            return None
        low, high = int(str(element.get("v"))), int(str(element.get("V")))
        if low > high:
            self.reader.complain(self.document.span(element), "D109", "the range is empty: v is above V")
            return None
        return _Read(named.attribute, (), ((low, high),))

    def _comparison(self, element: "Element") -> _Read | None:
        reader = self.reader
        named = reader.attribute(element)
        unit = None if named is None else unit_of(element, named, reader)
        if named is None or unit is None:
            return None
        attribute, operator = named.attribute, str(element.get("operator")).strip()
        constants = compared_constants(element, operator, attribute, unit, reader)
        if constants is None:
            return None
        # complements are made of bytes: a value differs from a constant if its byte does
        is_other = operator == "ne"
        requested = compared_readings("eq" if is_other else operator, constants, attribute)
        span = self.document.span(element)
        if not requested:
            message = f'"{operator}" leaves no reading of {attribute.name}: the range is empty'
            reader.complain(span, "D109", message)
            return None
        runs = runs_of(requested, attribute)
        wanted = requested
        if is_other:
            runs, wanted = other_runs(runs, attribute), compared_readings("ne", constants, attribute)
            if not runs:
                reader.complain(span, "D109", f'"ne" leaves no byte of {attribute.name}: the range is empty')
                return None
        return _Read(attribute, wanted, runs)


def _rounded(attribute: Attribute, wanted: tuple[Range, ...], runs: tuple[Range, ...]) -> str:
    """Return which readings are decided differently because of rounding to bytes; empty if none."""
    true = [one for low, high in runs for one in readings_of(low, high, attribute)]
    extra = _common(true, all_but(wanted, attribute))
    missed = _common(all_but(true, attribute), wanted)
    if not extra + missed:
        return ""
    domain = attribute.hi_scaled - attribute.lo_scaled + 1
    share = float(Fraction(100 * (extra + missed), domain))
    edges = [edge for one in wanted for edge in one] or [attribute.lo_scaled]
    step = max(step_at(edge, attribute) for edge in edges)
    otherwise = [f"{extra} released too"] * (extra > 0) + [f"{missed} missed"] * (missed > 0)
    return (
        f"{attribute.name}: true {runs_words(runs, attribute)}, bytes {byte_words(runs)}, in steps of "
        f"{amount_words(step, attribute)}; {share:.3g} % of the domain ({extra + missed} of {domain} "
        f"readings) is decided differently: {' and '.join(otherwise)}"
    )


def _common(one: "list[Range] | tuple[Range, ...]", other: "list[Range] | tuple[Range, ...]") -> int:
    """Return the number of readings that two lists of ranges share."""
    return count((max(a, c), min(b, d)) for a, b in one for c, d in other if max(a, c) <= min(b, d))
