"""Taxonomies: read from RDFS and SKOS, compiled, queried; cycles and damage are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dens.config.problems import DocumentError
from knowledge_manager.compact_sections import CompactError
from knowledge_manager.graphs.compact_taxonomy import compile_taxonomy, read_compact_taxonomy
from knowledge_manager.graphs.taxonomy import Taxonomy, TaxonomyLabel, find_cycle, merge_taxonomies
from knowledge_manager.graphs.taxonomy_files import shipped_taxonomy
from knowledge_manager.graphs.taxonomy_reader import read_taxonomy, read_taxonomy_file
from tests.paths import ROOT

SKOS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<urn:flood> a skos:Concept ; skos:broader <urn:water> ; skos:prefLabel "flood"@en .
<urn:water> skos:narrower <urn:ice> .
<urn:skjelv> a <urn:flood>, <urn:stranger> .
"""


def test_what_ships_is_what_its_source_says() -> None:
    source = read_taxonomy_file(ROOT / "knowledge_manager" / "taxonomies" / "hazards.ttl")
    assert shipped_taxonomy("hazards") == source
    languages = {label.language for labels in source.labels.values() for label in labels}
    assert languages == {"en", "nb", "ru"}
    assert all({one.language for one in source.labels[iri]} == languages for iri in source.parents)


def test_skos_is_read_too() -> None:
    found = read_taxonomy(SKOS.encode(), "f.ttl", "turtle", "f")
    assert found.parents == {"urn:flood": ("urn:water",), "urn:ice": ("urn:water",), "urn:water": ()}
    assert found.types == {"urn:skjelv": ("urn:flood",)}
    assert found.labels == {"urn:flood": (TaxonomyLabel("flood", "en"),)}
    assert read_compact_taxonomy(compile_taxonomy(found)) == found


@st.composite
def taxonomies(draw: st.DrawFn) -> Taxonomy:
    size = draw(st.integers(1, 12))
    names = [f"urn:c{number}" for number in range(size)]
    parents = {
        one: tuple(sorted(draw(st.sets(st.sampled_from(names[:number]), max_size=3)))) if number else ()
        for number, one in enumerate(names)
    }
    things = draw(
        st.dictionaries(st.sampled_from(["urn:x", "urn:y"]), st.sampled_from(names).map(lambda c: (c,)))
    )
    return Taxonomy("some", parents, things)


@given(taxonomies())
def test_ancestors_are_the_closure(taxonomy: Taxonomy) -> None:
    for one in taxonomy.parents:
        wanted, waiting = {one}, [one]
        while waiting:
            waiting += [above for above in taxonomy.parents[waiting.pop()] if above not in wanted]
            wanted.update(waiting)
        assert taxonomy.ancestors(one) == wanted
        assert all(one in taxonomy.descendants(above) for above in wanted)
    assert taxonomy.ancestors("urn:stranger") == {"urn:stranger"}
    assert find_cycle(taxonomy.parents) == ()
    assert read_compact_taxonomy(compile_taxonomy(taxonomy)) == taxonomy


@given(taxonomies(), st.data())
def test_a_circle_is_named(taxonomy: Taxonomy, data: st.DataObject) -> None:
    low = data.draw(st.sampled_from(sorted(taxonomy.parents)))
    top = data.draw(st.sampled_from(sorted(taxonomy.ancestors(low))))
    parents = {**taxonomy.parents, top: (*taxonomy.parents[top], low)}
    ring = find_cycle(parents)
    assert ring
    for one, above in zip(ring, (*ring[1:], ring[0]), strict=True):
        assert above in parents[one]


def test_labels_do_not_count_in_the_digest_and_links_do() -> None:
    plain = Taxonomy("a", {"urn:a": ("urn:b",), "urn:b": ()})
    named = Taxonomy("b", plain.parents, {}, {"urn:a": (TaxonomyLabel("x", "en"),)})
    assert plain.digest == named.digest
    assert plain.digest != Taxonomy("a", {"urn:a": (), "urn:b": ()}).digest
    assert merge_taxonomies([plain, Taxonomy("c", {"urn:c": ("urn:a",)})]).is_below("urn:c", "urn:b")


def test_damage_is_refused() -> None:
    whole = compile_taxonomy(shipped_taxonomy("hazards"))
    for damaged in (b"", whole[:100], whole[:-1], b"X" + whole[1:], whole[:40] + b"\xff" + whole[41:]):
        with pytest.raises(CompactError):
            read_compact_taxonomy(damaged)
    with pytest.raises(DocumentError, match="no classes"):
        read_taxonomy(b"<urn:a> <urn:p> 5 .", "f.ttl", "turtle", "f")
