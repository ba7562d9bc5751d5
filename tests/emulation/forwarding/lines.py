"""Devices in a line, fifty metres apart with a range of sixty: only who stands side by side is in range."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from emulation.run import RunSummary, run_scenario
from emulation.scenario import load_scenario

FEVER = """\
<subscription xmlns="urn:dens:subscription:1" event="patient" valid="PT4H" threshold="0.2">
  <approximate-predicate attribute="patient_temperature"><is>high</is></approximate-predicate>
</subscription>
"""
HEAD = """\
name = "line"
duration_s = {duration_s}
seed = 1
vocabularies = ["medical"]
area = {{ width_m = 1000, height_m = 20 }}
radio.handheld = {{ range_m = 60, rate_bytes_per_s = 25000, setup_ms = 100{radio} }}

[[subscription]]
group = "s0"
file = "fever.xml"
"""
GROUP = """
[[group]]
name = "{name}"
role = "{role}"
count = 1
radio = "handheld"
mobility = {{ model = "static", places_m = [[{x}, 10]] }}
"""
SENSOR = """
[[sensor]]
group = "{name}"
event = "patient"
every_s = 20
source = {{ generator = "uniform" }}
"""
ROLES = {"s": "subscriber", "m": "mediator", "p": "publisher", "f": "forwarder"}


def line(folder: Path, roles: str, more: str = "", radio: str = "", duration_s: int = 1200) -> Path:
    """Write the scenario of a line of devices, by the first letters of their roles; return its file.

    The group of each is called by its letter and its place: `s0`, `m1`, …
    """
    text = HEAD.format(radio=radio, duration_s=duration_s)
    for place, letter in enumerate(roles):
        text += GROUP.format(name=f"{letter}{place}", role=ROLES[letter], x=10 + 50 * place)
        if letter == "p":
            text += SENSOR.format(name=f"{letter}{place}")
    (folder / "fever.xml").write_text(FEVER)
    path = folder / "line.toml"
    path.write_text(text + more)
    return path


def run(path: Path, forwarding: str, changes: Sequence[str] = ()) -> tuple[RunSummary, Path]:
    """Run a line with this forwarding; return its summary and its folder."""
    out = path.parent / f"run_{forwarding}"
    scenario = load_scenario(path, [f"network.forwarding={forwarding}", *changes])
    return run_scenario(scenario, 1, out, force=True), out


def rows(out: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    return pq.read_table(out / "trace" / name).to_pylist()
