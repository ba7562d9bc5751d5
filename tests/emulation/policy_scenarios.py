"""The scenarios by which replication policies are compared with their oracles."""

from pathlib import Path
from typing import Final

LAYOUTS: Final = ("joint", "mediators", "separate")
"""All roles on every device; destinations that are mediators too; destinations that only ask."""

PLAIN = """\
name = "plain"
duration_s = 3600
seed = 3
area = {{ width_m = 300, height_m = 300 }}
overlay.policy = "{policy}"
radio.device = {{ range_m = 30, rate_bytes_per_s = 250000 }}

[[group]]
name = "hosts"
role = ["mediator", "publisher"{inside}]
count = 10
radio = "device"
mobility = {{ model = "random_waypoint", speed_m_per_s = [0.5, 1.5], pause_s = [0, 120] }}

[[group]]
name = "centres"
role = {centre}
count = 3
radio = "device"
mobility = {{ model = "random_waypoint", speed_m_per_s = [0.5, 1.5], pause_s = [0, 120] }}

[[traffic]]
source = "hosts"
destination = "{destination}"
first_s = 30
every_s = 30
size_bytes = 2000
lifetime_s = 1800
"""

RECORDED = """\
name = "recorded"
duration_s = 7200
seed = 1
area = {{ width_m = 1000, height_m = 1000 }}
overlay.limits = {{ notification_bytes = 100000000, window_bytes = 65536 }}
radio.device = {{ range_m = 50, rate_bytes_per_s = 250000 }}
contacts.file = "{contacts}"

[[group]]
name = "hosts"
role = ["mediator", "publisher", "subscriber"]
count = 50
radio = "device"

[[traffic]]
source = "hosts"
destination = "hosts"
first_s = 29
every_s = 30
size_bytes = 10000
lifetime_s = 18000
"""
CLIQUE = """\
name = "clique"
duration_s = 900
seed = 1
area = {{ width_m = 10, height_m = 10 }}
overlay.policy = "spray_and_wait"
overlay.policies.spray_and_wait.copies = {copies}
radio.device = {{ range_m = 50, rate_bytes_per_s = 250000 }}

[[group]]
name = "hosts"
role = ["mediator", "publisher", "subscriber"]
count = 30
radio = "device"
mobility = {{ model = "random_waypoint", speed_m_per_s = [0.5, 1.5], pause_s = [0, 120] }}

[[traffic]]
source = "hosts"
destination = "hosts"
first_s = 30
every_s = 30
size_bytes = 1000
lifetime_s = 18000
"""
A_U1 = Path(__file__).parent / "replay" / "the_one" / "a_u1" / "ConnectivityONEReport.txt.gz"


def write_plain(folder: Path, policy: str, layout: str) -> Path:
    """Write an hour of thirteen devices with one of these layouts of roles."""
    path = folder / "plain.toml"
    path.write_text(
        PLAIN.format(
            policy=policy,
            inside=', "subscriber"' if layout == "joint" else "",
            centre='"subscriber"' if layout == "separate" else '["mediator", "subscriber"]',
            destination="hosts" if layout == "joint" else "centres",
        )
    )
    return path


def write_recorded(folder: Path) -> Path:
    """Write two hours of the contacts that The ONE had in its setting a, with messages as in `one_a`."""
    (folder / A_U1.name).write_bytes(A_U1.read_bytes())
    path = folder / "recorded.toml"
    path.write_text(RECORDED.format(contacts=A_U1.name))
    return path


def write_clique(folder: Path, copies: int) -> Path:
    """Write a quarter of an hour of thirty devices in range of each other, with a budget of copies."""
    path = folder / "clique.toml"
    path.write_text(CLIQUE.format(copies=copies))
    return path
