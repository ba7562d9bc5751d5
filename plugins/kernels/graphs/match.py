"""Which concepts a publication matches, compiled: look-ups by access keys, then arc consistency and cuts
over bit sets of nodes.

Two numbers beyond the precision of doubles, or two texts with the same first bytes, cannot be compared as
doubles. A concept with such a comparison is `DOUBTFUL` before any join: it is verified again (`search_again`)
with a publication whose nodes have exact ranks.

Work is counted as `plugins.gtopss.match` counts it, in the same order, so both reach the same verdict.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plugins.kernels.graphs.decode import (
    DOUBLE,
    EXACT,
    FLAGS,
    GROUP,
    ILL_FORMED,
    NO_GROUP,
    NUMBER,
    OBJECT,
    PROPERTY,
    RANK,
    SAME,
    SUBJECT,
    TERM,
    DecodedPublication,
)
from plugins.kernels.graphs.index import (
    ANY,
    AT_LEAST,
    AT_MOST,
    BELOW,
    CLASS_OBJECT,
    CLASS_SUBJECT,
    CONSTANT,
    EQUAL,
    HALF_OBJECT,
    HALF_SUBJECT,
    OVER,
    OWN_BELOW,
    OWN_OVER,
    PROPERTY_KEY,
    SAMPLE,
    STATED,
    Bytes,
    ClassArrays,
    ConceptArrays,
    Doubles,
    Ints,
    KeyArrays,
    Statistics,
    ValueArrays,
    Words,
    entry_of,
    is_listed,
    mixed,
)

MATCHED, UNDECIDED, DOUBTFUL, FAILED = 0, 1, 2, 3

EQ, NE, LT, LE, GT, GE, IS_A, DIRECT, ABOVE, DIFFERS = 0, 1, 2, 3, 4, 5, 8, 9, 10, 11
"""Codes of constraints, as `plugins.gtopss.pattern` has them."""

NO, YES, PERHAPS, TOO_MUCH = 0, 1, 2, 3


class Scratch(NamedTuple):
    """Room that is used again for every publication."""

    ranges: Ints
    """Where the statements of a property begin and end, by its dense number."""
    candidates: Words
    """Bit sets, by level of cutting, variable and word."""
    fresh: Words
    types: Ints
    """Where the `rdf:type` statements of a node begin and end."""
    notes: npt.NDArray[np.int64]
    """The most units of work that rings may take, those of the pair so far, those of its rings, and from
    `PENDING` on which lines are to be revised."""


LIMIT, SPENT, SPENT_ON_RINGS, PENDING = 0, 1, 2, 3


class Hits(NamedTuple):
    """What a search found."""

    seen: npt.NDArray[np.int64]
    """In which search a concept was verified last."""
    found: Ints
    verdicts: Bytes
    counts: npt.NDArray[np.int64]
    """Searches so far, candidates that were verified, and units of work."""


class Held(NamedTuple):
    """What verifying reads."""

    concepts: ConceptArrays
    values: ValueArrays
    classes: ClassArrays
    ranks: Ints
    """The exact places of constants among those of one group and one double; 0 where not needed yet."""


def value_order(
    group: int, value: float, flags: int, other_group: int, other: float, other_flags: int
) -> int:
    """Return −1, 0 or 1 as the first of two values is below, at or above the second; 2 where they do not
    compare, 3 where doubles cannot decide.
    """
    if group <= NO_GROUP or group != other_group:
        return 2
    if value < other:
        return -1
    if value > other:
        return 1
    if value != other:
        return 2
    if group == NUMBER and (flags | other_flags) & DOUBLE:
        return 0
    return 0 if flags & other_flags & EXACT else 3


def equality(held: Held, room: DecodedPublication, node: int, constant: int) -> int:
    """Return whether a node is a constant, or has its value."""
    if room.nodes[node, TERM] == constant:
        return YES
    if room.nodes[node, GROUP] != NUMBER:
        return NO  # of other values each has one term
    found = held_against(held, room, node, constant)
    return YES if found == 0 else PERHAPS if found == 3 else NO


def held_against(held: Held, room: DecodedPublication, node: int, constant: int) -> int:
    """Return how a node compares with a constant that is another term."""
    values = held.values
    found = value_order(
        int(room.nodes[node, GROUP]),
        float(room.values[node]),
        int(room.nodes[node, FLAGS]),
        int(values.kinds[constant, 0]),
        float(values.doubles[constant]),
        int(values.kinds[constant, 1]),
    )
    if found == 3 and room.counts[3]:
        rank, other = int(room.nodes[node, RANK]), int(held.ranks[constant])
        return (rank > other) - (rank < other)
    return found


def satisfies(held: Held, room: DecodedPublication, types: Ints, node: int, code: int, operand: int) -> int:
    """Return whether a node satisfies a constraint that concerns no other node."""
    values = held.values
    if code <= NE:
        if code == NE and room.nodes[node, FLAGS] & ILL_FORMED:
            return NO
        found = equality(held, room, node, operand)
        return found if code == EQ or found == PERHAPS else YES - found
    if code <= GE:
        is_closed = code in (LE, GE)
        if room.nodes[node, TERM] == operand:
            return YES if is_closed and not np.isnan(values.doubles[operand]) else NO
        found = held_against(held, room, node, operand)
        if found == 3:
            return PERHAPS
        if found == 2:
            return NO
        if found == 0:
            return YES if is_closed else NO
        return YES if (found < 0) == (code in (LT, LE)) else NO
    return YES if is_kin(held.classes, room, types, node, code, operand) else NO


def is_kin(
    classes: ClassArrays, room: DecodedPublication, types: Ints, node: int, code: int, operand: int
) -> bool:
    """Return whether a node is of a class, stated, below or above."""
    own = int(room.nodes[node, TERM])
    if own == operand and code != DIRECT:
        return True
    kind = OWN_BELOW if code == IS_A else OWN_OVER if code == ABOVE else STATED
    if 0 <= own < classes.members and is_listed(classes, kind, own, operand):
        return True
    for at in range(types[node, 0], types[node, 1]):
        stated = int(room.nodes[room.statements[at, OBJECT], TERM])
        if stated == operand:
            return True
        kind = BELOW if code == IS_A else OVER
        if code != DIRECT and 0 <= stated < classes.members and is_listed(classes, kind, stated, operand):
            return True
    return False


def differing(room: DecodedPublication, one: int, other: int) -> int:
    """Return whether two nodes differ in value."""
    if one == other or (room.nodes[one, FLAGS] | room.nodes[other, FLAGS]) & ILL_FORMED:
        return NO
    if room.nodes[one, GROUP] != NUMBER or room.nodes[other, GROUP] != NUMBER:
        return YES
    value, against = float(room.values[one]), float(room.values[other])
    flags, others = int(room.nodes[one, FLAGS]), int(room.nodes[other, FLAGS])
    if value != against or (flags | others) & DOUBLE:
        return NO if value == against else YES
    if (flags ^ others) & EXACT:
        return YES
    if flags & EXACT:
        return NO
    if room.counts[3]:
        return NO if room.nodes[one, SAME] == room.nodes[other, SAME] else YES
    return PERHAPS


def kept(sets: Words, level: int, variable: int, fresh: Words, side: int, words: int) -> int:
    """Keep what is in both; return 0 where nothing is left, 1 where nothing changed, 2 where something
    went.
    """
    some, changed = False, False
    for word in range(words):
        before = sets[level, variable, word]
        both = before & fresh[side, word]
        changed = changed or both != before
        some = some or both != np.uint64(0)
        sets[level, variable, word] = both
    return 0 if not some else 2 if changed else 1


def size_of(sets: Words, level: int, variable: int, words: int) -> int:
    """Return how many candidates a variable has."""
    found = 0
    for word in range(words):
        left = sets[level, variable, word]
        while left:
            left &= left - np.uint64(1)
            found += 1
    return found


def fill(held: Held, room: DecodedPublication, scratch: Scratch, concept: int, words: int) -> int:
    """Set the candidates that edges with at most one variable, and constraints on one, leave; return whether
    every edge and variable has some, and whether any passed in doubt.
    """
    heads, edges = held.concepts.heads, held.concepts.edges
    nodes, rows, ranges = room.nodes, room.statements, scratch.ranges
    sets, fresh = scratch.candidates, scratch.fresh
    for variable in range(heads[concept, 2] & 255):
        for word in range(words):
            sets[0, variable, word] = ~np.uint64(0)
    for edge in range(heads[concept, 0], heads[concept + 1, 0]):
        dense, subject, object_ = edges[edge, 0], edges[edge, 1], edges[edge, 2]
        first, last = ranges[dense, 0], ranges[dense, 1]
        if first == last:
            return NO
        scratch.notes[SPENT] += last - first
        if subject >= 0 and object_ >= 0:
            there = False
            for at in range(first, last):
                if nodes[rows[at, SUBJECT], TERM] == subject and nodes[rows[at, OBJECT], TERM] == object_:
                    there = True
                    break
            if not there:
                return NO
            continue
        for word in range(words):
            fresh[0, word] = fresh[1, word] = np.uint64(0)
        for at in range(first, last):
            s, o = rows[at, SUBJECT], rows[at, OBJECT]
            if subject >= 0 and nodes[s, TERM] != subject:
                continue
            if object_ >= 0 and nodes[o, TERM] != object_:
                continue
            if subject == object_ and s != o:
                continue
            fresh[0, s >> 6] |= np.uint64(1) << np.uint64(s & 63)
            fresh[1, o >> 6] |= np.uint64(1) << np.uint64(o & 63)
        if subject < 0 and kept(sets, 0, -1 - subject, fresh, 0, words) == 0:
            return NO
        if object_ < 0 and kept(sets, 0, -1 - object_, fresh, 1, words) == 0:
            return NO
    return constrained(held, room, scratch, concept, words)


def constrained(held: Held, room: DecodedPublication, scratch: Scratch, concept: int, words: int) -> int:
    """Remove candidates that fail a constraint on one variable. `differs` removes ill-formed candidates only
    after all others, as in the definition: they count as tested by the others.
    """
    heads, asked = held.concepts.heads, held.concepts.asked
    verdict = YES
    for at in range(heads[concept, 1], heads[concept + 1, 1]):
        if asked[at, 1] != DIFFERS:
            found = passing(held, room, scratch, at, words)
            if found == NO:
                return NO
            if found == PERHAPS:
                verdict = PERHAPS
    for at in range(heads[concept, 1], heads[concept + 1, 1]):
        if asked[at, 1] == DIFFERS:
            for column in (0, 2):
                if well_formed(room, scratch.candidates, int(asked[at, column]), words) == NO:
                    return NO
    return verdict


def well_formed(room: DecodedPublication, sets: Words, variable: int, words: int) -> int:
    """Take away candidates that do not fit their datatype; return whether some are left."""
    verdict = NO
    for word in range(words):
        left = sets[0, variable, word]
        while left:
            low = left & (~left + np.uint64(1))
            left ^= low
            if room.nodes[(word << 6) + trailing(low), FLAGS] & ILL_FORMED:
                sets[0, variable, word] ^= low
            else:
                verdict = YES
    return verdict


def passing(held: Held, room: DecodedPublication, scratch: Scratch, at: int, words: int) -> int:
    """Take away candidates that fail a constraint of their own; return whether some are left, and whether any
    passed in doubt.
    """
    sets = scratch.candidates
    asked = held.concepts.asked
    variable, code, operand = int(asked[at, 0]), int(asked[at, 1]), int(asked[at, 2])
    verdict, some = YES, False
    for word in range(words):
        left = sets[0, variable, word]
        while left:
            low = left & (~left + np.uint64(1))
            left ^= low
            scratch.notes[SPENT] += 1
            found = satisfies(held, room, scratch.types, (word << 6) + trailing(low), code, operand)
            if found == NO:
                sets[0, variable, word] ^= low
            else:
                some = True
                if found == PERHAPS:
                    verdict = PERHAPS
    return verdict if some else NO


def trailing(low: np.uint64) -> int:
    """Return which bit is set, of a word with one."""
    found = 0
    if low & np.uint64(0xFFFFFFFF00000000):
        found += 32
    if low & np.uint64(0xFFFF0000FFFF0000):
        found += 16
    if low & np.uint64(0xFF00FF00FF00FF00):
        found += 8
    if low & np.uint64(0xF0F0F0F0F0F0F0F0):
        found += 4
    if low & np.uint64(0xCCCCCCCCCCCCCCCC):
        found += 2
    if low & np.uint64(0xAAAAAAAAAAAAAAAA):
        found += 1
    return found


def consistent(
    concepts: ConceptArrays, room: DecodedPublication, scratch: Scratch, concept: int, level: int, words: int
) -> int:
    """Take away candidates without support at the other end of a pending line, until no line is pending;
    return whether every variable keeps one, or whether that is in doubt or took too much work.
    """
    heads, edges, asked = concepts.heads, concepts.edges, concepts.asked
    sets, fresh, notes = scratch.candidates, scratch.fresh, scratch.notes
    first, last = heads[concept, 0], heads[concept + 1, 0]
    begin, end = heads[concept, 1], heads[concept + 1, 1]
    again = True
    while again:
        again = False
        for number in range(last - first + end - begin):
            if not notes[PENDING + number]:
                continue
            notes[PENDING + number] = 0
            if number < last - first:
                edge = first + number
                one, other = -1 - edges[edge, 1], -1 - edges[edge, 2]
                supported(room, scratch, edges[edge, 0], level, one, other, words)
                units = scratch.ranges[edges[edge, 0], 1] - scratch.ranges[edges[edge, 0], 0]
                if is_too_much(notes, units):
                    return TOO_MUCH
                mine = kept(sets, level, one, fresh, 0, words)
                theirs = kept(sets, level, other, fresh, 1, words)
            else:
                at = begin + number - (last - first)
                one, other = asked[at, 0], asked[at, 2]
                units = size_of(sets, level, one, words) + size_of(sets, level, other, words)
                if is_too_much(notes, units):
                    return TOO_MUCH
                if apart(room, sets, level, one, other, fresh, words) == PERHAPS:
                    return PERHAPS
                mine = kept(sets, level, one, fresh, 0, words)
                if apart(room, sets, level, other, one, fresh, words) == PERHAPS:
                    return PERHAPS
                theirs = kept(sets, level, other, fresh, 0, words)
            if mine == 0 or theirs == 0:
                return NO
            if mine == 2 or theirs == 2:
                again = True
                if mine == 2:
                    mark(concepts, notes, concept, one)
                if theirs == 2:
                    mark(concepts, notes, concept, other)
                notes[PENDING + number] = 0
    return YES


def is_too_much(notes: npt.NDArray[np.int64], units: int) -> bool:
    """Count units of a join; return whether they are more than the rings of a pair may take."""
    notes[SPENT] += units
    notes[SPENT_ON_RINGS] += units
    return bool(notes[SPENT_ON_RINGS] > notes[LIMIT])


def mark(concepts: ConceptArrays, notes: npt.NDArray[np.int64], concept: int, variable: int) -> None:
    """Note the lines of a variable, or all of them where it is `ANY`, as pending."""
    heads, edges, asked = concepts.heads, concepts.edges, concepts.asked
    place = PENDING
    for edge in range(heads[concept, 0], heads[concept + 1, 0]):
        subject, object_ = edges[edge, 1], edges[edge, 2]
        is_line = subject < 0 and object_ < 0 and subject != object_
        if is_line and (variable == ANY or variable == -1 - subject or variable == -1 - object_):
            notes[place] = 1
        place += 1
    for at in range(heads[concept, 1], heads[concept + 1, 1]):
        is_line = asked[at, 1] == DIFFERS
        if is_line and (variable == ANY or variable == asked[at, 0] or variable == asked[at, 2]):
            notes[place] = 1
        place += 1


def unmark(concepts: ConceptArrays, notes: npt.NDArray[np.int64], concept: int) -> None:
    """Let no line be pending."""
    heads = concepts.heads
    lines = heads[concept + 1, 0] - heads[concept, 0] + heads[concept + 1, 1] - heads[concept, 1]
    for number in range(lines):
        notes[PENDING + number] = 0


def supported(
    room: DecodedPublication, scratch: Scratch, dense: int, level: int, one: int, other: int, words: int
) -> None:
    """Set the candidates of two variables that a statement of a property joins."""
    rows, ranges, sets, fresh = room.statements, scratch.ranges, scratch.candidates, scratch.fresh
    for word in range(words):
        fresh[0, word] = fresh[1, word] = np.uint64(0)
    for at in range(ranges[dense, 0], ranges[dense, 1]):
        s, o = rows[at, SUBJECT], rows[at, OBJECT]
        both = sets[level, one, s >> 6] >> np.uint64(s & 63)
        both &= sets[level, other, o >> 6] >> np.uint64(o & 63)
        if both & np.uint64(1):
            fresh[0, s >> 6] |= np.uint64(1) << np.uint64(s & 63)
            fresh[1, o >> 6] |= np.uint64(1) << np.uint64(o & 63)


def apart(
    room: DecodedPublication, sets: Words, level: int, one: int, other: int, fresh: Words, words: int
) -> int:
    """Set those candidates of one variable that differ from some of another; return whether any does in
    doubt. Few equal a node that is not a double, and those few are held against all.
    """
    usual = usual_node(room, sets, level, other, words)
    for word in range(words):
        fresh[0, word] = np.uint64(0)
        left = sets[level, one, word]
        while left:
            low = left & (~left + np.uint64(1))
            left ^= low
            node = (word << 6) + trailing(low)
            found = differing(room, node, usual) if usual >= 0 else NO
            if found == NO:
                found = is_apart(room, sets, level, other, node, words)
            if found == PERHAPS:
                return PERHAPS
            if found == YES:
                fresh[0, word] |= low
    return YES


def usual_node(room: DecodedPublication, sets: Words, level: int, variable: int, words: int) -> int:
    """Return the first candidate that is not a double, or else the first; −1 where there is none."""
    found = -1
    for word in range(words):
        left = sets[level, variable, word]
        while left:
            low = left & (~left + np.uint64(1))
            left ^= low
            node = (word << 6) + trailing(low)
            if not room.nodes[node, FLAGS] & DOUBLE:
                return node
            if found < 0:
                found = node
    return found


def is_apart(room: DecodedPublication, sets: Words, level: int, other: int, node: int, words: int) -> int:
    """Return whether a node differs from some candidate of a variable, for sure, in doubt, or not."""
    for word in range(words):
        left = sets[level, other, word]
        while left:
            low = left & (~left + np.uint64(1))
            left ^= low
            found = differing(room, node, (word << 6) + trailing(low))
            if found != NO:
                return found
    return NO


def verify(held: Held, room: DecodedPublication, scratch: Scratch, concept: int) -> int:
    """Return what becomes of a concept."""
    concepts, notes = held.concepts, scratch.notes
    words = (int(room.counts[0]) + 63) >> 6
    notes[SPENT] = 0
    own = fill(held, room, scratch, concept, words)
    if own == NO:
        notes[SPENT] = 0
        return FAILED
    if own == PERHAPS:
        return DOUBTFUL  # joining doubtful candidates would count units that exact ones do not take
    shape = concepts.heads[concept, 2]
    first, second = (shape >> 8 & 255) - 1, (shape >> 16) - 1
    notes[SPENT_ON_RINGS] = 0 if first >= 0 else -(1 << 62)
    mark(concepts, notes, concept, ANY)
    found = consistent(concepts, room, scratch, concept, 0, words)
    if found == YES and first >= 0:
        found = cut(concepts, room, scratch, concept, first, second, 1, words)
    if found == YES:
        return MATCHED
    unmark(concepts, notes, concept)
    return FAILED if found == NO else DOUBTFUL if found == PERHAPS else UNDECIDED


def cut(
    concepts: ConceptArrays,
    room: DecodedPublication,
    scratch: Scratch,
    concept: int,
    first: int,
    second: int,
    level: int,
    words: int,
) -> int:
    """Try the nodes of a cut variable one after the other, and within each those of the second."""
    sets = scratch.candidates
    for word in range(words):
        left = sets[level - 1, first, word]
        while left:
            low = left & (~left + np.uint64(1))
            left ^= low
            node = (word << 6) + trailing(low)
            found = fixed(concepts, room, scratch, concept, first, node, level, words)
            if found == YES and second >= 0:
                found = cut_again(concepts, room, scratch, concept, second, words)
            if found != NO:
                return found
    return NO


def cut_again(
    concepts: ConceptArrays, room: DecodedPublication, scratch: Scratch, concept: int, second: int, words: int
) -> int:
    """Try the nodes of the second cut variable, the first being fixed."""
    sets = scratch.candidates
    for word in range(words):
        left = sets[1, second, word]
        while left:
            low = left & (~left + np.uint64(1))
            left ^= low
            node = (word << 6) + trailing(low)
            found = fixed(concepts, room, scratch, concept, second, node, 2, words)
            if found != NO:
                return found
    return NO


def fixed(
    concepts: ConceptArrays,
    room: DecodedPublication,
    scratch: Scratch,
    concept: int,
    variable: int,
    node: int,
    level: int,
    words: int,
) -> int:
    """Return whether candidates are left when a variable has only this node."""
    sets, variables = scratch.candidates, concepts.heads[concept, 2] & 255
    if is_too_much(scratch.notes, variables):
        return TOO_MUCH
    for other in range(variables):
        for part in range(words):
            sets[level, other, part] = sets[level - 1, other, part]
    for part in range(words):
        sets[level, variable, part] = np.uint64(0)
    sets[level, variable, node >> 6] = np.uint64(1) << np.uint64(node & 63)
    unmark(concepts, scratch.notes, concept)
    mark(concepts, scratch.notes, concept, variable)
    return consistent(concepts, room, scratch, concept, level, words)


def judged(
    held: Held,
    filed: Ints,
    room: DecodedPublication,
    scratch: Scratch,
    hits: Hits,
    begin: int,
    end: int,
    found: int,
) -> int:
    """Verify the concepts filed in a range that were not seen yet; return how many are found then."""
    turn = hits.counts[0]
    for at in range(begin, end):
        concept = int(filed[at])
        if hits.seen[concept] == turn or not held.concepts.alive[concept]:
            continue
        hits.seen[concept] = turn
        hits.counts[1] += 1
        verdict = verify(held, room, scratch, concept)
        if verdict != DOUBTFUL:
            hits.counts[2] += scratch.notes[SPENT]
        if verdict != FAILED:
            hits.found[found], hits.verdicts[found] = concept, verdict
            found += 1
    return found


def bisected(bounds: Doubles, low: int, high: int, value: float, is_behind: bool) -> int:
    """Return where a value stands among rising bounds: behind those equal to it, or before them."""
    while low < high:
        middle = (low + high) >> 1
        if bounds[middle] < value or (is_behind and bounds[middle] == value):
            low = middle + 1
        else:
            high = middle
    return low


def places_of(
    keys: KeyArrays, classes: ClassArrays, room: DecodedPublication, scratch: Scratch, at: int, places: Ints
) -> int:
    """Write the slices of filed concepts that a statement points to; return how many there are."""
    rows, ranges, types = room.statements, scratch.ranges, scratch.types
    dense, s, o = int(rows[at, PROPERTY]), int(rows[at, SUBJECT]), int(rows[at, OBJECT])
    subject, object_ = int(room.nodes[s, TERM]), int(room.nodes[o, TERM])
    count = 0
    if at == ranges[dense, 0]:
        count = entry(keys, PROPERTY_KEY, dense, ANY, ANY, places, 0)
    if subject >= 0:
        count = entry(keys, HALF_SUBJECT, dense, subject, ANY, places, count)
        if object_ >= 0:
            count = entry(keys, CONSTANT, dense, subject, object_, places, count)
    if object_ >= 0:
        count = entry(keys, HALF_OBJECT, dense, object_, ANY, places, count)
    group = int(room.nodes[o, GROUP])
    if group > NO_GROUP:
        if subject >= 0:
            count = slices(keys, dense, subject, group, float(room.values[o]), places, count)
        count = slices(keys, dense, ANY, group, float(room.values[o]), places, count)
    else:
        count = by_classes(keys, classes, room, types, (CLASS_OBJECT, dense), o, places, count)
    return by_classes(keys, classes, room, types, (CLASS_SUBJECT, dense), s, places, count)


def entry(keys: KeyArrays, kind: int, a: int, b: int, c: int, places: Ints, count: int) -> int:
    """Write where the concepts of a key stand, if it has any; return how many slices there are then."""
    found = entry_of(keys.slot_keys, keys.slot_entries, mixed(kind, a, b, c))
    if found < 0 or count >= len(places):
        return count
    places[count, 0], places[count, 1] = keys.entry_starts[found], keys.entry_starts[found + 1]
    return count + 1


def slices(
    keys: KeyArrays, dense: int, subject: int, group: int, value: float, places: Ints, count: int
) -> int:
    """Cut what a value satisfies out of the concepts that are filed by comparisons."""
    for kind in (AT_LEAST, AT_MOST, EQUAL):
        after = entry(keys, kind, dense, subject, group, places, count)
        if after > count:
            begin, end = int(places[count, 0]), int(places[count, 1])
            if kind != AT_LEAST:
                places[count, 0] = bisected(keys.bounds, begin, end, value, False)
            if kind != AT_MOST:
                places[count, 1] = bisected(keys.bounds, begin, end, value, True)
            count = after
    return count


def by_classes(
    keys: KeyArrays,
    classes: ClassArrays,
    room: DecodedPublication,
    types: Ints,
    key: tuple[int, int],
    node: int,
    places: Ints,
    count: int,
) -> int:
    """Write where the concepts stand that are filed by a class of a node; `key` is the kind and the
    property.
    """
    kind, dense = key
    own = int(room.nodes[node, TERM])
    if own >= 0:
        count = entry(keys, kind, dense, own, ANY, places, count)
        if own < classes.members:
            for at in range(classes.starts[OWN_BELOW, own], classes.starts[OWN_BELOW, own + 1]):
                count = entry(keys, kind, dense, int(classes.listed[at]), ANY, places, count)
    for at in range(types[node, 0], types[node, 1]):
        stated = int(room.nodes[room.statements[at, OBJECT], TERM])
        if stated >= 0:
            count = entry(keys, kind, dense, stated, ANY, places, count)
        if 0 <= stated < classes.members:
            for place in range(classes.starts[BELOW, stated], classes.starts[BELOW, stated + 1]):
                count = entry(keys, kind, dense, int(classes.listed[place]), ANY, places, count)
    return count


def search(
    held: Held, keys: KeyArrays, room: DecodedPublication, scratch: Scratch, hits: Hits, places: Ints
) -> int:
    """Return how many concepts a publication matches, or may match; they stand in `found`, each once. −1
    where a statement points to more slices than there is room for.
    """
    locate(room, scratch, held.classes.type_property)
    hits.counts[0] += 1
    found = 0
    for at in range(int(room.counts[1])):
        count = places_of(keys, held.classes, room, scratch, at, places)
        if count >= len(places):
            found = -1
            break
        for place in range(count):
            begin, end = int(places[place, 0]), int(places[place, 1])
            if begin < end:
                found = judged(held, keys.filed, room, scratch, hits, begin, end, found)
    forget(room, scratch)
    return found


def search_again(held: Held, room: DecodedPublication, scratch: Scratch, hits: Hits, count: int) -> None:
    """Verify the doubtful ones of those found again; what does not match is `FAILED` then."""
    locate(room, scratch, held.classes.type_property)
    for at in range(count):
        if hits.verdicts[at] == DOUBTFUL:
            hits.verdicts[at] = verify(held, room, scratch, int(hits.found[at]))
            hits.counts[2] += scratch.notes[SPENT]
    forget(room, scratch)


def locate(room: DecodedPublication, scratch: Scratch, type_property: int) -> None:
    """Note where the statements of each property stand, and those of each node's types, which follow each
    other.
    """
    rows, ranges, types = room.statements, scratch.ranges, scratch.types
    for at in range(int(room.counts[1])):
        dense, node = rows[at, PROPERTY], rows[at, SUBJECT]
        if at == 0 or rows[at - 1, PROPERTY] != dense:
            ranges[dense, 0] = at
        ranges[dense, 1] = at + 1
        if dense == type_property:
            if types[node, 1] == 0:
                types[node, 0] = at
            types[node, 1] = at + 1


def forget(room: DecodedPublication, scratch: Scratch) -> None:
    """Take back what `locate` noted."""
    rows, ranges, types = room.statements, scratch.ranges, scratch.types
    for at in range(int(room.counts[1])):
        ranges[rows[at, PROPERTY], 0] = ranges[rows[at, PROPERTY], 1] = 0
        types[rows[at, SUBJECT], 0] = types[rows[at, SUBJECT], 1] = 0


def counted(classes: ClassArrays, room: DecodedPublication, seen: Statistics) -> None:
    """Note what a publication had, for the next filing."""
    seen.publications[0] += 1.0
    turn, rows = int(seen.publications[0]), room.statements
    for at in range(int(room.counts[1])):
        dense, s, o = int(rows[at, PROPERTY]), int(rows[at, SUBJECT]), int(rows[at, OBJECT])
        seen.of_property[dense] += 1.0
        subject, object_ = int(room.nodes[s, TERM]), int(room.nodes[o, TERM])
        if subject >= 0:
            seen.as_subject[subject] += 1.0
        if object_ >= 0:
            seen.as_object[object_] += 1.0
            seen.as_class[object_] += 1.0
            if object_ < classes.members:
                for place in range(
                    classes.starts[OWN_BELOW, object_], classes.starts[OWN_BELOW, object_ + 1]
                ):
                    seen.as_class[classes.listed[place]] += 1.0
        if room.nodes[o, GROUP] > NO_GROUP:
            size = int(seen.sample_sizes[dense])
            place = size if size < SAMPLE else (turn * 7919 + at * 104729) % (2 * SAMPLE)
            if place < SAMPLE:
                seen.samples[dense, place] = room.values[o]
                seen.sample_groups[dense, place] = room.nodes[o, GROUP]
                seen.sample_sizes[dense] = min(size + 1, SAMPLE)
