"""A publication's bytes as numbered nodes and statements, compiled.

It accepts only what `plugins.gtopss.vectors.decode_publication` accepts, but not all of it: literals that
need arithmetic beyond a double, or have a datatype of their own, are left to the plain decoder (`ASK`), and
so is whatever looks wrong; the plain decoder then says what.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plugins.kernels.graphs.index import NOTHING, Bytes, Doubles, Ints, TermArrays, hashed

FINE, ASK = 0, 1
EXACT, DOUBLE, ILL_FORMED = 1, 2, 4
"""Flags of values: the double is exactly the value; it is a double by type; it does not fit its datatype."""

NO_GROUP, NUMBER, INSTANT, DATE, STRING, TAGS = 0, 1, 2, 3, 4, 16
"""Kinds of values that compare; strings with a language tag have `TAGS` and the number of the tag."""

TAG_KEY = 11
"""Under which kind the tags of patterns are numbered among the constants."""

FEW = 256

_SEED = 0xCBF29CE484222325
_FIRST_DAY, _LAST_DAY = -719162, 2932896
_EXACT_BELOW = 1 << 53
_VALUE_LIMIT = 1 << 62


TERM, GROUP, FLAGS, RANK, SAME = 0, 1, 2, 3, 4
"""Columns of nodes: the constant that a node is, or nothing; kind of value; flags. Where the publication has
exact ranks: its place among the constants of its kind and double, and a number for its exact value."""

PROPERTY, SUBJECT, OBJECT = 0, 1, 2
"""Columns of statements."""

BEGIN, END, KIND, USED = 0, 1, 2, 3
"""Columns of local terms."""


class DecodedPublication(NamedTuple):
    """Room for a publication: nodes (local terms, then those of the dictionary that stand in it) and
    statements, sorted by property.
    """

    nodes: Ints
    values: Doubles
    statements: Ints
    counts: npt.NDArray[np.int64]
    """Nodes, statements that some pattern could ask for, all statements, whether nodes have exact ranks."""


class DecodingRoom(NamedTuple):
    """What else decoding needs: local terms, and the node of each reference."""

    local: Ints
    node_of: Ints


def number_at(data: Bytes, at: int, most: int) -> tuple[int, int]:
    """Return a number of at most this many bytes and where it ends; −1 where there is none."""
    value = 0
    for step in range(most):
        if at + step >= len(data):
            return -1, at
        byte = int(data[at + step])
        if step == 0 and byte == 128:
            return -1, at
        value = value << 7 | byte & 127
        if byte < 128:
            return value, at + step + 1
    return -1, at


def is_utf8(data: Bytes, at: int, end: int) -> bool:
    """Return whether bytes are a text."""
    while at < end:
        byte = int(data[at])
        if byte < 0x80:
            at += 1
            continue
        if 0xC2 <= byte < 0xE0:
            more, low, high = 1, 0x80, 0xBF
        elif 0xE0 <= byte < 0xF0:
            more, low, high = 2, 0xA0 if byte == 0xE0 else 0x80, 0x9F if byte == 0xED else 0xBF
        elif 0xF0 <= byte < 0xF5:
            more, low, high = 3, 0x90 if byte == 0xF0 else 0x80, 0x8F if byte == 0xF4 else 0xBF
        else:
            return False
        if at + more >= end:
            return False
        if data[at + 1] < low or data[at + 1] > high:
            return False
        for step in range(2, more + 1):
            if data[at + step] & 0xC0 != 0x80:
                return False
        at += more + 1
    return True


def is_iri_sign(byte: int) -> bool:
    """Return whether a byte may stand in an IRI."""
    return byte > 0x20 and not (
        byte == 0x22
        or byte == 0x3C
        or byte == 0x3E
        or byte == 0x5C
        or byte == 0x5E
        or byte == 0x60
        or (0x7B <= byte <= 0x7D)
    )


def is_scheme(data: Bytes, at: int, end: int) -> bool:
    """Return whether a text begins with a scheme and a colon."""
    for place in range(at, end):
        byte = int(data[place]) | 0x20
        if data[place] == 0x3A:
            return place > at
        is_letter = 0x61 <= byte <= 0x7A and data[place] < 0x80
        is_other = (
            0x30 <= data[place] <= 0x39 or data[place] == 0x2B or data[place] == 0x2D or data[place] == 0x2E
        )
        if not is_letter and (place == at or not is_other):
            return False
    return False


def is_tag(data: Bytes, at: int, end: int) -> bool:
    """Return whether a text is a language tag in lower case."""
    length, is_first = 0, True
    for place in range(at, end):
        byte = int(data[place])
        if byte == 0x2D:
            if length == 0:
                return False
            length, is_first = 0, False
            continue
        if not (0x61 <= byte <= 0x7A or (0x30 <= byte <= 0x39 and not is_first)):
            return False
        length += 1
        if length > 8:
            return False
    return length > 0


def begins_with(data: Bytes, at: int, end: int, terms: TermArrays, space: int, other: int) -> bool:
    """Return whether an IRI, namespace `space` (or none) and then these bytes, begins with
    another namespace.
    """
    first, last = int(terms.space_starts[other]), int(terms.space_starts[other + 1])
    own = int(terms.space_starts[space]) if space >= 0 else 0
    length = int(terms.space_starts[space + 1]) - own if space >= 0 else 0
    if last - first > length + end - at:
        return False
    for step in range(last - first):
        byte = terms.spaces[own + step] if step < length else data[at + step - length]
        if byte != terms.spaces[first + step]:
            return False
    return True


def term_at(
    terms: TermArrays, key: np.uint64, data: Bytes, begin: int, end: int, space: int, kind: int
) -> int:
    """Return the constant whose bytes are a kind, a namespace if there is one, and these; or nothing."""
    mask = np.uint64(len(terms.slots) - 1)
    at = (key ^ (key >> np.uint64(32))) & mask
    own = int(terms.space_starts[space]) if space >= 0 else 0
    length = int(terms.space_starts[space + 1]) - own if space >= 0 else 0
    while True:
        number = int(terms.slots[at])
        if number < 0:
            return NOTHING
        if terms.hashes[number] == key:
            first = int(terms.starts[number])
            same = int(terms.starts[number + 1]) - first == 1 + length + end - begin
            same = same and terms.content[first] == kind
            if same:
                for step in range(length):
                    if terms.content[first + 1 + step] != terms.spaces[own + step]:
                        same = False
                        break
            if same:
                for step in range(end - begin):
                    if terms.content[first + 1 + length + step] != data[begin + step]:
                        same = False
                        break
            if same:
                return number
        at = (at + np.uint64(1)) & mask


def key_of(terms: TermArrays, data: Bytes, begin: int, end: int, space: int, kind: int) -> np.uint64:
    """Return the hash of a kind, a namespace if there is one, and some bytes."""
    found = (np.uint64(_SEED) ^ np.uint64(kind)) * np.uint64(0x100000001B3)
    if space >= 0:
        found = hashed(
            terms.spaces, int(terms.space_starts[space]), int(terms.space_starts[space + 1]), found
        )
    return hashed(data, begin, end, found)


def constant_at(terms: TermArrays, key: Bytes) -> int:
    """Return the constant whose bytes these are, or nothing."""
    kind = int(key[0])
    return term_at(terms, key_of(terms, key, 1, len(key), -1, kind), key, 1, len(key), -1, kind)


def prefix_value(data: Bytes, begin: int, end: int) -> float:
    """Return the first six bytes of a text as a number that has their order."""
    found = 0
    for step in range(6):
        found = found << 8 | (int(data[begin + step]) if begin + step < end else 0)
    return float(found)


def is_prefix_exact(data: Bytes, begin: int, end: int) -> bool:
    """Return whether six bytes distinguish a text from all others."""
    if end - begin > 6:
        return False
    zeros = 0
    for at in range(begin, end):
        zeros += data[at] == 0
    return zeros == 0


def decode(data: Bytes, terms: TermArrays, room: DecodedPublication, rest: DecodingRoom) -> int:
    """Take a publication apart; what is not `FINE` is for the plain decoder."""
    if len(data) < 8 or data[5] != 0x10:
        return ASK
    local, at = number_at(data, 6, 4)
    if local < 0 or local > len(data) - at or local > len(rest.local):
        return ASK
    at = local_terms(data, at, local, terms, room, rest)
    if at < 0:
        return ASK
    return read_statements(data, at, local, terms, room, rest)


def local_terms(
    data: Bytes, at: int, local: int, terms: TermArrays, room: DecodedPublication, rest: DecodingRoom
) -> int:
    """Read the terms that are spelt out; return where they end, −1 where one is for the plain decoder."""
    blanks = 0
    for number in range(local):
        begin = at
        if at >= len(data):
            return -1
        kind = int(data[at])
        at = local_term(data, at, kind, terms, room, number)
        if at < 0:
            return -1
        rest.local[number, BEGIN], rest.local[number, END] = begin, at
        rest.local[number, KIND], rest.local[number, USED] = kind, 0
        if kind == 2:
            blanks += 1
        elif blanks or (number > 0 and not is_above(data, rest, number)):
            return -1
    return at


def is_above(data: Bytes, rest: DecodingRoom, number: int) -> bool:
    """Return whether a local term stands above the one before it."""
    one, other = int(rest.local[number - 1, BEGIN]), int(rest.local[number, BEGIN])
    lengths = int(rest.local[number - 1, END]) - one, int(rest.local[number, END]) - other
    for step in range(min(lengths)):
        if data[one + step] != data[other + step]:
            return bool(data[one + step] < data[other + step])
    return lengths[0] < lengths[1]


def local_term(
    data: Bytes, at: int, kind: int, terms: TermArrays, room: DecodedPublication, number: int
) -> int:
    """Read one term behind its kind; return where it ends, −1 where it is for the plain decoder."""
    begin = at
    at += 1
    put_node(room, number, NOTHING, NO_GROUP, 0.0, 0)
    if kind == 2:
        return at
    if kind <= 1:
        return iri_at(data, at, kind, terms, room, number)
    if kind == 3 or kind == 9:
        raw, at = number_at(data, at, 9)
        if raw < 0:
            return -1
        whole = raw >> 1 if raw & 1 == 0 else -(raw >> 1) - 1
        if abs(whole) >= _EXACT_BELOW or (kind == 9 and not _FIRST_DAY <= whole <= _LAST_DAY):
            return -1
        put_node(room, number, NOTHING, NUMBER if kind == 3 else DATE, float(whole), EXACT)
    elif kind == 4:
        at = decimal_at(data, at, room, number)
        if at < 0:
            return -1
    elif kind == 5:
        if at + 4 > len(data):
            return -1
        second = 0
        for step in range(4):
            second = second << 8 | int(data[at + step])
        at += 4
        put_node(room, number, NOTHING, INSTANT, float(second), EXACT)
    elif kind == 10:
        if at >= len(data) or data[at] > 1:
            return -1
        at += 1
    elif kind == 6 or kind == 7:
        at = text_at(data, at, kind, terms, room, number)
        if at < 0:
            return -1
    else:
        return -1
    key = key_of(terms, data, begin + 1, at, -1, kind)
    room.nodes[number, TERM] = term_at(terms, key, data, begin + 1, at, -1, kind)
    return at


def put_node(room: DecodedPublication, number: int, term: int, group: int, value: float, flags: int) -> None:
    """Say what a node is."""
    room.nodes[number, TERM], room.nodes[number, GROUP], room.nodes[number, FLAGS] = term, group, flags
    room.values[number] = value


def iri_at(data: Bytes, at: int, kind: int, terms: TermArrays, room: DecodedPublication, number: int) -> int:
    """Read an IRI; return where it ends, −1 where it is for the plain decoder."""
    space = -1
    if kind == 0:
        space, at = number_at(data, at, 4)
        if space < 0 or space >= len(terms.space_starts) - 1:
            return -1
    length, at = number_at(data, at, 4)
    end = at + length
    if length < 0 or end > len(data) or not is_utf8(data, at, end):
        return -1
    for place in range(at, end):
        if not is_iri_sign(int(data[place])):
            return -1
    if space < 0 and not is_scheme(data, at, end):
        return -1
    own = terms.space_starts[space + 1] - terms.space_starts[space] if space >= 0 else -1
    for other in range(len(terms.space_starts) - 1):
        size = terms.space_starts[other + 1] - terms.space_starts[other]
        is_rather = size > own or (size == own and other < space)
        if is_rather and begins_with(data, at, end, terms, space, other):
            return -1
    found = term_at(terms, key_of(terms, data, at, end, space, 1), data, at, end, space, 1)
    if 0 <= found < terms.dictionary:
        return -1
    room.nodes[number, TERM] = found
    return end


def decimal_at(data: Bytes, at: int, room: DecodedPublication, number: int) -> int:
    """Read a decimal; return where it ends, −1 where it is for the plain decoder."""
    if at >= len(data):
        return -1
    scale = int(data[at])
    raw, at = number_at(data, at + 1, 9)
    if raw < 0 or scale > 22:
        return -1
    digits = raw >> 1 if raw & 1 == 0 else -(raw >> 1) - 1
    if abs(digits) >= _EXACT_BELOW or (scale and digits % 10 == 0):
        return -1
    tens, fives = 1.0, 1
    for _ in range(scale):
        tens *= 10.0
        fives *= 5
    put_node(room, number, NOTHING, NUMBER, float(digits) / tens, EXACT if digits % fives == 0 else 0)
    return at


def text_at(data: Bytes, at: int, kind: int, terms: TermArrays, room: DecodedPublication, number: int) -> int:
    """Read a string, with or without a tag; return where it ends, −1 where it is for the plain decoder."""
    group = STRING
    if kind == 7:
        length, at = number_at(data, at, 4)
        if length < 0 or at + length > len(data) or not is_tag(data, at, at + length):
            return -1
        key = key_of(terms, data, at, at + length, -1, TAG_KEY)
        tag = term_at(terms, key, data, at, at + length, -1, TAG_KEY)
        group = TAGS + tag if tag >= 0 else NO_GROUP
        at += length
    length, at = number_at(data, at, 4)
    if length < 0 or at + length > len(data) or not is_utf8(data, at, at + length):
        return -1
    flags = EXACT if is_prefix_exact(data, at, at + length) else 0
    put_node(room, number, NOTHING, group, prefix_value(data, at, at + length), flags)
    return at + length


def read_statements(
    data: Bytes, at: int, local: int, terms: TermArrays, room: DecodedPublication, rest: DecodingRoom
) -> int:
    """Read the statements behind the terms, and sort by property those whose property is in the index."""
    entries = terms.dictionary
    for reference in range(local + entries):
        rest.node_of[reference] = reference if reference < local else NOTHING
    nodes, kept, total, last = local, 0, 0, 0
    subjects, at = number_at(data, at, 4)
    if subjects < 1:
        return ASK
    for position in range(subjects):
        step, at = number_at(data, at, 4)
        pairs, at = number_at(data, at, 4)
        last += step
        if step < (1 if position else 0) or pairs < 1 or last >= local + entries:
            return ASK
        if pairs > len(data) - at or (last < local and rest.local[last, KIND] > 2):
            return ASK
        property_, before = 0, -1
        nodes = node_at(room, rest, last, local, nodes)
        for pair in range(pairs):
            step, at = number_at(data, at, 4)
            object_, at = number_at(data, at, 4)
            if step < 0 or object_ < 0 or (pair and step == 0 and object_ <= before):
                return ASK
            property_, before = property_ + step, object_
            if property_ >= local + entries or object_ >= local + entries:
                return ASK
            if property_ < local:
                if rest.local[property_, KIND] > 1:
                    return ASK
                rest.local[property_, USED] = 1
            nodes = node_at(room, rest, object_, local, nodes)
            total += 1
            constant = property_ - local if property_ >= local else int(room.nodes[property_, TERM])
            dense = int(terms.property_of[constant]) if constant >= 0 else NOTHING
            if dense >= 0:
                room.statements[kept, PROPERTY] = dense
                room.statements[kept, SUBJECT] = rest.node_of[last]
                room.statements[kept, OBJECT] = rest.node_of[object_]
                kept += 1
    if at != len(data):
        return ASK
    for number in range(local):
        if not rest.local[number, USED]:
            return ASK
    sort_by_property(room, kept)
    room.counts[0], room.counts[1], room.counts[2], room.counts[3] = nodes, kept, total, 0
    return FINE


def node_at(room: DecodedPublication, rest: DecodingRoom, reference: int, local: int, nodes: int) -> int:
    """Note that a reference stands for a node; return how many nodes there are then."""
    if reference < local:
        rest.local[reference, USED] = 1
        return nodes
    if rest.node_of[reference] == NOTHING:
        rest.node_of[reference] = nodes
        put_node(room, nodes, reference - local, NO_GROUP, 0.0, 0)
        return nodes + 1
    return nodes


def sort_by_property(room: DecodedPublication, kept: int) -> None:
    """Sort the statements by property; few of them in place, where nothing has to be allocated."""
    rows = room.statements
    if kept > FEW:
        order = np.argsort(rows[:kept, PROPERTY], kind="mergesort")
        rows[:kept] = rows[:kept][order]
        return
    for at in range(1, kept):
        p, s, o = rows[at, PROPERTY], rows[at, SUBJECT], rows[at, OBJECT]
        to = at - 1
        while to >= 0 and rows[to, PROPERTY] > p:
            for column in range(3):
                rows[to + 1, column] = rows[to, column]
            to -= 1
        rows[to + 1, PROPERTY], rows[to + 1, SUBJECT], rows[to + 1, OBJECT] = p, s, o
