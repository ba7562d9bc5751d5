"""A run with boxes subscriptions: sources that do not support boxes serve their parts."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq

from tests.paths import ROOT

BOXES = """<subscription xmlns="urn:dens:boxes:1" event="weather">
  <or>
    <crisp-predicate attribute="temperature" operator="lt">0</crisp-predicate>
    <crisp-predicate attribute="temperature" operator="gt">20</crisp-predicate>
    <crisp-predicate attribute="wind_speed" operator="ge">8</crisp-predicate>
  </or>
</subscription>
"""


def test_boxes_are_served_matched_and_reported_by_their_number(dens, tmp_path: Path) -> None:
    scenarios = ROOT / "emulation" / "scenarios"
    shutil.copy(scenarios / "weather_poles.toml", tmp_path)
    shutil.copytree(scenarios / "weather_poles", tmp_path / "weather_poles")
    (tmp_path / "weather_poles" / "gale.xml").write_text(BOXES)
    ended = dens("run", tmp_path / "weather_poles.toml", "-o", tmp_path / "run")
    assert ended.code == 0
    matches = pq.read_table(tmp_path / "run" / "trace" / "matches").to_pydict()
    details = {bytes(detail) for detail in matches["detail"] if detail}
    assert details
    assert details <= {b"\x00", b"\x01", b"\x02"}
