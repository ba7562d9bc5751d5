"""A small scenario that runs in about a second, and the means to change it."""

from collections.abc import Callable
from pathlib import Path

import pytest

SMALL = """\
name = "small"
duration_s = 3600
seed = 5
vocabularies = ["medical"]

[area]
width_m = 400
height_m = 300

[radio.handheld]
range_m = 50
rate_bytes_per_s = 25000
setup_ms = 100
loss = 0.05

[[group]]
name = "medics"
role = "subscriber"
count = 2
radio = "handheld"
mobility = { model = "random_waypoint", speed_m_per_s = [1.0, 2.0], pause_s = [0, 30] }

[[group]]
name = "helpers"
role = "mediator"
count = 3
radio = "handheld"
mobility = { model = "random_waypoint", speed_m_per_s = [2.0, 4.0] }

[[group]]
name = "patients"
role = "publisher"
count = 3
radio = "handheld"
mobility = { model = "static" }

[[subscription]]
group = "medics"
file = "fever.xml"

[[sensor]]
group = "patients"
event = "patient"
every_s = 30
source = { generator = "vital_signs", deteriorating = 1.0 }
"""

FEVER = """\
<subscription xmlns="urn:dens:subscription:1" event="patient" valid="PT4H" threshold="0.2">
  <approximate-predicate attribute="patient_temperature"><is>high</is></approximate-predicate>
  <approximate-predicate attribute="heart_rate"><is>high</is></approximate-predicate>
</subscription>
"""

WriteScenario = Callable[..., Path]


@pytest.fixture
def write_scenario(tmp_path: Path) -> WriteScenario:
    """Return a function that writes the small scenario with texts replaced, and returns its path."""

    def write(*changes: tuple[str, str]) -> Path:
        text = SMALL
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / "fever.xml").write_text(FEVER)
        path = tmp_path / "small.toml"
        path.write_text(text)
        return path

    return write
