"""What composing costs: merged states, late events, bytes on the air."""

import random
import time
from collections.abc import Sequence
from typing import Final

from dens_experiments.composite import vitals
from dens_experiments.composite.calibration import PATTERNS, learner_for
from dens_experiments.composite.letters import judge, table
from dens_experiments.family import Request
from dens_experiments.panel import Line, Panel, Shape, verdict
from dens_experiments.sampling import Sample, Tell, line_of
from dens_experiments.tables import number
from plugins.composite.composer import CompositeComposer
from plugins.composite.pattern import Joined, Leaf
from plugins.composite.search.machines import Trie, chain_steps
from plugins.composite.source import CompositeSourceFilter
from plugins.composite.vectors import CompositeBody, decode_body, encode_body
from plugins.language import SourceFilter
from plugins.registry import DEFAULT, language_named
from watchdog.reading import Reading

COUNTS: Final = (10, 100, 1000, 10_000)
LETTERS: Final = 18
_ALWAYS: Final = (-(10**12), 10**12)


def random_chain(rng: random.Random, leaves: int = 3) -> CompositeBody:
    """Return a chain of letters with `;` or `,` between them."""
    letters = [rng.randrange(1, LETTERS + 1) for _ in range(leaves)]
    used = sorted(set(letters))
    terms: list[list[Leaf]] = [[Leaf(used.index(letters[0]))]]
    for letter in letters[1:]:
        if rng.random() < 0.3:
            terms[-1].append(Leaf(used.index(letter)))
        else:
            terms.append([Leaf(used.index(letter))])
    parts = tuple(term[0] if len(term) == 1 else Joined("next", tuple(term)) for term in terms)
    pattern = parts[0] if len(parts) == 1 else Joined("then", parts)
    primitives = tuple(bytes((0, letter, letter, 127, 8, 1)) for letter in used)
    return CompositeBody(0, 0, "ends", False, 60, 95, 0, pattern, (), primitives, ((),) * len(used))


def letter_vector(place: int, letter: int) -> bytes:
    """Return a letter as a notification."""
    head = (place % 65536).to_bytes(2, "big") + b"\x5f" + (place % 65536).to_bytes(2, "big") + b"\0"
    return head + bytes((letter, 0)) + b"\x08\x03"


def merge(request: Request, tell: Tell) -> Panel:
    """Count states of merged machines, and time composing of as many patterns."""
    counts = request.counts or (COUNTS[:3] if request.small else COUNTS)
    seeds = request.seeds or ((1,) if request.small else (1, 2, 3))
    taken: list[list[Sample]] = []
    for count in counts:
        tell(f"{count:,} patterns")
        taken.append([_merged(count, seed) for seed in seeds])
    line = line_of(taken)
    merged, apart = line.work["states merged"], line.work["states apart"]
    share = merged[-1] / apart[-1]
    return Panel(
        "Merging: states of machines, and composing",
        "patterns",
        "ms a reading, composing",
        counts,
        {"composing": line},
        "merging saves memory and improves matching (not evaluated there)",
        shapes=(
            Shape(
                "merging saves states",
                f"{number(merged[-1])} of {number(apart[-1])} states at {counts[-1]:,} patterns",
                verdict(share < 0.5, share < 1),
            ),
        ),
        remarks=(
            f"chains of three among {LETTERS} letters, window 60 s, a letter a second. Composing shares a "
            "stack a primitive and has no states.",
        ),
    )


def _merged(count: int, seed: int) -> Sample:
    rng = random.Random(seed)
    composer = CompositeComposer(table(), judge())
    trie, apart = Trie(), 0
    for place in range(count):
        body = random_chain(rng)
        names = [str(body.primitives[leaf][1]) for leaf in body.leaf_primitives]
        steps = chain_steps(body.pattern, names)
        assert steps is not None, "it is a chain"
        trie.insert(steps, place)
        apart += len(steps) + 1
        composer.add((place >> 8, place & 255), encode_body(body, 1), 0, *_ALWAYS)
    vectors = [letter_vector(place, rng.randrange(LETTERS + 1)) for place in range(120)]
    begin = time.process_time()
    for place, vector in enumerate(vectors):
        composer.feed(1 << 32 | place, 1, vector, 1000 * place, 0)
    spent = 1e3 * (time.process_time() - begin) / len(vectors)
    return Sample(spent, {"states merged": float(trie.states), "states apart": float(apart)})


def late(request: Request, tell: Tell) -> Panel:
    """Time an event that comes late beside one that comes in order."""
    counts = request.counts or ((100, 1000) if request.small else (100, 1000, 10_000))
    seeds = request.seeds or ((1,) if request.small else (1, 2, 3))
    in_order, lately = [], []
    for count in counts:
        tell(f"{count:,} held")
        found = [late_times(count, seed) for seed in seeds]
        in_order.append([Sample(1e3 * one, {}) for one, _ in found])
        lately.append([Sample(1e3 * two, {}) for _, two in found])
    lines = {"in order": line_of(in_order), "late": line_of(lately)}
    ratio = lines["late"].means[-1] / lines["in order"].means[-1]
    return Panel(
        "An event that comes late",
        "notifications held",
        "ms an event",
        counts,
        lines,
        "events are assumed to come in their order",
        shapes=(
            Shape(
                "a late event costs at most ten times one in order",
                f"{number(ratio)} times at {counts[-1]:,}",
                verdict(ratio <= 10),
            ),
        ),
        remarks=("100 chains of three letters, window 60 s; a late event lies anywhere in what is held.",),
    )


def late_times(count: int, seed: int, patterns: int = 100, tries: int = 200) -> tuple[float, float]:
    """Return seconds for an event in order, and for one that comes late, among so many held."""
    rng = random.Random(seed)
    composer = CompositeComposer(table(), judge())
    for place in range(patterns):
        composer.add((place >> 8, place & 255), encode_body(random_chain(rng), 1), 0, *_ALWAYS)
    held_back = sorted(rng.sample(range(1, count), min(tries, count // 4)))
    left_out = set(held_back)
    vectors = [letter_vector(place, rng.randrange(LETTERS + 1)) for place in range(count + tries)]
    for place in range(count):
        if place not in left_out:
            composer.feed(1 << 32 | place, 1, vectors[place], 1000 * place, 0)
    begin = time.process_time()
    for place in range(count, count + tries):
        composer.feed(1 << 32 | place, 1, vectors[place], 1000 * place, 0)
    ordered = (time.process_time() - begin) / tries
    begin = time.process_time()
    for place in held_back:
        composer.feed(1 << 32 | place, 1, vectors[place], 1000 * place, 0)
    return ordered, (time.process_time() - begin) / len(held_back)


def radio(request: Request, tell: Tell) -> Panel:
    """Count bytes that a source sends: parts, for mediators to compose, or composites."""
    patterns = PATTERNS[:2] if request.small else PATTERNS
    people = vitals.patients()[:8] if request.small else vitals.patients()
    parts, whole, quiet = [], [], []
    for pattern, window in patterns:
        tell(pattern)
        body = learner_for(pattern, window, 10).body
        loud = _loud(body)
        parts.append(_sent(language_named(DEFAULT).source_filter(vitals.table()), _parts(loud), people))
        whole.append(_sent(CompositeSourceFilter(vitals.table(), judge()), [loud], people))
        quiet.append(_sent(CompositeSourceFilter(vitals.table(), judge()), [_silent(body)], people))
    names = tuple(pattern for pattern, _ in patterns)
    lines = {
        "parts": Line(tuple((one,) for one in parts)),
        "composites, every end": Line(tuple((one,) for one in whole)),
        "composites, one a minute": Line(tuple((one,) for one in quiet)),
    }
    less = sum(one < other for one, other in zip(quiet, parts, strict=True))
    return Panel(
        "Bytes that sources send for composites",
        "pattern",
        "bytes a reading",
        names,
        lines,
        "not stated there",
        shapes=(
            Shape(
                "a source that composes sends less",
                f"with quiet in {less} of {len(names)} patterns",
                verdict(less == len(names), less > 0),
                "" if less == len(names) else "a composite repeats its witness, a part is reported once",
            ),
        ),
        remarks=("Vectors alone, without envelopes; vital signs of BIDMC at one reading a second.",),
        form="bars",
    )


def _parts(body: bytes) -> list[bytes]:
    whole = decode_body(body, vitals.table().feature_bytes, vitals.table())
    return [whole.part(place) for place in range(len(whole.primitives))]


def _loud(body: bytes) -> bytes:
    return _changed(body, quiet_q=0, prediction=None)


def _silent(body: bytes) -> bytes:
    return _changed(body, prediction=None)


def _changed(body: bytes, **fields: object) -> bytes:
    from dataclasses import replace

    width = vitals.table().feature_bytes
    return encode_body(replace(decode_body(body, width, vitals.table()), **fields), width)  # type: ignore[arg-type]


def _sent(source: SourceFilter, bodies: Sequence[bytes], people: Sequence[Sequence[object]]) -> float:
    """Return the bytes that a source sends, a reading, over all patients."""
    for place, body in enumerate(bodies):
        source.add((2, place), body)
    total = count = 0
    offset = 0
    reading = Reading(vitals.table().feature_bytes)
    for own in vitals.patients()[: len(people)]:
        for one in own:
            reading.clear(one.event, offset + one.number, offset + one.second)
            for attribute, byte in one.values.items():
                reading.set(attribute, byte)
            total += sum(len(release.vector) for release in source.feed(reading))
            count += 1
        offset += 4000  # another patient: nothing of the one before lies in a window
    return total / count
