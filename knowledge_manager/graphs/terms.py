"""Terms of graphs in canonical spelling, so that equal terms are identical.

Integers have no leading zeros, decimals no superfluous ones (5 and 5.0 are two terms with one value), doubles
their shortest text, instants are in UTC (also those without a zone), language tags are lower case. Derived
integer types become integers, floats the double of the same text. A literal that does not fit its datatype is
kept as is: it equals only itself and compares with nothing.
"""

import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final, NamedTuple

from dens.config.streams import STEERING

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

STRING: Final = XSD + "string"
LANGUAGE_STRING: Final = RDF + "langString"
INTEGER: Final = XSD + "integer"
DECIMAL: Final = XSD + "decimal"
DOUBLE: Final = XSD + "double"
BOOLEAN: Final = XSD + "boolean"
INSTANT: Final = XSD + "dateTime"
DATE: Final = XSD + "date"

LONGEST_NUMBER: Final = 400
"""Maximum characters of a number; Python rejects integers of several thousand digits."""

_INTEGERS: Final = frozenset(
    XSD + name
    for name in (
        *("byte", "int", "integer", "long", "short"),
        *("negativeInteger", "nonNegativeInteger", "nonPositiveInteger", "positiveInteger"),
        *("unsignedByte", "unsignedInt", "unsignedLong", "unsignedShort"),
    )
)
_READ_AS: Final = {
    **dict.fromkeys(_INTEGERS, INTEGER),
    XSD + "float": DOUBLE,
    XSD + "dateTimeStamp": INSTANT,
}
_INTEGER_TEXT: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL_TEXT: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")
_DOUBLE_TEXT: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INSTANT_TEXT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_DATE_TEXT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPECIAL_DOUBLES: Final = {"INF": "INF", "+INF": "INF", "-INF": "-INF", "NaN": "NaN"}
_IRI_TEXT: Final = re.compile(r'[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>"{}|\\^`\ud800-\udfff]*')
_TAG_TEXT: Final = re.compile(r"[a-z]{1,8}(-[a-z0-9]{1,8})*")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_FARTHEST_ZONE: Final = datetime.timedelta(hours=14)


class TermError(ValueError):
    """A text that is not a valid term."""


class Iri(NamedTuple):
    """A global name. Create it with `iri`."""

    text: str


class Blank(NamedTuple):
    """A node without a name, identified by a number within its graph."""

    number: int


class Literal(NamedTuple):
    """A text, number or time. Create it with `literal`, which normalises the spelling."""

    text: str
    datatype: str = STRING
    language: str = ""


Term = Iri | Blank | Literal


class Triple(NamedTuple):
    """One statement: subject, property, object."""

    subject: Term
    property: Term
    object: Term


Graph = frozenset[Triple]
"""A publication: a set of statements."""


def iri(text: str) -> Iri:
    """Return an absolute IRI; other texts raise `TermError`."""
    if not _IRI_TEXT.fullmatch(text):
        raise TermError(f'"{text[:80]}" is not an absolute IRI')
    return Iri(text)


def last_part(text: str) -> str:
    """Return what of an IRI people would call it by.

    >>> last_part("urn:dens:hazard:flood")
    'flood'
    """
    return text.rpartition("#" if "#" in text else "/" if "/" in text else ":")[2] or text


def literal(text: str, datatype: str = STRING, language: str = "") -> Literal:
    """Return a literal in canonical spelling; an unencodable text raises `TermError`."""
    if _SURROGATE.search(text):
        raise TermError("a text contains a surrogate (half a character)")
    if language:
        tag = language.lower()
        if not _TAG_TEXT.fullmatch(tag):
            raise TermError(f'"{language[:80]}" is not a language tag')
        return Literal(text, LANGUAGE_STRING, tag)
    datatype = _READ_AS.get(datatype, datatype)
    spelling = _SPELLINGS.get(datatype)
    canonical = None if spelling is None else spelling(text.strip(" \t\r\n"))
    return Literal(text if canonical is None else canonical, datatype)


def is_ill_formed(term: Term) -> bool:
    """Return whether a literal does not fit its datatype."""
    if not isinstance(term, Literal):
        return False
    spelling = _SPELLINGS.get(term.datatype)
    return spelling is not None and spelling(term.text) is None


def lacks_zone(text: str, datatype: str) -> bool:
    """Return whether a text is an instant without a time zone, which is read as UTC."""
    found = _INSTANT_TEXT.fullmatch(text.strip()) if _READ_AS.get(datatype, datatype) == INSTANT else None
    return found is not None and not found.group(4)


def written(term: Term) -> str:
    """Return a term in N-Triples syntax, which is also the sort key of bindings."""
    if isinstance(term, Iri):
        return f"<{term.text}>"
    if isinstance(term, Blank):
        return f"_:b{term.number}"
    quoted = f'"{_escaped(term.text)}"'
    if term.language:
        return f"{quoted}@{term.language}"
    return quoted if term.datatype == STRING else f"{quoted}^^<{term.datatype}>"


_ESCAPES: Final = str.maketrans(
    {
        **{sign: f"\\u{ord(sign):04X}" for sign in (*map(chr, range(0x20)), "\x7f", *STEERING)},
        **{"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"},
    }
)


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _integer(text: str) -> str | None:
    if len(text) > LONGEST_NUMBER or not _INTEGER_TEXT.fullmatch(text):
        return None
    return str(int(text))


def _decimal(text: str) -> str | None:
    if len(text) > LONGEST_NUMBER or not _DECIMAL_TEXT.fullmatch(text):
        return None
    whole, _, part = text.lstrip("+-").partition(".")
    whole, part = whole.lstrip("0") or "0", part.rstrip("0") or "0"
    sign = "-" if text.startswith("-") and (whole, part) != ("0", "0") else ""
    return f"{sign}{whole}.{part}"


def _double(text: str) -> str | None:
    if text in _SPECIAL_DOUBLES:
        return _SPECIAL_DOUBLES[text]
    if len(text) > LONGEST_NUMBER or not _DOUBLE_TEXT.fullmatch(text):
        return None
    number = float(text)
    return repr(number) if math.isfinite(number) else ("INF" if number > 0 else "-INF")


def _boolean(text: str) -> str | None:
    return {"true": "true", "1": "true", "false": "false", "0": "false"}.get(text)


def _date(text: str) -> str | None:
    day = text.removesuffix("Z")
    if not _DATE_TEXT.fullmatch(day):
        return None
    try:
        return datetime.date.fromisoformat(day).isoformat()
    except ValueError:
        return None


def _instant(text: str) -> str | None:
    found = _INSTANT_TEXT.fullmatch(text)
    if found is None:
        return None
    day, clock, part, zone = found.groups()
    is_midnight_after = clock == "24:00:00" and not (part or "").strip(".0")
    try:
        moment = datetime.datetime.fromisoformat(f"{day}T{'00:00:00' if is_midnight_after else clock}")
        if is_midnight_after:
            moment += datetime.timedelta(days=1)
        if zone and zone != "Z":
            ahead = datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[4:]))
            if ahead > _FARTHEST_ZONE or int(zone[4:]) > 59:
                return None
            moment += ahead if zone[0] == "-" else -ahead
    except (ValueError, OverflowError):
        return None
    rest = (part or "").rstrip("0").rstrip(".")
    return f"{moment.isoformat()}{rest}Z"


_SPELLINGS: Final[dict[str, Callable[[str], str | None]]] = {
    INTEGER: _integer,
    DECIMAL: _decimal,
    DOUBLE: _double,
    BOOLEAN: _boolean,
    INSTANT: _instant,
    DATE: _date,
}
"""By datatype: returns the canonical spelling of a text, or None if it does not fit."""


def seconds_of_instant(text: str) -> tuple[int, Decimal]:
    """Return whole seconds since 1970 and the fraction of a second of a canonical instant."""
    found = _INSTANT_TEXT.fullmatch(text)
    assert found is not None, "the instant is well-formed"
    day, clock, part, _ = found.groups()
    moment = datetime.datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=datetime.UTC)
    since = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return since.days * 86400 + since.seconds, Decimal(part or 0)


def days_of_date(text: str) -> int:
    """Return the days since 1970-01-01 of a canonical date."""
    return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days
