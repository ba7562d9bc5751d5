"""`dens node publish` of documents: what is read, announced and left out."""

import json
from pathlib import Path

from dens.node.processes.documents import offer_documents, read_documents
from knowledge_manager.dictionary.local import LocalDataDictionary
from knowledge_manager.mission_table import load_mission_table
from tests.dens.node.node_process import node_file
from tests.paths import ROOT

REPORTS = ROOT / "emulation" / "scenarios" / "reports"
NOBODY = ["--at", "127.0.0.1:9", "--period", "0", "--wait", "0"]


def test_documents_are_read_and_announced_by_their_facets(tmp_path: Path) -> None:
    table = load_mission_table(["weather", "reports"])
    told = read_documents(sorted(REPORTS.iterdir()), table, [*REPORTS.iterdir()])
    assert {Path(one.file).suffix for one in told} == {".ttl", ".jsonld"}, "subscriptions are not published"
    dictionary = LocalDataDictionary(table)
    offer_documents(told, dictionary)
    offered = {frozenset(one.name for one in source.attributes) for source in dictionary.sources}
    assert frozenset({"kind", "topic", "text", "time", "place"}) in offered
    assert frozenset({"kind", "time", "place", "result"}) in offered


def test_folder_is_published_whole_or_not_at_all(dens, tmp_path: Path) -> None:
    path, folder = node_file(tmp_path, 1), tmp_path / "reports"
    path.write_text(path.read_text().replace('vocabularies = ["medical"]', 'vocabularies = ["reports"]'))
    folder.mkdir()
    (folder / "dam.ttl").write_bytes((REPORTS / "dam.ttl").read_bytes())
    (folder / "bad.ttl").write_text("<urn:a> <urn:b>")
    ended = dens("node", "publish", path, folder, *NOBODY, "--json")
    [problem] = json.loads(ended.out)["problems"]
    assert (ended.code, problem["code"]) == (3, "D506")
    assert problem["message"] == "invalid turtle: unexpected end of file"
    (folder / "bad.ttl").unlink()
    ended = dens("node", "publish", path, folder, *NOBODY, "--json")
    figures = json.loads(ended.out.splitlines()[-1])
    assert ended.code == 1
    assert (figures["documents"], figures["not_asked_for"], figures["published"]) == (1, 1, 0)
    (folder / "dam.ttl").unlink()
    empty = dens("node", "publish", path, folder, *NOBODY)
    assert empty.code in (2, 3)
    assert "bad.ttl" not in empty.err
    assert dens("node", "publish", path).code == 2
    recording = dens("node", "publish", path, tmp_path / "day.csv")
    assert (recording.code, "a recording needs --event" in recording.err) == (2, True)
