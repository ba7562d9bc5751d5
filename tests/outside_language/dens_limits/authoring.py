"""How people write limits, and how bytes are put into words again.

<limits xmlns="urn:example:limits:1" event="patient" mode="any" valid="PT2H">
  <limit attribute="patient_temperature" least="38.25"/>
  <limit attribute="heart_rate" least="40" most="120"/>
</limits>

<measured xmlns="urn:example:limits:1" event="patient">        (a document that is published as it stands)
  <value attribute="heart_rate">131</value>
</measured>
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from dens_limits.cells import LAST_CELL, cell_of
from dens_limits.judging import judge
from dens_limits.nodes import NAMESPACE, attributes_of, checked
from dens_limits.vectors import (
    MOST_LIMITS,
    Body,
    Limit,
    Told,
    decode_body,
    decode_detail,
    decode_notification,
    encode_notification,
)

from dens.config.problems import DocumentError, Problem
from knowledge_manager.durations import duration_s, written_duration
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.thesaurus.thesaurus import Thesaurus
from knowledge_manager.vocabulary.event_class import Attribute, EventClass, UnknownName
from plugins.authoring import (
    DEFAULTS,
    Authoring,
    Compiled,
    CompileOptions,
    Description,
    Explanation,
    VectorKind,
)
from plugins.authoring.output.description import Fields
from plugins.authoring.xml.document import SubscriptionDocument, no_subscription, read_xml
from plugins.language import Match
from plugins.publications import Publication
from plugins.value_texts import corners_of, fault_of
from watchdog.header import BODY_AT, HEADER_LIFETIME, body_of
from watchdog.lifetime import LONGEST_LIFETIME_S, lifetime_code, lifetime_s
from watchdog.vector import VectorError


class Reader:
    """Reads one document; everything wrong with it is noted with its place."""

    def __init__(self, source: bytes, file: str, table: MissionTable, root: str) -> None:
        self.document: SubscriptionDocument = read_xml(source, file)
        if self.document.root.tag != f"{{{NAMESPACE}}}{root}":
            raise no_subscription(self.document, NAMESPACE, element=root)
        self.problems: list[Problem] = []
        self.event: EventClass | None = None
        try:
            self.event = table.event(str(self.document.root.get("event", "")))
        except UnknownName as error:
            self.complain(self.document.root, "event", "D114", str(error))

    def complain(self, element: Any, name: str, code: str, message: str) -> None:
        """Note what is wrong with an attribute of an element."""
        self.problems.append(
            self.document.problem(self.document.attribute_span(element, name), code, message)
        )

    def attribute(self, element: Any) -> Attribute | None:
        """Return the attribute that an element is about."""
        if self.event is None:
            return None
        try:
            found = self.event.attribute(str(element.get("attribute", "")))
        except UnknownName as error:
            self.complain(element, "attribute", "D114", str(error))
            return None
        if found.type == "nominal":
            self.complain(element, "attribute", "D114", f"{found.name} has names, and names have no limits")
            return None
        return found

    def scaled(self, element: Any, name: str, text: str, attribute: Attribute) -> int | None:
        """Return a value in scaled integers; what is none is noted."""
        fault, corners = fault_of(text, attribute), corners_of(text, attribute)
        if fault is not None or corners is None:
            self.complain(element, name, "D114", fault.message if fault else f"{text} is not a value")
            return None
        return (corners[1] + corners[2]) // 2

    def done(self) -> None:
        """Raise what was noted."""
        if self.problems:
            raise DocumentError(self.problems)


class LimitsAuthoring(Authoring):
    """Writes, checks, describes, explains and decompiles limits."""

    def compile(
        self, source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
    ) -> Compiled:
        reader = Reader(source, file, table, "limits")
        root = reader.document.root
        mode, valid = str(root.get("mode", "all")), str(root.get("valid", "P1D"))
        if mode not in ("all", "any"):
            reader.complain(root, "mode", "D114", f'mode is "{mode}"; it is all or any')
        seconds = duration_s(valid)
        if seconds is None or not 0 < seconds <= LONGEST_LIFETIME_S:
            reader.complain(root, "valid", "D119", f'valid is "{valid}"; it is a duration such as PT2H')
        elements = root.findall(f"{{{NAMESPACE}}}limit")
        if not 1 <= len(elements) <= MOST_LIMITS:
            reader.complain(root, "event", "D114", f"there are 1 to {MOST_LIMITS} limits")
        limits: dict[int, Limit] = {}
        for element in elements:
            attribute = reader.attribute(element)
            if attribute is None:
                continue
            first, last = 0, LAST_CELL
            if (least := element.get("least")) is not None:
                scaled = reader.scaled(element, "least", str(least), attribute)
                first = 0 if scaled is None else cell_of(scaled, attribute)
            if (most := element.get("most")) is not None:
                scaled = reader.scaled(element, "most", str(most), attribute)
                last = LAST_CELL if scaled is None else cell_of(scaled, attribute)
            if first > last:
                reader.complain(element, "least", "D114", "the least is above the most")
            limits[attribute.index] = Limit(attribute.index, first, last)
        reader.done()
        assert reader.event is not None
        assert seconds is not None
        body = Body("any" if mode == "any" else "all", reader.event.index, tuple(limits.values())).encode()
        return Compiled(body, lifetime_code(math.ceil(seconds)), steps={"limits": len(limits), "mode": mode})

    def check(
        self, source: bytes, file: str, table: MissionTable, thesaurus: Thesaurus | None = None
    ) -> list[Problem]:
        try:
            return list(self.compile(source, file, table).warnings)
        except DocumentError as error:
            return list(error.problems)

    def meaning(self, body: bytes) -> bytes:
        return body

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        if kind != "nv":
            try:
                return self._described(vector, table)
            except VectorError:
                if kind == "sv":
                    raise
        notification = decode_notification(vector)
        fields = Fields(vector)
        fields.take(2, "number", "")
        fields.take(1, "event", str(notification.event))
        fields.take(1, "values", str(len(notification.cells)))
        said = [
            f"{_name(notification.event, at, table)} is {_value(notification.event, at, cell, table)}"
            for at, (cell, _) in notification.cells.items()
        ]
        for at, (cell, _) in notification.cells.items():
            fields.take(3, _name(notification.event, at, table), f"cell {cell}")
        return Description("notification", vector, fields.found(), tuple(said), {"event": notification.event})

    def _described(self, vector: bytes, table: MissionTable | None) -> Description:
        body = body_of(vector)
        parts = decode_body(body) if table is None else checked(body, table)
        fields = Fields(vector)
        fields.take(BODY_AT, "header", f"lives {written_duration(lifetime_s(vector[HEADER_LIFETIME]))}")
        fields.take(1, "mode", parts.mode)
        fields.take(1, "event", str(parts.event))
        fields.take(1, "limits", str(len(parts.limits)))
        said = []
        for limit in parts.limits:
            name = _name(parts.event, limit.attribute, table)
            low, high = (
                _value(parts.event, limit.attribute, cell, table) for cell in (limit.first, limit.last)
            )
            fields.take(5, name, f"cells {limit.first} to {limit.last}")
            said.append(f"{name} from {low} to {high}")
        joined = (" or " if parts.mode == "any" else " and ").join(said)
        return Description("subscription", vector, fields.found(), (joined,), {"mode": parts.mode})

    def describe_match(self, match: Match, table: MissionTable) -> str:
        is_certain, attribute, cells = decode_detail(match.detail)
        known = "certainly" if is_certain else "possibly, as far as its byte shows"
        return f"{known}; attribute {attribute} is nearest to its limit, {cells} cells away"

    def happened_s(self, notification: bytes) -> int | None:
        return None

    @property
    def explain(self) -> Callable[[bytes, MissionTable, Mapping[str, str], int], Explanation]:
        return _explained

    @property
    def decompile(self) -> Callable[[bytes, MissionTable], str]:
        return _decompiled


class Explained:
    """Why limits hold, or not."""

    def __init__(self, lines: list[str], degree: int) -> None:
        self._lines = lines
        self._degree = degree

    def lines(self) -> list[str]:
        return self._lines

    def as_document(self) -> dict[str, Any]:
        return {"degree_u8": self._degree, "words": self._lines}


def _explained(vector: bytes, table: MissionTable, values: Mapping[str, str], age_s: int) -> Explained:
    parts = checked(body_of(vector), table)
    known = attributes_of(parts.event, table)
    cells: dict[int, tuple[int, int]] = {}
    for attribute in known.values():
        corners = corners_of(values[attribute.name], attribute) if attribute.name in values else None
        if corners is not None:
            cells[attribute.index] = (cell_of(corners[0], attribute), cell_of(corners[3], attribute))
    found = judge(parts, Told(parts.event, cells))
    lines = []
    for limit in parts.limits:
        name = known[limit.attribute].name
        cell = cells.get(limit.attribute)
        lines.append(f"{name}: cells {limit.first} to {limit.last} wanted, {cell or 'nothing'} is given")
    lines.append("it does not match" if found is None else f"it matches, degree {found[0]}/255")
    return Explained(lines, 0 if found is None else found[0])


def _decompiled(vector: bytes, table: MissionTable) -> str:
    parts = checked(body_of(vector), table)
    known = attributes_of(parts.event, table)
    event = next(one.name for one in table.events if one.index == parts.event)
    lines = []
    for limit in parts.limits:
        attribute = known[limit.attribute]
        low, high = (_least(cell, attribute) for cell in (limit.first, min(limit.last + 1, LAST_CELL + 1)))
        bounds = f' least="{_written(low, attribute)}"' if limit.first else ""
        bounds += f' most="{_written(high - 1, attribute)}"' if limit.last < LAST_CELL else ""
        lines.append(f'  <limit attribute="{attribute.name}"{bounds}/>')
    valid = written_duration(lifetime_s(vector[HEADER_LIFETIME]))
    inner = "\n".join(lines)
    head = f'<limits xmlns="{NAMESPACE}" event="{event}" mode="{parts.mode}" valid="{valid}">'
    return f"{head}\n{inner}\n</limits>\n"


def _least(cell: int, attribute: Attribute) -> int:
    """Return the least scaled value in a cell, or the first above it where the cell has none."""
    span = attribute.hi_scaled - attribute.lo_scaled
    return attribute.lo_scaled + -(-cell * span // LAST_CELL)


def _written(scaled: int, attribute: Attribute) -> str:
    return f"{scaled / 10**attribute.decimals:.{attribute.decimals}f}"


def _name(event: int, attribute: int, table: MissionTable | None) -> str:
    if table is None:
        return f"attribute {attribute}"
    return attributes_of(event, table)[attribute].name


def _value(event: int, attribute: int, cell: int, table: MissionTable | None) -> str:
    if table is None:
        return f"cell {cell}"
    known = attributes_of(event, table)[attribute]
    return f"{_written(_least(cell, known), known)} {known.unit}".strip()


class Measured:
    """Reads documents with manual measurements."""

    def read(self, source: bytes, file: str, table: MissionTable) -> Publication:
        reader = Reader(source, file, table, "measured")
        cells: dict[int, int] = {}
        names: list[str] = []
        for element in reader.document.root.findall(f"{{{NAMESPACE}}}value"):
            attribute = reader.attribute(element)
            if attribute is None:
                continue
            scaled = reader.scaled(element, "attribute", (element.text or "").strip(), attribute)
            if scaled is not None:
                cells[attribute.index] = cell_of(scaled, attribute)
                names.append(attribute.name)
        if not cells:
            reader.complain(reader.document.root, "event", "D114", "it says no value")
        reader.done()
        assert reader.event is not None
        vector = encode_notification(0, reader.event.index, cells)
        return Publication(vector, reader.event.name, tuple(names))
