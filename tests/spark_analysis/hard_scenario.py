"""A scenario in which every definition of docs/how-to/analysis.md makes a difference: devices with several
roles beside those with one, plain messages, composites, small buffers that refuse, frames with overhead,
crashes with and without loss of the store, devices that are down until the end, a partition, a withdrawn
subscription, and energy stated for some devices only.
"""

from pathlib import Path

SCENARIO = """
name = "hard"
duration_s = 1800
vocabularies = ["medical"]
area = { width_m = 300, height_m = 160 }
[overlay]
policy = "epidemic"
covering = true
matcher = "fast"
limits = { notification_items = 18 }
[radio.handheld]
range_m = 45
rate_bytes_per_s = 25000
loss = 0.03
frame_bytes = 64
overhead_bytes = 28
[radio.board]
range_m = 30
rate_bytes_per_s = 12500
frame_bytes = 48
overhead_bytes = 12
[energy.cell]
idle_w = 0.001
send_j_per_byte = 2e-6
receive_j_per_byte = 1e-6
reading_j = 1e-4
[[group]]
name = "hosts"
role = ["mediator", "publisher", "subscriber"]
count = 6
radio = "handheld"
energy = "cell"
mobility = { model = "random_waypoint", speed_m_per_s = [0.5, 1.5], pause_s = [0, 60] }
[[group]]
name = "bearers"
role = "mediator"
count = 2
radio = "handheld"
mobility = { model = "random_waypoint", speed_m_per_s = [1, 2], pause_s = [0, 30] }
[[group]]
name = "posts"
role = "mediator"
count = 1
radio = "handheld"
mobility = { model = "static", places_m = [[50, 105]] }
[[group]]
name = "tags"
role = "publisher"
count = 3
radio = "board"
energy = "cell"
mobility = { model = "static", places_m = [[40, 40], [50, 120], [250, 80]] }
[[group]]
name = "officers"
role = "subscriber"
count = 2
radio = "handheld"
mobility = { model = "random_waypoint", speed_m_per_s = [0.5, 1.5], pause_s = [0, 60] }
[[subscription]]
group = "hosts"
file = "fast.xml"
[[subscription]]
group = "officers"
file = "low.xml"
withdrawn_at_s = 1300
[[subscription]]
group = "officers"
file = "sinking.xml"
at_s = 30
[[sensor]]
group = "tags"
event = "patient"
every_s = 40
notification_lifetime_s = 500
source = { generator = "vital_signs", deteriorating = 0.8 }
[[sensor]]
group = "hosts"
event = "patient"
every_s = 150
notification_lifetime_s = 900
source = { generator = "vital_signs", deteriorating = 0.8 }
[[traffic]]
source = "hosts"
destination = "hosts"
first_s = 20
every_s = 45
size_bytes = 300
lifetime_s = 700
[[fault]]
kind = "crash"
who = ["bearers-2", "officers-2"]
at_s = 800
for_s = 120
store = "lost"
[[fault]]
kind = "crash"
who = ["bearers-1", "hosts-2", "tags-2"]
at_s = 500
for_s = 200
[[fault]]
kind = "crash"
who = ["hosts-5", "hosts-6"]
at_s = 1250
[[fault]]
kind = "partition"
who = ["bearers", "hosts-1", "hosts-3"]
at_s = 250
for_s = 350
"""
FAST = """<subscription xmlns="urn:dens:subscription:1" event="patient" valid="PT2H">
<crisp-predicate attribute="heart_rate" operator="ge">75</crisp-predicate></subscription>"""
LOW = """<subscription xmlns="urn:dens:subscription:1" event="patient" valid="PT2H">
<crisp-predicate attribute="heart_rate" operator="ge">60</crisp-predicate></subscription>"""
SINKING = """<composite xmlns="urn:dens:composite:1" window="PT10M" valid="PT2H" keep="PT20M" quiet="PT1M">
  <primitive name="fast" event="patient">
    <crisp-predicate attribute="respiration_rate" operator="ge">15</crisp-predicate></primitive>
  <primitive name="low" event="patient">
    <crisp-predicate attribute="oxygen_saturation" operator="le">97</crisp-predicate></primitive>
  <pattern>fast; low</pattern>
</composite>"""


def write_hard_scenario(folder: Path) -> Path:
    """Write the scenario and its subscriptions; return its file."""
    for name, text in (("fast.xml", FAST), ("low.xml", LOW), ("sinking.xml", SINKING)):
        (folder / name).write_text(text)
    file = folder / "hard.toml"
    file.write_text(SCENARIO)
    return file
