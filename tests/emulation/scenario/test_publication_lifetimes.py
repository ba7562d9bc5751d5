"""How long a published document lives: the scenario decides, else the document, else its event class."""

from pathlib import Path

import pytest

from dens.trace.recorded_run import recorded_run
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from watchdog.lifetime import lifetime_code, lifetime_s

SCENARIO = """
name = "offers"
duration_s = 60
seed = 1
vocabularies = ["housing"]
area = { width_m = 100, height_m = 100 }
radio.near = { range_m = 500, rate_bytes_per_s = 1000000 }

[[group]]
name = "mediators"
role = "mediator"
count = 1
radio = "near"
mobility = { model = "static" }

[[group]]
name = "owners"
role = "publisher"
count = 1
radio = "near"
mobility = { model = "static" }

[[group]]
name = "people"
role = "subscriber"
count = 1
radio = "near"
mobility = { model = "static" }

[[subscription]]
group = "people"
file = "wanted.xml"

[[publication]]
group = "owners"
language = "atopss"
files = ["week.xml", "usual.xml"]
at_s = 20
every_s = 5
"""
NAMESPACE = 'xmlns="urn:dens:approximate:1" event="apartment"'
LARGE = '<crisp-predicate attribute="size" operator="ge">1</crisp-predicate>'
WANTED = f"<subscription {NAMESPACE}>{LARGE}</subscription>"
OFFER = '<publication {}{}><value attribute="size">60</value></publication>'
DAY_S, WEEK_S = 86_400, 7 * 86_400


def written(folder: Path, more: str = "") -> Path:
    """Write a scenario with a document that says how long it is valid, and one that does not."""
    (folder / "wanted.xml").write_text(WANTED, encoding="utf-8")
    (folder / "week.xml").write_text(OFFER.format(NAMESPACE, ' valid="P7D"'), encoding="utf-8")
    (folder / "usual.xml").write_text(OFFER.format(NAMESPACE, ""), encoding="utf-8")
    path = folder / "offers.toml"
    path.write_text(SCENARIO + more, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("more", "lives_s"),
    [
        ("", [WEEK_S, DAY_S]),
        ("lifetime_s = 7200\n", [7200, 7200]),
        ("\n[overlay]\nnotification_lifetime_s = 1800\n", [WEEK_S, 1800]),
    ],
    ids=["document", "publication", "run"],
)
def test_a_document_lives_as_long_as_it_says(tmp_path: Path, more: str, lives_s: list[int]) -> None:
    run_scenario(load_scenario(str(written(tmp_path, more))), 1, tmp_path / "run")
    rows = recorded_run(tmp_path / "run").table("notifications", ["at_ms", "lifetime_ms"]).to_pylist()
    found = [row["lifetime_ms"] for row in sorted(rows, key=lambda row: row["at_ms"])]
    assert found == [1000 * lifetime_s(lifetime_code(seconds)) for seconds in lives_s]
