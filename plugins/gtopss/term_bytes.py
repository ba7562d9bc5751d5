"""Encoding of the local terms of a vector.

    0  IRI          namespace, length, rest         1  IRI            length, all of it
    2  blank node                                   3  integer        value
    4  decimal      scale (1), value                5  instant        seconds since 1970 (4)
    6  string       length, text                    7  with language  length, tag, length, text
    8  other        datatype, length, text          9  date           days since 1970
    10 Boolean      0 or 1

Numbers are those of `plugins.byte_numbers`, values are signed. The encoding is canonical: an IRI uses its
longest namespace, and a term of another kind is never kind 8.
"""

import datetime
from collections.abc import Callable
from typing import Final

from knowledge_manager.graphs.dictionary import Dictionary
from knowledge_manager.graphs.terms import (
    BOOLEAN,
    DATE,
    DECIMAL,
    INSTANT,
    INTEGER,
    LANGUAGE_STRING,
    STRING,
    Blank,
    Iri,
    Literal,
    Term,
    TermError,
    days_of_date,
    iri,
    is_ill_formed,
    literal,
    seconds_of_instant,
)
from plugins.byte_numbers import LONG_BYTES, ByteReader, number, signed

IN_NAMESPACE, WHOLE_IRI, BLANK, WHOLE_NUMBER, FRACTION, MOMENT, TEXT, TAGGED, OTHER, DAY, TRUTH = range(11)

_LARGEST: Final = 1 << 62
"""Bound of values: twice as much, with a sign, fits nine bytes."""
_LAST_SECOND: Final = (1 << 32) - 1
_EPOCH: Final = datetime.datetime(1970, 1, 1)


def kind_of(term: Term, dictionary: Dictionary) -> int:
    """Return the kind of a term."""
    if isinstance(term, Blank):
        return BLANK
    if isinstance(term, Iri):
        return WHOLE_IRI if dictionary.split(term.text) is None else IN_NAMESPACE
    if term.datatype in (STRING, LANGUAGE_STRING):
        return TAGGED if term.language else TEXT
    if is_ill_formed(term):
        return OTHER
    if term.datatype == INTEGER:
        return WHOLE_NUMBER if abs(int(term.text)) < _LARGEST else OTHER
    if term.datatype == DECIMAL:
        scale, digits = _scaled(term.text)
        return FRACTION if scale < 256 and abs(digits) < _LARGEST else OTHER
    if term.datatype == INSTANT:
        whole, part = seconds_of_instant(term.text)
        return MOMENT if not part and 0 <= whole <= _LAST_SECOND else OTHER
    return {DATE: DAY, BOOLEAN: TRUTH}.get(term.datatype, OTHER)


def term_bytes(term: Term, dictionary: Dictionary, reference: Callable[[Iri], int]) -> bytes:
    """Return the bytes of a local term; `reference` numbers the datatype of a literal of kind 8."""
    if isinstance(term, Iri):
        found = dictionary.split(term.text)
        if found is None:
            return bytes([WHOLE_IRI]) + _counted(term.text)
        return bytes([IN_NAMESPACE]) + number(found[0]) + _counted(found[1])
    kind = kind_of(term, dictionary)
    return bytes([kind]) + (b"" if isinstance(term, Blank) else _body(kind, term, reference))


def _body(kind: int, term: Literal, reference: Callable[[Iri], int]) -> bytes:
    if kind == WHOLE_NUMBER:
        return signed(int(term.text))
    if kind == FRACTION:
        scale, digits = _scaled(term.text)
        return bytes([scale]) + signed(digits)
    if kind == MOMENT:
        return seconds_of_instant(term.text)[0].to_bytes(4, "big")
    if kind == DAY:
        return signed(days_of_date(term.text))
    if kind == TRUTH:
        return bytes([term.text == "true"])
    if kind == TEXT:
        return _counted(term.text)
    if kind == TAGGED:
        return _counted(term.language) + _counted(term.text)
    return number(reference(Iri(term.datatype))) + _counted(term.text)


def read_term(data: ByteReader, dictionary: Dictionary, datatype: Callable[[int], Iri]) -> Term:
    """Read a local term; `datatype` maps a reference to an IRI, or raises `VectorError`."""
    begin = data.at
    kind = data.byte("the kind of a term")
    try:
        term = _read(kind, data, dictionary, datatype)
    except (TermError, ValueError, OverflowError) as error:
        raise data.refused(f"invalid term: {error}", begin) from None
    if kind != kind_of(term, dictionary):
        raise data.refused("the encoding of a term is not canonical", begin)
    return term


def _read(kind: int, data: ByteReader, dictionary: Dictionary, datatype: Callable[[int], Iri]) -> Term:
    if kind == IN_NAMESPACE:
        at, space = data.at, data.number("a namespace")
        if space >= len(dictionary.namespaces):
            raise data.refused(f"namespace {space} is unknown (0 to {len(dictionary.namespaces) - 1})", at)
        rest = data.text("an IRI")
        if dictionary.split(dictionary.namespaces[space] + rest) != (space, rest):
            raise data.refused("an IRI is not encoded by its longest namespace", at)
        return iri(dictionary.namespaces[space] + rest)
    if kind == WHOLE_IRI:
        return iri(data.text("an IRI"))
    if kind == BLANK:
        return Blank(0)
    if kind == WHOLE_NUMBER:
        return literal(str(data.signed("an integer", LONG_BYTES)), INTEGER)
    if kind == FRACTION:
        return _decimal(data)
    if kind == MOMENT:
        since = datetime.timedelta(seconds=int.from_bytes(data.take(4, "an instant"), "big"))
        return literal(f"{(_EPOCH + since).isoformat()}Z", INSTANT)
    if kind == DAY:
        days = datetime.timedelta(days=data.signed("a date", LONG_BYTES))
        return literal((_EPOCH + days).date().isoformat(), DATE)
    if kind == TRUTH:
        at, truth = data.at, data.byte("a Boolean")
        if truth > 1:
            raise data.refused("a Boolean is 0 or 1", at)
        return literal("true" if truth else "false", BOOLEAN)
    if kind == TEXT:
        return literal(data.text("a string"))
    if kind == TAGGED:
        return _tagged(data)
    if kind == OTHER:
        return _other(data, datatype)
    raise data.refused(f"unknown kind {kind} of terms", data.at - 1)


def _decimal(data: ByteReader) -> Literal:
    at, scale = data.at, data.byte("a scale")
    digits = data.signed("a decimal", LONG_BYTES)
    if scale and digits % 10 == 0:
        raise data.refused("a decimal has superfluous zeros", at)
    sign, text = "-" if digits < 0 else "", str(abs(digits)).zfill(scale + 1)
    return literal(f"{sign}{text[: len(text) - scale]}.{text[len(text) - scale :]}", DECIMAL)


def _tagged(data: ByteReader) -> Literal:
    at, tag = data.at, data.text("a language tag")
    if not tag or tag != tag.lower():
        raise data.refused("a language tag is empty or not in lower case", at)
    return literal(data.text("a string"), language=tag)


def _other(data: ByteReader, datatype: Callable[[int], Iri]) -> Literal:
    at = data.at
    of = datatype(data.number("a datatype")).text
    text = data.text("a literal")
    if of in (STRING, LANGUAGE_STRING):
        raise data.refused("a string is encoded as kind 8", at)
    found = literal(text, of)
    if (found.text, found.datatype) != (text, of):
        raise data.refused("the encoding of a literal is not canonical", at)
    return found


def _scaled(text: str) -> tuple[int, int]:
    """Return the scale and the digits of a canonical decimal."""
    whole, _, part = text.partition(".")
    part = "" if part == "0" else part
    return len(part), int(whole + part)


def _counted(text: str) -> bytes:
    encoded = text.encode()
    return number(len(encoded)) + encoded
