"""What a node offers, from its vocabularies and its sources."""

import pytest

from knowledge_manager.dictionary.extract import Extract, decode_extract
from knowledge_manager.dictionary.local import LocalDataDictionary, LocalDictionaryError
from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.event_class import UnknownName
from plugins.language import Requirement
from plugins.lookup import MeasuresAny

TABLE = load_mission_table(["medical", "weather", "fire"])


def test_the_extract_says_what_is_offered() -> None:
    local = LocalDataDictionary(TABLE)
    local.offer("weather", ["wind_speed", "temperature"], "i2c")
    local.offer("patient", ["oxygen_saturation", "heart_rate"], "file", "text/csv")
    extract = decode_extract(local.extract(7, lifetime_s=86_400), TABLE)
    assert (extract.counter, extract.lifetime_ms) == (7, 92_681_000)
    assert [(source.event, source.attributes) for source in extract.sources] == [(0, 0b1010), (1, 0b1001)]


def test_a_watchdog_learns_how_to_read_a_source() -> None:
    local = LocalDataDictionary(TABLE)
    pulse = local.offer("patient", ["heart_rate"], "file", "text/csv")
    both = local.offer("patient", ["heart_rate", "oxygen_saturation"], "i2c")
    heart, oxygen = (
        TABLE.event("patient").attribute(name).index for name in ("heart_rate", "oxygen_saturation")
    )
    assert local.serving(MeasuresAny((Requirement(0, frozenset({heart})),))) == (pulse, both)
    assert local.serving(MeasuresAny((Requirement(0, frozenset({heart, oxygen})),))) == (both,)
    assert (pulse.protocol, pulse.content_type) == ("file", "text/csv")
    assert local.serving(MeasuresAny((Requirement(1, frozenset({0})),))) is None


class NeedsBoth:
    """A question that no source answers alone."""

    alternatives = None

    def serves(self, extract: Extract) -> bool:
        return len(extract.sources) == 2


class NeedsNothing:
    """A question that anybody answers, with sources or without."""

    alternatives = None

    def serves(self, extract: Extract) -> bool:
        return True


def test_a_question_may_need_all_sources_or_none() -> None:
    local = LocalDataDictionary(TABLE)
    assert local.serving(NeedsNothing()) == ()
    pulse = local.offer("patient", ["heart_rate"], "file")
    assert local.serving(NeedsBoth()) is None
    wind = local.offer("weather", ["wind_speed"], "i2c")
    assert local.serving(NeedsBoth()) == (pulse, wind) == local.serving(NeedsNothing())


def test_sources_come_and_go() -> None:
    local = LocalDataDictionary(TABLE)
    pulse = local.offer("patient", ["heart_rate"], "file")
    ward = local.offer("patient", ["ward"], "file")
    assert local.offer("patient", ["heart_rate"], "file") == pulse
    assert local.sources == (pulse, ward)
    local.withdraw(pulse)
    local.withdraw(pulse)
    assert local.sources == (ward,)
    local.withdraw(ward)
    assert decode_extract(local.extract(1)).sources == ()


def test_document_has_domain_unit_and_terms() -> None:
    local = LocalDataDictionary(TABLE)
    local.offer("fire", ["carbon_monoxide", "smoke"], "adc", "application/octet-stream")
    (document,) = local.as_document()
    assert document["event"] == "fire"
    monoxide, smoke = document["attributes"]
    assert (monoxide["domain"], monoxide["unit"]) == ([0.0, 2000.0], "ppm")
    assert monoxide["terms"] == ["present", "dangerous"]
    assert smoke["values"] == ["none", "thin", "thick"]


def test_what_cannot_be_offered() -> None:
    local = LocalDataDictionary(TABLE)
    with pytest.raises(UnknownName, match="heart_rate"):
        local.offer("patient", ["hart_rate"])
    with pytest.raises(UnknownName):
        local.offer("patients", ["heart_rate"])
    with pytest.raises(LocalDictionaryError, match="at least one attribute"):
        local.offer("patient", [])
    with pytest.raises(LocalDictionaryError, match=r'protocol "fil" has no code .* did you mean "file"'):
        local.offer("patient", ["heart_rate"], "fil")
    with pytest.raises(LocalDictionaryError, match="content type"):
        local.offer("patient", ["heart_rate"], "file", "text/cvs")
    assert local.sources == ()
