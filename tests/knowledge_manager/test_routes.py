"""Ways through a thesaurus, compared with trying every path there is."""

from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.thesaurus.concept import (
    FACTORS,
    LEAST_CLOSENESS,
    WHOLE,
    Concept,
    Label,
    Relation,
    Target,
)
from knowledge_manager.thesaurus.routes import link_table, routes
from knowledge_manager.thesaurus.thesaurus import Thesaurus

MOST = 6


@st.composite
def small_thesauri(draw: st.DrawFn) -> list[Concept]:
    count = draw(st.integers(1, MOST))
    links = st.lists(st.tuples(st.sampled_from(Relation), st.integers(0, MOST)), max_size=3)
    return [
        Concept(
            f"u:{index}",
            "s:",
            (Label(f"word {draw(st.integers(0, 3))}", draw(st.sampled_from(["en", "nb", ""])), "preferred"),),
            tuple((relation, f"u:{end}") for relation, end in draw(links)),
            tuple(
                Target("attribute", f"e.a{number}") for number in draw(st.sets(st.integers(0, 4), max_size=2))
            ),
        )
        for index in range(count)
    ]


def closest_by_trying(links: list[dict[int, Relation]], here: int, end: int, seen: frozenset[int]) -> int:
    """Return the closeness of the best simple path, product taken from its end as the definition says."""
    if here == end:
        return WHOLE
    best = 0
    for next_, relation in links[here].items():
        if next_ not in seen:
            rest = closest_by_trying(links, next_, end, seen | {next_})
            best = max(best, rest * FACTORS[relation] // WHOLE if rest >= LEAST_CLOSENESS else 0)
    return best if best >= LEAST_CLOSENESS else 0


@given(small_thesauri())
def test_routes_are_the_closest_paths(concepts: list[Concept]) -> None:
    links = link_table(concepts)
    for begin, ways in enumerate(routes(concepts)):
        expected = {
            end: closeness
            for end, concept in enumerate(concepts)
            if end != begin and concept.targets
            if (closeness := closest_by_trying(links, begin, end, frozenset({begin})))
        }
        assert {route.end: route.closeness for route in ways} == expected
        assert [route.closeness for route in ways] == sorted((r.closeness for r in ways), reverse=True)


@given(small_thesauri(), st.integers(0, 3))
def test_findings_spell_out_their_way(concepts: list[Concept], number: int) -> None:
    by_uri = {concept.uri: concept for concept in concepts}
    position = {concept.uri: index for index, concept in enumerate(concepts)}
    links = link_table(concepts)
    findings = Thesaurus.of(concepts).find(f"WORD_{number}")
    reachable: dict[Target, int] = {}
    for concept in concepts:
        if concept.labels[0].text == f"word {number}":
            begin = position[concept.uri]
            for other in concepts:
                way = closest_by_trying(links, begin, position[other.uri], frozenset({begin}))
                for target in other.targets if way else ():
                    reachable[target] = max(reachable.get(target, 0), way)
    assert {finding.target: finding.closeness for finding in findings} == reachable
    for finding in findings:
        here = finding.concept
        assert finding.label in by_uri[here].labels
        relations = []
        for step in finding.steps:
            assert links[position[here]][position[step.concept]] == step.relation
            relations.append(step.relation)
            here = step.concept
        assert finding.target in by_uri[here].targets
        closeness = WHOLE
        for relation in reversed(relations):
            closeness = closeness * FACTORS[relation] // WHOLE
        assert closeness == finding.closeness


def test_siblings_are_not_confused() -> None:
    parent = Concept("u:temperature", "", (Label("temperature", "en", "preferred"),))
    body, air = (
        Concept(
            f"u:{name}",
            "",
            (Label(name, "en", "preferred"),),
            ((Relation.BROADER, "u:temperature"),),
            (Target("attribute", f"e.{name}"),),
        )
        for name in ("body", "air")
    )
    thesaurus = Thesaurus.of([parent, body, air])
    assert [finding.target.name for finding in thesaurus.find("body")] == ["e.body"]
    assert [(f.target.name, f.closeness) for f in thesaurus.find("Temperature")] == [
        ("e.air", 800),
        ("e.body", 800),
    ]


def test_units_that_disagree_are_not_guessed() -> None:
    def counted_in(unit: str) -> Concept:
        labels = (Label("temp", "en", "preferred"),)
        return Concept(f"u:{unit}", "", labels, (), (Target("attribute", "e.a"),), unit)

    assert Thesaurus.of([counted_in("degF")]).find("temp")[0].unit == "degF"
    assert Thesaurus.of([counted_in("degF"), counted_in("degC")]).find("temp")[0].unit == ""
