"""A second language, as small as one can be: "notify me when this attribute is at least that".

    <alarm xmlns="urn:test:alarm:1" event="patient" attribute="heart_rate" least="120"/>

Its body is the event class, the attribute and the byte of the bound; a notification is the same three. It
offers what a language must, relations, and one algorithm by name, but neither explanations nor pictures, no
way back from bytes, no workloads and no terms: a request for those is refused with a message.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pytest

from dens.config.problems import DocumentError
from knowledge_manager.mission_table import MissionTable
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins import registry
from plugins.authoring import DEFAULTS, Authoring, Compiled, CompileOptions, Description, VectorKind
from plugins.authoring.constants import BadConstant, reading_of
from plugins.authoring.output.description import Fields
from plugins.authoring.xml.document import no_subscription, read_xml
from plugins.byte_readings import byte_of
from plugins.language import Match, Release, Requirement, SubscriptionKey, SubscriptionLanguage
from plugins.lookup import MeasuresAny
from plugins.relations import PlainForest
from watchdog.header import BODY_AT, HEADER_LIFETIME
from watchdog.reading import Reading
from watchdog.vector import VectorError

NAMESPACE: Final = "urn:test:alarm:1"
LIFETIME_Q: Final = 100


def alarm(event: str = "patient", attribute: str = "heart_rate", least: str = "120") -> str:
    """Return a document of this language."""
    return f'<alarm xmlns="{NAMESPACE}" event="{event}" attribute="{attribute}" least="{least}"/>\n'


def parts(body: bytes) -> tuple[int, int, int]:
    if len(body) != 3:
        raise VectorError(min(len(body), 3), "an alarm is three bytes")
    return body[0], body[1], body[2]


class AlarmLookUp:
    def question(self, body: bytes) -> MeasuresAny:
        event, attribute, _ = parts(body)
        return MeasuresAny((Requirement(event, frozenset({attribute})),))


class AlarmFilter:
    def __init__(self) -> None:
        self._held: dict[SubscriptionKey, tuple[int, int, int]] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        self._held[key] = parts(body)

    def remove(self, key: SubscriptionKey) -> None:
        self._held.pop(key, None)

    def feed(self, reading: Reading) -> list[Release]:
        told = {
            bytes((event, attribute, reading.row[attribute]))
            for event, attribute, least in self._held.values()
            if event == reading.event and reading.has(attribute) and reading.row[attribute] >= least
        }
        return [Release(vector, 255) for vector in sorted(told)]


class AlarmMatcher:
    def __init__(self) -> None:
        self._held: dict[SubscriptionKey, tuple[int, int, int]] = {}

    def add(self, key: SubscriptionKey, body: bytes) -> None:
        self._held[key] = parts(body)

    def remove(self, key: SubscriptionKey) -> None:
        self._held.pop(key, None)

    def match(self, vector: bytes, event_ms: int, now_ms: int) -> list[Match]:
        event, attribute, value = parts(vector)
        return [
            Match(key, 255, bytes((value - least,)))
            for key, (of, on, least) in sorted(self._held.items())
            if (of, on) == (event, attribute) and value >= least
        ]

    def match_batch(
        self, notifications: Sequence[tuple[bytes, int]], now_ms: int
    ) -> Iterator[tuple[int, list[Match]]]:
        for position, (vector, event_ms) in enumerate(notifications):
            yield position, self.match(vector, event_ms, now_ms)


class AlarmRelations:
    def covers(self, one: bytes, other: bytes) -> bool:
        wide, narrow = parts(one), parts(other)
        return wide[:2] == narrow[:2] and wide[2] <= narrow[2]

    def intersects(self, one: bytes, other: bytes) -> bool:
        return parts(one)[:2] == parts(other)[:2]

    def merge(self, one: bytes, other: bytes) -> bytes | None:
        return min(one, other) if self.intersects(one, other) else None

    def forest(self) -> PlainForest:
        return PlainForest(self.covers)


class AlarmAuthoring(Authoring):
    def compile(
        self, source: bytes, file: str, table: MissionTable, options: CompileOptions = DEFAULTS
    ) -> Compiled:
        document = read_xml(source, file)
        root = document.root
        if root.tag != f"{{{NAMESPACE}}}alarm":
            raise no_subscription(document, NAMESPACE, element="alarm")
        given = {name: str(root.get(name, "")) for name in ("event", "attribute", "least")}
        try:
            event = table.event(given["event"])
            attribute = event.attribute(given["attribute"])
            byte = byte_of(reading_of(given["least"], attribute), attribute)
        except (UnknownName, BadConstant) as error:
            raise DocumentError([document.problem(document.span(root), "D114", str(error))]) from None
        body = bytes((event.index, attribute.index, byte))
        spans = tuple(document.attribute_span(root, name) for name in given)
        return Compiled(body, LIFETIME_Q, steps={"alarm": given}, spans=spans)

    def meaning(self, body: bytes) -> bytes:
        return body

    def describe(
        self, vector: bytes, table: MissionTable | None, kind: VectorKind | None = None
    ) -> Description:
        is_alarm = kind == "sv" or (kind is None and len(vector) == BODY_AT + 3)
        event, attribute, value = parts(vector[BODY_AT:] if is_alarm else vector)
        fields = Fields(vector)
        if is_alarm:
            fields.take(BODY_AT, "header", f"lifetime code {vector[HEADER_LIFETIME]}")
        fields.take(1, "event", str(event))
        fields.take(1, "attribute", str(attribute))
        fields.take(1, "bound" if is_alarm else "value", str(value))
        said = f"attribute {attribute} of event class {event} is {'at least ' * is_alarm}{value}"
        facts: Mapping[str, int] = {"event": event, "attribute": attribute, "value": value}
        what = "alarm" if is_alarm else "notification"
        return Description(what, vector, fields.found(), (said,), dict(facts))

    def describe_match(self, match: Match, table: MissionTable) -> str:
        if len(match.detail) != 1:
            raise VectorError(0, "the detail of an alarm is one byte")
        return f"{match.detail[0]} above its bound"

    def happened_s(self, notification: bytes) -> None:
        return None


TOY: Final = SubscriptionLanguage(
    language_id=200,
    name="alarm",
    lookup=lambda table: AlarmLookUp(),
    source_filter=lambda table: AlarmFilter(),
    matcher=lambda table: AlarmMatcher(),
    authoring=AlarmAuthoring,
    namespaces=(NAMESPACE,),
    algorithms={"plain": lambda table: AlarmMatcher()},
    relations=lambda table: AlarmRelations(),
)


def register(monkeypatch: pytest.MonkeyPatch, *more: SubscriptionLanguage) -> None:
    """Let the registry know this language (and others) until the test is over."""
    found = registry._installed()
    known = {**found, **{one.language_id: registry.entry_of(one) for one in (TOY, *more)}}
    monkeypatch.setattr(registry, "_installed", lambda: known)
