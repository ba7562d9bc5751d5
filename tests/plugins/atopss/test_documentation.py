"""What the documentation shows is true: its documents compile to the bytes that it shows."""

import re

from knowledge_manager.mission_table import load_mission_table
from knowledge_manager.vocabulary.hedges import HEDGES
from plugins.atopss.authoring.atopss_authoring import AtopssAuthoring
from plugins.atopss.authoring.schema import SCHEMA
from plugins.atopss.matching.algorithms import ALGORITHMS
from plugins.atopss.subscriptions import Norm
from tests.paths import ROOT
from tests.plugins.atopss.subscriptions import PUBLICATION, SUBSCRIPTION
from watchdog.header import framed

PAGE = (ROOT / "docs/how-to/atopss.md").read_text("utf-8")
TABLE = load_mission_table(["housing"])


def test_both_examples_are_the_files_and_the_bytes() -> None:
    asking, telling = re.findall(r"```xml\n(.*?)```", PAGE, re.S)
    assert asking == (ROOT / "docs/examples/apartment.xml").read_text("utf-8")
    assert telling == (ROOT / "docs/examples/apartment_offer.xml").read_text("utf-8")
    made = AtopssAuthoring().compile(asking.encode(), "docs", TABLE)
    assert framed(0, 0, made.lifetime_q, made.body) == SUBSCRIPTION
    assert SUBSCRIPTION.hex() in PAGE
    assert PUBLICATION.hex() in PAGE
    told = AtopssAuthoring().explain_notification(SUBSCRIPTION, TABLE, PUBLICATION)
    assert told.lines()[-1] in PAGE


def test_pages_know_every_algorithm_norm_and_option() -> None:
    matching = (ROOT / "docs/explanation/matching.md").read_text("utf-8")
    for name, algorithm in ALGORITHMS.items():
        assert f"`{name}`" in matching
        assert all(f"{option}=" in matching for option in algorithm.options)
    assert all(f"`{norm.name.lower()}`" in PAGE for norm in Norm)


def test_every_element_of_the_schema_is_documented() -> None:
    assert SCHEMA.validator() is SCHEMA.validator()
    text = (ROOT / "plugins/atopss/approximate.xsd").read_text("utf-8")
    names = re.findall(r'^  <xs:element name="([^"]+)"', text, re.M)
    documented = re.findall(
        r'^  <xs:element name="([^"]+)"[^>]*>\s*<xs:annotation><xs:documentation>', text, re.M
    )
    assert len(names) > 25
    assert documented == names


def test_the_schema_knows_the_hedges() -> None:
    schema = (ROOT / "plugins/atopss/approximate.xsd").read_text("utf-8")
    (included,) = re.findall(r'<xs:include schemaLocation="([^"]+)"', schema)
    text = (ROOT / "plugins/atopss" / included).read_text("utf-8")
    part = text[text.index('name="hedge-name"') :].split("</xs:simpleType>")[0]
    assert re.findall(r'<xs:enumeration value="([^"]+)"', part) == list(HEDGES)
