"""Streams of letters, as the papers write them: one nominal value a reading."""

from knowledge_manager.mission_table import MissionTable, load_mission_table
from plugins.authoring.streams import StreamReading
from plugins.composite.search.watched import Watched, watched
from plugins.composite.vectors import decode_body
from plugins.registry import authoring_of, language_named
from tests.paths import ROOT

TABLE: MissionTable = load_mission_table([str(ROOT / "tests/plugins/composite/sessions.toml")])
VALUES = {"d": 0, "s": 1, "l": 2, "p": 3}
NAMES = {"d": "denied", "s": "successful", "l": "logoff", "p": "passwd"}
COMPOSITE = language_named("composite")
AUTHORING = authoring_of(COMPOSITE)


def document(
    pattern: str, attributes: str = 'window="PT10M"', rest: str = "", letters: str = "dslp"
) -> bytes:
    """Return a composite over letters; each is a primitive."""
    primitives = "".join(
        f'<primitive name="{letter}" event="session"><crisp-predicate attribute="status" operator="eq">'
        f"{NAMES[letter]}</crisp-predicate></primitive>"
        for letter in letters
        if letter in pattern
    )
    text = pattern.replace("<", "&lt;").replace(">", "&gt;")
    inside = f"{primitives}<pattern>{text}</pattern>{rest}"
    return f'<composite xmlns="urn:dens:composite:1" {attributes}>{inside}</composite>'.encode()


def compiled(pattern: str, attributes: str = 'window="PT10M"', rest: str = "") -> bytes:
    return AUTHORING.compile(document(pattern, attributes, rest), "a.xml", TABLE).body


def looked_for(body: bytes) -> Watched:
    return watched((2, 1), 0, body, decode_body(body, 1, TABLE), 1)


def readings(letters: str, seconds: list[int] | None = None) -> list[StreamReading]:
    """Return one reading per letter, a second apart by default; `o` is none of them."""
    times = list(range(len(letters))) if seconds is None else seconds
    return [
        StreamReading(1, 3, number, second, {0: VALUES[letter], 1: 0} if letter in VALUES else {1: 0})
        for number, (letter, second) in enumerate(zip(letters, times, strict=True))
    ]


def found(pattern: str, stream: list[StreamReading], attributes: str = 'window="PT10M"') -> list[dict]:
    source = document(pattern, attributes)
    made = AUTHORING.compile(source, "a.xml", TABLE)
    return AUTHORING.match_stream(bytes(3) + made.body, TABLE, made, stream).as_document()["ends"]


def witnesses(ends: list[dict]) -> list[dict[str, int]]:
    return [{one["use"]: one["number"] for one in end["witness"]} for end in ends]
