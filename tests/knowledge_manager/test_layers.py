"""Own words over those that ship: nothing shipped is lost, the own word decides where both have it."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from knowledge_manager.lookup.thesaurus_files import load_layers, load_thesaurus
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.thesaurus.compiled import compile_thesaurus
from knowledge_manager.thesaurus.concept import Concept, Label, Relation, Target
from knowledge_manager.thesaurus.layers import merge_layers
from knowledge_manager.thesaurus.thesaurus import Thesaurus

PREFIXES = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dens: <urn:dens:thesaurus:1#> .
@prefix mission: <urn:dens:thesaurus:mission#> .
"""
TARGETS = [Target("attribute", "patient.a"), Target("attribute", "patient.b"), Target("term", "high")]
WORDS = ["puls", "temp", "hoch"]


def test_the_shipped_words_stay_and_own_ones_lie_over_them(tmp_path: Path) -> None:
    own = tmp_path / "own.ttl"
    shipped = load_thesaurus("rescue")
    [concept] = {found.concept for found in shipped.find("heart rate") if found.closeness == 1000}
    own.write_text(
        PREFIXES
        + f'<#hf> a skos:Concept ; skos:prefLabel "Herzfrequenz"@de ; skos:exactMatch <{concept}> .\n'
        '<#temp> a skos:Concept ; skos:prefLabel "temp" ; '
        'skos:notation "patient.heart_rate"^^dens:attribute .\n'
    )
    both = load_layers([own])
    meant = {found.target.name for found in both.find("Herzfrequenz")}
    assert "patient.heart_rate" in meant, "an own concept may link to a shipped one"
    assert {found.target.name for found in both.find("puls")} == {
        found.target.name for found in shipped.find("puls")
    }
    of_patients = [found for found in both.find("temp") if found.target.event == "patient"]
    assert of_patients[0].target.name == "patient.heart_rate", "the own word decides"


def test_a_word_for_things_of_different_kinds_keeps_all_of_them() -> None:
    hoch = (Label("hoch", "", "preferred"),)
    both = merge_layers(
        [
            [Concept("urn:own", "", hoch, targets=(TARGETS[0],))],
            [Concept("urn:base", "", hoch, targets=(TARGETS[2],))],
        ]
    )
    assert {found.target for found in both.find("hoch")} == {TARGETS[0], TARGETS[2]}


def test_a_later_layer_lies_under_an_earlier_one(tmp_path: Path) -> None:
    for name, target in (("upper", "heart_rate"), ("lower", "oxygen_saturation")):
        (tmp_path / f"{name}.ttl").write_text(
            PREFIXES + f'<#{name}> a skos:Concept ; skos:prefLabel "wert" ; '
            f'skos:notation "patient.{target}"^^dens:attribute .\n'
        )
    both = load_layers([tmp_path / "upper.ttl", tmp_path / "lower.ttl", "rescue"])
    assert [found.target.name for found in both.find("wert")] == ["patient.heart_rate"]
    assert load_mission_table(["medical"]).event("patient").attribute("heart_rate")


def test_what_ships_compiles_to_the_same_bytes_from_its_own_concepts() -> None:
    shipped = load_thesaurus("rescue")
    again = compile_thesaurus(shipped.concepts())
    assert Thesaurus(again).concepts() == shipped.concepts()
    assert again == compile_thesaurus(Thesaurus(again).concepts())


@st.composite
def concepts(draw: st.DrawFn, prefix: str) -> list[Concept]:
    uris = [f"urn:{prefix}:{number}" for number in range(draw(st.integers(1, 4)))]
    return [
        Concept(
            uri,
            "",
            tuple(
                Label(word, "", "alternative") for word in draw(st.sets(st.sampled_from(WORDS), max_size=2))
            ),
            tuple(
                (draw(st.sampled_from(list(Relation))), other)
                for other in draw(st.sets(st.sampled_from(uris), max_size=2))
                if other != uri
            ),
            tuple(sorted(draw(st.sets(st.sampled_from(TARGETS), max_size=1)), key=str)),
        )
        for uri in uris
    ]


def meanings(thesaurus: Thesaurus, word: str) -> dict[Target, int]:
    return {found.target: found.closeness for found in thesaurus.find(word)}


@given(concepts("a"))
def test_concepts_of_the_compiled_form_mean_what_they_meant(given_concepts: list[Concept]) -> None:
    made = Thesaurus.of(given_concepts)
    again = Thesaurus.of(made.concepts())
    for word in WORDS:
        assert meanings(again, word) == meanings(made, word)


@given(concepts("own"), concepts("base"))
def test_layers_keep_what_the_upper_one_means_and_every_word_of_the_lower_without_a_rival(
    own: list[Concept], base: list[Concept]
) -> None:
    both, upper, lower = merge_layers([own, base]), Thesaurus.of(own), Thesaurus.of(base)
    for word in WORDS:
        found = meanings(both, word)
        assert meanings(upper, word).items() <= found.items() or all(
            found[target] >= closeness for target, closeness in meanings(upper, word).items()
        )
        if not any(label.text == word for concept in own for label in concept.labels):
            assert found == meanings(lower, word)
