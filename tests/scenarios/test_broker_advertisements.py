"""An advertisement of whole domains announces every publication: brokers deliver as much as without it."""

import re
import shutil
from pathlib import Path

import pytest

from emulation.run import run_scenario
from emulation.scenario import load_scenario
from tests.paths import ROOT
from tests.scenarios.test_brokers import seen_in

SCENARIOS = ROOT / "emulation/scenarios"
WHOLE = """<subscription xmlns="urn:dens:approximate:1" event="apartment">
  <crisp-predicate attribute="rent" operator="ge">0</crisp-predicate>
  <crisp-predicate attribute="size" operator="ge">0</crisp-predicate>
  <crisp-predicate attribute="age" operator="ge">0</crisp-predicate>
  <crisp-predicate attribute="distance" operator="ge">0</crisp-predicate>
</subscription>
"""
PUBLICATION = """
[[publication]]
group = "owners"
language = "atopss"
files = ["brokers/offer_attic.xml", "brokers/offer_studio.xml"]
at_s = 20
every_s = 100
"""
ADVERTISEMENT = """
[[advertisement]]
group = "owners"
file = "brokers/whole.xml"
"""


def reduced(folder: Path, more: str) -> Path:
    """Write the scenario with its owners as the only publishers: a cheap attic, a studio of any age."""
    shutil.copytree(SCENARIOS / "brokers", folder / "brokers")
    (folder / "brokers/whole.xml").write_text(WHOLE, encoding="utf-8")
    text = (SCENARIOS / "brokers.toml").read_text(encoding="utf-8")
    head, *tables = re.split(r"\n(?=\[\[)", text)
    dropped = re.compile(
        r'\[\[(sensor|advertisement|publication)\]\]|\[\[group\]\]\nname = "(budget_)?agencies"'
    )
    kept = [head, *(table for table in tables if not dropped.match(table))]
    path = folder / "brokers.toml"
    path.write_text("\n".join([*kept, PUBLICATION, more]), encoding="utf-8")
    return path


@pytest.mark.parametrize("more", ["", ADVERTISEMENT], ids=["all", "advertised"])
def test_brokers_deliver_what_is_advertised_as_any_value(tmp_path: Path, more: str) -> None:
    run_scenario(load_scenario(str(reduced(tmp_path, more)), ["duration_s=140"]), 1, tmp_path / "run")
    assert len(seen_in(tmp_path / "run").delivered) == 84
