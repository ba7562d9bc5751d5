"""What a subscription asks of attributes, as one value each: the middle of what it wants."""

import pytest

from knowledge_manager.mission_table import load_mission_table
from plugins.registry import authoring_of, language_of_document
from watchdog.normalise import normal_byte

TABLE = load_mission_table(["medical"])
EVENT = TABLE.event("patient")
PULSE = EVENT.attribute("heart_rate")
ASKED = """<subscription xmlns="urn:dens:{language}:1" event="patient">
  <crisp-predicate attribute="heart_rate" operator="between"><min>100</min><max>140</max></crisp-predicate>
  <approximate-predicate attribute="patient_temperature"><is-not>high</is-not></approximate-predicate>
  <crisp-predicate attribute="oxygen_saturation" operator="le">90</crisp-predicate>
</subscription>"""


@pytest.mark.parametrize("name", ["subscription", "approximate"])
def test_the_middle_of_what_is_wanted_and_nothing_of_what_is_not(name: str) -> None:
    source = ASKED.format(language=name).encode()
    language = language_of_document(source, "subscription.xml")
    body = authoring_of(language).compile(source, "subscription.xml", TABLE).body
    assert language.requested_values is not None
    found = {attribute: byte for event, attribute, byte in language.requested_values(TABLE, body)}
    oxygen = EVENT.attribute("oxygen_saturation")
    expected = {
        PULSE.index: normal_byte(1200, PULSE.lo_scaled, PULSE.hi_scaled),
        oxygen.index: normal_byte(
            (oxygen.lo_scaled + 90 * 10**oxygen.decimals) // 2, oxygen.lo_scaled, oxygen.hi_scaled
        ),
    }
    assert found.keys() == expected.keys()
    assert all(abs(found[attribute] - byte) <= 1 for attribute, byte in expected.items())
