"""Words in a thesaurus of 10,000 concepts: look-up, load and spelling, beside rdflib doing the same."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.measurement import Measurement, at_least, at_most
from benchmarks.sizes import sized
from knowledge_manager.thesaurus.compiled import compile_thesaurus
from knowledge_manager.thesaurus.concept import Concept, Label, Relation, Target
from knowledge_manager.thesaurus.skos import SKOS
from knowledge_manager.thesaurus.thesaurus import Thesaurus

CONCEPTS = sized(10_000, 200)
MISSION = CONCEPTS // 4
LANGUAGES = ("en", "nb", "bg")
GOAL_LOOK_UP_US = 20.0
GOAL_LOAD_MS = 50.0
GOAL_SPELLING_MS = 250.0
_SYLLABLES = (
    "ka",
    "ro",
    "mi",
    "te",
    "lu",
    "sen",
    "dor",
    "vi",
    "pa",
    "gno",
    "ny",
    "ster",
    "fal",
    "que",
    "bi",
    "hox",
)


def measure() -> Iterator[Measurement]:
    """Measure in processor time, because other work on the machine is not ours."""
    concepts = [_concept(number) for number in range(CONCEPTS)]
    content = compile_thesaurus(concepts)
    load_s = _best(lambda: Thesaurus(content), 7)
    thesaurus = Thesaurus(content)
    words = [concept.labels[number % 3].text for number, concept in enumerate(concepts)]
    found = sum(len(thesaurus.find(word)) for word in words)
    look_up_s = _best(lambda: [thesaurus.find(word) for word in words], 3) / len(words)
    read_s = _best(lambda: [[f.steps for f in thesaurus.find(word)] for word in words], 3) / len(words)
    misspelt = [_misspelt(word) for word in words[::500]]
    spelling_s = _best(lambda: [thesaurus.nearest(word) for word in misspelt], 1) / len(misspelt)
    yield at_most("thesaurus_lookup_us_against_20_us", 1e6 * look_up_s, GOAL_LOOK_UP_US, 1.0)
    yield at_most("thesaurus_lookup_with_paths_us_against_100_us", 1e6 * read_s, 100.0, 1.0)
    yield at_most("thesaurus_load_ms_against_50_ms", 1e3 * load_s, GOAL_LOAD_MS, 1.0)
    yield at_most("thesaurus_nearest_ms_against_250_ms", 1e3 * spelling_s, GOAL_SPELLING_MS, 1.0)
    yield at_most("thesaurus_bytes_per_concept_against_400", len(content) / CONCEPTS, 400.0, 1.0)
    yield at_least("thesaurus_meanings_per_word_at_least_1", found / len(words), 1.0, 1.0)
    yield from _beside_rdflib(concepts[: MISSION + 500], words[: MISSION + 500])


def _concept(number: int) -> Concept:
    """Return one concept of the mission's tree, eight to a parent, or one of three organisations' for it.

    Leaves stand for something, as in the shipped thesaurus; a fifth of the organisations' concepts are only
    close to the mission's. Each has three labels.
    """
    labels = tuple(
        Label(_word(3 * number + i), language, "preferred") for i, language in enumerate(LANGUAGES)
    )
    organisation, position = divmod(number, MISSION)
    if organisation:
        relation = Relation.CLOSE if position % 5 == 0 else Relation.EXACT
        own = ((relation, f"urn:c:{position}"),)
        return Concept(f"urn:c:{number}", f"urn:s:{organisation}", labels, own)
    broader = ((Relation.BROADER, f"urn:c:{(number - 1) // 8}"),) if number else ()
    targets = (Target("attribute", f"e.a{number}"),) if 8 * number + 1 >= MISSION else ()
    return Concept(f"urn:c:{number}", "urn:s:0", labels, broader, targets)


def _word(number: int) -> str:
    """Return a word that a person could say, another one for each number."""
    mixed = number * 40_503 % (1 << 20)
    return "".join(_SYLLABLES[mixed >> shift & 15] for shift in (16, 12, 8, 4, 0))


def _misspelt(word: str) -> str:
    return word[:3] + word[4] + word[3] + word[5:]


def _best(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def _beside_rdflib(concepts: list[Concept], words: list[str]) -> Iterator[Measurement]:
    """Load and ask the same three thousand concepts as an RDF graph and as the compiled form."""
    import rdflib

    turtle = _graph(concepts).serialize(format="nt")
    content = compile_thesaurus(concepts)
    rdflib_load_s = _best(lambda: rdflib.Graph().parse(data=turtle, format="nt"), 1)
    graph = rdflib.Graph().parse(data=turtle, format="nt")
    thesaurus = Thesaurus(content)
    label, notation = rdflib.URIRef(SKOS + "prefLabel"), rdflib.URIRef(SKOS + "notation")
    literals = [rdflib.Literal(word, lang=LANGUAGES[number % 3]) for number, word in enumerate(words)]

    def ask() -> list[Any]:
        return [
            [list(graph.objects(subject, notation)) for subject in graph.subjects(label, literal)]
            for literal in literals
        ]

    yield at_least(
        "thesaurus_load_times_faster_than_rdflib", rdflib_load_s, _best(lambda: Thesaurus(content), 5), 20.0
    )
    yield at_least(
        "thesaurus_lookup_times_faster_than_rdflib_without_links",
        _best(ask, 3),
        _best(lambda: [thesaurus.find(word) for word in words], 3),
        1.0,
    )


def _graph(concepts: list[Concept]) -> Any:
    import rdflib

    graph = rdflib.Graph()
    for concept in concepts:
        subject = rdflib.URIRef(concept.uri)
        for label in concept.labels:
            literal = rdflib.Literal(label.text, lang=label.language)
            graph.add((subject, rdflib.URIRef(SKOS + "prefLabel"), literal))
        for relation, end in concept.links:
            name = "exactMatch" if relation is Relation.EXACT else "broader"
            graph.add((subject, rdflib.URIRef(SKOS + name), rdflib.URIRef(end)))
        for target in concept.targets:
            graph.add((subject, rdflib.URIRef(SKOS + "notation"), rdflib.Literal(target.name)))
    return graph
