"""How patterns of graphs lie in flat arrays, and how their access keys are found.

These are plain functions that `plugins.kernels.compiled` turns into machine code. A *concept* is a pattern
that one or more subscriptions share. Constants are numbered: the dictionary's terms first, then the
taxonomy's, then those of patterns. Each concept is *filed* once, under an access key that some statement of
every matching publication hits; keys are known by a 64-bit mix of their parts, and since what is found is
verified, a collision costs time and nothing else.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

CONSTANT, HALF_SUBJECT, HALF_OBJECT, CLASS_OBJECT, CLASS_SUBJECT = 0, 1, 2, 3, 4
AT_LEAST, AT_MOST, EQUAL, PROPERTY_KEY = 5, 6, 7, 8
"""Kinds of access keys. A constant edge; one with a constant end; one with a class at an end; one whose
object is compared, with or without a constant subject; a property alone."""

ANY = -1
"""Stands in a key for an end that may be anything."""

NOTHING = -1


class TermArrays(NamedTuple):
    """Constants: their bytes, found by hash, and which of them are properties. Arrays are few and wide: every
    call of a compiled function takes each array into its hands.
    """

    slots: Ints
    hashes: Words
    starts: npt.NDArray[np.int64]
    content: Bytes
    space_starts: Ints
    spaces: Bytes
    property_of: Ints
    """The dense number of a constant as a property, or nothing."""
    dictionary: int
    """How many terms the dictionary has."""


class ValueArrays(NamedTuple):
    """What constants are worth."""

    kinds: Ints
    """Group and flags of each."""
    doubles: Doubles


class ClassArrays(NamedTuple):
    """The taxonomy as far as patterns ask about it: rising lists of operands for each constant that may be of
    it, in five kinds (`BELOW` …).
    """

    starts: Ints
    """By kind and constant, and one end more."""
    listed: Ints
    members: int
    """Constants below this number may be of the taxonomy."""
    type_property: int
    """The dense number of `rdf:type`."""


BELOW, OVER, OWN_BELOW, OWN_OVER, STATED = 0, 1, 2, 3, 4
"""Of a class the operands that it is below, and those below it; of a thing those of itself and its types; the
types that are stated of it."""


class ConceptArrays(NamedTuple):
    """Concepts: edges and constraints, one concept's after another's."""

    heads: Ints
    """Where edges and constraints begin, and `shape`; one row more for the ends."""
    edges: Ints
    """Property (dense), subject, object; an end below 0 is the variable −1 − end."""
    asked: Ints
    """Variable, code, operand."""
    alive: Bytes


def shape(variables: int, first: int, second: int) -> int:
    """Return variables and cut variables (−1 is none) in one number."""
    return variables | first + 1 << 8 | second + 1 << 16


class KeyArrays(NamedTuple):
    """Access keys by hash, and the concepts filed under each; those that are compared by rising bounds."""

    slot_keys: Words
    slot_entries: Ints
    entry_starts: Ints
    filed: Ints
    bounds: Doubles


class Statistics(NamedTuple):
    """What publications had so far, to file by: how many, how often each constant was where, and some values
    of each property.
    """

    publications: Doubles
    as_subject: Doubles
    as_object: Doubles
    as_class: Doubles
    of_property: Doubles
    sample_sizes: Ints
    samples: Doubles
    sample_groups: Ints


SAMPLE = 32
"""How many values of a property are kept."""


def mixed(kind: int, a: int, b: int, c: int) -> np.uint64:
    """Return the 64 bits by which a key is known; never 0, which is an empty slot."""
    x = np.uint64(kind + 1) * np.uint64(0x9E3779B97F4A7C15)
    x ^= np.uint64(a & 0xFFFFFFFF) * np.uint64(0xC2B2AE3D27D4EB4F)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= np.uint64(b & 0xFFFFFFFF) * np.uint64(0x165667B19E3779F9)
    x ^= x >> np.uint64(32)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= np.uint64(c & 0xFFFFFFFF) * np.uint64(0x27D4EB2F165667C5)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(32)
    return x | np.uint64(1)


def entry_of(slot_keys: Words, slot_entries: Ints, key: np.uint64) -> int:
    """Return the number of an access key's entry, or nothing."""
    mask = np.uint64(len(slot_keys) - 1)
    at = (key >> np.uint64(1)) & mask
    while True:
        there = slot_keys[at]
        if there == key:
            return int(slot_entries[at])
        if there == np.uint64(0):
            return NOTHING
        at = (at + np.uint64(1)) & mask


def key_table(known: Words, slot_keys: Words, slot_entries: Ints) -> None:
    """Fill the hash table of these keys, numbered as they come."""
    mask = np.uint64(len(slot_keys) - 1)
    for number in range(len(known)):
        at = (known[number] >> np.uint64(1)) & mask
        while slot_keys[at] != np.uint64(0):
            at = (at + np.uint64(1)) & mask
        slot_keys[at] = known[number]
        slot_entries[at] = number


def hashed(content: Bytes, begin: int, end: int, start: np.uint64) -> np.uint64:
    """Return the hash of some bytes, going on from that of those before (FNV-1a)."""
    found = start
    for at in range(begin, end):
        found = (found ^ np.uint64(content[at])) * np.uint64(0x100000001B3)
    return found


def term_table(content: Bytes, starts: npt.NDArray[np.int64], hashes: Words, slots: Ints) -> None:
    """Fill the hash table of constants, whose bytes stand one after another."""
    mask = np.uint64(len(slots) - 1)
    for number in range(len(starts) - 1):
        key = hashed(content, starts[number], starts[number + 1], np.uint64(0xCBF29CE484222325))
        hashes[number] = key
        at = (key ^ (key >> np.uint64(32))) & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = number


def is_listed(classes: ClassArrays, kind: int, owner: int, wanted: int) -> bool:
    """Return whether a rising list holds a number."""
    low, end = int(classes.starts[kind, owner]), int(classes.starts[kind, owner + 1])
    high = end
    while low < high:
        middle = (low + high) >> 1
        if classes.listed[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and classes.listed[low] == wanted)


def mix_all(kinds: Bytes, a: Ints, b: Ints, c: Ints, mixed_keys: Words) -> None:
    """Mix many keys."""
    for at in range(len(kinds)):
        mixed_keys[at] = mixed(int(kinds[at]), int(a[at]), int(b[at]), int(c[at]))
