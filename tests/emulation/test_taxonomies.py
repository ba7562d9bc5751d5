"""A run carries the taxonomies of its vocabularies: it is done again, and judged, without their files."""

import shutil
from pathlib import Path

from dens.trace.manifest import read_manifest
from emulation.rerun import rerun
from emulation.run import run_scenario
from emulation.scenario import load_scenario
from knowledge_manager.embedded_taxonomies import embed_taxonomies, taxonomies_from
from knowledge_manager.mission_table import load_mission_table
from spark_analysis.languages import mission_table
from tests.paths import ROOT

VOCABULARY = """
name = "notes"
version = 1

[[graph]]
name = "note"
index = 0
namespaces = { dc = "http://purl.org/dc/elements/1.1/", m = "urn:mine:" }
terms = ["dc:subject"]
taxonomy = "mine.ttl"

[[graph.facet]]
name = "any"
index = 0
open = true
"""
TAXONOMY = "<urn:mine:creek> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:mine:water> .\n"


def test_a_run_carries_its_taxonomy(tmp_path: Path) -> None:
    place = tmp_path / "mission"
    place.mkdir()
    (place / "notes.toml").write_text(VOCABULARY)
    (place / "mine.ttl").write_text(TAXONOMY)
    (place / "note.ttl").write_text("<urn:n> <http://purl.org/dc/elements/1.1/subject> <urn:mine:creek> .")
    asked = "ASK { ?n dc:subject ?t FILTER(g:isA(?t, m:water)) }"
    (place / "water.rq").write_text(asked)
    scenario = (ROOT / "emulation" / "scenarios" / "reports.toml").read_text("utf-8")
    begin = scenario.index("[[subscription]]")
    own = scenario[:begin].replace('["weather", "reports"]', '["mission/notes.toml"]')
    own += '[[subscription]]\ngroup = "post"\nfile = "mission/water.rq"\n'
    own += '[[publication]]\ngroup = "volunteers"\nlanguage = "graph"\n'
    own += 'files = ["mission/note.ttl"]\nat_s = 300\n'
    path = tmp_path / "own.toml"
    path.write_text(own.replace("duration_s = 7200", "duration_s = 900"))
    loaded = load_scenario(path)
    assert loaded.table.taxonomy.is_below("urn:mine:creek", "urn:mine:water")
    run = tmp_path / "run"
    run_scenario(loaded, 1, run)
    shutil.rmtree(place)
    path.unlink()
    table = mission_table(read_manifest(run))
    assert table.check == loaded.table.check
    assert table.taxonomy == loaded.table.taxonomy
    again = rerun(run, tmp_path / "again")
    assert again.comparison is not None
    assert again.comparison.same_trace
    assert again.summary.delivered > 0


def test_what_is_carried_is_found_before_what_ships() -> None:
    table = load_mission_table(["reports"])
    find = taxonomies_from(embed_taxonomies(table))
    assert find("hazards") == table.taxonomy
    assert taxonomies_from({})("hazards") == table.taxonomy
