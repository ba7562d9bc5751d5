"""Constants from their stored bytes."""

from knowledge_manager.graphs.dictionary import NO_DICTIONARY
from knowledge_manager.graphs.terms import Blank, Iri, literal
from plugins.byte_numbers import ByteReader
from plugins.gtopss.pattern import Constant
from plugins.gtopss.term_bytes import OTHER, WHOLE_IRI, read_term
from watchdog.vector import VectorError


def term_of_key(key: bytes) -> Constant:
    """Return the constant with this key. Other bytes raise `VectorError`."""
    if key[0] == WHOLE_IRI:
        return Iri(key[1:].decode())
    if key[0] == OTHER:
        datatype, _, text = key[1:].partition(b"\0")
        return literal(text.decode(), datatype.decode())
    term = read_term(ByteReader(key), NO_DICTIONARY, _no_datatype)
    assert not isinstance(term, Blank), "a constant has a name"
    return term


def _no_datatype(reference: int) -> Iri:
    raise VectorError(0, "only kind 8 names its datatype")
