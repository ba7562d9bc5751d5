"""What is measured around here, in the words of whoever asks."""

from knowledge_manager.dictionary.distributed import DistributedDataDictionary
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.dictionary.offers import browse_offers, heard_within
from knowledge_manager.lookup.thesaurus_files import load_thesaurus
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.vocabulary import load_vocabulary
from knowledge_manager.vocabulary_view import show_vocabulary

TABLE = load_mission_table(["medical", "weather", "fire"])
WORDS = load_thesaurus("rescue")


def dictionary() -> DistributedDataDictionary:
    known = DistributedDataDictionary(table=TABLE)
    for node, event, attributes, heard_ms in [
        (4, "patient", ["patient_temperature", "heart_rate"], 1_000),
        (2, "patient", ["patient_temperature"], 50_000),
        (9, "weather", ["temperature"], 60_000),
    ]:
        local = LocalDataDictionary(TABLE)
        local.offer(event, attributes, "file", "text/csv")
        known.learn(node, local.extract(1, lifetime_s=600), heard_ms)
    return known


def test_two_publishers_have_entries_for_temperature() -> None:
    offers = browse_offers(dictionary(), TABLE, WORDS, "no")
    assert [(offer.event.name, offer.attribute.name, offer.nodes) for offer in offers] == [
        ("patient", "patient_temperature", (2, 4)),
        ("patient", "heart_rate", (4,)),
        ("weather", "temperature", (9,)),
    ]
    assert offers[0].words == ("kroppstemperatur",)
    document = offers[1].as_document()
    assert (document["feature"], document["unit"], document["nodes"]) == (2, "bpm", [4])
    assert "high" in document["terms"]


def test_browsing_can_be_limited_to_the_own_partition() -> None:
    known = dictionary()
    recent = heard_within(known, 20_000)
    assert recent == {2, 9}
    offers = browse_offers(known, TABLE, within=recent)
    assert [(offer.attribute.name, offer.nodes) for offer in offers] == [
        ("patient_temperature", (2,)),
        ("temperature", (9,)),
    ]
    assert offers[0].words == ()


def test_what_expired_is_not_offered() -> None:
    known = dictionary()
    known.advance_time(10_000_000)
    assert browse_offers(known, TABLE) == ()


def test_a_vocabulary_is_shown_with_everybodys_words() -> None:
    document = show_vocabulary(load_vocabulary("medical"), WORDS).as_document()
    (patient,) = document["events"]
    assert (document["name"], patient["name"], patient["feature"]) == ("medical", "patient", 1)
    assert {"pasient", "пациент", "victim"} <= set(patient["words"])
    heart_rate = patient["attributes"][1]
    assert heart_rate["feature"] == 2
    assert {"heart rate", "hjertefrekvens", "сърдечна честота"} <= set(heart_rate["words"])
    norwegian = show_vocabulary(load_vocabulary("medical"), WORDS, "no").as_document()
    assert norwegian["events"][0]["attributes"][1]["words"] == ["hjertefrekvens"]
