"""A little scenario that is run in a second, and a sweep of it."""

from pathlib import Path

SCENARIO = """
name = "little"
duration_s = 600
vocabularies = ["medical"]
area = { width_m = 200, height_m = 200 }
[overlay]
policy = "epidemic"
[radio.near]
range_m = 60
rate_bytes_per_s = 25000
[[group]]
name = "medics"
role = "subscriber"
count = 1
radio = "near"
mobility = { model = "random_waypoint", speed_m_per_s = [2, 4], pause_s = [0, 1] }
[[group]]
name = "helpers"
role = "mediator"
count = 2
radio = "near"
mobility = { model = "random_waypoint", speed_m_per_s = [5, 8], pause_s = [0, 1] }
[[group]]
name = "patients"
role = "publisher"
count = 2
radio = "near"
mobility = { model = "static" }
[[subscription]]
group = "medics"
file = "subscription.xml"
[[sensor]]
group = "patients"
event = "patient"
every_s = 20
source = { generator = "vital_signs", deteriorating = 0.5 }
"""
WISH = """<subscription xmlns="urn:dens:subscription:1" event="patient" valid="PT2H">
<crisp-predicate attribute="heart_rate" operator="ge">40</crisp-predicate></subscription>"""
SWEEP = """scenario = "little.toml"
%s
[vary]
"group.helpers.count" = [1, 4]
"""


def write_little_sweep(folder: Path, seeds: str = "seeds = [1, 2]") -> Path:
    """Write the scenario, its subscription and the sweep; return the sweep's file."""
    (folder / "little.toml").write_text(SCENARIO)
    (folder / "subscription.xml").write_text(WISH)
    (folder / "sweep.toml").write_text(SWEEP % seeds)
    return folder / "sweep.toml"
